import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { formatSpec } from "../../../src/definition/templates/python-format.js";
import { formatFixed, roundEven } from "../../../src/definition/templates/python-text.js";

describe("formatSpec", () => {
  it.each<[JsonValue, string, string]>([
    [3.14159, ".2f", "3.14"],
    [2.5, ".0f", "2"],
    [3.5, ".0f", "4"],
    [42, "05d", "00042"],
    [-42, "06d", "-00042"],
    [42, "+d", "+42"],
    [1234567, ",", "1,234,567"],
    [1234567.891, ",.1f", "1,234,567.9"],
    ["a", ">5", "    a"],
    ["a", "5", "a    "],
    ["a", "*^5", "**a**"],
    ["abcdef", ".3", "abc"],
    [7, "3", "  7"],
    [255, "x", "ff"],
    [255, "X", "FF"],
    [5, "b", "101"],
    [8, "o", "10"],
    [0.256, ".1%", "25.6%"],
    [1.5, "", "1.5"],
    [1234.5678, ".3g", "1230"],
    [true, "", "True"],
  ])("writes %j by {:%s} as Python does", (value, spec, expected) => expect(formatSpec(value, spec)).toBe(expected));

  it.each<[JsonValue, string, RegExp]>([
    ["x", "d", /x is not a number/],
    [null, ".1f", /None is not a number/],
    [1, "q", /does not know the form q/],
    [1, "!!", /does not know \{:!!\}/],
  ])("refuses %j by {:%s}", (value, spec, message) => expect(() => formatSpec(value, spec)).toThrow(message));
});

describe("rounding", () => {
  it.each([
    [2.25, 1, "2.2"],
    [2.35, 1, "2.4"],
    [0.125, 2, "0.12"],
    [0.375, 2, "0.38"],
    [-2.5, 0, "-2"],
    [2.675, 2, "2.67"],
    [1e21, 2, "1e+21"],
    [5, 2, "5.00"],
  ])("writes %d with %d decimals, halves to the even one", (number, decimals, expected) =>
    expect(formatFixed(number, decimals)).toBe(expected),
  );

  it.each([
    [1250, -2, 1200],
    [1350, -2, 1400],
    [8.5, 0, 8],
    [9.5, 0, 10],
  ])("takes %d to %d digits", (number, digits, expected) => expect(roundEven(number, digits)).toBe(expected));
});
