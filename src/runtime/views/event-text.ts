/** What happened, in words: one text for each type of event, the same on every face. Pure; times as ISO-8601 UTC text. */
import { unreachable } from "../../base/errors.js";
import type { JsonObject } from "../../base/json.js";
import { formatCount, formatDuration } from "../../base/plain-text.js";
import { nameQuestion, nameStep } from "../../base/step-name.js";
import type { Decision } from "../../engine/model/decision.js";
import type { EngineEvent, EventOf } from "../../engine/model/events.js";
import type { EventView } from "./task-views.js";
import { formatTime } from "./views.js";

export function viewEvent(n: number, event: EngineEvent): EventView {
  const { atMs, type, ...facts } = event;
  // A whole state is no news: `checkpoints show` and `diff` look into it.
  const { state: _state, ...rest } = { state: undefined, ...facts };
  return {
    n,
    at: formatTime(atMs),
    type,
    text: describeEvent(event),
    event: JSON.parse(JSON.stringify(rest)) as JsonObject,
  };
}

/** A wait that the world asked for is no failure. */
function describeFailed(event: EventOf<"step_failed">): string {
  const { step, error, disposition, durationMs } = event;
  if (disposition.action === "pause_until")
    return `${nameStep(step)} waits until ${formatTime(disposition.atMs)}: ${error.message}`;
  return `${nameStep(step)} failed after ${formatDuration(durationMs / 1000)}${describeThen(event)}: ${error.message}`;
}

/** What is done about a failure, after a comma; nothing where nothing is. */
function describeThen({ disposition, atMs }: EventOf<"step_failed">): string {
  switch (disposition.action) {
    case "retry":
      return `, attempt ${disposition.attempt} in ${formatDuration(Math.max(0, disposition.atMs - atMs) / 1000)}`;
    case "restart":
      return `, attempt ${disposition.attempt} follows`;
    case "route":
      return `, ${disposition.to} handles it`;
    case "continue":
      return ", the task continues without it";
    case "ask":
      return ", but may have acted: a person is asked";
    case "pause_until":
    case "fail":
      return "";
    default:
      return unreachable(disposition);
  }
}

type Describers = { readonly [T in EngineEvent["type"]]: (event: EventOf<T>) => string };

const percent = (value: number): string => `${Math.round(value * 100)} %`;

/** The words for each reason of `step_cancelled`. */
const CANCELLED: Readonly<Record<string, string>> = {
  effects_none: "was interrupted and runs again: it changes nothing outside",
  effects_idempotent: "was interrupted and runs again, with the same key",
  never_started: "had not started, and starts now",
  probe_not_done: "runs again: its probe says that it was not done",
  cancelled: "was stopped and runs again",
  rerun: "runs again",
  resumed: "runs again",
  approval: "waits for an approval",
  sibling_failed: "stopped, as another step failed",
  time_limit: "stopped by a limit in time",
  limit: "stopped by a limit",
};

/** Who says that a step is done where it did not do so itself. */
const COMPLETED_BY = {
  answer: "as answered",
  probe: "says its probe",
  skip: "skipped by a person",
} as const;

function describeAdded(steps: readonly { readonly name: string }[] = []): string {
  return steps.length === 0 ? "" : `, adds ${steps.map(({ name }) => name).join(", ")}`;
}

