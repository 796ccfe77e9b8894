import { describe, expect, it } from "vitest";
import { findJson } from "../../../src/agents/outcome/answer-text.js";
import { processorMsOf } from "../../support/real-clock.js";

describe("the JSON in an answer", () => {
  it.each<[string, unknown]>([
    ['{"a": 1}', { a: 1 }],
    [" 7 ", 7],
    ['```json\n{"a": 1}\n```', { a: 1 }],
    ['Here it is:\n```\n{"a": 1}\n```\nI hope it helps.', { a: 1 }],
    ['Sure! The result is {"a": {"b": "}"}} as you asked.', { a: { b: "}" } }],
    ["The list [1, 2] is short", [1, 2]],
    ['in {braces} there is {"a": 1}', { a: 1 }],
    ['first {"a": 1}, then {"b": 2}', undefined],
    ['```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```', undefined],
    ["no json here", undefined],
    ["", undefined],
    ['{"a": ', undefined],
  ])("of %j is %j", (text, expected) => {
    expect(findJson(text)).toEqual(expected);
  });

  it("is looked for in little time, whatever the text", async () => {
    const texts = ["{".repeat(100_000), '{"a":'.repeat(50_000), "[]".repeat(50_000), '"'.repeat(100_000)];
    const tookMs = await processorMsOf(() => texts.forEach((text) => findJson(text)));
    expect(tookMs).toBeLessThan(1_000);
  });
});

describe("a long answer that opens fences and closes none", () => {
  it.each([
    ["[security H6 kin] is read in little time: openings alone", "```a\n b"],
    ["[security H6 kin] is read in little time: lines of spaces", "```\n      \n"],
    ["[security H6 kin] is read in little time: brackets", "{["],
  ])("%s", async (_title, part) => {
    const tookMs = await processorMsOf(() => void findJson(part.repeat(Math.ceil(2_000_000 / part.length))));
    expect(tookMs).toBeLessThan(5_000);
  });
});
