/**
 * How a task is closed, and with which exit status.
 *
 * Done only when nothing is missing; partial (3) when something failed, was skipped or stayed below its confidence; failed
 * (4) when a failure stands in the way; waiting for a person 20, for a limit 21, for an unknown outcome 22, for a parked
 * step 14; paused until a time 75. Of several reasons the most pressing one gives the status: unknown, limit, other
 * questions, parked, failure, time.
 */
import { EXIT_STATUS } from "../base/error-table.js";
import { errorCodeOf, messageOf } from "../base/errors.js";
import type { JsonObject, JsonValue } from "../base/json.js";
import { loadValue, type Choice } from "./choice.js";
import { describeScope } from "./describe-scope.js";
import type { EngineEvent, EventOf, QuestionKind, TaskEnd, ValueRef } from "./events.js";
import type { EngineInput } from "./input.js";
import { isLimitOpen } from "./limits.js";
import { requireTask } from "./lookup.js";
import { answeredQuestions, openQuestions } from "./questions.js";
import type { QuestionEntry } from "./state.js";
import { currentPhase, recordCheckpoint } from "./triggers.js";

type CloseInput = Extract<EngineInput, { kind: "close" }>;
type Closing = Omit<EventOf<"task_closed">, "type" | "atMs">;

const QUESTION_STATUS: readonly (readonly [QuestionKind, number])[] = [
  ["unknown_outcome", EXIT_STATUS.unknown],
  ["limit", EXIT_STATUS.limit],
  ["low_confidence", EXIT_STATUS.personNeeded],
  ["gate", EXIT_STATUS.personNeeded],
  ["definition_changed", EXIT_STATUS.personNeeded],
  ["loss", EXIT_STATUS.personNeeded],
  ["parked_step", EXIT_STATUS.exhausted],
];

/** Nothing runs in this process: closes the task, or answers nothing when a time within reach is worth waiting for. */
export function decideQuiescent(choice: Choice): readonly EngineEvent[] {
  const { state } = choice;
  if (state.task?.status !== "running" || (state.open.size > 0 && hasRunning(choice))) return [];
  if (state.task.root !== undefined) return closeEnded(choice);
  if (answeredQuestions(state).length > 0 && state.task.request === undefined) return [];
  const waitAtMs = earliestWaitAtMs(choice);
  const soonest = earlier(waitAtMs, earliestExpiryAtMs(choice));
  if (soonest !== undefined && state.task.request === undefined && soonest - choice.nowMs <= choice.context.sleepMsMax)
    return [];
  const closing = close(choice, closingOf(choice, waitAtMs));
  return closing.end === "failed" && isRollingBack(choice) ? [discardNote(choice), closing] : [closing];
}

/** Open steps other than waits are somebody's running work. */
function hasRunning(choice: Choice): boolean {
  for (const id of choice.state.open) if (choice.state.steps.get(id)?.dueAtMs === undefined) return true;
  return false;
}

/** The next retry, pause or wait; a retry waits for nothing while a person is asked about a limit. */
function earliestWaitAtMs(choice: Choice): number | undefined {
  const isLimited = isLimitOpen(choice.state);
  let earliest: number | undefined;
  for (const id of choice.state.waiting) {
    const step = choice.state.steps.get(id);
    if (step?.status === "open") earliest = earlier(earliest, step.dueAtMs);
    else if (!isLimited) earliest = earlier(earliest, step?.retryAtMs);
  }
  return earliest;
}

