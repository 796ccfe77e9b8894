/**
 * How a task is closed, and with which exit status.
 *
 * Done only when nothing is missing; partial (3) when something failed, was skipped or stayed below its confidence; failed
 * (4) when a failure stands in the way; waiting for a person 20, for a limit 21, for an unknown outcome 22, for a parked
 * step 14; paused until a time 75. Of several reasons the most pressing one gives the status: unknown, limit, other
 * questions, parked, failure, time.
 */
import { nameStep } from "../../../base/step-name.js";
import { EXIT_STATUS } from "../../../base/error-table.js";
import type { JsonObject } from "../../../base/json.js";
import { recordDecision, loadValue, type Choice } from "../../model/choice.js";
import { describeHookError, reachHook } from "../steps/hooks.js";
import { earliestWaitAtMs } from "../steps/due.js";
import { earliest } from "../steps/earliest.js";
import type { EngineEvent, EventOf, StepError } from "../../model/events.js";
import { listFinalFiles } from "../../reports/final-files.js";
import { renderWorkflowOutput } from "../../render/final-output.js";
import type { QuestionKind } from "../../model/question.js";
import type { EngineInput } from "../../model/input.js";
import { childPath, findScopeDefinition, findWorkflow, isPerformed, requireTask } from "../../model/lookup.js";
import { openQuestions } from "../questions/questions.js";
import type { QuestionEntry, ScopeEntry } from "../../model/state.js";
import { currentPhase, recordCheckpoint } from "../triggers.js";

type CloseInput = Extract<EngineInput, { kind: "close" }>;
type Closing = Omit<EventOf<"task_closed">, "type" | "atMs">;

const QUESTION_STATUS: readonly (readonly [QuestionKind, number])[] = [
  ["unknown_outcome", EXIT_STATUS.unknown],
  ["limit", EXIT_STATUS.limit],
  ["low_confidence", EXIT_STATUS.personNeeded],
  ["repeat_step", EXIT_STATUS.personNeeded],
  ["gate", EXIT_STATUS.personNeeded],
  ["tool_approval", EXIT_STATUS.personNeeded],
  ["plan", EXIT_STATUS.personNeeded],
  ["questions", EXIT_STATUS.personNeeded],
  ["definition_changed", EXIT_STATUS.personNeeded],
  ["loss", EXIT_STATUS.personNeeded],
  ["parked_step", EXIT_STATUS.exhausted],
];

/** Nothing runs in this process: closes the task, or answers nothing when a time within reach is worth waiting for. */
export function decideQuiescent(choice: Choice): readonly EngineEvent[] {
  const { task } = choice.state;
  if (task?.status !== "running" || hasRunning(choice)) return [];
  if (task.request === undefined && isWorthWaiting(choice)) return [];
  if (task.root !== undefined && !isAnyStepInQuestion(choice)) return closeEnded(choice);
  const closing = close(choice, closingOf(choice, earliestWaitAtMs(choice.state)));
  const hook = closing.end === "failed" ? reachFailure(choice, closing) : [];
  if (hook.length > 0) return hook;
  return [...beforeClosing(choice, closing), closing];
}

function beforeClosing(choice: Choice, closing: Closing): readonly EngineEvent[] {
  if (closing.end === "failed" && isRollingBack(choice)) return [discardNote(choice)];
  return closing.exitStatus === EXIT_STATUS.pausedUntil ? [shutdownCheckpoint(choice, closing)] : [];
}

/** The process leaves a task that goes on later: whoever takes it up starts from here. */
function shutdownCheckpoint(
  choice: Choice,
  { reason, status = "paused", signal }: Pick<Closing, "reason"> & { status?: "paused" | "failed"; signal?: string },
): EventOf<"checkpoint_recorded"> {
  const metadata = { reason, ...(signal === undefined ? {} : { signal }) };
  return recordCheckpoint(choice, { trigger: "shutdown", phase: currentPhase(choice.state), status, metadata });
}

/**
 * After a loss of records a scope may have ended around a step whose own end is lost: the task is not over before a person
 * has said what became of it.
 */
function isAnyStepInQuestion(choice: Choice): boolean {
  return openQuestions(choice.state).some((question) => question.step !== undefined);
}

function isWorthWaiting(choice: Choice): boolean {
  const soonest = earliest([earliestWaitAtMs(choice.state), earliestExpiryAtMs(choice)]);
  return soonest !== undefined && soonest - choice.nowMs <= choice.context.sleepMsMax;
}

/** Open steps that are performed are somebody's running work. */
function hasRunning(choice: Choice): boolean {
  for (const id of choice.state.open) {
    const step = choice.state.steps.get(id);
    if (step === undefined || isPerformed(step.kind)) return true;
  }
  return false;
}

