/** One open phase as its rules see it, and which step of each of its specialists counts. */
import type { StepId } from "../base/ids.js";
import type { PhaseScope } from "../definition/workflow.js";
import type { Choice } from "./choice.js";
import { stepIdOf } from "./identity.js";
import { childPath } from "./lookup.js";
import type { OpenScope } from "./open-scope.js";
import type { ScopeData, StepEntry } from "./state.js";

export type PhaseData = Extract<ScopeData, { scope: "phase" }>;

export interface OpenPhase extends OpenScope<PhaseScope> {
  readonly data: PhaseData;
}

/** The latest visit of a node; `undefined` when it has not run in this round. */
export function currentStep(choice: Choice, path: string): StepEntry | undefined {
  const visit = choice.state.visits.get(path) ?? 0;
  return choice.state.steps.get(stepIdOf({ path, round: choice.state.round, visit }));
}

/** The step that counts for a specialist: of the best iteration if there were several, else the latest. */
export function countedStep(choice: Choice, phase: OpenPhase, name: string): StepEntry | undefined {
  const best = phase.data.best?.steps[name];
  return best === undefined
    ? currentStep(choice, childPath(phase.scope.path, name))
    : choice.state.steps.get(best as StepId);
}
