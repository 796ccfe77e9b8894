import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Edges, findReachable } from "../../../src/definition/validate/graph.js";
import { ControlFlowGraph } from "../../../src/definition/validate/control-flow-graph.js";

const diamond: Edges = new Map([
  ["a", ["b", "c"]],
  ["b", ["d"]],
  ["c", ["d", "gone"]],
  ["d", []],
]);

/** A graph of up to eight nodes, by the targets of each. */
const graphs = fc
  .integer({ min: 1, max: 8 })
  .chain((size) => fc.array(fc.uniqueArray(fc.nat(size - 1), { maxLength: 4 }), { minLength: size, maxLength: size }))
  .map((lists): Edges => new Map(lists.map((list, node) => [`n${node}`, list.map((target) => `n${target}`)])));

describe("the ways through a graph", () => {
  it("lead over at least one edge", () => {
    const ways = new ControlFlowGraph(diamond);
    expect([ways.reaches("a", "d"), ways.reaches("b", "d"), ways.reaches("d", "a")]).toEqual([true, true, false]);
    expect([ways.reaches("a", "a"), ways.reaches("a", "gone"), ways.reaches("gone", "a")]).toEqual([
      false,
      false,
      false,
    ]);
    expect(new ControlFlowGraph(new Map([["x", ["x"]]])).reaches("x", "x")).toBe(true);
  });

  it("all pass a name, or there is one past it", () => {
    expect(new ControlFlowGraph(diamond).dominates("b", "d", "a")).toBe(false);
    expect(new ControlFlowGraph(diamond).dominates("a", "d", "a")).toBe(true);
    expect(new ControlFlowGraph(new Map([...diamond, ["a", ["b"]]])).dominates("b", "d", "a")).toBe(true);
  });

  it("are those that a walk through the graph finds", () => {
    fc.assert(
      fc.property(graphs, (edges) => {
        const ways = new ControlFlowGraph(edges);
        for (const from of edges.keys()) {
          const after = findReachable(edges.get(from) ?? [], edges);
          const without = findReachable(from === "n0" ? [] : ["n0"], new Map([...edges, [from, []]]));
          for (const to of edges.keys()) {
            expect(ways.reaches(from, to)).toBe(after.has(to));
            if (to !== from) expect(ways.dominates(from, to, "n0")).toBe(!without.has(to));
          }
        }
      }),
    );
  });

  it("are found in a chain of 20,000 names that all ask, with a way back from each", () => {
    const names = Array.from({ length: 20_000 }, (_item, index) => `n${index}`);
    const ways = new ControlFlowGraph(
      new Map(names.map((name, index) => [name, [`n${index + 1}`, `n${Math.floor(index / 2)}`]])),
    );
    const asked = names.slice(1).filter((name) => ways.reaches("n0", name) && ways.dominates("n1", name, "n0"));
    expect(asked).toHaveLength(19_999);
  });
});
