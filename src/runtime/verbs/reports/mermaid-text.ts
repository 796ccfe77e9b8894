/**
 * A drawing as Mermaid text (`flowchart`), as GitHub and editors show it.
 *
 * Labels are quoted and everything that Mermaid or HTML would read in them is written as a numeric entity.
 */
import type { Arrow, Box, Frame } from "./drawing.js";

const SHAPES: Readonly<Record<Box["shape"], readonly [string, string]>> = {
  step: ["[", "]"],
  model: ["([", "])"],
  choice: ["{{", "}}"],
  start: ["((", "))"],
  end: ["((", "))"],
};

export function formatMermaid(root: Frame): string {
  return ["flowchart TB", ...formatFrame(root, "  "), ...collectArrows(root).map((arrow) => `  ${formatArrow(arrow)}`)]
    .join("\n")
    .concat("\n");
}

function formatFrame(frame: Frame, indent: string): string[] {
  return [
    `${indent}subgraph ${frame.id}["${escapeLabel(frame.label)}"]`,
    ...frame.boxes.map((box) => `${indent}  ${formatBox(box)}`),
    ...frame.frames.flatMap((inner) => formatFrame(inner, `${indent}  `)),
    `${indent}end`,
  ];
}

function formatBox({ id, label, shape }: Box): string {
  const [open, close] = SHAPES[shape];
  return `${id}${open}"${escapeLabel(label)}"${close}`;
}

function formatArrow({ from, to, label, dashed }: Arrow): string {
  const line = dashed === true ? "-.->" : "-->";
  return `${from} ${line}${label === undefined ? "" : `|"${escapeLabel(label)}"|`} ${to}`;
}

/** All arrows of a frame and what is inside it, outer ones first. */
export function collectArrows(frame: Frame): Arrow[] {
  return [...frame.arrows, ...frame.frames.flatMap(collectArrows)];
}

function escapeLabel(text: string): string {
  return text
    .replaceAll(/[^\p{L}\p{N}\n ,.:;?!%$/()=+*_-]/gu, (character) => `#${character.codePointAt(0) ?? 63};`)
    .replaceAll("\n", "<br/>");
}
