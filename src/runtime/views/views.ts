/** Turns state into the plain views that faces show. Pure; snake_case; times as ISO-8601 UTC text. */
import { ANSWER_BLANK, writeCommand, type Word } from "../../base/command-text.js";
import { selectErrorLines } from "../../base/error-lines.js";
import type { JsonObject } from "../../base/json.js";
import { exampleAmount } from "../../engine/rules/questions/limit-amounts.js";
import type { StepError, Usage } from "../../engine/model/events.js";
import type { Decision } from "../../engine/model/decision.js";
import { currentStepId } from "../../engine/model/lookup.js";
import type { CheckpointEntry, QuestionEntry, StepEntry, TaskState } from "../../engine/model/state.js";
import type { QuestionOption } from "../../engine/model/question-option.js";
import type { Wizard } from "../../engine/model/wizard.js";
import { chooseGoingOn, describeProgram, isOfDefiningProgram, type Origin } from "./program-functions.js";
import type { UsageView } from "./step-views.js";
import type {
  CheckpointView,
  DeliverableView,
  FailureView,
  MetricsView,
  QuestionView,
  StepView,
  WizardItemView,
} from "./task-views.js";

export function formatTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

interface TaskStanding {
  readonly task: string;
  readonly status: string;
  readonly resumable: boolean;
  readonly openQuestions: number;
  /** Where its functions are. */
  readonly origin?: Origin | undefined;
}

/** The command, or the program, that goes on with a task; `undefined` where an answer is needed first, or nothing is left to do. */
export function chooseNext({ task, status, resumable, openQuestions, origin }: TaskStanding): string | undefined {
  if (!resumable || status === "running" || (status === "waiting" && openQuestions > 0)) return undefined;
  const command = writeCommand("resume", [task], status === "unclear" ? { "--take-over": true } : {});
  return chooseGoingOn(origin, command);
}

/** What a task has used. `isOver`: nobody works on it, so the calls it had under way were cut off. */
export function viewMetrics(state: TaskState, isOver = false): MetricsView {
  const totals = isOver ? withCut(state) : state.totals;
  return {
    elapsed_time: Math.round(totals.elapsedMs) / 1000,
    api_calls: totals.calls,
    tokens_used: totals.tokensIn + totals.tokensOut,
    cost_usd: totals.costMicroUsd / 1_000_000,
    unpriced_calls: totals.unpricedCalls,
    ...(totals.uncountedCalls === 0 ? {} : { uncounted_calls: totals.uncountedCalls }),
    memory_peak: Math.round((totals.memoryPeakBytes / 1024 / 1024) * 10) / 10,
  };
}

function withCut({ totals, open, steps }: TaskState): TaskState["totals"] {
  const cut = [...open].reduce((sum, id) => sum + (steps.get(id)?.callsBegun ?? 0), 0);
  return {
    ...totals,
    calls: totals.calls + cut,
    unpricedCalls: totals.unpricedCalls + cut,
    uncountedCalls: totals.uncountedCalls + cut,
  };
}

