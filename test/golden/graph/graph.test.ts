/** Frozen drawings of a workflow with every scope, each read by a reader of its format. */
import { parse } from "@ts-graphviz/ast";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { formatDot } from "../../../src/runtime/verbs/reports/dot-text.js";
import type { GraphFrame } from "../../../src/runtime/contract.js";
import { drawWorkflow } from "../../../src/runtime/verbs/reports/drawing.js";
import { collectArrows, formatMermaid } from "../../../src/runtime/verbs/reports/mermaid-text.js";
import { loadText } from "../../support/workflow-files.js";

const read = (name: string): string => readFileSync(new URL(`files/${name}`, import.meta.url), "utf8");

async function draw(): Promise<GraphFrame> {
  const files = { "/work/inner.yaml": read("inner.yaml"), "/work/work.mjs": "export const right = () => 1;\n" };
  return drawWorkflow((await loadText(read("every-scope.yaml"), { files })).definition);
}

function collectFrames(frame: GraphFrame): GraphFrame[] {
  return [frame, ...frame.frames.flatMap(collectFrames)];
}

interface Node {
  readonly type: string;
  readonly id?: { readonly value: string };
  readonly key?: { readonly value: string };
  readonly value?: { readonly value: string };
  readonly targets?: readonly Node[];
  readonly children?: readonly Node[];
}

/** What a reader of DOT sees: clusters with the boxes inside them, and edges with their attributes. */
function readDot(text: string) {
  const boxes = new Map<string, readonly string[]>();
  const clusters = new Set<string>();
  const edges: { ends: readonly string[]; attributes: Readonly<Record<string, string>> }[] = [];
  const visit = (node: Node, trail: readonly string[]): void => {
    const name = node.id?.value ?? "";
    const children = node.children ?? [];
    if (node.type === "Node") boxes.set(name, trail);
    if (node.type === "Edge") {
      const attributes = Object.fromEntries(
        children.flatMap(({ key, value }) => (key === undefined ? [] : [[key.value, value?.value ?? ""]])),
      );
      edges.push({ ends: (node.targets ?? []).map(({ id }) => id?.value ?? ""), attributes });
    }
    if (node.type === "Subgraph") clusters.add(name);
    for (const child of children) visit(child, node.type === "Subgraph" ? [...trail, name] : trail);
  };
  visit(parse(text) as unknown as Node, []);
  return { boxes, clusters, edges };
}

describe("the drawing of every scope", () => {
  it.each([
    ["mermaid", formatMermaid, "every-scope.mmd"],
    ["DOT", formatDot, "every-scope.dot"],
  ])("is the frozen one as %s", async (_format, format, file) => {
    expect(format(await draw())).toBe(read(file));
  });

  it("has every step once, every scope as a cluster, and arrows that end at their boxes, as DOT", async () => {
    const root = await draw();
    const { boxes, clusters, edges } = readDot(formatDot(root));
    const frames = collectFrames(root);
    expect([...clusters].sort()).toEqual(frames.map(({ id }) => `cluster_${id}`).sort());
    expect([...boxes.keys()].sort()).toEqual(frames.flatMap((frame) => frame.boxes.map(({ id }) => id)).sort());
    expect(edges).toHaveLength(collectArrows(root).length);
    for (const { ends, attributes } of edges) {
      const [from = "", to = ""] = ends;
      expect({ from: boxes.has(from), to: boxes.has(to) }).toEqual({ from: true, to: true });
      // An arrow is clipped at a frame only if its end lies inside.
      for (const [end, frame] of [[from, attributes["ltail"]], [to, attributes["lhead"]]] as const)
        expect(frame === undefined || boxes.get(end)?.includes(frame)).toBe(true);
    }
  });

  it("has lines of the known forms only, and arrows between what is there, as Mermaid", async () => {
    const root = await draw();
    const [head, ...lines] = formatMermaid(root).trimEnd().split("\n");
    expect(head).toBe("flowchart TB");
    const known = new Set<string>();
    let depth = 0;
    for (const line of lines) {
      const box = /^\s+(?:subgraph )?(n\d+)(?:\["[^"]*"\]|\(\["[^"]*"\]\)|\{\{"[^"]*"\}\}|\(\("[^"]*"\)\))$/.exec(line);
      const arrow = /^ {2}(n\d+) (?:-->|-\.->)(?:\|"[^"|]*"\|)? (n\d+)$/.exec(line);
      depth += /^\s+subgraph /.test(line) ? 1 : /^\s+end$/.test(line) ? -1 : 0;
      if (box !== null) known.add(box[1] ?? "");
      else if (arrow === null) expect(line).toMatch(/^\s+end$/);
      else expect([known.has(arrow[1] ?? ""), known.has(arrow[2] ?? "")]).toEqual([true, true]);
    }
    expect(depth).toBe(0);
    const frames = collectFrames(root);
    expect(known.size).toBe(frames.length + frames.flatMap((frame) => frame.boxes).length);
  });
});
