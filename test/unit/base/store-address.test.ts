import { describe, expect, it } from "vitest";
import { hidePassword } from "../../../src/base/store-address.js";

describe("hidePassword", () => {
  it.each([
    ["postgres://me:se@cr:et@host:1/db?a=b", "postgres://me@host:1/db?a=b"],
    ["postgres://me@host/db", "postgres://me@host/db"],
    ["postgres://host/db?password=secret&sslmode=require", "postgres://host/db?password=…&sslmode=require"],
    ["file:outputs/a:b@c", "file:outputs/a:b@c"],
    ["sqlite:tasks.db", "sqlite:tasks.db"],
  ])("of %s leaves %s", (address, shown) => {
    expect(hidePassword(address)).toBe(shown);
  });
});
