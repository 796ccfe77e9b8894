import { describe, expect, it } from "vitest";
import { readUtf8, showUtf8 } from "../../../src/base/utf8-text.js";

const bytes = (...parts: readonly (string | number)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from([part]))));

describe("bytes as text", () => {
  it.each<[string, Buffer, object]>([
    ["plain", bytes("a"), { text: "a" }],
    ["empty", bytes(), { text: "" }],
    ["with a byte order mark", bytes(0xef, 0xbb, 0xbf, "a"), { text: "a" }],
    ["with the sign for what was replaced", bytes("\uFFFD🚀"), { text: "\uFFFD🚀" }],
    ["in Latin-1", bytes("caf", 0xe9), { problem: "is not UTF-8 text: byte 0xe9 at offset 3" }],
    ["behind such a sign", bytes("\uFFFD", 0xff), { problem: "is not UTF-8 text: byte 0xff at offset 3" }],
    ["cut in a character", bytes("é").subarray(0, 1), { problem: "is not UTF-8 text: byte 0xc3 at offset 0" }],
    ["in UTF-16", Buffer.from("\uFEFFa", "utf16le"), { problem: "is UTF-16, and not UTF-8 text" }],
  ])("%s", (_name, given, read) => {
    expect(readUtf8(given)).toEqual(read);
  });

  it("are shown byte by byte where they are none", () => {
    expect(showUtf8(bytes("caf", 0xe9, " 🚀", 0xf0, 0x9f))).toBe("caf\\xe9 🚀\\xf0\\x9f");
    expect(showUtf8(bytes("fine"))).toBe("fine");
  });

  it("are shown in time that grows with them", () => {
    expect(showUtf8(Buffer.alloc(300_000, 0xff))).toHaveLength(1_200_000);
  });
});
