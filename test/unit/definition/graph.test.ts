import { describe, expect, it } from "vitest";
import { findCycle, findReachable } from "../../../src/definition/validate/graph.js";

const edges = new Map([
  ["a", ["b", "c"]],
  ["b", ["d"]],
  ["c", ["d"]],
  ["d", []],
]);

describe("graph questions", () => {
  it("find what is reachable, the start included", () => {
    expect([...findReachable(["b"], edges)]).toEqual(["b", "d"]);
  });

  it("find a circle, and a long chain without one", () => {
    expect(findCycle(["a", "b", "c", "d"], edges)).toBeUndefined();
    expect(findCycle(["a", "d"], new Map([...edges, ["d", ["b"]]]))).toEqual(["b", "d", "b"]);
    const names = Array.from({ length: 50_000 }, (_item, index) => `n${index}`);
    expect(
      findCycle(names, new Map(names.map((name, index) => [name, names.slice(index + 1, index + 2)]))),
    ).toBeUndefined();
  });
});
