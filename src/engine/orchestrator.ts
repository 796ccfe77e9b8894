/**
 * The orchestrator in model mode: a model is asked which of the allowed alternatives is to follow.
 *
 * It is a step of the phase itself, so its answer is durable, limited and paid for once. One answer serves one decision,
 * which names it; the next choice asks anew. An answer that is not allowed, and none at all, leave the choice to the
 * rules, and the decision says so.
 */
import { isJsonObject, type JsonValue } from "../base/json.js";
import { ATLAS_NAME } from "../definition/defaults.js";
import { loadValue, type Choice } from "./choice.js";
import type { Band } from "./confidence.js";
import type { EngineEvent } from "./events.js";
import { childPath } from "./lookup.js";
import { currentStep, type OpenPhase } from "./open-phase.js";
import { startStep } from "./start.js";
import type { StepEntry } from "./state.js";

const BAND_OF: Readonly<Record<string, Band>> = {
  proceed: "proceed",
  proceed_flagged: "flag",
  spawn_specialist: "spawn_one",
  spawn_specialists: "spawn_several",
  halt: "halt",
};

/** What was chosen; without a `band` the rules choose. */
export interface Chosen {
  readonly band?: Band;
  /** Identity of the step that was asked. */
  readonly orchestrator?: string;
  /** Why, for the rationale. */
  readonly said?: string;
}

interface Situation {
  readonly situation: string;
  /** How many more specialists may be added. */
  readonly room: number;
}

export function askOrchestrator(
  choice: Choice,
  phase: OpenPhase,
  { situation, room }: Situation,
): Chosen | { readonly events: readonly EngineEvent[] } {
  const { orchestrator: node } = phase.node;
  if (node === undefined) return {};
  const path = childPath(phase.scope.path, ATLAS_NAME);
  const step = currentStep(choice, path);
  const allowed = Object.keys(BAND_OF).filter((name) => room > 0 || !name.startsWith("spawn"));
  if (step === undefined || step.status === "cancelled" || isUsed(choice, step)) {
    const asked = `${situation}\n\nChoose what follows: ${allowed.join(", ")}. Answer with one JSON object: {"choice": "…", "rationale": "…"}`;
    return { events: startStep(choice, { path, node, names: { situation: asked } }, phase.budget) };
  }
  if (step.status !== "completed" || step.output === undefined) {
    const why = step.error?.message ?? "it was skipped";
    return { orchestrator: step.id, said: `the model did not choose (${why}), so the rules do` };
  }
  return readChoice(step.id, loadValue(choice, step.output), allowed);
}

function isUsed({ state }: Choice, { id }: StepEntry): boolean {
  return state.decisions.some(({ facts }) => facts?.["orchestrator"] === id);
}

function readChoice(orchestrator: string, value: JsonValue, allowed: readonly string[]): Chosen {
  const { choice: name, rationale } = isJsonObject(value) ? value : {};
  const band = typeof name === "string" && allowed.includes(name) ? BAND_OF[name] : undefined;
  if (band === undefined) {
    const said = `the model chose ${JSON.stringify(name ?? null)}, which is not allowed, so the rules do`;
    return { orchestrator, said };
  }
  const why = typeof rationale === "string" && rationale !== "" ? rationale : "no reason was given";
  return { band, orchestrator, said: `chosen by a model: ${why}` };
}
