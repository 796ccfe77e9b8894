import { describe, expect, it } from "vitest";
import { givenValues, parseInputText, resolveInputs } from "../../../src/definition/model/inputs.js";
import type { InputDefinition } from "../../../src/definition/model/values.js";

const inputs: Readonly<Record<string, InputDefinition>> = {
  folder: { type: "string", required: true },
  count: { type: "number", required: false, default: 3 },
  deep: { type: "boolean", required: false },
  list: { type: "array", required: false },
  map: { type: "object", required: false },
  note: { type: "string", required: false },
  ratio: { type: "number", required: false },
};

function problemsOf(given: Parameters<typeof resolveInputs>[1]): readonly string[] {
  try {
    resolveInputs({ inputs }, given);
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return [code, ...message.split("\n")];
  }
  return [];
}

describe("resolveInputs", () => {
  it("fills defaults and the zero value of each type", () => {
    expect(resolveInputs({ inputs }, { folder: { text: "." } })).toEqual({
      folder: ".",
      count: 3,
      deep: false,
      list: [],
      map: {},
      note: "",
      ratio: 0,
    });
  });

  it("types texts of the command line, but leaves texts that are declared so", () => {
    const given = {
      folder: { text: "12" },
      count: { text: "-1.5" },
      deep: { text: "true" },
      list: { text: "[1]" },
      map: { text: '{"a": 1}' },
    };
    expect(resolveInputs({ inputs }, given)).toMatchObject({
      folder: "12",
      count: -1.5,
      deep: true,
      list: [1],
      map: { a: 1 },
    });
  });

  it("takes values of a program as they are", () => {
    expect(resolveInputs({ inputs }, givenValues({ folder: "a", list: ["x"] }))).toMatchObject({
      folder: "a",
      list: ["x"],
    });
  });

  it("tells everything that is wrong at once", () => {
    expect(
      problemsOf({ foldr: { text: "." }, count: { text: "many" }, deep: { value: 1 }, zzzzzz: { text: "" } }),
    ).toEqual([
      "INPUT_INVALID",
      "there is no input foldr; did you mean folder?",
      "there is no input zzzzzz; declared: folder, count, deep, list, map, note, ratio",
      "the input folder (string) is missing",
      'the input count must be a number, it is "many"',
      "the input deep must be a boolean, it is 1",
    ]);
  });

  it("takes null for no value of any type", () => {
    expect(problemsOf({ folder: { text: "x" }, ratio: { text: "null" } })).toEqual([
      "INPUT_INVALID",
      "the input ratio must be a number, it is null",
    ]);
  });
});

describe("parseInputText", () => {
  it.each([
    ["true", true],
    ["null", null],
    ["12", 12],
    ["-0.5", -0.5],
    ["1e3", 1000],
    ["[1, 2]", [1, 2]],
    ["{not json", "{not json"],
    ["yes", "yes"],
    ["", ""],
    ["1.2.3", "1.2.3"],
  ])("reads %j", (text, expected) => {
    expect(parseInputText(text)).toEqual(expected);
  });
});
