import { describe, expect, it } from "vitest";
import { formatNumber, formatPython } from "../../../src/definition/templates/python-text.js";

describe("formatPython", () => {
  it.each([
    ["plain", "plain"],
    [true, "True"],
    [null, "None"],
    [[1, "a", [false]], "[1, 'a', [False]]"],
    [{ k: "it's", "a b": null }, `{'k': "it's", 'a b': None}`],
    [["both ' and \"", "line\nbreak", "\u0001"], `['both \\' and "', 'line\\nbreak', '\\x01']`],
  ])("prints %j as Python does", (value, expected) => {
    expect(formatPython(value)).toBe(expected);
  });
});

describe("formatNumber", () => {
  it.each([
    [1, false, "1"],
    [1, true, "1.0"],
    [1e20, false, "100000000000000000000"],
    [1e20, true, "1e+20"],
    [1.5, false, "1.5"],
    [0.00001, false, "1e-05"],
    [-0, true, "-0.0"],
    [Infinity, false, "inf"],
    [NaN, false, "nan"],
  ])("prints %d (float: %s) as %s", (value, isFloat, expected) => {
    expect(formatNumber(value, isFloat)).toBe(expected);
  });
});
