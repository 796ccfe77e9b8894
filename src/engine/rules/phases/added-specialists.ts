/** The specialists that the orchestrator adds to a phase: whom each helps, on what, and what it is made of. */
import type { StepDefinition } from "../../../definition/model/step.js";
import type { SpecialistJson } from "../../model/decision.js";
import type { PhaseConfidence } from "../../model/confidence.js";
import { childPath, definitionToJson } from "../../model/lookup.js";
import type { OpenPhase } from "../scopes/open-phase.js";

/**
 * Definitions of added specialists: the phase's `spawn`, else the weakest specialist's own definition again, each on one
 * share of the open uncertainties. Names are unique in the phase.
 *
 * Shape: empty where only specialists that failed for good could be helped, and the phase names nobody to do so: to start
 * one of them again is what `restart` is for.
 */
export function createSpecialists(
  phase: OpenPhase,
  confidence: PhaseConfidence,
  count: number,
): readonly SpecialistJson[] {
  const taken = new Set([...phase.node.children.map((child) => child.name), ...Object.keys(phase.data.spawned)]);
  const definitions: SpecialistJson[] = [];
  if (!isAnybodyToAdd(phase, confidence)) return definitions;
  for (let at = 0; at < count; at += 1) {
    const target = targetOf(phase, confidence, at);
    const base = phase.node.spawn ?? chooseCopied(phase, target);
    if (base === undefined) break;
    const name = uniqueName(phase.node.spawn === undefined ? `${base.name}-more` : base.name, taken);
    const uncertainties = confidence.uncertainties
      .filter((item) => item.specialist === target)
      .map((item) => item.uncertainty);
    const { when: _when, startsOn: _startsOn, ...rest } = base;
    const definition: StepDefinition = {
      ...rest,
      name,
      path: childPath(phase.scope.path, name),
      dependsOn: [],
      routes: [],
      saveAs: {},
    };
    definitions.push({
      ...definitionToJson(definition),
      name,
      path: definition.path,
      uncertainties,
      ...(target === undefined ? {} : { addresses: target }),
    });
  }
  return definitions;
}

/** A group is not done once more under another name: another specialist is. */
function chooseCopied({ node }: OpenPhase, target: string | undefined): StepDefinition | undefined {
  const steps = node.children.filter((child) => child.node === "step");
  return steps.find((child) => child.name === target) ?? steps[0];
}

/** Whom the n-th added specialist helps: those with uncertainties in order, else the weakest. */
function targetOf(phase: OpenPhase, confidence: PhaseConfidence, at: number): string | undefined {
  const uncertain = listUncertain(phase, confidence);
  if (uncertain.length === 0) return confidence.weakest;
  const first = confidence.weakest !== undefined && uncertain.includes(confidence.weakest) ? [confidence.weakest] : [];
  const order = [...first, ...uncertain.filter((name) => !first.includes(name))];
  return order[at % order.length];
}

function listUncertain(phase: OpenPhase, { uncertainties, failed = [] }: PhaseConfidence): string[] {
  const names = [...new Set(uncertainties.map((item) => item.specialist))];
  return phase.node.spawn === undefined ? names.filter((name) => !failed.includes(name)) : names;
}

/** False where nobody could be added but a copy of one that failed for good. */
export function isAnybodyToAdd(phase: OpenPhase, confidence: PhaseConfidence): boolean {
  const { weakest, failed = [] } = confidence;
  if (phase.node.spawn === undefined && chooseCopied(phase, weakest) === undefined) return false;
  if (phase.node.spawn !== undefined || listUncertain(phase, confidence).length > 0) return true;
  return weakest === undefined || !failed.includes(weakest);
}

function uniqueName(base: string, taken: Set<string>): string {
  let name = base;
  for (let at = 2; taken.has(name); at += 1) name = `${base}-${at}`;
  taken.add(name);
  return name;
}
