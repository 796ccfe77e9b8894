/**
 * A drawing as Mermaid text (`flowchart`), as GitHub and editors show it.
 *
 * Labels are quoted and everything that Mermaid or HTML would read in them is written as a numeric entity.
 */
import type { GraphArrow, GraphBox, GraphFrame } from "../../views/face-views.js";

const SHAPES: Readonly<Record<GraphBox["shape"], readonly [string, string]>> = {
  step: ["[", "]"],
  model: ["([", "])"],
  choice: ["{{", "}}"],
  start: ["((", "))"],
  end: ["((", "))"],
};

export function formatMermaid(root: GraphFrame): string {
  return ["flowchart TB", ...formatFrame(root, "  "), ...collectArrows(root).map((arrow) => `  ${formatArrow(arrow)}`)]
    .join("\n")
    .concat("\n");
}

function formatFrame(frame: GraphFrame, indent: string): string[] {
  return [
    `${indent}subgraph ${frame.id}["${escapeLabel(frame.label)}"]`,
    ...frame.boxes.map((box) => `${indent}  ${formatBox(box)}`),
    ...frame.frames.flatMap((inner) => formatFrame(inner, `${indent}  `)),
    `${indent}end`,
  ];
}

function formatBox({ id, label, shape }: GraphBox): string {
  const [open, close] = SHAPES[shape];
  return `${id}${open}"${escapeLabel(label)}"${close}`;
}

function formatArrow({ from, to, label, dashed }: GraphArrow): string {
  const line = dashed === true ? "-.->" : "-->";
  return `${from} ${line}${label === undefined ? "" : `|"${escapeLabel(label)}"|`} ${to}`;
}

/** All arrows of a frame and what is inside it, outer ones first. */
export function collectArrows(frame: GraphFrame): GraphArrow[] {
  return [...frame.arrows, ...frame.frames.flatMap(collectArrows)];
}

function escapeLabel(text: string): string {
  return text
    .replaceAll(/[^\p{L}\p{N}\n ,.:;?!%$/()=+*_-]/gu, (character) => `#${character.codePointAt(0) ?? 63};`)
    .replaceAll("\n", "<br/>");
}
