import { formatDuration } from "../../../src/base/plain-text.js";
import { describe, expect, it } from "vitest";
import type { Streams } from "../../../src/cli/terminal/deps.js";
import {
  cleanForTerminal,
  coloursOf,
  formatChecks,
  formatSize,
  formatTable,
  formatView,
} from "../../../src/cli/terminal/output.js";

const streams = (colour: boolean): Streams => ({
  out: () => undefined,
  error: () => undefined,
  interactive: false,
  colour,
});

describe("cleanForTerminal", () => {
  it.each([
    ["\u001b[31mred\u001b[0m", "\\u001b[31mred\\u001b[0m"],
    ["\u009b2J", "\\u009b2J"],
    ["a\u202eb", "a\\u202eb"],
    ["bell\u0007", "bell\\u0007"],
    ["over\rwritten", "overwritten"],
    ["line\nline\ttab ünïcode ✓ 𝄞", "line\nline\ttab ünïcode ✓ 𝄞"],
    ["[/x] %s <b>", "[/x] %s <b>"],
  ])("makes %j visible", (text, shown) => {
    expect(cleanForTerminal(text)).toBe(shown);
  });
});

describe("formatView", () => {
  it("gives JSON that parses to the same value and holds no control character", () => {
    const view = { text: "\u001b[2J \u009b1A \u202e \u2066 \u007f \r \n" };
    const text = formatView(view, "json");
    expect(JSON.parse(text)).toEqual(view);
    expect(cleanForTerminal(text)).toBe(text);
  });

  it("ends a text with one newline", () => {
    expect(formatView(1, () => "text \n\n")).toBe("text\n");
  });
});

describe("formatTable", () => {
  it("aligns by the widest cell, keeps cells on one line, and ends no line with spaces", () => {
    expect(
      formatTable(
        ["A", "B", ""],
        [
          ["long cell", "x\ny", ""],
          ["s", "z", "note"],
        ],
      ),
    ).toBe("A          B\nlong cell  x y\ns          z    note");
  });
});

describe("sizes and durations", () => {
  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.0 KiB"],
    [150 * 1024, "150 KiB"],
    [3.25 * 1024 ** 3, "3.3 GiB"],
  ])("%i bytes are %s", (bytes, text) => {
    expect(formatSize(bytes)).toBe(text);
  });

  it.each([
    [0.04, "0.0 s"],
    [9.94, "9.9 s"],
    [9.96, "10 s"],
    [59.7, "1 min 0 s"],
    [200, "3 min 20 s"],
    [3599.8, "1 h 0 min"],
    [7500, "2 h 5 min"],
    [7199, "2 h 0 min"],
  ])("%d seconds are %s", (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});

describe("formatChecks", () => {
  it("marks what is well, what is not and what was not looked at, with what to do", () => {
    const checks = [
      { name: "a", ok: true, text: "fine" },
      { name: "b", ok: false, text: "broken\u0007", hint: "mend it" },
      { name: "c", ok: true, skipped: true, text: "not checked" },
    ];
    expect(formatChecks(checks, streams(false))).toEqual([
      "ok   a: fine",
      "FAIL b: broken\\u0007\n     → mend it",
      "–    c: not checked",
    ]);
  });
});

describe("colours", () => {
  it("are there only where the streams take them", () => {
    expect(coloursOf(streams(true)).red("x")).toBe("\u001b[31mx\u001b[39m");
    expect(coloursOf(streams(false)).red("x")).toBe("x");
  });
});
