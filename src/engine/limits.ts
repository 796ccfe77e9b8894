/**
 * Limits of a task: iterations, working time, tokens, calls and money, over all its owners, retries and roll-backs.
 *
 * They are looked at before anything starts. A reached limit is a question: `extend` with numbers by name of the limit
 * goes on, `stop` ends the task. What runs is left to finish.
 */
import type { JsonObject } from "../base/json.js";
import type { Choice } from "./choice.js";
import type { EngineEvent } from "./events.js";
import { requireTask } from "./lookup.js";
import { openQuestion } from "./questions.js";
import type { TaskState } from "./state.js";

export type LimitName = "iterations" | "seconds" | "tokens" | "calls" | "cost_micro_usd";

export interface ReachedLimit {
  readonly name: LimitName;
  readonly used: number;
  readonly max: number;
}

/**
 * The first limit that stands against starting `count` more steps now; against none more: against what goes on.
 *
 * Items of a for_each count, and are not stopped by the number of iterations: the list is known before it begins.
 */
export function findReachedLimit(choice: Choice, count: number | "item"): ReachedLimit | undefined {
  const { totals } = choice.state;
  const maxima = computeMaxima(choice.state);
  if (count !== "item" && count > 0 && totals.iterations + count > maxima.iterations)
    return { name: "iterations", used: totals.iterations, max: maxima.iterations };
  const used: Readonly<Record<Exclude<LimitName, "iterations">, number>> = {
    seconds: computeElapsedMs(choice.state, choice.nowMs) / 1_000,
    tokens: totals.tokensIn + totals.tokensOut,
    calls: totals.calls,
    cost_micro_usd: totals.costMicroUsd,
  };
  for (const name of ["seconds", "tokens", "calls", "cost_micro_usd"] as const) {
    if (used[name] >= maxima[name]) return { name, used: used[name], max: maxima[name] };
  }
  return undefined;
}

function computeMaxima(state: TaskState): Readonly<Record<LimitName, number>> {
  const { definition, extended } = requireTask(state);
  const { limits } = definition;
  const add = (name: LimitName, max: number | undefined) =>
    max === undefined ? Infinity : max + (extended[name] ?? 0);
  return {
    iterations: add("iterations", limits.maxIterations),
    seconds: add("seconds", limits.timeoutMs === undefined ? undefined : limits.timeoutMs / 1_000),
    tokens: add("tokens", limits.tokensMax),
    calls: add("calls", limits.callsMax),
    cost_micro_usd: add("cost_micro_usd", limits.costMicroUsdMax),
  };
}

/** Working time up to now. Units: milliseconds. */
export function computeElapsedMs(state: TaskState, nowMs: number): number {
  const isWorking = state.task?.status === "running" && (state.open.size > 0 || state.waiting.size > 0);
  return state.totals.elapsedMs + (isWorking ? Math.max(0, nowMs - state.atMs) : 0);
}

/** When the limit on working time is reached if work goes on; `undefined` without one or when nothing works. */
export function timeLimitAtMs(state: TaskState): number | undefined {
  const { seconds } = computeMaxima(state);
  if (seconds === Infinity || (state.open.size === 0 && state.waiting.size === 0)) return undefined;
  return state.atMs + Math.max(0, seconds * 1_000 - state.totals.elapsedMs);
}

/** True while a person is asked about a limit: nothing starts. */
export function isLimitOpen(state: TaskState): boolean {
  for (const id of state.unsettled) if (state.questions.get(id)?.kind === "limit") return true;
  return false;
}

export function openLimitQuestion(choice: Choice, limit: ReachedLimit): readonly EngineEvent[] {
  if (isLimitOpen(choice.state)) return [];
  const facts: JsonObject = { limit: limit.name, used: limit.used, max: limit.max };
  const question = openQuestion(choice, {
    kind: "limit",
    subject: "task",
    text: `the limit of ${limit.max} ${limit.name.replaceAll("_", " ")} is reached (${limit.used} used); extend it or stop?`,
    options: [
      { value: "extend", label: `raise the limit, e.g. {"${limit.name}": 10}`, takesValue: true },
      { value: "stop", label: "end the task here" },
    ],
    facts,
  });
  return [question];
}
