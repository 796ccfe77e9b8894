/**
 * Guidance: what a person told a task while it ran, in words.
 *
 * E10: guidance is kept in the order it was taken, for good: going back takes none away, a fork begins with what was said
 * up to its point. A step that begins after it has it in its work, and so in its input hash; an attempt that begins later
 * is told what came since, and so is a conversation with a model before its next turn, where the turn records how much of
 * it was told. So of one step's guidance every list is the beginning of a later one, and a number says which.
 * Who judges, asks a person or only carries values is told nothing.
 */
import type { StepId } from "../../base/ids.js";
import type { JsonObject } from "../../base/json.js";
import type { StepDefinition, StepKind } from "../../definition/step.js";
import { createDecision, type Choice } from "../choice.js";
import type { Decision } from "../events/decision.js";
import type { EngineEvent } from "../events/events.js";
import { definitionPathOf } from "../events/identity.js";
import type { ControlMessage } from "../ports.js";
import type { TaskState } from "../state/state.js";
import type { Guidance } from "./guidance-given.js";

export type GuidanceMessage = Extract<ControlMessage, { readonly kind: "guidance" }>;

/** Words of it that stand in a line; the whole is beside them. */
const SHOWN_CHARS = 120;
const TOLD: ReadonlySet<StepKind> = new Set<StepKind>(["model", "cli", "command", "function"]);

export function isToldGuidance({ kind }: Pick<StepDefinition, "kind">): boolean {
  return TOLD.has(kind);
}

/** What was said that concerns a step, oldest first. Later lists begin with earlier ones. */
export function listGuidance({ guidance }: Pick<TaskState, "guidance">, path: string): readonly string[] {
  return guidance.filter((one) => concerns(one, path)).map(({ text }) => text);
}

/** The steps that were told of each, in the order of the list. */
export function findListeners({ guidance, steps }: Pick<TaskState, "guidance" | "steps">): readonly StepId[][] {
  const listeners: StepId[][] = guidance.map(() => []);
  for (const { id, path, guided = 0 } of guidance.length === 0 ? [] : steps.values()) {
    let left = guided;
    for (const [at, one] of guidance.entries()) {
      if (left === 0) break;
      if (!concerns(one, path)) continue;
      listeners[at]?.push(id);
      left -= 1;
    }
  }
  return listeners;
}

function concerns({ path: about }: Guidance, path: string): boolean {
  return about === undefined || isAtOrBelow(path, about) || isAtOrBelow(definitionPathOf(path), about);
}

function isAtOrBelow(path: string, above: string): boolean {
  return path === above || path.startsWith(`${above}/`) || path.startsWith(`${above}[`);
}

/** A person's decision, as every request is; what was said is in its facts. */
export function guidanceBy(choice: Choice, { by, text, path, at, id }: GuidanceMessage): EngineEvent {
  const about = path === undefined ? "" : ` for ${path}`;
  const decision = createDecision(choice, {
    agent: `person:${by}`,
    type: "guidance_given",
    description: `guidance${about}: ${shorten(text)}`,
    rationale: "said while the task was under way; it counts for what begins after it",
    ...(path === undefined ? {} : { subject: path }),
    facts: { request: "guidance", text, given_at: at, ...(id === undefined ? {} : { id }) },
  });
  return { type: "decision_made", atMs: choice.nowMs, decision };
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= SHOWN_CHARS ? line : `${line.slice(0, SHOWN_CHARS)}…`;
}

/** Folds it. */
export function keepGuidance(state: TaskState, decision: Decision, facts: JsonObject): void {
  const { text, id } = facts;
  if (typeof text !== "string") return;
  state.guidance.push(
    Object.freeze({
      text,
      by: decision.agent.replace(/^person:/, ""),
      atMs: decision.atMs,
      ...(decision.subject === undefined ? {} : { path: decision.subject }),
      ...(typeof id === "string" ? { id } : {}),
    }),
  );
}