const DESCRIBERS: Describers = {
  task_started: (event) => `task ${event.name} started: workflow ${event.definition.name}`,
  task_resumed: (event) => `${event.crashed ? "resumed after a crash" : "resumed"} by ${event.by}`,
  task_closed: (event) => `task ${event.end}: ${event.reason}`,
  scope_entered: (event) =>
    event.phase === undefined
      ? `${nameStep(event.path)} entered`
      : `phase ${event.phase} ${nameStep(event.path)} started`,
  scope_left: (event) =>
    `${nameStep(event.path)} ${event.outcome}${event.confidence === undefined ? "" : `, confidence ${percent(event.confidence)}`}`,
  node_skipped: (event) => `${nameStep(event.path)} skipped: ${event.reason}`,
  iteration_started: (event) => `${nameStep(event.path)}: iteration ${event.iteration}`,
  step_intended: (event) => `${nameStep(event.path)} starts${event.attempt > 1 ? ` (attempt ${event.attempt})` : ""}`,
  server_spawned: ({ server, process }) => `tool server ${server} runs as process ${process.pid}`,
  server_ended: ({ server, process }) => `tool server ${server}, process ${process.pid}, has ended`,
  step_spawned: (event) => `${nameStep(event.step)} runs as process ${event.process.pid}`,
  step_completed: (event) =>
    `${nameStep(event.step)} done in ${formatDuration(event.durationMs / 1000)}${event.confidence?.value === undefined ? "" : `, confidence ${percent(event.confidence.value)}`}${event.by === undefined ? "" : `, ${COMPLETED_BY[event.by]}`}${describeAdded(event.wishes?.add)}`,
  step_failed: (event) => describeFailed(event),
  step_cancelled: ({ step, reason }) => `${nameStep(step)} ${CANCELLED[reason] ?? `cancelled: ${reason}`}`,
  time_counted: () => "the time worked so far is recorded",
  call_begun: (event) => `${nameStep(event.step)} asks ${event.asked}`,
  turn_recorded: ({ step, turn, fallback }) =>
    `${nameStep(step)} turn ${turn}${fallback === undefined ? "" : `, answered by ${fallback.answered} instead of ${fallback.asked}`}`,
  tool_intended: (event) => `${nameStep(event.step)} calls ${event.name}`,
  tool_completed: (event) => `${nameStep(event.step)} tool call ${event.call} done`,
  substep_intended: (event) => `${nameStep(event.step)} begins ${event.name}`,
  substep_completed: (event) => `${nameStep(event.step)} finished ${event.name}`,
  substep_failed: (event) => `${nameStep(event.step)} failed in ${event.name}: ${event.failure.message}`,
  milestone_reached: (event) => `${nameStep(event.step)} reached ${event.name}`,
  progress_reported: (event) =>
    `${nameStep(event.step)}: ${event.message ?? (event.fraction === undefined ? "progress" : percent(event.fraction))}`,
  decision_made: (event) => describeDecision(event.decision),
  question_opened: (event) => `question: ${event.question.text}`,
  question_answered: (event) => `${event.by} answered ${nameQuestion(event.question)}: ${event.answer}`,
  question_moved: (event) =>
    `${event.by} in ${nameQuestion(event.question)}: ${event.action} ${Object.keys(event.set).join(", ")}${event.outcome === undefined ? "" : ` (${event.outcome})`}`,
  hook_told: (event) => `${event.path === undefined ? "" : `${nameStep(event.path)} `}${event.hook}: ${event.text}`,
  question_reminded: (event) => `nobody has answered ${nameQuestion(event.question)} yet`,
  channel_changed: (event) => `channel ${event.op} ${event.key}`,
  plan_settled: ({ path, phases, again }) =>
    `${nameStep(path)}: ${again === true ? "is planned again" : phases === undefined ? "the plan stays" : `${formatCount(phases.length, "phase")} planned`}`,
  score_recorded: (event) => `${nameStep(event.path)} ${event.dimension}: ${event.score}`,
  evaluation_completed: (event) => `${nameStep(event.path)} scored ${event.score}: ${event.verdict}`,
  checkpoint_recorded: (event) => `checkpoint ${event.seq} (${event.trigger})`,
  snapshot_written: (event) => `checkpoint ${event.seq} saved: ${event.file}`,
  snapshot_failed: (event) => `checkpoint ${event.seq} could not be saved: ${event.error.message}`,
  task_forked: (event) => `task ${event.name} begins as a fork of ${event.origin.name}, checkpoint ${event.origin.seq}`,
  rolled_back: (event) => `rolled back to checkpoint ${event.seq}: ${event.reason}`,
  pruned: (event) => `removed ${formatCount(event.files.length, "checkpoint file")}: ${event.reason}`,
  delivered: (event) => `${event.saved.map(({ file }) => file).join(", ")} written`,
  noted: (event) => event.text,
};

export function describeEvent(event: EngineEvent): string {
  const describe = DESCRIBERS[event.type] as (event: EngineEvent) => string;
  const text = describe(event);
  // An answer says already what it decides.
  const isSaid = event.type === "decision_made" || event.type.startsWith("question_");
  return event.decision === undefined || isSaid ? text : `${text}; ${describeDecision(event.decision)}`;
}

export function describeDecision({ agent, description }: Decision): string {
  return `${agent} decided: ${description}`;
}
