/** What a group counts as among the specialists of its phase: how sure the steps in it are, taken together. */
import type { StepId } from "../../base/ids.js";
import { computeGroupReport, type SpecialistReport } from "./confidence.js";
import { definitionPathOf, nameOfPath } from "./identity.js";
import { currentStepId, indexDefinition, isOwnStep, requireTask } from "./lookup.js";
import type { StepEntry, TaskState } from "./state.js";

/** The latest visits of the steps in a group that said how sure they are; who judges or chooses is none of them. */
export function listReporting(state: TaskState, path: string): readonly StepEntry[] {
  const { places } = indexDefinition(requireTask(state).definition);
  return [...state.steps.values()].filter(
    (step) =>
      step.confidence?.value !== undefined &&
      step.path.startsWith(`${path}/`) &&
      step.id === currentStepId(state, step.path) &&
      !isOwnStep(nameOfPath(step.path)) &&
      places.get(definitionPathOf(step.path))?.isScorer !== true,
  );
}

export interface GroupAsked {
  readonly path: string;
  readonly failed: boolean;
  /** Identities of the steps that count; absent: those of the latest visits. */
  readonly reporting?: readonly string[] | undefined;
}

/** Units: confidences 0..1. */
export function describeGroupReport(state: TaskState, { path, failed, reporting }: GroupAsked): SpecialistReport {
  const { places } = indexDefinition(requireTask(state).definition);
  const steps = reporting?.flatMap((id) => state.steps.get(id as StepId) ?? []) ?? listReporting(state, path);
  return computeGroupReport(
    { name: nameOfPath(path), failed },
    steps.map((step) => {
      const node = places.get(definitionPathOf(step.path))?.node;
      return {
        criticality: node?.node === "step" ? node.criticality : "standard",
        confidence: step.confidence?.value ?? 0,
        uncertainties: step.confidence?.uncertainties ?? [],
      };
    }),
  );
}
