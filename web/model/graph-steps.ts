/**
 * Which steps stand behind a box of the drawing, and how they fare.
 *
 * A step's path is the box's, with keys of items and visits in brackets or after `@`: `main/each[3]/fetch` belongs to
 * the box `main/each/fetch`. A box has as many cells as there are such paths; the last attempt counts.
 */
import type { GraphBox, GraphFrame, StepView } from "../../src/runtime/contract.js";

/** The path without what is only of an item: what brackets hold may itself have brackets and slashes. */
export function pathWithoutKeys(path: string): string {
  let depth = 0;
  let plain = "";
  for (const character of path) {
    if (character === "[") depth += 1;
    else if (character === "]" && depth > 0) depth -= 1;
    else if (depth === 0) plain += character;
  }
  return plain;
}

export type StepsByBox = ReadonlyMap<string, readonly StepView[]>;

/** Shape: by path of the definition; of each path of a step its last one, in the order they began. */
export function groupSteps(steps: readonly StepView[]): StepsByBox {
  const groups = new Map<string, Map<string, StepView>>();
  for (const step of steps) {
    const plain = pathWithoutKeys(step.path);
    const group = groups.get(plain) ?? new Map<string, StepView>();
    groups.set(plain, group.set(step.path, step));
  }
  return new Map([...groups].map(([path, group]) => [path, [...group.values()]]));
}

/** What is worst or most urgent counts for all. */
const WEIGHT = ["failed", "unknown", "asked", "parked", "open", "waiting_retry", "cancelled", "completed", "skipped"];

export function statusOfSteps(steps: readonly StepView[]): string {
  const found = new Set(steps.map(({ status }) => status));
  return WEIGHT.find((status) => found.has(status)) ?? "pending";
}

/** Boxes of a frame and of all frames in it. */
export function listBoxes(frame: GraphFrame): GraphBox[] {
  return [...frame.boxes, ...frame.frames.flatMap(listBoxes)];
}

export function stepsOfFrame(frame: GraphFrame, groups: StepsByBox): StepView[] {
  return listBoxes(frame).flatMap(({ path }) => (path === undefined ? [] : (groups.get(path) ?? [])));
}

export interface StripCell {
  readonly status: string;
  /** How many steps it stands for. */
  readonly count: number;
}

/** A strip of at most `cells` cells; a cell shows the worst of the steps it stands for. */
export function stripOf(steps: readonly StepView[], cells: number): StripCell[] {
  const each = Math.max(1, Math.ceil(steps.length / cells));
  const count = Math.ceil(steps.length / each);
  return Array.from({ length: count }, (_none, at) => {
    const part = steps.slice(at * each, (at + 1) * each);
    return { status: statusOfSteps(part), count: part.length };
  });
}