export function viewDeliverables(state: TaskState): DeliverableView[] {
  return [...state.deliverables.values()]
    .map((saved) => ({ file: saved.file, size: saved.sizeBytes, sha256: saved.sha256, in_the_clear: true }))
    .sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** Shape: with the `origin` of a task that nobody runs, the command also says which program goes on with it. */
export function viewQuestion(task: string, question: QuestionEntry, origin?: Origin): QuestionView {
  const after = origin !== undefined && isOfDefiningProgram(origin) ? `  # then ${describeProgram(origin)}` : "";
  const at = question.wizard?.items[question.wizard.cursor]?.id;
  return withoutAbsent({
    id: question.id,
    kind: question.kind,
    text: question.text,
    options: question.options.map(viewOption),
    items: question.wizard === undefined ? undefined : viewItems(question.wizard),
    at,
    step: question.step,
    opened_at: formatTime(question.openedAtMs),
    expires_at: formatMaybe(question.expiresAtMs),
    on_expire: question.onExpire,
    offered: question.offered,
    status: question.status,
    answer: question.answer,
    answered_by: question.answeredBy,
    answered_at: formatMaybe(question.answeredAtMs),
    command: `${writeCommand("answer", [task, question.id, ...sampleOf(question)])}${after}`,
  });
}

/** An answer that the question takes as it stands, or a blank where only the person knows one. */
function sampleOf({ wizard, about, facts, options: [first] }: QuestionEntry): readonly Word[] {
  const item = wizard?.items[wizard.cursor];
  if (item !== undefined) return [item.id, item.choices[0] ?? ANSWER_BLANK];
  const amount =
    about?.kind === "limit" && first?.promptFor !== undefined ? exampleAmount(about.limit, facts) : undefined;
  return [first?.value ?? ANSWER_BLANK, ...(amount === undefined ? [] : [amount])];
}

function viewOption({
  value,
  label,
  takesValue,
  promptFor,
  multiline,
}: QuestionOption): QuestionView["options"][number] {
  const more = promptFor === undefined ? {} : { prompt_for: promptFor, multiline: multiline === true };
  return { value, label, takes_value: takesValue === true, ...more };
}

function formatMaybe(atMs: number | undefined): string | undefined {
  return atMs === undefined ? undefined : formatTime(atMs);
}

/** A view has no keys that say nothing. */
function withoutAbsent<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

function viewItems({ items, settled }: Wizard): WizardItemView[] {
  return items.map((item) => {
    const { value, source } = settled[item.id] ?? {};
    return {
      id: item.id,
      text: item.text,
      ...(item.hint === undefined ? {} : { hint: item.hint }),
      choices: item.choices,
      allow_free_text: item.allowFreeText,
      ...(item.default === undefined ? {} : { default: item.default }),
      required: item.required,
      multiline: item.multiline,
      status: source === undefined ? "open" : source === "skipped" ? "skipped" : "answered",
      ...(value === undefined ? {} : { answer: value }),
    };
  });
}

export function viewOpenQuestions(task: string, state: TaskState): QuestionView[] {
  return [...state.questions.values()]
    .filter((question) => question.status === "open")
    .map((question) => viewQuestion(task, question));
}

export function viewStep(step: StepEntry): StepView {
  return {
    step: step.id,
    path: step.path,
    kind: step.kind,
    status: step.status,
    attempt: step.attempt,
    phase: step.phase,
    started_at: formatTime(step.intendedAtMs),
    ...(step.endedAtMs === undefined ? {} : { duration: Math.max(0, step.endedAtMs - step.intendedAtMs) / 1000 }),
    ...(step.confidence?.value === undefined ? {} : { confidence: step.confidence.value }),
    ...(step.error === undefined
      ? {}
      : {
          error: {
            code: step.error.code,
            message: step.error.message,
            retryable: step.error.retryable,
            ...viewStderr(step.error),
          },
        }),
    ...(step.reason === undefined ? {} : { reason: step.reason }),
    ...(step.progress === undefined ? {} : { progress: { ...step.progress } }),
    ...(step.fallback === undefined ? {} : { fallback: step.fallback }),
  };
}

/** The lines of a failed program that matter; none where the message says them already. */
function viewStderr({ details, message }: StepError): { readonly stderr?: string } {
  const written = details?.["stderr"];
  const lines = typeof written === "string" ? selectErrorLines(written) : [];
  const isSaid = lines.length === 1 && message.endsWith((lines[0] ?? "").trim());
  return lines.length === 0 || isSaid ? {} : { stderr: lines.join("\n") };
}

export function viewFailure(step: string, error: StepError): FailureView {
  return { step, code: error.code, message: error.message, ...viewStderr(error) };
}

/** An unknown cost is null, never zero. */
export function viewUsage({ calls, tokensIn, tokensOut, costMicroUsd }: Usage): UsageView {
  return {
    calls,
    tokens_in: tokensIn,
    tokens_out: tokensOut,
    cost_usd: costMicroUsd === undefined ? null : costMicroUsd / 1_000_000,
  };
}

const FAILURES_MAX = 20;

/** The steps that failed and were not run again since. */
export function viewFailures(state: TaskState): { readonly failures?: readonly FailureView[] } {
  const failures = [...state.steps.values()].flatMap(({ id, path, status, error }) =>
    status === "failed" && error !== undefined && id === currentStepId(state, path) ? [viewFailure(id, error)] : [],
  );
  return failures.length === 0 ? {} : { failures: failures.slice(-FAILURES_MAX) };
}

export function viewPhases(state: TaskState): JsonObject[] {
  return [...state.phases.values()].map((phase) => ({
    name: phase.name,
    number: phase.number,
    status: phase.status,
    iteration: phase.iteration,
    confidence: phase.confidence ?? null,
    spawned: phase.spawned,
    started_at: formatTime(phase.startedAtMs),
    ended_at: phase.endedAtMs === undefined ? null : formatTime(phase.endedAtMs),
  }));
}

/** Source: seed 003, decisions. */
export function viewDecisions(state: { readonly decisions: readonly Decision[] }): JsonObject[] {
  return state.decisions.map((decision) => ({
    timestamp: formatTime(decision.atMs),
    agent: decision.agent,
    type: decision.type,
    description: decision.description,
    rationale: decision.rationale,
    alternatives_considered: [...decision.alternativesConsidered],
    confidence: decision.confidence ?? null,
    subject: decision.subject ?? null,
  }));
}

export function countSteps(state: TaskState): { done: number; failed: number; skipped: number; open: number } {
  const counts = { done: 0, failed: 0, skipped: 0, open: 0 };
  for (const step of state.steps.values()) {
    if (step.status === "completed") counts.done += 1;
    else if (step.status === "failed") counts.failed += 1;
    else if (step.status === "skipped") counts.skipped += 1;
    else if (step.id === currentStepId(state, step.path)) counts.open += 1;
  }
  return counts;
}

export function viewCheckpoints(task: string, state: TaskState): CheckpointView[] {
  return state.checkpoints.map((entry) => viewCheckpoint(task, entry));
}

export function viewCheckpoint(task: string, entry: CheckpointEntry): CheckpointView {
  return {
    task,
    checkpoint_id: entry.checkpointId,
    seq: entry.seq,
    phase: entry.phase,
    trigger: entry.trigger,
    status: entry.status,
    timestamp: formatTime(entry.atMs),
    position: entry.position,
    ...(entry.note === undefined ? {} : { note: entry.note }),
    ...(entry.metadata === undefined ? {} : { metadata: entry.metadata }),
    ...(entry.snapshot === undefined ? {} : { file: entry.snapshot.file, size: entry.snapshot.sizeBytes }),
  };
}
