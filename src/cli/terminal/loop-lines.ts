/**
 * Loops on a terminal: while one goes on it is a counter in the live view, and what stays of it is one line.
 *
 * It learns of a loop when it begins, or, in a task that is resumed, when an item of it is heard of.
 */
import { formatCount, formatDuration } from "../../base/plain-text.js";
import { nameStep } from "../../base/step-name.js";
import type { EventView, Splashdown } from "../../runtime/contract.js";

interface Loop {
  readonly count: number;
  /** Not known of a loop that began before this process. */
  readonly startedAt?: string;
}

export class LoopLines {
  readonly #loops = new Map<string, Loop>();

  constructor(private readonly splashdown: Pick<Splashdown, "running">) {}

  /** The line about a loop that ended; `undefined` for any other event. Called with each event in its order. */
  note({ type, at, event }: EventView): string | undefined {
    const { path, count, step, outcome } = event;
    if (typeof step === "string" && isOfItem(step)) this.#learn(step);
    if (typeof path !== "string") return undefined;
    if (type === "scope_entered" && typeof count === "number") this.#loops.set(path, { count, startedAt: at });
    const loop = this.#loops.get(path);
    if (type !== "scope_left" || loop === undefined || typeof outcome !== "string") return undefined;
    this.#loops.delete(path);
    const { count: items, startedAt } = loop;
    const took =
      startedAt === undefined ? "" : ` in ${formatDuration((Date.parse(at) - Date.parse(startedAt)) / 1000)}`;
    return `${nameStep(path)} ${outcome}: ${formatCount(items, "item")}${took}`;
  }

  #learn(step: string): void {
    if ([...this.#loops.keys()].some((path) => step.startsWith(`${path}/`))) return;
    for (const { loops } of this.splashdown.running())
      for (const { path, count } of loops) if (!this.#loops.has(path)) this.#loops.set(path, { count });
  }
}

/** True for a step of an item of a loop, or of something below it. */
export function isOfItem(step: string): boolean {
  return step.includes("[");
}
