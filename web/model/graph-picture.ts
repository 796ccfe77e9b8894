/**
 * The drawing of a task's definition as boxes, frames and curves with coordinates: each scope is placed on its own, from
 * the innermost outwards, and stands in the scope above as one node.
 *
 * Units: pixels, from the upper left corner of the whole.
 */
import type { GraphArrow, GraphBox, GraphFrame } from "../../src/runtime/contract.js";
import { placeLayered, type Layout, type LayoutNode, type Placed } from "./layered-layout.js";

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface DrawnBox extends Rectangle {
  readonly box: GraphBox;
}

export interface DrawnFrame extends Rectangle {
  readonly frame: GraphFrame;
  readonly depth: number;
  /** Shown as one box with a strip of cells. */
  readonly isClosed: boolean;
}

export interface DrawnArrow {
  readonly arrow: GraphArrow;
  readonly points: readonly Point[];
  readonly isBack: boolean;
  /** Its first and last stretch lead this way. */
  readonly way: Way;
  /** Where its words are least in the way of others: at the end where fewer arrows meet. */
  readonly label: Point;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export type Way = "down" | "right";

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly DrawnBox[];
  readonly frames: readonly DrawnFrame[];
  readonly arrows: readonly DrawnArrow[];
}

export const BOX = { width: 184, height: 46 };
/** A scope with more members is closed until it is opened. */
export const MEMBERS_MAX = 24;
const CLOSED = { width: 264, height: 84 };
const PAD = 18;
const TITLE = 30;
/** Layers wider than this run from left to right, so that the names stand below each other. */
const WIDE = 5;
const BACK_ASIDE = 16;

/** `isOpen`: whether a large scope, by id, was opened. */
export function drawGraph(root: GraphFrame, isOpen: (id: string) => boolean): Picture {
  return drawFrame(root, { depth: 0, isOpen });
}

interface FrameContext {
  readonly depth: number;
  readonly isOpen: (id: string) => boolean;
}

function drawFrame(frame: GraphFrame, { depth, isOpen }: FrameContext): Picture {
  if (frame.boxes.length > MEMBERS_MAX && !isOpen(frame.id)) return drawClosed(frame, depth);
  const inner = new Map(frame.frames.map((child) => [child.id, drawFrame(child, { depth: depth + 1, isOpen })]));
  const owners = ownersOf(frame);
  const edges = frame.arrows.flatMap((arrow) => {
    const [from, to] = [owners.get(arrow.from), owners.get(arrow.to)];
    return from === undefined || to === undefined ? [] : [{ from, to, arrow }];
  });
  const sizes = new Map<string, { width: number; height: number }>(frame.boxes.map(({ id }) => [id, BOX]));
  for (const [id, { width, height }] of inner) sizes.set(id, { width, height });
  const { layout, way } = place(sizes, edges);
  const [inside, height] = way === "down" ? [layout.across, layout.along] : [layout.along, layout.across];
  const size = { width: Math.max(inside + 2 * PAD, titleWidth(frame)), height: TITLE + height + PAD };
  const left = (size.width - inside) / 2;
  const at = (placed: Placed): Point =>
    way === "down"
      ? { x: left + placed.across, y: TITLE + placed.along }
      : { x: left + placed.along, y: TITLE + placed.across };
  const middle = (id: string): Point => at(layout.nodes.get(id) ?? { along: 0, across: 0 });
  const parts = [...inner].map(([id, picture]) => {
    const { x, y } = middle(id);
    return movePicture(picture, x - picture.width / 2, y - picture.height / 2);
  });
  const boxes = frame.boxes.map((box) => {
    const { x, y } = middle(box.id);
    return { box, x: x - BOX.width / 2, y: y - BOX.height / 2, ...BOX };
  });
  const [leaving, coming] = [countBy(edges.map(({ from }) => from)), countBy(edges.map(({ to }) => to))];
  const arrows = edges.map(({ arrow, from, to }, index) => {
    const isBack = layout.isBack[index] ?? false;
    const bends = (layout.bends[index] ?? []).map(at);
    const ends = { from: half(sizes.get(from), way), to: half(sizes.get(to), way), way };
    const points = trimEnds(isBack ? bends.map((point) => aside(point, way)) : bends, ends);
    const crowd = (leaving.get(from) ?? 0) - (coming.get(to) ?? 0);
    return {
      arrow,
      way,
      isBack,
      points,
      label: placeLabel(points, crowd === 0 ? "middle" : crowd > 0 ? "end" : "start"),
    };
  });
  return {
    ...size,
    boxes: [...boxes, ...parts.flatMap((part) => part.boxes)],
    frames: [{ frame, depth, x: 0, y: 0, ...size, isClosed: false }, ...parts.flatMap((part) => part.frames)],
    arrows: [...arrows.filter(({ points }) => points.length > 1), ...parts.flatMap((part) => part.arrows)],
  };
}

