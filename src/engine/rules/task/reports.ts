/** What performers and people report while steps run, as events; reports of a closed attempt are refused. */
import type { JsonObject } from "../../../base/json.js";
import { recordDecision, type Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import type { EngineInput } from "../../model/input.js";
import type { ControlMessage } from "../../model/ports.js";
import { guidanceBy } from "../questions/guidance.js";
import { decideAnswer } from "../questions/questions.js";
import type { TaskState } from "../../model/state.js";
import { currentPhase, recordCheckpoint } from "../triggers.js";
import type { DeferredEffects } from "../../model/deferred-effects.js";
import { unreachable } from "../../../base/errors.js";

type ReportKind =
  | "spawned"
  | "progress"
  | "milestone"
  | "substep_intended"
  | "substep_completed"
  | "substep_failed"
  | "call_begun"
  | "turn"
  | "tool_intended"
  | "tool_completed";
export type ReportInput = Extract<EngineInput, { kind: ReportKind }>;

export function decideReport(choice: Choice, input: ReportInput): readonly EngineEvent[] {
  const current = choice.state.steps.get(input.step);
  const isCurrent = current?.attempt === input.attempt && choice.state.open.has(input.step);
  return isCurrent ? [eventOf(choice, input)] : [];
}

function eventOf(choice: Choice, input: ReportInput): EngineEvent {
  const base = { atMs: choice.nowMs, step: input.step, attempt: input.attempt };
  switch (input.kind) {
    case "spawned":
      return { type: "step_spawned", ...base, process: input.process };
    case "progress":
      return { type: "progress_reported", ...base, ...readProgress(input.report) };
    case "milestone":
      return { type: "milestone_reached", ...base, name: input.name, state: input.state, ...wishesOf(input) };
    case "substep_intended":
      return { type: "substep_intended", ...base, name: input.name, ...withinOf(input) };
    case "substep_failed":
      return { type: "substep_failed", ...base, name: input.name, failure: input.failure };
    case "substep_completed":
      return { type: "substep_completed", ...base, name: input.name, value: input.value, ...wishesOf(input) };
    case "call_begun":
      return { type: "call_begun", ...base, asked: input.asked };
    case "turn":
      return describeTurn(choice, input);
    case "tool_intended":
      return { type: "tool_intended", ...base, ...describeCall(input) };
    case "tool_completed":
      return { type: "tool_completed", ...base, call: input.call, value: input.value };
    default:
      return unreachable(input);
  }
}

function wishesOf({ wishes }: { readonly wishes?: DeferredEffects }): { readonly wishes?: DeferredEffects } {
  return wishes === undefined ? {} : { wishes };
}

function withinOf({ within }: { readonly within?: string }): { readonly within?: string } {
  return within === undefined ? {} : { within };
}

/** Which tool is called with what, without the step and the time. */
function describeCall(input: Extract<ReportInput, { kind: "tool_intended" }>) {
  const { call, name, tool, value, effects } = input;
  return { call, name, ...(tool === undefined ? {} : { tool }), value, effects };
}

function describeTurn(choice: Choice, input: Extract<ReportInput, { kind: "turn" }>): EngineEvent {
  const { step, attempt, value, usage, notes } = input;
  const turn = (choice.state.histories.get(step)?.turns.length ?? 0) + 1;
  const spent = usage === undefined ? {} : { usage };
  return { type: "turn_recorded", atMs: choice.nowMs, step, attempt, turn, value, ...spent, ...notes };
}

function readProgress(report: JsonObject) {
  const { fraction, message, partial, confidence, blocker } = report;
  return {
    ...(typeof fraction === "number" ? { fraction } : {}),
    ...(typeof message === "string" ? { message } : {}),
    ...(partial === undefined ? {} : { partial: { inline: partial } }),
    ...(typeof confidence === "number" && confidence >= 0 && confidence <= 1 ? { confidence } : {}),
    ...(typeof blocker === "string" ? { blocker } : {}),
  };
}

export function decideMessage(choice: Choice, message: ControlMessage): readonly EngineEvent[] {
  if (choice.state.task?.status !== "running") return [];
  switch (message.kind) {
    case "answer":
      return decideAnswer(choice, message);
    case "checkpoint":
      return isKnownRequest(choice.state, message) ? [] : [checkpointBy(choice, message)];
    case "pause":
    case "stop":
      return isKnownRequest(choice.state, message) ? [] : [requestBy(choice, message)];
    case "guidance":
      return isKnownRequest(choice.state, message) ? [] : [guidanceBy(choice, message)];
    default:
      return unreachable(message);
  }
}

type PauseMessage = Extract<ControlMessage, { readonly kind: "pause" | "stop" }>;
type RequestMessage = Exclude<ControlMessage, { readonly kind: "answer" }>;

/** A request that an owner has recorded already. */
export function isKnownRequest(state: TaskState, { id }: RequestMessage): boolean {
  if (id === undefined) return false;
  return (
    state.checkpoints.some(({ metadata }) => metadata?.["request"] === id) ||
    state.decisions.some(({ effect }) => effect !== undefined && "request" in effect && effect.request === id)
  );
}

function checkpointBy(choice: Choice, { by, note, id }: RequestMessage): EngineEvent {
  return recordCheckpoint(choice, {
    trigger: "user_requested",
    phase: currentPhase(choice.state),
    ...(note === undefined ? {} : { note }),
    metadata: { by, ...(id === undefined ? {} : { request: id }) },
  });
}

function requestBy(choice: Choice, { kind, by, note, id }: PauseMessage): EngineEvent {
  return recordDecision(choice, {
    agent: `person:${by}`,
    type: `${kind}_requested`,
    description: `${kind} requested by ${by}`,
    rationale: note ?? "requested while the task ran",
    effect: { kind, ...(id === undefined ? {} : { request: id }) },
  });
}
