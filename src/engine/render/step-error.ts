/** What templates see of a step that failed: `<step>.error`, for the step that `on_error` or a dependency leads to. */
import type { JsonObject } from "../../base/json.js";
import type { NodeDefinition } from "../../definition/model/workflow.js";
import type { Choice } from "../model/choice.js";
import { currentStep } from "../model/lookup.js";
import type { StepEntry } from "../model/state.js";

/**
 * Why a node failed: of a group or a nested workflow the step in it that failed last.
 *
 * Shape: `code`, `message`, `step` (its path), and what its program wrote to stderr; `undefined` where its latest visit
 * has not failed.
 */
export function describeStepError(choice: Choice, path: string, node: NodeDefinition): JsonObject | undefined {
  const step = node.node === "step" ? currentStep(choice, path) : findFailedWithin(choice, path, node);
  if (step?.status !== "failed" || step.error === undefined) return undefined;
  const { code, message, details } = step.error;
  const stderr = details?.["stderr"];
  return { code, message, step: step.path, ...(typeof stderr === "string" ? { stderr } : {}) };
}

function findFailedWithin(
  { state }: Choice,
  path: string,
  { onError }: Pick<NodeDefinition, "onError">,
): StepEntry | undefined {
  if (onError === undefined || state.outputs.has(path)) return undefined;
  const within = [...state.steps.values()].filter(
    (step) => step.path.startsWith(`${path}/`) && step.status === "failed",
  );
  return within.toSorted((a, b) => (a.endedAtMs ?? 0) - (b.endedAtMs ?? 0)).at(-1);
}
