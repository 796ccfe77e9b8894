import { describe, expect, it } from "vitest";
import { findNearest } from "../../../src/definition/faults/nearest.js";

describe("findNearest", () => {
  it.each([
    ["route", "routes"],
    ["max_iteration", "max_iterations"],
    ["maxIterations", "max_iterations"],
    ["max-iterations", "max_iterations"],
    ["promt", "prompt"],
    ["rotues", "routes"],
    ["max", "max_iterations"],
    ["zebra", undefined],
    ["", undefined],
  ])("finds for %s %s", (name, expected) => {
    expect(findNearest(name, ["routes", "max_iterations", "prompt", "name"])).toBe(expected);
  });

  it("compares names of any length quickly", () => {
    expect(findNearest("x".repeat(100_000), ["y".repeat(100_000)])).toBeUndefined();
  });
});
