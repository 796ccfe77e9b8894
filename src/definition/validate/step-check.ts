/**
 * Checks of one step that a schema cannot make: its references, and what it names in explicit mode.
 *
 * Source: CONDUCTOR-YAML 1.10.
 */
import type { FaultPath, FaultSink } from "../faults/fault.js";
import { findNearest } from "../faults/nearest.js";
import { listReferences } from "../templates/templates.js";
import type { ModelStep, StepDefinition } from "../model/step.js";
import type { ContextRule, StepReference } from "../model/values.js";

export interface StepChecking {
  readonly faults: FaultSink;
  readonly at: FaultPath;
  /** Names of steps and groups. */
  readonly names: ReadonlyMap<string, unknown>;
  /** Names of what does not run here. */
  readonly absent: ReadonlySet<string>;
  readonly inputs: readonly string[];
  readonly context: ContextRule;
}

/** Adds what is wrong with a step. */
export function checkStepMeaning(node: StepDefinition, checking: StepChecking): void {
  node.references?.forEach((reference, index) => checkReference(reference, index, checking));
  if (node.kind !== "model") return;
  if (checking.context.mode === "explicit") checkNamed(node, checking);
  if (node.systemPrompt !== undefined && node.prompt.trim() === "")
    checking.faults.warn({
      code: "missing_key",
      path: [...checking.at, "system_prompt"],
      message: "a system prompt without a prompt asks nothing",
      suggestion: "write prompt",
      atKey: true,
    });
}

function checkReference({ root, path, isOptional }: StepReference, index: number, checking: StepChecking): void {
  const { faults, names, inputs } = checking;
  const at = [...checking.at, "input", index];
  if (root !== "workflow") {
    if (names.has(root) || checking.absent.has(root)) return;
    const nearest = findNearest(root, names.keys());
    const suggestion = nearest === undefined ? "name a step or group" : `did you mean ${nearest}?`;
    faults.add({ code: "unknown_name", path: at, message: `a reference names ${root}, which is no step`, suggestion });
    return;
  }
  const name = path[1] ?? "";
  if (isOptional || inputs.includes(name)) return;
  const nearest = findNearest(name, inputs);
  const suggestion = nearest === undefined ? "declare it under workflow.input" : `did you mean ${nearest}?`;
  faults.add({ code: "unknown_name", path: at, message: `the input ${name} is not declared`, suggestion });
}

/** In explicit mode a prompt sees only what `input` names: what it names besides would be missing at the run. */
function checkNamed(node: ModelStep, checking: StepChecking): void {
  if (Object.keys(node.input).length > 0) return;
  const named = new Set((node.references ?? []).map(({ root, path }) => inputOf(root, path) ?? root));
  for (const [key, text] of [
    ["prompt", node.prompt],
    ["system_prompt", node.systemPrompt ?? ""],
  ] as const) {
    for (const { root, path, guarded, offset, width } of listReferences(text)) {
      const input = inputOf(root, path);
      const isKnown = input !== undefined || checking.names.has(root);
      if (guarded || !isKnown || named.has(input ?? root)) continue;
      const reference = input ?? `${root}.output`;
      checking.faults.add({
        path: [...checking.at, key],
        within: { text, offset, width },
        message: `context.mode is explicit, and input does not name ${reference}`,
        suggestion: `add ${reference} to input`,
      });
    }
  }
}

/** `workflow.input.name` of a path into the workflow. */
function inputOf(root: string, [first, name]: readonly string[]): string | undefined {
  return root === "workflow" && first === "input" && name !== undefined ? `workflow.input.${name}` : undefined;
}
