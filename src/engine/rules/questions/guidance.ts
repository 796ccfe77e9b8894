/**
 * Guidance: what a person told a task while it ran, in words.
 *
 * E10: guidance is kept in the order it was taken, for good: going back takes none away, a fork begins with what was said
 * up to its point. A step that begins after it has it in its work, and so in its input hash; an attempt that begins later
 * is told what came since, and so is a conversation with a model before its next turn, where the turn records how much of
 * it was told. So of one step's guidance every list is the beginning of a later one, and a number says which.
 * Who judges, asks a person or only carries values is told nothing.
 */
import { createDecision, type Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import type { ControlMessage } from "../../model/ports.js";
export type GuidanceMessage = Extract<ControlMessage, { readonly kind: "guidance" }>;

/** Words of it that stand in a line; the whole is beside them. */
const SHOWN_CHARS = 120;

/** A person's decision, as every request is; what was said is its effect. */
export function guidanceBy(choice: Choice, { by, text, path, at, id }: GuidanceMessage): EngineEvent {
  const about = path === undefined ? "" : ` for ${path}`;
  const decision = createDecision(choice, {
    agent: `person:${by}`,
    type: "guidance_given",
    description: `guidance${about}: ${shorten(text)}`,
    rationale: "said while the task was under way; it counts for what begins after it",
    ...(path === undefined ? {} : { subject: path }),
    effect: { kind: "guide", text, saidAt: at, ...(id === undefined ? {} : { request: id }) },
  });
  return { type: "decision_made", atMs: choice.nowMs, decision };
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= SHOWN_CHARS ? line : `${line.slice(0, SHOWN_CHARS)}…`;
}
