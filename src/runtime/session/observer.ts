/** Turns durable events of a running task into the library's typed events. */
import type { EngineEvent, EventOf } from "../../engine/model/events.js";
import { currentStepId } from "../../engine/model/lookup.js";
import type { TaskState } from "../../engine/model/state.js";
import type { Emitter } from "../platform/emitter.js";
import { viewEvent } from "../views/event-text.js";
import { formatTime, viewDecisions, viewQuestion } from "../views/views.js";

/** `n` is the journal number of the event. */
export function observeInto(emitter: Emitter, task: string): (event: EngineEvent, state: TaskState, n: number) => void {
  return (event, state, n) => {
    if (emitter.has("event")) emitter.emit("event", { task, ...viewEvent(n, event) });
    emitTyped(emitter, { task, event, state });
  };
}

interface Observed {
  readonly task: string;
  readonly event: EngineEvent;
  readonly state: TaskState;
}

type Emit<T extends EngineEvent["type"]> = (emitter: Emitter, observed: Observed & { event: EventOf<T> }) => void;

const emitFinished =
  (status: string) =>
  (emitter: Emitter, { task, event }: { task: string; event: { step: string } }): void =>
    emitter.emit("step_finished", { task, step: event.step, status });

const EMITTED: { readonly [T in EngineEvent["type"]]?: Emit<T> } = {
  snapshot_written: (emitter, { task, event }) =>
    emitter.emit("checkpoint_saved", {
      task,
      checkpoint_id: event.checkpointId,
      timestamp: formatTime(event.atMs),
      file: event.file,
    }),
  snapshot_failed: (emitter, { task, event }) =>
    emitter.emit("checkpoint_failed", { task, error: { code: event.error.code, message: event.error.message } }),
  step_intended: (emitter, { task, event }) =>
    emitter.emit("step_started", { task, step: event.step, attempt: event.attempt }),
  step_completed: emitFinished("completed"),
  step_failed: emitFinished("failed"),
  step_cancelled: emitFinished("cancelled"),
  node_skipped: (emitter, { task, event, state }) => {
    const step = event.kind === undefined ? undefined : currentStepId(state, event.path);
    if (step !== undefined) emitter.emit("step_finished", { task, step, status: "skipped" });
  },
  question_opened: (emitter, { task, event, state }) => {
    const question = state.questions.get(event.question.id);
    if (question !== undefined) emitter.emit("question_opened", { task, question: viewQuestion(task, question) });
  },
  progress_reported: (emitter, { task, event }) =>
    emitter.emit("progress", { task, step: event.step, fraction: event.fraction, message: event.message }),
};

function emitTyped(emitter: Emitter, observed: Observed): void {
  const emit = EMITTED[observed.event.type] as Emit<EngineEvent["type"]> | undefined;
  emit?.(emitter, observed);
  const { task, event, state } = observed;
  if (event.decision === undefined) return;
  const [decision] = viewDecisions({ ...state, decisions: [event.decision] });
  if (decision !== undefined) emitter.emit("decision_made", { task, decision });
}
