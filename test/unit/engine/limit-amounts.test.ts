import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { findAmountFault, keyOfLimit, readAmounts } from "../../../src/engine/rules/questions/limit-amounts.js";

describe("amounts for a limit, in words", () => {
  it.each([
    ["20", { iterations: 20 }],
    [" max_iterations=20 ", { iterations: 20 }],
    ["max_iterations=20, budget_usd=0.3", { iterations: 20, cost_micro_usd: 300_000 }],
    ["timeout_seconds=1.4 max_calls=2 tokens=3", { seconds: 1, calls: 2, tokens: 3 }],
  ])("%j", (text, amounts) => {
    expect(readAmounts(text, "iterations")).toEqual({ amounts });
  });

  it("a bare number is of the limit that is reached, in the unit of the workflow file", () => {
    expect(readAmounts("0.9", "cost_micro_usd")).toEqual({ amounts: { cost_micro_usd: 900_000 } });
    expect(keyOfLimit("cost_micro_usd")).toBe("budget_usd");
  });

  it.each([
    ["", "say how much more, e.g. max_iterations=10"],
    ["some", 'max_iterations takes a number above 0 that is added to the limit, not "some"'],
    ["max_iterations=", 'max_iterations takes a number above 0 that is added to the limit, not ""'],
    ["-3", 'max_iterations takes a number above 0 that is added to the limit, not "-3"'],
    ["max_iteration=3", "there is no limit max_iteration; did you mean max_iterations?"],
    ["max_calls=Infinity", 'max_calls takes a number above 0 that is added to the limit, not "Infinity"'],
    ["__proto__=3", "there is no limit __proto__; there are "],
  ])("%j is refused", (text, fault) => {
    expect(readAmounts(text, "iterations")).toEqual({ fault: expect.stringContaining(fault) });
  });

  it.each<[JsonValue | undefined, string | undefined]>([
    [{ iterations: 3 }, undefined],
    [{ iterations: 0 }, "iterations takes a number above 0"],
    [{ iterations: "3" }, "iterations takes a number above 0"],
    [
      { max_iterations: 3 },
      "there is no limit max_iterations; there are iterations, seconds, tokens, calls, cost_micro_usd",
    ],
    [{}, "it takes amounts by name of the limit"],
    [[3], "it takes amounts by name of the limit"],
    [undefined, "it takes amounts by name of the limit"],
  ])("of the value %j is said: %s", (value, fault) => {
    expect(findAmountFault(value)).toBe(fault);
  });
});
