/**
 * The model that says what a file tells it to: for tests, examples and dry runs. It says so in every report.
 *
 * Which answer comes is computed from visit, attempt and durable turns alone, so a crash changes nothing.
 */
import type { Clock } from "../../base/clock.js";
import { SplashdownError } from "../../base/errors.js";
import { encodeValue } from "../../base/json-encoding.js";
import type { JsonObject } from "../../base/json.js";
import type { Usage } from "../../engine/model/events.js";
import { definitionPathOf } from "../../engine/model/identity.js";
import type { Model, ModelAnswer, ModelRequest } from "../outcome/contract.js";
import { formatPath } from "../../definition/faults/fault.js";
import { readStatusMeaning } from "../outcome/status-table.js";
import {
  readScript,
  type Script,
  type ScriptedAnswer,
  type StepScript,
} from "../../definition/settings/scripted-answers.js";

export const SCRIPTED_PROVIDER = "scripted";
const ANY_STEP = "*";
const SCRIPTED_FACTOR = "scripted answer: no model was called";

/** Errors: WORKFLOW_INVALID when the answers have a wrong form. */
export function createScriptedModel(answers: JsonObject, clock: Clock): Model {
  const script = readScript(answers, ({ path, message }) => {
    throw new SplashdownError("WORKFLOW_INVALID", `scripted answers: ${formatPath(path)}: ${message}`);
  });
  return { call: (request, { signal }) => answerCall({ script, clock, request, signal }) };
}

/** The scripted model beside others. The answers are those of `WorkflowDefinition.scriptedAnswers`. */
export function createModelSource(
  answers: JsonObject | undefined,
  clock: Clock,
  others: (provider: string) => Model | undefined = () => undefined,
): (provider: string) => Model | undefined {
  const scripted = createScriptedModel(answers ?? {}, clock);
  return (provider) => (provider === SCRIPTED_PROVIDER ? scripted : others(provider));
}

interface Call {
  readonly script: Script;
  readonly clock: Clock;
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
}

async function answerCall(call: Call): Promise<ModelAnswer> {
  const { script, clock, request, signal } = call;
  const step = findStep(script, request.step.path);
  if (step === undefined) {
    const known = [...script.keys()].join(", ");
    throw exhausted(
      request,
      known === ""
        ? `there is no scripted answer for step ${request.step.path}, and for no other one: write workflow.runtime.scripted_answers: FILE, or scripted_answers into the settings`
        : `there is no scripted answer for step ${request.step.path}; there are some for: ${known}`,
    );
  }
  const answer = selectAnswer(step, { ...request.step, turn: request.turn });
  if (answer === undefined) {
    throw exhausted(
      request,
      `the scripted answers for step ${request.step.path} are used up after ${step.answers.length}`,
    );
  }
  if (answer.delayMs > 0) await clock.sleep(answer.delayMs, signal);
  if (answer.hang) await untilCancelled(signal);
  if (answer.fail !== undefined) throw failureOf(answer.fail, clock);
  const calls = answer.calls.map((wished, index) => ({ id: `${request.turn + 1}.${index + 1}`, ...wished }));
  return {
    say: answer.say === undefined ? (calls.length > 0 ? "" : null) : encodeValue(answer.say),
    ...(calls.length === 0 ? {} : { calls }),
    confidence: answer.confidence,
    uncertainties: answer.uncertainties,
    whole: true,
    factors: [SCRIPTED_FACTOR],
    usage: usageOf(answer),
  };
}

/** Shape: the longest end of the path that the script names, with keys of items or without, then `*`. */
function findStep(script: Script, path: string): StepScript | undefined {
  for (let key = path; ; key = key.slice(key.indexOf("/") + 1)) {
    const found = script.get(key) ?? script.get(definitionPathOf(key));
    if (found !== undefined) return found;
    if (!key.includes("/")) return script.get(ANY_STEP);
  }
}

/**
 * The answer to one call; `undefined` when the script is exhausted.
 *
 * Units: `visit` and `attempt` count from 1, `turn` from 0.
 */
function selectAnswer(
  step: StepScript,
  { visit, attempt, turn }: { readonly visit: number; readonly attempt: number; readonly turn: number },
): ScriptedAnswer | undefined {
  const visits: ScriptedAnswer[][] = [[]];
  for (const answer of step.answers) {
    visits.at(-1)?.push(answer);
    if (answer.say !== undefined || answer.calls.length > 0) visits.push([]);
  }
  if (visits.at(-1)?.length === 0) visits.pop();
  const own = visits[Math.max(0, visit - 1) + turn];
  if (own !== undefined) return own[Math.min(attempt - 1, own.length - 1)];
  return step.exhausted === "fail" ? undefined : step.answers.at(-1);
}

function usageOf(answer: ScriptedAnswer): Usage {
  return { calls: 1, tokensIn: answer.inputTokens, tokensOut: answer.outputTokens, costMicroUsd: answer.costMicroUsd };
}

function failureOf(fail: NonNullable<ScriptedAnswer["fail"]>, clock: Clock): SplashdownError {
  const { message, status, retryAfterSeconds } = fail;
  const meaning = status === undefined ? "passing" : readStatusMeaning(status, { isModel: true });
  return new SplashdownError(meaning === "limit" ? "MODEL_RATE_LIMITED" : "MODEL_FAILED", message, {
    details: {
      status: status ?? null,
      retryable: meaning !== "final",
      ...(retryAfterSeconds === undefined ? {} : { retry_at_ms: clock.nowMs() + retryAfterSeconds * 1000 }),
    },
  });
}

function exhausted(request: ModelRequest, message: string): SplashdownError {
  return new SplashdownError("MODEL_FAILED", message, { details: { step: request.step.path, retryable: false } });
}

function untilCancelled(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const cancel = () =>
      reject(new SplashdownError("CANCELLED", "a model call was cancelled", { cause: signal.reason }));
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
  });
}
