import { describe, expect, it } from "vitest";
import { cutText, showText, splitLinks } from "../../../web/model/visible.js";

describe("texts of models and programs", () => {
  it.each([
    ["\u001b[31mred\u001b[0m", "red"],
    ["\u001b]8;;http://evil.test\u0007link\u001b]8;;\u0007", "link"],
    ["a\u0000b\u0007c", "a\\u0000b\\u0007c"],
    ["user\u202egnp.exe", "user\\u202egnp.exe"],
    ["zero\u200bwidth", "zero\\u200bwidth"],
    ["one\r\ntwo\tthree", "one\ntwo\tthree"],
    ["lone\rreturn", "lone\\u000dreturn"],
    ["<script>alert(1)</script>", "<script>alert(1)</script>"],
  ])("%j is seen as %j", (text, seen) => {
    expect(showText(text)).toBe(seen);
  });

  it("are links only where they say http or https themselves, and lead where they say", () => {
    const text = "see https://a.test/x?y=1). javascript:alert(1) data:text/html,x (http://b.test/c)";
    expect(splitLinks(text).filter(({ link }) => link !== undefined)).toEqual([
      { text: "https://a.test/x?y=1", link: "https://a.test/x?y=1" },
      { text: "http://b.test/c", link: "http://b.test/c" },
    ]);
    expect(
      splitLinks(text)
        .map(({ text: piece }) => piece)
        .join(""),
    ).toBe(text);
  });

  it("are cut without breaking a character, and say how much is left", () => {
    expect(cutText("abcdef", 4)).toEqual({ text: "abcd", left: 2 });
    expect(cutText("abc😀def", 4)).toEqual({ text: "abc", left: 5 });
    expect(cutText("abc", 4)).toEqual({ text: "abc", left: 0 });
  });
});
