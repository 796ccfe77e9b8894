/**
 * Chooses: state and input to events. Nothing is changed here, and nothing of the outside is read but the context.
 *
 * Owns: the dispatch and what is common to every answer: large values are asked for first, checkpoints are added where a
 * trigger fires. The rules are in files of their own:
 *   advance.ts (what may start), advance-scopes.ts, advance-phase.ts, phase-confidence.ts, evaluation.ts (scopes)
 *   ended-attempt.ts, outcome.ts, failure.ts, routes.ts, deliverables.ts (what a step came to) · reports.ts (while it runs)
 *   resumption.ts, unknown-outcome.ts (a new owner) · questions.ts, limits.ts · ending.ts (closing) · triggers.ts
 *
 * E3: every prefix of an answer is a legal state: what the rest would have said follows again from the state.
 */
import { schedule } from "./rules/task/advance.js";
import { decideApproval } from "./rules/questions/approval.js";
import { createChoice, type Choice } from "./model/choice.js";
import { decideClose, decideQuiescent } from "./rules/task/ending.js";
import type { EngineEvent } from "./model/events.js";
import type { DecideContext, Decided, EngineInput } from "./model/input.js";
import { findReachedLimit } from "./rules/steps/limits.js";
import { countTime, reachTimeLimits, stopAtLimit } from "./rules/steps/time-limits.js";
import { decideEnded } from "./rules/steps/ended-attempt.js";
import { decideAnswer, decideReminders, openQuestion } from "./rules/questions/questions.js";
import { decideMessage, decideReport } from "./rules/task/reports.js";
import { decideResumed } from "./rules/task/resumption.js";
import type { TaskState } from "./model/state.js";
import { addCheckpoints } from "./rules/triggers.js";

/** Chooses what follows from an input; reads the state and changes nothing. */
export function decide(state: TaskState, input: EngineInput, context: DecideContext): Decided {
  const choice = createChoice(state, context);
  const events = choose(choice, input);
  if (choice.missing.length > 0) return { needs: choice.missing };
  return { events: addCheckpoints(choice, events, input.kind === "due") };
}

type InputOf<K extends EngineInput["kind"]> = Extract<EngineInput, { readonly kind: K }>;
type Rule<I> = (choice: Choice, input: I) => readonly EngineEvent[];

const RULES: { readonly [K in EngineInput["kind"]]: Rule<InputOf<K>> } = {
  start: (choice, input) => [startTask(choice, input)],
  resumed: decideResumed,
  advance: schedule,
  outcome: decideEnded,
  report: (choice, input) => decideReport(choice, input.report),
  server_spawned: recordServer,
  server_ended: recordServer,
  before_call: decideCall,
  approval_wanted: decideApproval,
  message: (choice, input) => decideMessage(choice, input.message),
  due: decideDue,
  quiescent: decideQuiescent,
  close: decideClose,
  snapshot_written: (choice, input) => [{ ...input.event, atMs: choice.nowMs }],
  answered_before: decideAnswer,
  ask: askFromOutside,
};

function choose(choice: Choice, input: EngineInput): readonly EngineEvent[] {
  return (RULES[input.kind] as Rule<EngineInput>)(choice, input);
}

function startTask(choice: Choice, input: Extract<EngineInput, { kind: "start" }>): EngineEvent {
  const { kind: _kind, onUnknown, ...facts } = input;
  return { type: "task_started", atMs: choice.nowMs, ...facts, ...(onUnknown === undefined ? {} : { onUnknown }) };
}

/** Reminders and limits on working time; retries and waits are started by `advance`, expiries answered by the runner. */
function decideDue(choice: Choice): readonly EngineEvent[] {
  if (choice.state.task?.status !== "running") return [];
  const told = [...decideReminders(choice), ...reachTimeLimits(choice)];
  return told.length > 0 ? told : countTime(choice);
}

/** A step that has called a model goes on calling only within the limits; what it has is durable, turn by turn. */
function decideCall(choice: Choice, input: InputOf<"before_call">): readonly EngineEvent[] {
  const { step, attempt } = input;
  const entry = choice.state.steps.get(step);
  if (entry?.attempt !== attempt || !choice.state.open.has(step)) return [];
  const limit = findReachedLimit(choice, entry.path, "nothing");
  if (limit === undefined) return [];
  const stopped = stopAtLimit(choice, limit);
  const isEnded = stopped.some((event) => event.type !== "question_opened" && "step" in event && event.step === step);
  if (isEnded) return stopped;
  return [...stopped, { type: "step_cancelled", atMs: choice.nowMs, step, attempt, reason: "limit" }];
}

/** Of a task that has ended nothing begins. */
function recordServer(choice: Choice, input: InputOf<"server_spawned" | "server_ended">): readonly EngineEvent[] {
  const { kind: type, server, process } = input;
  return choice.state.task?.status === "running" ? [{ type, atMs: choice.nowMs, server, process }] : [];
}

function askFromOutside(choice: Choice, input: Extract<EngineInput, { kind: "ask" }>): readonly EngineEvent[] {
  const { kind: _kind, questionKind, ...rest } = input;
  return [openQuestion(choice, { kind: questionKind, ...rest })];
}
