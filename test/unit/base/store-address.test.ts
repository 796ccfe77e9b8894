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

  it("[security L4] hides the password of an address that is no URL", () => {
    expect(hidePassword("postgres:u:PASSWORD@host")).toBe("postgres:u@host");
  });

  it("[security L4 kin] hides one with a slash, a colon or an at in it", () => {
    expect(hidePassword("postgres://u:pa/ss@host/db")).toBe("postgres://u@host/db");
    expect(hidePassword("postgresql://u:p:a@ss@host/db")).toBe("postgresql://u@host/db");
    expect(hidePassword("rediss://:p@ss@host:6379")).toBe("rediss://@host:6379");
  });

  it("[security L4 kin] hides one without a host, and leaves ports and addresses in brackets", () => {
    expect(hidePassword("postgres:u:PASSWORD")).toBe("postgres:u");
    expect(hidePassword("postgres://u:PASSWORD")).toBe("postgres://u");
    for (const address of [
      "postgres://host:5432/db",
      "postgres://host:5432",
      "postgres://[::1]:5432/db",
      "redis://h:6379/0",
    ])
      expect(hidePassword(address)).toBe(address);
  });
});
