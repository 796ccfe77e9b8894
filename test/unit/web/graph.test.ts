import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GraphBox, GraphFrame, StepView } from "../../../src/runtime/contract.js";
import { BOX, drawGraph, type Rectangle } from "../../../web/model/graph-picture.js";
import { groupSteps, pathWithoutKeys, statusOfSteps, stripOf } from "../../../web/model/graph-steps.js";
import { placeLayered } from "../../../web/model/layered-layout.js";

const box = (id: string): GraphBox => ({ id, path: `main/${id}`, label: id, shape: "step" });
const frame = (id: string, parts: Partial<GraphFrame>): GraphFrame => ({
  id,
  label: id,
  boxes: [],
  frames: [],
  arrows: [],
  ...parts,
});
const arrow = (text: string) => ({ from: text[0] ?? "", to: text[1] ?? "" });
const step = (path: string, status: string, attempt = 1): StepView => ({
  step: `${path}@1.${attempt}`,
  path,
  kind: "command",
  status,
  attempt,
  phase: 0,
  started_at: "2026-01-01T00:00:00Z",
});

const overlap = (a: Rectangle, b: Rectangle): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

describe("the graph", () => {
  it("leads one way: what follows stands below, and what leads back is known", () => {
    const nodes = ["a", "b", "c"].map((id) => ({ id, along: 40, across: 100 }));
    const { nodes: placed, isBack } = placeLayered(nodes, ["ab", "bc", "ca", "ba"].map(arrow));
    const at = (id: string) => placed.get(id)?.along ?? -1;
    expect(at("a")).toBeLessThan(at("b"));
    expect(at("b")).toBeLessThan(at("c"));
    expect(isBack).toEqual([false, false, true, true]);
  });

  it("turns only circles round, in whatever order the steps are written", () => {
    const nodes = ["c", "b", "a"].map((id) => ({ id, along: 40, across: 100 }));
    expect(placeLayered(nodes, ["ab", "bc"].map(arrow)).isBack).toEqual([false, false]);
  });

  it("puts no box over another, whatever leads where", () => {
    const ids = "abcdefghijkl".split("");
    const edges = fc.array(fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...ids)), { maxLength: 30 });
    fc.assert(
      fc.property(edges, fc.nat(12), (pairs, split) => {
        const inner = frame("inner", { boxes: ids.slice(split).map(box) });
        const arrows = pairs.map(([from, to]) => ({ from, to }));
        const root = frame("root", { boxes: ids.slice(0, split).map(box), frames: [inner], arrows });
        const { boxes, frames, width, height } = drawGraph(root, () => false);
        expect(boxes).toHaveLength(ids.length);
        for (const [at, one] of boxes.entries()) {
          expect(boxes.slice(at + 1).some((other) => overlap(one, other))).toBe(false);
          expect(one.x >= 0 && one.y >= 0 && one.x + BOX.width <= width && one.y + BOX.height <= height).toBe(true);
        }
        const drawn = frames.find(({ frame: { id } }) => id === "inner");
        const outside = boxes.filter(({ box: { id } }) => ids.indexOf(id) < split);
        expect(outside.some((one) => drawn !== undefined && overlap(one, drawn))).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it("draws arrows between members of inner scopes as arrows of the scopes", () => {
    const root = frame("root", {
      frames: [frame("x", { boxes: [box("a")] }), frame("y", { boxes: [box("b")] })],
      arrows: [{ from: "a", to: "b" }],
    });
    const { arrows, frames } = drawGraph(root, () => false);
    const [x, y] = [frames[1], frames[2]];
    expect(arrows).toHaveLength(1);
    expect(arrows[0]?.points[0]?.y).toBe((x?.y ?? 0) + (x?.height ?? 0));
    expect(arrows[0]?.points.at(-1)?.y).toBe(y?.y);
  });

  it("shows a scope of more than 24 members as one until it is opened", () => {
    const boxes = Array.from({ length: 25 }, (_none, at) => box(`s${at}`));
    const root = frame("root", { frames: [frame("many", { boxes })] });
    expect(drawGraph(root, () => false).boxes).toHaveLength(0);
    expect(drawGraph(root, (id) => id === "many").boxes).toHaveLength(25);
  });

  it("places a thousand steps in ten layers within a second", () => {
    const name = (layer: number, at: number) => `${layer}-${at % 100}`;
    const nodes = Array.from({ length: 1000 }, (_none, at) => ({
      id: name(Math.floor(at / 100), at),
      along: 40,
      across: 100,
    }));
    const edges = Array.from({ length: 900 }, (_none, at) => at).flatMap((at) => {
      const layer = Math.floor(at / 100);
      return [0, 1].map((by) => ({ from: name(layer, at + by), to: name(layer + 1, at) }));
    });
    const begun = performance.now();
    expect(placeLayered(nodes, edges).nodes.size).toBe(1000);
    expect(performance.now() - begun).toBeLessThan(5000);
  });
});

describe("the steps behind a box", () => {
  it.each([
    ["main/visit[3]/fetch", "main/visit/fetch"],
    ["main/visit/fetch[a/b]", "main/visit/fetch"],
    ["main/each[x[1]]/do[2]", "main/each/do"],
    ["main/plain", "main/plain"],
  ])("%s belongs to %s", (path, plain) => {
    expect(pathWithoutKeys(path)).toBe(plain);
  });

  it("count once for each item, with their last attempt", () => {
    const groups = groupSteps([
      step("main/f[0]", "failed"),
      step("main/f[1]", "open"),
      step("main/f[0]", "completed", 2),
    ]);
    expect(groups.get("main/f")?.map(({ status }) => status)).toEqual(["completed", "open"]);
  });

  it("show the worst of them, also where a cell stands for several", () => {
    const steps = Array.from({ length: 100 }, (_none, at) => step(`main/f[${at}]`, at === 57 ? "failed" : "completed"));
    expect(statusOfSteps(steps)).toBe("failed");
    expect(statusOfSteps([])).toBe("pending");
    const cells = stripOf(steps, 24);
    expect(cells).toHaveLength(20);
    expect(cells.map(({ status }) => status).indexOf("failed")).toBe(11);
    expect(cells.reduce((sum, { count }) => sum + count, 0)).toBe(100);
  });
});