function earliestExpiryAtMs(choice: Choice): number | undefined {
  let earliest: number | undefined;
  for (const question of openQuestions(choice.state)) {
    if (question.onExpire !== undefined) earliest = earlier(earliest, question.expiresAtMs);
  }
  return earliest;
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

/** `on_failure: rollback`, the word of seed 000: the task's checkpoints are discarded by their manager. */
function isRollingBack(choice: Choice): boolean {
  return requireTask(choice.state).definition.onFailure === "rollback";
}

function discardNote(choice: Choice): EngineEvent {
  return {
    type: "noted",
    atMs: choice.nowMs,
    text: "on_failure: rollback discards the checkpoints of this task",
    facts: { discard_checkpoints: true },
  };
}

function closingOf(choice: Choice, resumeAtMs: number | undefined): Closing {
  const { state } = choice;
  const task = requireTask(state);
  const resume = resumeAtMs === undefined ? {} : { resumeAtMs };
  if (task.request === "stop")
    return { end: "stopped", reason: stopReason(choice), exitStatus: stopStatus(choice), resumable: true };
  if (task.request === "pause")
    return {
      end: "paused",
      reason: "paused by request",
      exitStatus: EXIT_STATUS.personNeeded,
      resumable: true,
      ...resume,
    };
  const question = mostPressing(openQuestions(state));
  if (question !== undefined) {
    const exitStatus = QUESTION_STATUS.find(([kind]) => kind === question.kind)?.[1] ?? EXIT_STATUS.personNeeded;
    return { end: "waiting", reason: question.text, exitStatus, resumable: true, ...resume };
  }
  if (resumeAtMs !== undefined)
    return {
      end: "paused",
      reason: pauseReason(choice),
      exitStatus: EXIT_STATUS.pausedUntil,
      resumable: true,
      resumeAtMs,
    };
  return failedClosing(choice);
}

function mostPressing(questions: readonly QuestionEntry[]): QuestionEntry | undefined {
  for (const [kind] of QUESTION_STATUS) {
    const found = questions.find((question) => question.kind === kind);
    if (found !== undefined) return found;
  }
  return questions[0];
}

function stopReason(choice: Choice): string {
  const decision = choice.state.decisions.findLast((candidate) => candidate.facts?.["request"] === "stop");
  return decision?.description ?? "stopped by request";
}

/** Stopped at a limit keeps the limit's status. */
function stopStatus(choice: Choice): number {
  const decision = choice.state.decisions.findLast((candidate) => candidate.facts?.["request"] === "stop");
  return decision?.facts?.["limit"] === true ? EXIT_STATUS.limit : EXIT_STATUS.terminated;
}

function pauseReason(choice: Choice): string {
  for (const id of choice.state.waiting) {
    const step = choice.state.steps.get(id);
    if (step?.error !== undefined) return `${step.path} waits: ${step.error.message}`;
  }
  return "waits until a time";
}

/** With nothing open and nothing due, a failure stands in the way. */
function failedClosing(choice: Choice): Closing {
  return {
    end: "failed",
    reason: failureReason(choice),
    exitStatus: EXIT_STATUS.failed,
    resumable: !isRollingBack(choice),
  };
}

function failureReason(choice: Choice): string {
  const { state } = choice;
  for (const id of state.blocked) {
    const step = state.steps.get(id);
    if (step?.status === "failed")
      return `${step.path} failed: ${step.error?.code ?? "STEP_FAILED"}: ${step.error?.message ?? ""}`;
  }
  for (const scope of state.scopes.values()) {
    if (scope.data.scope === "machine" && scope.data.stuck !== undefined) {
      const decision = state.decisions.findLast((candidate) => candidate.type === "no_route");
      return `${scope.path} cannot go on: ${decision?.rationale ?? scope.data.stuck}`;
    }
    if (scope.data.scope === "phase" && scope.data.judged === "rejected")
      return `${scope.path} was rejected by its evaluation`;
    if (scope.data.scope === "phase" && scope.data.settled === "fail")
      return `${scope.path} was stopped for its confidence`;
  }
  return "a group has failed";
}

function closeEnded(choice: Choice): readonly EngineEvent[] {
  const task = requireTask(choice.state);
  const outcome = task.root?.outcome ?? "done";
  const end: TaskEnd = outcome === "done" ? "done" : "partial";
  const rendered = renderFinalOutput(choice);
  if ("error" in rendered)
    return [
      close(choice, {
        end: "failed",
        reason: `the final output failed: ${rendered.error}`,
        exitStatus: EXIT_STATUS.failed,
        resumable: true,
      }),
    ];
  const reason = end === "done" ? "all steps are done" : "finished with parts missing or below their confidence";
  return [
    close(choice, {
      end,
      reason,
      exitStatus: end === "done" ? EXIT_STATUS.done : EXIT_STATUS.partial,
      resumable: false,
      output: rendered.output,
    }),
  ];
}

/** The workflow's output templates, or what the root gave; a route's `output` into `$end` comes on top. */
function renderFinalOutput(choice: Choice): { readonly output: ValueRef } | { readonly error: string } {
  const task = requireTask(choice.state);
  const { output: templates, root } = task.definition;
  const extra = task.root?.routeOutput;
  const rootOutput = choice.state.outputs.get(root.path);
  if (Object.keys(templates).length === 0 && extra === undefined)
    return { output: rootOutput?.value ?? { inline: null } };
  try {
    const rendered = choice.context.templates.renderValue(
      templates,
      describeScope(choice, `${root.path}/$output`),
    ) as JsonObject;
    const base: JsonValue =
      Object.keys(templates).length > 0 || rootOutput === undefined ? rendered : loadValue(choice, rootOutput.value);
    return { output: { inline: { ...(base as JsonObject), ...extra } } };
  } catch (error) {
    if (errorCodeOf(error) !== "TEMPLATE_FAILED") throw error;
    return { error: messageOf(error) };
  }
}

/** Leaves now: a shutdown checkpoint, then the end. What may have acted stays open and is unknown to the next owner. */
export function decideClose(choice: Choice, input: CloseInput): readonly EngineEvent[] {
  if (choice.state.task?.status !== "running") return [];
  if (choice.state.task.root !== undefined && !hasRunning(choice)) return closeEnded(choice);
  const status = input.end === "failed" ? "failed" : "paused";
  const resumeAtMs = earliestWaitAtMs(choice);
  return [
    recordCheckpoint(choice, {
      trigger: "shutdown",
      phase: currentPhase(choice.state),
      status,
      metadata: { reason: input.reason, ...(input.signal === undefined ? {} : { signal: input.signal }) },
    }),
    close(choice, {
      end: input.end,
      reason: input.reason,
      exitStatus: input.exitStatus,
      resumable: true,
      ...(resumeAtMs === undefined ? {} : { resumeAtMs }),
    }),
  ];
}

function close(choice: Choice, closing: Closing): EventOf<"task_closed"> {
  return { type: "task_closed", atMs: choice.nowMs, ...closing };
}
