/**
 * The orchestrator in model mode: a model is asked which of the allowed alternatives is to follow.
 *
 * It is a step of the phase itself, so its answer is durable, limited and paid for once. One answer serves one decision,
 * which names it; the next choice asks anew. An answer that is not allowed, and none at all, leave the choice to the
 * rules, and the decision says so.
 */
import type { StepId } from "../../../base/ids.js";
import { isJsonObject, type JsonValue } from "../../../base/json.js";
import { ATLAS_NAME } from "../../../definition/model/defaults.js";
import { loadValue, type Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import { childPath, currentStep } from "../../model/lookup.js";
import { type OpenPhase } from "../scopes/open-phase.js";
import { startStep } from "../steps/start.js";
import type { StepEntry } from "../../model/state.js";

/** What was chosen; without a `choice` the rules choose. */
export interface Chosen<T extends string> {
  readonly choice?: T;
  /** Identity of the step that was asked. */
  readonly orchestrator?: StepId;
  /** Why, for the rationale. */
  readonly said?: string;
}

export interface Situation<T extends string> {
  readonly text: string;
  /** What may be chosen now, by name; not empty. */
  readonly allowed: readonly T[];
}

/** What follows, or the events that ask. Shape: empty without a model, and where there is but one way to go. */
export function askOrchestrator<T extends string>(
  choice: Choice,
  phase: OpenPhase,
  { text, allowed }: Situation<T>,
): Chosen<T> | { readonly events: readonly EngineEvent[] } {
  const { orchestrator: node } = phase.node;
  if (node === undefined || allowed.length < 2) return {};
  const path = childPath(phase.scope.path, ATLAS_NAME);
  const step = currentStep(choice, path);
  if (step === undefined || step.status === "cancelled" || isUsed(choice, step)) {
    const asked = `${text}\n\nChoose what follows: ${allowed.join(", ")}. Answer with one JSON object: {"choice": "…", "rationale": "…"}`;
    return { events: startStep(choice, { path, node, names: { situation: asked } }, phase.budget) };
  }
  if (step.status !== "completed" || step.output === undefined) {
    const why = step.error?.message ?? "it was skipped";
    return { orchestrator: step.id, said: `the model did not choose (${why}), so the rules do` };
  }
  return readChoice(step.id, loadValue(choice, step.output), allowed);
}

function isUsed({ state }: Choice, { id }: StepEntry): boolean {
  return state.decisions.some(({ orchestrator }) => orchestrator === id);
}

function readChoice<T extends string>(orchestrator: StepId, value: JsonValue, allowed: readonly T[]): Chosen<T> {
  const { choice: name, rationale } = isJsonObject(value) ? value : {};
  const chosen = allowed.find((way) => way === name);
  if (chosen === undefined) {
    const said = `the model chose ${JSON.stringify(name ?? null)}, which is not allowed, so the rules do`;
    return { orchestrator, said };
  }
  const why = typeof rationale === "string" && rationale !== "" ? rationale : "no reason was given";
  return { choice: chosen, orchestrator, said: `chosen by a model: ${why}` };
}
