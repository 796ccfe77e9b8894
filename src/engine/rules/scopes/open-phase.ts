/** One open phase as its rules see it, and which step of each of its specialists counts. */
import type { StepId } from "../../../base/ids.js";
import type { PhaseScope } from "../../../definition/model/workflow.js";
import type { Choice } from "../../model/choice.js";
import { childPath, currentStep } from "../../model/lookup.js";
import type { OpenScope } from "../steps/open-scope.js";
import type { ScopeData, StepEntry } from "../../model/state.js";

export type PhaseData = Extract<ScopeData, { scope: "phase" }>;

export interface OpenPhase extends OpenScope<PhaseScope> {
  readonly data: PhaseData;
}

/** The step that counts for a specialist: of the best iteration if there were several, else the latest. */
export function countedStep(choice: Choice, phase: OpenPhase, name: string): StepEntry | undefined {
  const best = phase.data.best?.steps[name];
  return best === undefined
    ? currentStep(choice, childPath(phase.scope.path, name))
    : choice.state.steps.get(best as StepId);
}
