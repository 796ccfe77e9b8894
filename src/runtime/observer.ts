/** Turns durable events of a running task into the library's typed events. */
import type { EngineEvent } from "../engine/events.js";
import type { TaskState } from "../engine/state.js";
import type { Emitter } from "./emitter.js";
import { formatTime, viewDecisions, viewEvent, viewQuestion } from "./views.js";

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

function emitTyped(emitter: Emitter, { task, event, state }: Observed): void {
  switch (event.type) {
    case "snapshot_written":
      emitter.emit("checkpoint_saved", {
        task,
        checkpoint_id: event.checkpointId,
        timestamp: formatTime(event.atMs),
        file: event.file,
      });
      return;
    case "snapshot_failed":
      emitter.emit("checkpoint_failed", { task, error: { code: event.error.code, message: event.error.message } });
      return;
    case "step_intended":
      emitter.emit("step_started", { task, step: event.step, attempt: event.attempt });
      return;
    case "step_completed":
    case "step_failed":
    case "step_cancelled":
      emitter.emit("step_finished", { task, step: event.step, status: event.type.slice("step_".length) });
      return;
    case "decision_made": {
      const [decision] = viewDecisions({ ...state, decisions: [event.decision] });
      if (decision !== undefined) emitter.emit("decision_made", { task, decision });
      return;
    }
    case "question_opened": {
      const question = state.questions.get(event.question.id);
      if (question !== undefined) emitter.emit("question_opened", { task, question: viewQuestion(task, question) });
      return;
    }
    case "progress_reported":
      emitter.emit("progress", {
        task,
        step: event.step,
        ...(event.fraction === undefined ? {} : { fraction: event.fraction }),
        ...(event.message === undefined ? {} : { message: event.message }),
      });
      return;
    default:
  }
}
