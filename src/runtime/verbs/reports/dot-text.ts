/**
 * A drawing as DOT text for Graphviz.
 *
 * DOT has arrows between boxes only: one that ends at a frame goes to a box inside it and is clipped at the frame
 * (`lhead`, `ltail`), which `compound=true` allows. A frame without a box gets an invisible one.
 */
import type { GraphArrow, GraphBox, GraphFrame } from "../../views/face-views.js";
import { collectArrows } from "./mermaid-text.js";

const SHAPES: Readonly<Record<GraphBox["shape"], string>> = {
  step: "box",
  model: "ellipse",
  choice: "hexagon",
  start: "circle",
  end: "doublecircle",
};

export function formatDot(root: GraphFrame): string {
  const frames = new Map(collectFrames(root).map((frame) => [frame.id, frame]));
  return [
    "digraph workflow {",
    "  graph [compound=true, rankdir=TB];",
    '  node [fontname="sans-serif"];',
    ...formatFrame(root, "  "),
    ...collectArrows(root).map((arrow) => `  ${formatArrow(arrow, frames)}`),
    "}",
    "",
  ].join("\n");
}

function collectFrames(frame: GraphFrame): GraphFrame[] {
  return [frame, ...frame.frames.flatMap(collectFrames)];
}

function formatFrame(frame: GraphFrame, indent: string): string[] {
  const inside = `${indent}  `;
  return [
    `${indent}subgraph cluster_${frame.id} {`,
    `${inside}label=${quote(frame.label)};`,
    ...(firstBox(frame) === undefined ? [`${inside}${emptyBoxOf(frame)} [style=invis];`] : []),
    ...frame.boxes.map(({ id, label, shape }) => `${inside}${id} [label=${quote(label)}, shape=${SHAPES[shape]}];`),
    ...frame.frames.flatMap((inner) => formatFrame(inner, inside)),
    `${indent}}`,
  ];
}

function formatArrow({ from, to, label, dashed }: GraphArrow, frames: ReadonlyMap<string, GraphFrame>): string {
  const source = frames.get(from);
  const target = frames.get(to);
  const attributes = [
    ...(label === undefined ? [] : [`label=${quote(label)}`]),
    ...(dashed === true ? ["style=dashed"] : []),
    ...(source === undefined ? [] : [`ltail=cluster_${from}`]),
    ...(target === undefined ? [] : [`lhead=cluster_${to}`]),
  ];
  const ends = `${source === undefined ? from : anchorOf(source)} -> ${target === undefined ? to : anchorOf(target)}`;
  return `${ends}${attributes.length === 0 ? "" : ` [${attributes.join(", ")}]`};`;
}

function anchorOf(frame: GraphFrame): string {
  return firstBox(frame)?.id ?? emptyBoxOf(frame);
}

function emptyBoxOf(frame: GraphFrame): string {
  return `${frame.id}_empty`;
}

function firstBox(frame: GraphFrame): GraphBox | undefined {
  if (frame.boxes[0] !== undefined) return frame.boxes[0];
  for (const inner of frame.frames) {
    const box = firstBox(inner);
    if (box !== undefined) return box;
  }
  return undefined;
}

function quote(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
