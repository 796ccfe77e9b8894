/** How the children of a scope end. */
import type { StepError } from "./events.js";
import type { ValueRef } from "./value-ref.js";

/**
 * How a child of a scope ended. `skipped`: by a person's choice, a shortfall; `omitted`: for its condition or for what it
 * depends on, as the workflow wants it; `declined`: done, by an answer that skips what depends on it. Those that were never
 * started are in none of them.
 */
export type ChildEnd = "done" | "partial" | "failed" | "skipped" | "omitted" | "declined";

/** A group of specialists as it stood after the best iteration. */
export interface BestGroup {
  readonly end: ChildEnd;
  /** Its steps that reported a confidence. */
  readonly reporting: readonly string[];
  /** The outputs of the group and of what is in it, by path, in the order they came. */
  readonly outputs: readonly { readonly path: string; readonly value: ValueRef; readonly by: string }[];
  readonly cause?: StepError;
}
