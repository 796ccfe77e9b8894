/** What performers and people report while steps run, as events; reports of a closed attempt are refused. */
import { recordDecision, type Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import type { StepReport } from "../../model/input.js";
import type { ControlMessage } from "../../model/ports.js";
import { guidanceBy } from "../questions/guidance.js";
import { decideAnswer } from "../questions/questions.js";
import type { TaskState } from "../../model/state.js";
import { currentPhase, recordCheckpoint } from "../triggers.js";
import { unreachable } from "../../../base/errors.js";

export function decideReport(choice: Choice, report: StepReport): readonly EngineEvent[] {
  const { state, nowMs: atMs } = choice;
  const isCurrent = state.steps.get(report.step)?.attempt === report.attempt && state.open.has(report.step);
  if (!isCurrent) return [];
  if (report.type !== "turn_recorded") return [{ atMs, ...report }];
  return [{ atMs, turn: (state.histories.get(report.step)?.turns.length ?? 0) + 1, ...report }];
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
    state.checkpoints.some(({ request }) => request === id) ||
    state.decisions.some(({ effect }) => effect !== undefined && "request" in effect && effect.request === id)
  );
}

function checkpointBy(choice: Choice, { by, note, id }: RequestMessage): EngineEvent {
  return recordCheckpoint(choice, {
    trigger: "user_requested",
    phase: currentPhase(choice.state),
    ...(note === undefined ? {} : { note }),
    request: id,
    metadata: { by },
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
