/** A status of tasks, steps and phases as it is shown: never by colour alone, always with a shape and a word. */
export type Tone = "run" | "good" | "bad" | "wait" | "calm";

export interface StatusLook {
  readonly word: string;
  readonly shape: string;
  readonly tone: Tone;
}

const look = (word: string, shape: string, tone: Tone): StatusLook => ({ word, shape, tone });

const LOOKS: Readonly<Record<string, StatusLook>> = {
  running: look("running", "●", "run"),
  open: look("running", "●", "run"),
  asked: look("waits for you", "?", "wait"),
  waiting_retry: look("tried again later", "↻", "wait"),
  waiting: look("waits for you", "?", "wait"),
  paused: look("paused", "‖", "calm"),
  parked: look("parked", "‖", "wait"),
  unknown: look("outcome unknown", "?", "wait"),
  unclear: look("owner unclear", "~", "wait"),
  crashed: look("crashed", "!", "bad"),
  failed: look("failed", "✕", "bad"),
  partial: look("partial", "◐", "wait"),
  done: look("done", "✓", "good"),
  completed: look("done", "✓", "good"),
  stopped: look("stopped", "■", "calm"),
  skipped: look("skipped", "–", "calm"),
  cancelled: look("cancelled", "–", "calm"),
  pending: look("to come", "○", "calm"),
  locked: look("locked", "⚿", "calm"),
};

export function lookOf(status: string): StatusLook {
  return (Object.hasOwn(LOOKS, status) ? LOOKS[status] : undefined) ?? look(status, "·", "calm");
}
