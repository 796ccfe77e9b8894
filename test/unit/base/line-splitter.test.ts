import { describe, expect, it } from "vitest";
import { LineSplitter } from "../../../src/base/line-splitter.js";

describe("LineSplitter", () => {
  const collect = (chunks: readonly Buffer[], lineBytesMax?: number): string[] => {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line), lineBytesMax);
    for (const chunk of chunks) splitter.take(chunk);
    splitter.end();
    return lines;
  };

  it("joins a character that is cut between two chunks", () => {
    const bytes = Buffer.from("é1\n\né2");
    expect(collect([bytes.subarray(0, 1), bytes.subarray(1, 6), bytes.subarray(6)])).toEqual(["é1", "é2"]);
  });

  it("hands a line over its limit on as a cut that is not JSON, and goes on with the next", () => {
    const lines = collect([Buffer.from(`{}${" ".repeat(400)}`), Buffer.from(`${" ".repeat(400)}\n{"a":1}\n`)], 300);
    expect(lines).toEqual([`{}${" ".repeat(198)}…`, '{"a":1}']);
  });

  it("tells a line that it cut from one that only looks so", () => {
    const told: [string, boolean][] = [];
    const splitter = new LineSplitter((line, isCut) => told.push([line, isCut]), 8);
    splitter.take(Buffer.from("wait…\n123456789\nend"));
    splitter.end();
    expect(told).toEqual([
      ["wait…", false],
      ["123456789…", true],
      ["end", false],
    ]);
  });

  it("takes a line of exactly the limit", () => {
    expect(collect([Buffer.from("12345\n123456\n")], 5)).toEqual(["12345", "123456…"]);
  });
});
