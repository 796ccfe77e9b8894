/**
 * A drawing as DOT text for Graphviz.
 *
 * DOT has arrows between boxes only: one that ends at a frame goes to a box inside it and is clipped at the frame
 * (`lhead`, `ltail`), which `compound=true` allows. A frame without a box gets an invisible one.
 */
import type { Arrow, Box, Frame } from "./drawing.js";
import { collectArrows } from "./mermaid-text.js";

const SHAPES: Readonly<Record<Box["shape"], string>> = {
  step: "box",
  model: "ellipse",
  choice: "hexagon",
  start: "circle",
  end: "doublecircle",
};

export function formatDot(root: Frame): string {
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

function collectFrames(frame: Frame): Frame[] {
  return [frame, ...frame.frames.flatMap(collectFrames)];
}

function formatFrame(frame: Frame, indent: string): string[] {
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

function formatArrow({ from, to, label, dashed }: Arrow, frames: ReadonlyMap<string, Frame>): string {
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

function anchorOf(frame: Frame): string {
  return firstBox(frame)?.id ?? emptyBoxOf(frame);
}

function emptyBoxOf(frame: Frame): string {
  return `${frame.id}_empty`;
}

function firstBox(frame: Frame): Box | undefined {
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
