import { describe, expect, it } from "vitest";
import { findAfter, findCycle, findReachable, isOnEveryWay } from "../../../src/definition/graph.js";

const edges = new Map([
  ["a", ["b", "c"]],
  ["b", ["d"]],
  ["c", ["d"]],
  ["d", []],
]);

describe("graph questions", () => {
  it("find what is reachable, with and without the start", () => {
    expect([...findReachable(["b"], edges)]).toEqual(["b", "d"]);
    expect([...findAfter("b", edges)]).toEqual(["d"]);
    expect(findAfter("d", edges).size).toBe(0);
  });

  it("tell whether every way passes a name", () => {
    expect(isOnEveryWay("b", "d", { entry: "a", edges })).toBe(false);
    expect(isOnEveryWay("a", "d", { entry: "a", edges })).toBe(true);
    expect(isOnEveryWay("b", "d", { entry: "a", edges: new Map([...edges, ["a", ["b"]]]) })).toBe(true);
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