function earliestExpiryAtMs(choice: Choice): number | undefined {
  const questions = openQuestions(choice.state).filter((question) => question.onExpire !== undefined);
  return earliest(questions.map((question) => question.expiresAtMs));
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
    effect: "discard_checkpoints",
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
      reason: pausedReason(choice),
      exitStatus: EXIT_STATUS.personNeeded,
      resumable: true,
      ...resume,
    };
  const question = mostPressing(openQuestions(state));
  if (question !== undefined) {
    const exitStatus = QUESTION_STATUS.find(([kind]) => kind === question.kind)?.[1] ?? EXIT_STATUS.personNeeded;
    const againAtMs = earliest([resumeAtMs, earliestExpiryAtMs(choice)]);
    const until = againAtMs === undefined ? {} : { resumeAtMs: againAtMs };
    return { end: "waiting", reason: question.text, exitStatus, resumable: true, ...until };
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

function pausedReason({ state }: Choice): string {
  const decision = state.decisions.findLast(({ effect }) => effect?.kind === "pause");
  return decision?.type === "breakpoint" ? decision.description : "paused by request";
}

function stopReason({ state }: Choice): string {
  const decision = state.decisions.findLast(({ effect }) => effect?.kind === "stop");
  return decision?.description ?? "stopped by request";
}

/** Stopped at a limit keeps the limit's status. */
function stopStatus({ state }: Choice): number {
  const effect = state.decisions.findLast((decision) => decision.effect?.kind === "stop")?.effect;
  return effect?.kind === "stop" && effect.atLimit === true ? EXIT_STATUS.limit : EXIT_STATUS.terminated;
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
  return findFailure(choice)?.reason ?? "a group has failed";
}

/** The step, or the scope, at which a failure stands in the way. */
function findFailure(choice: Choice): { readonly path: string; readonly reason: string } | undefined {
  const { state } = choice;
  for (const id of state.blocked) {
    const step = state.steps.get(id);
    if (step?.status !== "failed") continue;
    return { path: step.path, reason: `${nameStep(step.path)} failed: ${describeError(step.error)}` };
  }
  for (const scope of state.scopes.values()) {
    const reason = describeStop(choice, scope);
    if (reason !== undefined) return { path: `${scope.path}/`, reason };
  }
  return undefined;
}

/** That a step failed needs no code; any other tells more. */
function describeError({ code = "STEP_FAILED", message = "" }: Partial<StepError> = {}): string {
  // A place in a file follows on lines of its own.
  return code === "STEP_FAILED" ? message : message.replace(/$|\n/, (end) => ` [${code}]${end}`);
}

function describeStop(choice: Choice, { path, data }: ScopeEntry): string | undefined {
  if (data.scope === "machine" && data.stuck !== undefined) {
    const decision = choice.state.decisions.findLast((candidate) => candidate.type === "no_route");
    return `${nameStep(path)} cannot continue: ${data.stuck}${decision === undefined ? "" : `: ${decision.rationale}`}`;
  }
  if ("fault" in data && data.fault !== undefined)
    return `${nameStep(path)} cannot start: ${describeError(data.fault)}`;
  if (data.scope === "workflow") return describeOutputFault(choice, path, data.root);
  if (data.scope !== "phase") return undefined;
  if (data.judged === "rejected") return `${nameStep(path)} was rejected by its evaluation`;
  return data.settled === "fail" ? `${nameStep(path)} was stopped for its confidence` : undefined;
}

/** A nested workflow whose root has ended stays open only when its output cannot be rendered. */
function describeOutputFault(choice: Choice, path: string, root: string): string | undefined {
  const node = findScopeDefinition(choice.state, path);
  if (node.scope !== "workflow" || (root !== "done" && root !== "partial")) return undefined;
  const rendered = renderWorkflowOutput(choice, {
    root: childPath(path, node.children[0].name),
    templates: node.output,
  });
  return "error" in rendered ? `the output of ${nameStep(path)} failed: ${rendered.error}` : undefined;
}

/** The picture of the task is written before it closes. */
function closeEnded(choice: Choice): readonly EngineEvent[] {
  const files = listFinalFiles(choice);
  if (files.length > 0) return [{ type: "delivered", atMs: choice.nowMs, saved: files }];
  const rendered = chooseFinalOutput(choice);
  const closing: Closing =
    "output" in rendered
      ? { ...describeEnd(choice), output: rendered.output }
      : {
          end: "failed",
          reason: `the final output failed: ${rendered.error}`,
          exitStatus: EXIT_STATUS.failed,
          resumable: true,
        };
  const hook = reachEnd(choice, closing);
  return hook.length > 0 ? hook : [...withdrawOpen(choice, closing), close(choice, closing)];
}

/** A task that has ended asks nobody anything. */
function withdrawOpen(choice: Choice, { resumable }: Closing): readonly EngineEvent[] {
  if (resumable) return [];
  return openQuestions(choice.state).map(({ id, text }) =>
    recordDecision(choice, {
      agent: "engine",
      type: "question_withdrawn",
      description: `nobody needs to answer any more: ${text}`,
      rationale: "the task has ended",
      effect: { kind: "close_question", question: id },
    }),
  );
}

/** The innermost nested workflow that the failure stands in is told first, the task last. */
function reachFailure(choice: Choice, closing: Closing): readonly EngineEvent[] {
  const names = { error: describeFailure(choice, closing) };
  for (let at = findFailure(choice)?.path; at !== undefined;) {
    const nested = findWorkflow(choice.state, at);
    const hook = nested === undefined ? [] : reachHook(choice, "on_error", { nested, names });
    if (hook.length > 0) return hook;
    at = nested?.path;
  }
  return reachHook(choice, "on_error", { names });
}

function reachEnd(choice: Choice, closing: Closing): readonly EngineEvent[] {
  if (closing.end === "failed") return reachFailure(choice, closing);
  if (requireTask(choice.state).definition.hooks?.on_complete === undefined) return [];
  const result = closing.output === undefined ? null : loadValue(choice, closing.output);
  return reachHook(choice, "on_complete", { names: { result } });
}

function describeFailure(choice: Choice, { reason }: Closing): JsonObject {
  for (const id of choice.state.blocked) {
    const error = choice.state.steps.get(id)?.error;
    if (error !== undefined) return describeHookError(error, reason);
  }
  return describeHookError(undefined, reason);
}

function describeEnd(choice: Choice): Closing {
  const { outcome = "done", ends } = requireTask(choice.state).root ?? {};
  if (ends?.status === "failed")
    return { end: "failed", reason: ends.reason, exitStatus: EXIT_STATUS.failed, resumable: false };
  const reason = ends?.reason;
  return outcome === "done"
    ? { end: "done", reason: reason ?? "all steps are done", exitStatus: EXIT_STATUS.done, resumable: false }
    : { end: "partial", reason: reason ?? SHORTFALL, exitStatus: EXIT_STATUS.partial, resumable: false };
}

const SHORTFALL = "finished with parts missing or below their confidence";

/** A terminate step may give the output itself. */
function chooseFinalOutput(choice: Choice): ReturnType<typeof renderFinalOutput> {
  const { root, definition } = requireTask(choice.state);
  const given = root?.ends?.replacesOutput === true ? choice.state.outputs.get(definition.root.path) : undefined;
  return given === undefined ? renderFinalOutput(choice) : { output: given.value };
}

function renderFinalOutput(choice: Choice): ReturnType<typeof renderWorkflowOutput> {
  const { definition, root } = requireTask(choice.state);
  const { output: templates } = definition;
  const { routeOutput } = root ?? {};
  return renderWorkflowOutput(choice, {
    root: definition.root.path,
    templates,
    ...(routeOutput === undefined ? {} : { routeOutput }),
  });
}

/** Leaves now: a shutdown checkpoint, then the end. What may have acted stays open and is unknown to the next owner. */
export function decideClose(choice: Choice, input: CloseInput): readonly EngineEvent[] {
  if (choice.state.task?.status !== "running") return [];
  if (choice.state.task.root !== undefined && !hasRunning(choice) && !isAnyStepInQuestion(choice))
    return closeEnded(choice);
  const { end } = input;
  if (end === "crashed") return [{ type: "noted", atMs: choice.nowMs, text: input.reason, effect: "crashed" }];
  const status = end === "failed" ? "failed" : "paused";
  const resumeAtMs = earliestWaitAtMs(choice.state);
  return [
    shutdownCheckpoint(choice, { ...input, status }),
    close(choice, {
      end,
      reason: input.reason,
      exitStatus: input.exitStatus,
      resumable: true,
      ...(resumeAtMs === undefined ? {} : { resumeAtMs }),
    }),
  ];
}

function close(choice: Choice, closing: Closing): EventOf<"task_closed"> {
  const { aheadMs = 0 } = choice.context;
  const { resumeAtMs } = closing;
  // Other processes compare it with the wall.
  const resume = resumeAtMs === undefined ? {} : { resumeAtMs: resumeAtMs - aheadMs, wallAtMs: choice.nowMs - aheadMs };
  return { type: "task_closed", atMs: choice.nowMs, ...closing, ...resume };
}
