/**
 * Limits of a task: iterations, working time, tokens, calls and money, over all its owners, retries and roll-backs.
 *
 * They are looked at before anything starts, and before each further call of a model inside a step. A reached limit is a
 * question: `extend` with numbers by name of the limit goes on, `stop` ends the task.
 * The rule for calls in flight: what runs is left to finish, so a limit may be passed by what was under way when it was
 * reached, and by no more. Room is kept for it: a model step starts only when what is left exceeds what the calls under
 * way will take if they are as dear as those before them. Before the first call nothing is known of that, so what may
 * start at once starts. A call of unknown price counts as unknown: it is told, and never taken for nothing. One that was
 * cut off, by a kill or a limit in time, counts as a call and is taken for as dear as those before it.
 */
import { formatCount } from "../../base/plain-text.js";
import type { JsonObject } from "../../base/json.js";
import type { StepDefinition } from "../../definition/step.js";
import { decideOnce, type Choice } from "../choice.js";
import type { EngineEvent } from "../events/events.js";
import { requireTask } from "../lookup.js";
import { keyOfLimit, type LimitName } from "../people/limit-amounts.js";
import { openQuestion } from "../people/questions.js";
import type { TaskState } from "../state/state.js";

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
    tokens: estimateUsed(totals, totals.tokensIn + totals.tokensOut, totals.calls - totals.uncountedCalls),
    calls: totals.calls,
    cost_micro_usd: estimateUsed(totals, totals.costMicroUsd, totals.calls - totals.unpricedCalls),
  };
  for (const name of ["seconds", "tokens", "calls", "cost_micro_usd"] as const) {
    if (used[name] >= maxima[name]) return { name, used: used[name], max: maxima[name] };
  }
  return undefined;
}

/** Calls that were cut off are taken for as dear as those of which it is known. */
function estimateUsed({ uncountedCalls }: TaskState["totals"], known: number, knownCalls: number): number {
  return known + Math.ceil(uncountedCalls * ratio(known, knownCalls));
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

/** True for steps that call a model. */
export function callsModel(node: StepDefinition): boolean {
  return node.kind === "model" || node.kind === "cli" || (node.kind === "scorer" && node.scorer.by === "model");
}

/** True when the calls under way will take what is left; `planned` are those that this very choice starts. */
export function isRoomTaken({ state }: Choice, planned: number): boolean {
  const { tokens, calls, cost_micro_usd: cost } = computeMaxima(state);
  if (tokens === Infinity && calls === Infinity && cost === Infinity) return false;
  const underWay = planned + countUnderWay(state);
  if (underWay === 0) return false;
  const { totals } = state;
  const usedTokens = totals.tokensIn + totals.tokensOut;
  return (
    totals.calls + underWay >= calls ||
    usedTokens + underWay * ratio(usedTokens, totals.calls) >= tokens ||
    totals.costMicroUsd + underWay * ratio(totals.costMicroUsd, totals.calls - totals.unpricedCalls) >= cost
  );
}

function ratio(sum: number, count: number): number {
  return count > 0 ? sum / count : 0;
}

function countUnderWay(state: TaskState): number {
  let count = 0;
  for (const id of state.open) {
    const kind = state.steps.get(id)?.kind;
    if (kind === "model" || kind === "cli") count += 1;
  }
  return count;
}

/** What is said of the budget, once each: that it is reached where it stops nothing, and that it cannot see every call. */
export function noteBudget(choice: Choice): readonly EngineEvent[] {
  const { totals } = choice.state;
  const { costMicroUsdMax, costMicroUsdAudited } = requireTask(choice.state).definition.limits;
  const notes: EngineEvent[] = [];
  if (costMicroUsdAudited !== undefined && totals.costMicroUsd >= costMicroUsdAudited)
    notes.push(
      ...decideOnce(choice, {
        agent: "engine",
        type: "budget_reached",
        description: `the budget of ${formatUsd(costMicroUsdAudited)} is reached; the task goes on`,
        rationale: "budget_mode is audit: it is told and stops nothing",
        subject: "task",
        facts: { budget_micro_usd: costMicroUsdAudited },
      }),
    );
  if ((costMicroUsdMax ?? costMicroUsdAudited) !== undefined && totals.unpricedCalls > 0)
    notes.push(
      ...decideOnce(choice, {
        agent: "engine",
        type: "budget_incomplete",
        description: "the budget does not see every call",
        rationale:
          "calls without a known price are counted as unknown, not as nothing; give prices, or limit the calls",
        subject: "task",
        facts: { unpriced: true },
      }),
    );
  return notes;
}

function formatUsd(microUsd: number): string {
  return `$${(microUsd / 1_000_000).toFixed(2)}`;
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

const MARK_MS_MIN = 250;
const MARK_MS_MAX = 60_000;
/** Of the limit: what a kill may take away. */
const MARK_SHARE = 1 / 20;

/**
 * When the time worked so far is to be recorded, in a task that is limited in time: a kill takes away what came after.
 *
 * Units: the twentieth part of the limit, from a quarter of a second to a minute, after the last event.
 */
export function markAtMs(state: TaskState): number | undefined {
  const { seconds } = computeMaxima(state);
  if (seconds === Infinity || (state.open.size === 0 && state.waiting.size === 0)) return undefined;
  return state.atMs + Math.min(Math.max(seconds * 1_000 * MARK_SHARE, MARK_MS_MIN), MARK_MS_MAX);
}

/** The time so far, where it is due. */
export function countTime(choice: Choice): readonly EngineEvent[] {
  const dueAtMs = markAtMs(choice.state);
  return dueAtMs !== undefined && dueAtMs <= choice.nowMs ? [{ type: "time_counted", atMs: choice.nowMs }] : [];
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
    text: `${describeReached(limit)}${describeUnknown(choice, limit)}; extend it or stop?`,
    options: [
      {
        value: "extend",
        label: `raise the limit, e.g. ${keyOfLimit(limit.name)}=10`,
        takesValue: true,
        promptFor: "amount",
      },
      { value: "stop", label: "end the task here" },
    ],
    facts,
  });
  return [question];
}

function describeReached({ name, max, used }: ReachedLimit): string {
  if (name === "cost_micro_usd") return `the budget of ${formatUsd(max)} is reached (${formatUsd(used)} spent)`;
  return `the limit of ${max} ${name} is reached (${used} used)`;
}

function describeUnknown({ state }: Choice, { name }: ReachedLimit): string {
  const { unpricedCalls, uncountedCalls } = state.totals;
  const isOfUse = name === "cost_micro_usd" || name === "tokens";
  const cut = formatCount(uncountedCalls, "call");
  const estimated =
    isOfUse && uncountedCalls > 0 ? `, with ${cut} of unknown size taken for as dear as the others` : "";
  return name === "cost_micro_usd" && unpricedCalls > 0
    ? `${estimated}, and ${formatCount(unpricedCalls, "call")} of unknown price`
    : estimated;
}
