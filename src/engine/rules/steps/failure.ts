/**
 * What happens when a step or a scope fails, in this order: retry, restart by the orchestrator (in a phase), the
 * `on_error` route, a group that tolerates failures, then the workflow's `on_failure`.
 *
 * A rate limit is not a failure: the step waits until the time it was told. Nothing is left behind a failure that nobody
 * absorbs: the scopes stay open, so that a later resume starts with the failed step and not after it.
 */
import type { JsonValue } from "../../../base/json.js";
import { LIMITS } from "../../../base/limits.js";
import { PLAN_NAME } from "../../../definition/model/defaults.js";
import type { ScopeDefinition } from "../../../definition/model/workflow.js";
import type { StepDefinition } from "../../../definition/model/step.js";
import type { RetryPolicy } from "../../../definition/model/values.js";
import { recordDecisionOnce, drawFraction, type Choice } from "../../model/choice.js";
import type { EngineEvent, FailureDisposition, StepError } from "../../model/events.js";
import { nameOfPath, parentPathOf } from "../../model/identity.js";
import {
  findPlace,
  findScopeDefinition,
  isHandledFailure,
  onFailureOf,
  isHook,
  isOwnStep,
  requirePlace,
  requireTask,
} from "../../model/lookup.js";
import { isHeldBack } from "../../fold/evolve-steps.js";
import { isSettledByPhase } from "./phase-start.js";
import { chooseRouteWithout } from "./routes.js";
import type { StepEntry } from "../../model/state.js";

export interface FailedAttempt {
  readonly path: string;
  readonly failures: number;
  readonly refusals?: number;
  readonly restarts: number;
}

/** Where nobody says when to ask again. */
const RATE_LIMIT_DELAY_MS = 60_000;
/** The shortest wait after a refusal doubles with each in a row, up to the longest; a time that was told may be later. */
const REFUSAL_FLOOR_MS = 1_000;
const REFUSAL_FLOOR_MS_MAX = 15 * 60_000;
/** Failures that would come the same way again. */
const DETERMINISTIC = new Set([
  "TEMPLATE_FAILED",
  "VALUE_TOO_LARGE",
  "VALUE_TOO_DEEP",
  "VALUE_UNSUPPORTED",
  "FUNCTION_NOT_FOUND",
  "PROGRAM_NOT_FOUND",
  "MODEL_UNAVAILABLE",
]);

/** Somebody asked to wait: no failure, and no attempt is spent. */
const RATE_LIMITS = new Set(["MODEL_RATE_LIMITED", "HTTP_RATE_LIMITED"]);

/** What to do about a failed attempt of a step. */
export function disposeFailure(choice: Choice, attempt: FailedAttempt, error: StepError): FailureDisposition {
  const step = requirePlace(choice.state, attempt.path).node as StepDefinition;
  const { aheadMs = 0 } = choice.context;
  // Who named the time goes by the wall.
  const askedAgainAtMs = error.retryAtMs === undefined ? undefined : error.retryAtMs + aheadMs;
  if (RATE_LIMITS.has(error.code))
    return {
      action: "pause_until",
      atMs: computeRefusedUntilMs(choice, attempt, { ...error, retryAtMs: askedAgainAtMs }),
    };
  const failures = attempt.failures + 1;
  if (failures < step.retry.maxAttempts && isTriedAgain(step.retry, error)) {
    const waitUntilMs = choice.nowMs + computeDelayMs(choice, step.retry, failures);
    return { action: "retry", atMs: Math.max(waitUntilMs, askedAgainAtMs ?? 0), attempt: failures + 1 };
  }
  return disposeBeyondRetries(choice, attempt, error);
}

/** Units: milliseconds of wall time. A told time that is not ahead counts as none. */
function computeRefusedUntilMs({ nowMs }: Choice, { refusals = 0 }: FailedAttempt, error: StepError): number {
  const toldMs = error.retryAtMs === undefined || error.retryAtMs <= nowMs ? undefined : error.retryAtMs;
  const wantedMs = Math.min(toldMs ?? nowMs + RATE_LIMIT_DELAY_MS, nowMs + LIMITS.retryAfterMsMax);
  if (isHeldBack(error)) return wantedMs;
  const floorMs = Math.min(REFUSAL_FLOOR_MS * 2 ** refusals, REFUSAL_FLOOR_MS_MAX);
  return Math.max(wantedMs, nowMs + floorMs);
}

function disposeBeyondRetries(choice: Choice, attempt: FailedAttempt, error: StepError): FailureDisposition {
  if (isHook(attempt.path) || isDispensable(choice, attempt.path)) return { action: "continue" };
  const { parent } = requirePlace(choice.state, attempt.path);
  const scope = parent === undefined ? undefined : findScopeDefinition(choice.state, parent);
  if (scope?.scope === "phase" && attempt.restarts < scope.restart.maxAttempts && !DETERMINISTIC.has(error.code)) {
    return { action: "restart", attempt: attempt.restarts + 1 };
  }
  return disposeOfLast(choice, attempt.path);
}

