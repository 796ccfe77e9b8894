import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { quoteArgument } from "../../../src/base/shell-text.js";

describe("quoteArgument", () => {
  it("[security L4 kin] shows what would move a cursor or turn the reading order as escapes, which a shell takes back", () => {
    for (const text of ["file:\u001b[2Jx", "a\u202eb'c\\d\re", "\u009b31m"]) {
      const quoted = quoteArgument(text);
      expect(quoted).toMatch(/^[\x20-\x7e]+$/);
      expect(execFileSync("bash", ["-c", `printf %s ${quoted}`], { env: { LC_ALL: "C.UTF-8" } }).toString()).toBe(text);
    }
  });

  it("leaves words as they are, and puts others in quotes", () => {
    expect([quoteArgument("a-b.c"), quoteArgument("it's"), quoteArgument("")]).toEqual(["a-b.c", "'it'\\''s'", "''"]);
  });
});
