/**
 * What every rule of `decide` works with: the state, the time, and a way to ask for large values.
 *
 * A value that is not loaded is noted in `missing` and stands in as null; `decide` then answers with what it needs
 * instead of the events, and is asked again. So no rule has to stop midway.
 */
import { createUuid, type StepId } from "../../base/ids.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import { canonicalJson } from "../../base/json-encoding.js";
import type { Decision, DecisionEffect } from "./decision.js";
import type { EngineEvent } from "./events.js";
import type { BlobRef, ValueRef } from "./value-ref.js";
import type { DecideContext } from "./input.js";
import type { TaskState } from "./state.js";
import type { ChannelChange } from "./deferred-effects.js";

export interface Choice {
  readonly state: TaskState;
  readonly context: DecideContext;
  readonly nowMs: number;
  readonly missing: BlobRef[];
  /** Of the completion that is being chosen: what templates see is the channel after them. */
  readonly channelChanges?: readonly ChannelChange[] | undefined;
}

export function createChoice(state: TaskState, context: DecideContext): Choice {
  return { state, context, nowMs: Math.max(context.nowMs, state.atMs), missing: [] };
}

/** The value behind a reference, or null for now when it must be loaded first. */
export function loadValue(choice: Choice, ref: ValueRef): JsonValue {
  if ("inline" in ref) return ref.inline;
  const value = choice.context.blob(ref.blob);
  if (value !== undefined) return value;
  if (!choice.missing.some((known) => known.key === ref.blob.key)) choice.missing.push(ref.blob);
  return null;
}

export interface DecisionText {
  readonly agent: "atlas" | "apollo" | "engine" | `person:${string}`;
  readonly type: string;
  readonly description: string;
  readonly rationale: string;
  readonly alternatives?: readonly string[];
  readonly confidence?: number;
  readonly subject?: string;
  readonly orchestrator?: StepId | undefined;
  readonly effect?: DecisionEffect;
  readonly facts?: JsonObject;
}

/** A decision as an event of its own. */
export function recordDecision(choice: Choice, text: DecisionText): EngineEvent {
  return { type: "decision_made", atMs: choice.nowMs, decision: createDecision(choice, text) };
}

/** A decision with a fresh id. */
export function createDecision(choice: Choice, text: DecisionText): Decision {
  return {
    id: createUuid(choice.context.random),
    atMs: choice.nowMs,
    agent: text.agent,
    type: text.type,
    description: text.description,
    rationale: text.rationale,
    alternativesConsidered: text.alternatives ?? [],
    ...(text.confidence === undefined ? {} : { confidence: text.confidence }),
    ...(text.subject === undefined ? {} : { subject: text.subject }),
    ...(text.orchestrator === undefined ? {} : { orchestrator: text.orchestrator }),
    ...(text.effect === undefined ? {} : { effect: text.effect }),
    ...(text.facts === undefined ? {} : { facts: text.facts }),
  };
}

/**
 * A decision before the events it leads to: nothing where a crash came between them, so that it is not made twice.
 *
 * Shape: subject, effect and facts together tell one occasion from every other.
 */
export function recordDecisionOnce(
  choice: Choice,
  text: DecisionText & { readonly subject: string; readonly facts: JsonObject },
): readonly EngineEvent[] {
  const { agent, type, subject } = text;
  const made = choice.state.decisions.findLast(
    (decision) => decision.subject === subject && decision.agent === agent && decision.type === type,
  );
  return made !== undefined && occasionOf(made) === occasionOf(text) ? [] : [recordDecision(choice, text)];
}

function occasionOf({ effect, facts }: Pick<Decision, "effect" | "facts">): string {
  return canonicalJson({ effect: effect ?? null, facts: facts ?? null });
}

/** A number in [0, 1) from the random source. */
export function drawFraction(choice: Choice): number {
  const bytes = choice.context.random.bytes(4);
  return Buffer.from(bytes).readUInt32BE(0) / 2 ** 32;
}