/** What a model was asked to choose, rules choose without it. A goal that was never planned has nothing to go on with. */
function isDispensable({ state }: Choice, path: string): boolean {
  const name = nameOfPath(path);
  if (name !== PLAN_NAME) return isOwnStep(name);
  const data = state.scopes.get(parentPathOf(path) ?? "")?.data;
  return data?.scope === "phases" && data.next > 0;
}

const PROVIDER_ERRORS = new Set(["MODEL_FAILED", "TOOL_SERVER_FAILED"]);

function isTriedAgain({ on }: RetryPolicy, error: StepError): boolean {
  const { code, retryable } = error;
  if (!retryable || on === undefined) return retryable;
  return isTimeout(error) ? on.includes("timeout") : on.includes("provider_error") && PROVIDER_ERRORS.has(code);
}

/** Said by the performer: `yes` after its work, `maybe` where the end of it is not known. */
export function mayHaveActed(error: StepError | undefined): boolean {
  const acted = error?.details?.["acted"];
  return acted === "yes" || acted === "maybe";
}

export function isTimeout({ code, details }: StepError): boolean {
  return code === "STEP_TIMEOUT" || TIMEOUT_REASONS.has(details?.["reason"] ?? null);
}

/** A model call that took too long or was silent. */
const TIMEOUT_REASONS: ReadonlySet<JsonValue> = new Set<JsonValue>(["timeout", "idle"]);

/** The decision on a failed step that starts once more beyond its retries; nothing for every other start. */
export function decideRestart(choice: Choice, step: StepEntry | undefined): readonly EngineEvent[] {
  if (step?.status !== "cancelled" || step.error === undefined || step.restarts === 0) return [];
  return recordDecisionOnce(choice, {
    agent: "atlas",
    type: "restart_specialist",
    description: `${step.path} is started again, restart ${step.restarts}`,
    rationale: `it failed: ${step.error.code}: ${step.error.message}`,
    alternatives: ["roll_back", "go_on_without", "give_up"],
    subject: step.id,
    facts: { restart: step.restarts, attempt: step.attempt + 1 },
  });
}

/** After the last attempt. Where a model chooses what a phase makes of it, it stands in the way until that is chosen. */
export function disposeOfLast(choice: Choice, path: string): FailureDisposition {
  const { node, parent } = requirePlace(choice.state, path);
  const scope = parent === undefined ? undefined : findScopeDefinition(choice.state, parent);
  if (scope?.scope === "machine") {
    const to = failureTarget(choice, path);
    return to === undefined ? { action: "fail" } : { action: "route", to };
  }
  return node.node === "step" && (isTolerated(scope) || isHandledFailure(choice.state, path))
    ? { action: "continue" }
    : { action: "fail" };
}

function isTolerated(scope: ScopeDefinition | undefined): boolean {
  if (scope?.scope === "phase") return scope.orchestrator === undefined && scope.restart.otherwise === "continue";
  return scope !== undefined && "failureMode" in scope && scope.failureMode === "continue_on_error";
}

/** Where a machine goes on after its failed child: `on_error`, or the next valid route with `on_failure: continue`. */
export function failureTarget(choice: Choice, path: string): string | undefined {
  const { node, parent } = requirePlace(choice.state, path);
  if (parent === undefined || findScopeDefinition(choice.state, parent).scope !== "machine") return undefined;
  if (node.onError !== undefined) return node.onError;
  return onFailureOf(choice.state, path) === "continue" ? chooseRouteWithout(choice, { path, node }) : undefined;
}

/** True when a failure of the scope at `path` is dealt with further out, so that the scope may be left as failed. */
export function isAbsorbed(choice: Choice, path: string): boolean {
  const place = findPlace(choice.state, path);
  if (place?.parent === undefined) return requireTask(choice.state).definition.onFailure === "continue";
  const outer = findScopeDefinition(choice.state, place.parent);
  if (outer.scope === "workflow" && outer.onFailure === "continue") return true;
  if (outer.scope === "machine" && place.node.onError !== undefined) return true;
  if ("failureMode" in outer && outer.failureMode === "continue_on_error") return true;
  if (outer.scope === "phase" && isSettledByPhase(choice, { path: place.parent, node: outer })) return true;
  if (isHandledFailure(choice.state, path)) return true;
  return isAbsorbed(choice, place.parent);
}

/** Units: milliseconds. The jitter takes away up to its share of the delay. */
function computeDelayMs(choice: Choice, policy: RetryPolicy, failures: number): number {
  const growth = policy.backoff === "exponential" ? 2 ** (failures - 1) : 1;
  const fullMs = Math.min(policy.delayMs * growth, policy.delayMsMax);
  return Math.round(fullMs * (1 - policy.jitter * drawFraction(choice)));
}