function drawClosed(frame: GraphFrame, depth: number): Picture {
  return { ...CLOSED, boxes: [], arrows: [], frames: [{ frame, depth, x: 0, y: 0, ...CLOSED, isClosed: true }] };
}

/** By id of anything inside: the box or frame directly in the scope that holds it. */
function ownersOf(frame: GraphFrame): Map<string, string> {
  const owners = new Map(frame.boxes.map(({ id }) => [id, id]));
  const claim = (child: GraphFrame, owner: string): void => {
    owners.set(child.id, owner);
    for (const { id } of child.boxes) owners.set(id, owner);
    for (const grandchild of child.frames) claim(grandchild, owner);
  };
  for (const child of frame.frames) claim(child, child.id);
  return owners;
}

interface Edge {
  readonly from: string;
  readonly to: string;
}

function place(
  sizes: ReadonlyMap<string, { width: number; height: number }>,
  edges: readonly Edge[],
): { readonly layout: Layout; readonly way: Way } {
  const nodesOf = (way: Way): LayoutNode[] =>
    [...sizes].map(([id, { width, height }]) =>
      way === "down" ? { id, along: height, across: width } : { id, along: width, across: height },
    );
  const down = placeLayered(nodesOf("down"), edges);
  const inLayer = countBy([...down.nodes.values()].map(({ along }) => along));
  if (Math.max(0, ...inLayer.values()) <= WIDE) return { layout: down, way: "down" };
  return { layout: placeLayered(nodesOf("right"), edges), way: "right" };
}

function countBy<K>(keys: readonly K[]): Map<K, number> {
  const counts = new Map<K, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function half(size: { readonly width: number; readonly height: number } | undefined, way: Way): number {
  return size === undefined ? 0 : (way === "down" ? size.height : size.width) / 2;
}

/** An arrow back runs beside the one there. */
function aside({ x, y }: Point, way: Way): Point {
  return way === "down" ? { x: x + BACK_ASIDE, y } : { x, y: y + BACK_ASIDE };
}

/** From border to border instead of from middle to middle. */
function trimEnds(
  points: readonly Point[],
  { from, to, way }: { readonly from: number; readonly to: number; readonly way: Way },
): Point[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return [];
  const ahead = way === "down" ? Math.sign(last.y - first.y) : Math.sign(last.x - first.x);
  const move = ({ x, y }: Point, by: number): Point => (way === "down" ? { x, y: y + by } : { x: x + by, y });
  return [move(first, from * ahead), ...points.slice(1, -1), move(last, -to * ahead)];
}

function titleWidth({ label }: GraphFrame): number {
  return Math.min(420, label.length * 7 + 64);
}

function movePicture(picture: Picture, dx: number, dy: number): Picture {
  const move = <T extends Point>(part: T): T => ({ ...part, x: part.x + dx, y: part.y + dy });
  return {
    ...picture,
    boxes: picture.boxes.map(move),
    frames: picture.frames.map(move),
    arrows: picture.arrows.map((arrow) => ({ ...arrow, points: arrow.points.map(move), label: move(arrow.label) })),
  };
}

const LABEL_SHARE = { start: 0.3, middle: 0.5, end: 0.68 };

function placeLabel(points: readonly Point[], where: keyof typeof LABEL_SHARE): Point {
  const at = where === "end" ? points.length - 2 : where === "start" ? 0 : Math.floor((points.length - 2) / 2);
  const [from, to] = [points[Math.max(0, at)], points[Math.max(0, at) + 1]];
  if (from === undefined || to === undefined) return { x: 0, y: 0 };
  const share = LABEL_SHARE[where];
  const smooth = share * share * (3 - 2 * share);
  return { x: from.x + (to.x - from.x) * smooth, y: from.y + (to.y - from.y) * share };
}

/** A smooth way through the points, as the `d` of a path. */
export function curveThrough(points: readonly Point[], way: Way): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  let from = first;
  let curve = `M${round(first.x)},${round(first.y)}`;
  for (const to of rest) {
    const [mx, my] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
    curve +=
      way === "down"
        ? `C${round(from.x)},${round(my)} ${round(to.x)},${round(my)} ${round(to.x)},${round(to.y)}`
        : `C${round(mx)},${round(from.y)} ${round(mx)},${round(to.y)} ${round(to.x)},${round(to.y)}`;
    from = to;
  }
  return curve;
}

const round = (value: number): number => Math.round(value * 10) / 10;
