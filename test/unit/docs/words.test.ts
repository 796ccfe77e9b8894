/** The words of the product: none that is refused, and a check that sees each kind of text. */
import { describe, expect, it } from "vitest";
import { PROJECT_FOLDER } from "../../support/built-program.js";
import { findRefused, readRefused, readTexts, textsOf } from "../../../scripts/parts/words.mjs";

const refused = readRefused(PROJECT_FOLDER);
const findIn = (source: string): string[] => findRefused(textsOf("a.ts", source), refused);

describe("[first-use point 8] the words of the product", () => {
  it("are none of those that are refused", () => {
    const texts = readTexts(PROJECT_FOLDER);
    expect(texts.length).toBeGreaterThan(2000);
    expect(findRefused(texts, refused)).toEqual([]);
  });

  it.each([
    ["a text", 'const a = "the task goes on";'],
    ["a text in backticks", "const a = `the task goes on`;"],
    ["a template, on both sides of a value", "const a = `task ${name} goes on`;"],
    ["a template that is broken by a value", "const a = `taken up after ${why}`;"],
    ["a help text of several lines", "const HELP = `\nfirst line\n  run it: it goes on\n`;"],
  ])("are found in %s", (_what, source) => {
    expect(findIn(source)).toHaveLength(1);
  });

  it.each([
    ["a comment", "// it goes on"],
    ["the name of a module", 'import { a } from "./goes on.js";'],
    ["a name without a space", 'const a = "taken_up";'],
    ["a step of a page", 'const a = "go on to the next page";'],
  ])("are not looked for in %s", (_what, source) => {
    expect(findIn(source)).toEqual([]);
  });

  it("has a planted text for each refused word", () => {
    const samples = [
      "the task goes on",
      "it was taken up",
      "it was resumed by resume",
      "it is written in the clear",
      "to run again: it waits for an answer",
      "the task is passed over",
      "it is asked anew",
      "the key is not to be had",
      "it cannot be told whether it lives",
      "the look found it",
      "the step failed (retry)",
      "the program ended with 3",
      "it is hence done",
      "no task is so",
      "workflows that survive anything",
    ];
    const found = samples.map((text) => findRefused([{ path: "a", line: 1, text }], refused).length);
    expect(found).toEqual(refused.map(() => 1));
  });
});
