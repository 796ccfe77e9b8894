/** How one process is to execute a task: what a caller said of it, read once, and passed on whole as far as the engine. */
import type { OnUnknown } from "../../definition/model/values.js";
import type { ExecutionOptions } from "../views/verb-views.js";
import { parseUnknownFlags, type UnknownAnswer } from "./answer-flags.js";
import { presetsOf, type Presets } from "./preset-answers.js";

export interface Execution {
  /** What is said of single steps of unknown outcome, by identity, path or name. */
  readonly unknown: Readonly<Record<string, UnknownAnswer>>;
  /** What is said of all the others. */
  readonly onUnknown: OnUnknown | undefined;
  readonly presets: Presets;
  /** Longest wait that is slept through; Infinity: all of it. */
  readonly sleepMsMax: number;
  /** Steps to stop before, by path or name. */
  readonly breakAt: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/** Longest wait slept out where nothing is said of it. */
const SLEEP_MS_MAX = 60_000;

/** Errors: USAGE_INVALID. */
export function readExecution(options: ExecutionOptions): Execution {
  const { unknown, onUnknown, wait, breakAt = [], signal } = options;
  const sleepMsMax = wait === undefined ? SLEEP_MS_MAX : wait ? Infinity : 0;
  return {
    unknown: parseUnknownFlags(unknown),
    onUnknown,
    presets: presetsOf(options),
    sleepMsMax,
    breakAt,
    signal,
  };
}
