/**
 * Limits of a workflow: iterations, working time, tokens, calls and money, over all owners, retries and roll-backs; of the
 * task's own workflow and of each nested one (limited-scopes.ts).
 *
 * They are looked at before anything starts, and before each further call of a model inside a step. A reached limit is a
 * question (limit-question.ts): `extend` with numbers by name of the limit goes on, `stop` ends the task. A limit in time
 * ends what runs (time-limits.ts).
 * The rule for calls in flight: what runs is left to finish, so a limit may be passed by what was under way when it was
 * reached, and by no more. Room is kept for it: a model step starts only when what is left exceeds what the calls under
 * way will take if they are as dear as those before them. Before the first call nothing is known of that, so what may
 * start at once starts. A call of unknown price counts as unknown: it is told, and never taken for nothing. One that was
 * cut off, by a kill or a limit in time, counts as a call and is taken for as dear as those before it.
 */
import type { StepDefinition } from "../../../definition/model/step.js";
import { recordDecisionOnce, type Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import type { LimitName } from "../../model/question.js";
import type { TaskState } from "../../model/state.js";
import type { ScopeUse } from "../../model/totals.js";
import { computeMaxima, isWithin, limitedScopesAround, type LimitedScope } from "./limited-scopes.js";
import { formatUsd, type ReachedLimit } from "./limit-question.js";
import type { StartBudget } from "./open-scope.js";
import { elapsedMsOf } from "./time-limits.js";

/** What is to start: one more step or scope beside those planned already, an item of a for_each, or nothing new. */
export type Starting = { readonly planned: StartBudget["planned"] } | "item" | "nothing";

/**
 * The first limit that stands against going on at a place, the innermost workflow's first.
 *
 * Items of a for_each count, and are not stopped by the number of iterations: the list is known before it begins.
 */
export function findReachedLimit(choice: Choice, path: string, starting: Starting): ReachedLimit | undefined {
  for (const [at, scope] of limitedScopesAround(choice.state, path).entries()) {
    const isOwn = at === 0 && typeof starting !== "string";
    const count = isOwn ? (starting.planned.get(keyOf(scope)) ?? 0) + 1 : 0;
    const reached = findReachedOf(choice, scope, count);
    if (reached !== undefined) return reached;
  }
  return undefined;
}

/** Notes that a step or scope is going to start. */
export function planStart({ state }: Choice, path: string, { planned }: StartBudget): void {
  const [scope] = limitedScopesAround(state, path);
  if (scope !== undefined) planned.set(keyOf(scope), (planned.get(keyOf(scope)) ?? 0) + 1);
}

function keyOf({ path = "" }: LimitedScope): string {
  return path;
}

function findReachedOf(choice: Choice, scope: LimitedScope, count: number): ReachedLimit | undefined {
  const { used: total, path } = scope;
  const maxima = computeMaxima(scope);
  const at = path === undefined ? {} : { path };
  if (count > 0 && total.ownIterations + count > maxima.iterations)
    return { name: "iterations", used: total.ownIterations, max: maxima.iterations, total, ...at };
  const used: Readonly<Record<Exclude<LimitName, "iterations">, number>> = {
    seconds: elapsedMsOf(choice.state, scope, choice.nowMs) / 1_000,
    tokens: estimateUsed(total, total.tokensIn + total.tokensOut, total.calls - total.uncountedCalls),
    calls: total.calls,
    cost_micro_usd: estimateUsed(total, total.costMicroUsd, total.calls - total.unpricedCalls),
  };
  for (const name of ["seconds", "tokens", "calls", "cost_micro_usd"] as const) {
    if (used[name] >= maxima[name]) return { name, used: used[name], max: maxima[name], total, ...at };
  }
  return undefined;
}

/** Calls that were cut off are taken for as dear as those of which it is known. */
function estimateUsed({ uncountedCalls }: ScopeUse, known: number, knownCalls: number): number {
  return known + Math.ceil(uncountedCalls * ratio(known, knownCalls));
}

/** True for steps that call a model. */
export function callsModel(node: StepDefinition): boolean {
  return node.kind === "model" || node.kind === "cli" || (node.kind === "scorer" && node.scorer.by === "model");
}

/** Where the calls under way will take what is left; `planned` are those that this very choice starts. */
export function findFullScope({ state }: Choice, path: string, planned: number): LimitedScope | undefined {
  return limitedScopesAround(state, path).find((scope) => isRoomTaken(state, scope, planned));
}

function isRoomTaken(state: TaskState, scope: LimitedScope, planned: number): boolean {
  const { tokens, calls, cost_micro_usd: cost } = computeMaxima(scope);
  if (tokens === Infinity && calls === Infinity && cost === Infinity) return false;
  const underWay = planned + countUnderWay(state, scope);
  if (underWay === 0) return false;
  const { used } = scope;
  const usedTokens = used.tokensIn + used.tokensOut;
  return (
    used.calls + underWay >= calls ||
    usedTokens + underWay * ratio(usedTokens, used.calls) >= tokens ||
    used.costMicroUsd + underWay * ratio(used.costMicroUsd, used.calls - used.unpricedCalls) >= cost
  );
}

function ratio(sum: number, count: number): number {
  return count > 0 ? sum / count : 0;
}

function countUnderWay(state: TaskState, scope: LimitedScope): number {
  let count = 0;
  for (const id of state.open) {
    const step = state.steps.get(id);
    if (step !== undefined && isWithin(step.path, scope) && (step.kind === "model" || step.kind === "cli")) count += 1;
  }
  return count;
}

/** What is said of each budget, once: that it is reached where it stops nothing, and that it cannot see every call. */
export function noteBudgets(choice: Choice, path: string): readonly EngineEvent[] {
  return limitedScopesAround(choice.state, path).flatMap((scope) => noteBudget(choice, scope));
}

function noteBudget(choice: Choice, { used, limits, path }: LimitedScope): readonly EngineEvent[] {
  const { costMicroUsdMax, costMicroUsdAudited } = limits;
  const [subject, of] = path === undefined ? ["task", ""] : [path, ` of ${path}`];
  const notes: EngineEvent[] = [];
  if (costMicroUsdAudited !== undefined && used.costMicroUsd >= costMicroUsdAudited)
    notes.push(
      ...recordDecisionOnce(choice, {
        agent: "engine",
        type: "budget_reached",
        description: `the budget of ${formatUsd(costMicroUsdAudited)}${of} is reached; the task continues`,
        rationale: "budget_mode is audit: it is told and stops nothing",
        subject,
        facts: { budget_micro_usd: costMicroUsdAudited },
      }),
    );
  if ((costMicroUsdMax ?? costMicroUsdAudited) !== undefined && used.unpricedCalls > 0)
    notes.push(
      ...recordDecisionOnce(choice, {
        agent: "engine",
        type: "budget_incomplete",
        description: `the budget${of} does not see every call`,
        rationale:
          "calls without a known price are counted as unknown, not as nothing; give prices, or limit the calls",
        subject,
        facts: { unpriced: true },
      }),
    );
  return notes;
}
