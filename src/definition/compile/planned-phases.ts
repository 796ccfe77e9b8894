/**
 * Holds a plan that a model made against the bounds of a goal and the rules of a file, and builds its phases.
 *
 * A plan says what models are to do, in plain text. It names no program, no function, no address, no secret and no
 * template: what a model wrote is never run as anything but a prompt.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { validateWorkflowFile, type WorkflowFile } from "../../schema/generated/workflow.js";
import { FaultList, type FaultPath } from "../faults/fault.js";
import type { PlannerRule } from "../model/step.js";
import { noteDefects } from "../reading/structure.js";
import { buildWorkflow } from "./workflow-builder.js";
import type { PhaseScope } from "../model/workflow.js";

const PHASE_KEYS = ["name", "description", "specialists", "evaluate", "confidence"];
const SPECIALIST_KEYS = ["name", "description", "prompt", "output", "depends_on", "criticality"];
const EVALUATE_KEYS = ["criteria", "approve", "max_iterations"];
const TEMPLATE = /\{\{|\{%|\{#/;
const FAULTS_SHOWN = 12;

export interface PlanFrame {
  readonly rule: PlannerRule;
  /** Phases that are done, as they were planned: they stay. */
  readonly done: readonly JsonValue[];
}

/** The phases of a whole plan, those that are done first; or what is wrong with it, one line each. */
export type CheckedPlan = { readonly phases: readonly PhaseScope[] } | { readonly faults: readonly string[] };

export function buildPlannedPhases(planned: readonly JsonValue[], frame: PlanFrame): CheckedPlan {
  const faults = new FaultList();
  checkBounds(planned, frame, faults);
  planned.forEach((phase, index) => checkPhase(phase, ["phases", index], faults));
  if (faults.faults.length > 0) return { faults: describe(faults) };
  const file = fileOf([...frame.done, ...planned], frame);
  noteDefects(validateWorkflowFile(file), { root: file, schema: "workflow", faults });
  if (faults.faults.length > 0) return { faults: describe(faults) };
  const { root } = buildWorkflow(file as unknown as WorkflowFile, {
    faults,
    codeDigests: new Map(),
    scriptedAnswers: undefined,
    texts: [],
    nested: new Map(),
    instructions: [],
    isComplete: true,
  });
  if (faults.faults.length > 0 || root.scope !== "phases") return { faults: describe(faults) };
  return { phases: root.children };
}

function describe({ faults }: FaultList): readonly string[] {
  return faults
    .slice(0, FAULTS_SHOWN)
    .map(({ path, message, suggestion }) => `${path}: ${message}${suggestion === undefined ? "" : ` (${suggestion})`}`);
}

function fileOf(phases: readonly JsonValue[], { rule }: PlanFrame): JsonObject {
  const { header, provider, model, atlas } = rule;
  const { runtime } = header;
  const own = isJsonObject(runtime) ? runtime["provider"] : undefined;
  const asked = {
    ...(isJsonObject(runtime) ? runtime : {}),
    // Address, key and headers belong to the block, whatever the flags call its provider.
    provider: isJsonObject(own) ? { ...own, name: provider } : provider,
    ...(model === undefined ? {} : { default_model: model }),
  };
  return { workflow: { ...header, runtime: asked }, phases, ...(atlas === undefined ? {} : { atlas }) };
}

function checkBounds(planned: readonly JsonValue[], { rule, done }: PlanFrame, faults: FaultList): void {
  const phases = [...done, ...planned];
  if (planned.length === 0)
    faults.add({ code: "missing_key", path: ["phases"], message: "a plan needs at least one phase" });
  if (phases.length > rule.phasesMax)
    faults.add({
      code: "too_large",
      path: ["phases"],
      message: `${phases.length} phases are more than the ${rule.phasesMax} allowed`,
    });
  const specialists = phases.reduce<number>((sum, phase) => sum + listOf(phase, "specialists").length, 0);
  if (specialists > rule.specialistsMax) {
    const message = `${specialists} specialists are more than the ${rule.specialistsMax} allowed`;
    faults.add({ code: "too_large", path: ["phases"], message });
  }
}

function listOf(value: JsonValue, key: string): readonly JsonValue[] {
  const list = isJsonObject(value) ? value[key] : undefined;
  return Array.isArray(list) ? (list as readonly JsonValue[]) : [];
}

function checkPhase(phase: JsonValue, path: FaultPath, faults: FaultList): void {
  checkKeys(phase, path, { allowed: PHASE_KEYS, faults });
  if (!isJsonObject(phase)) return;
  refuseTemplates(phase, path, faults);
  if (phase["evaluate"] !== undefined)
    checkKeys(phase["evaluate"], [...path, "evaluate"], { allowed: EVALUATE_KEYS, faults });
  listOf(phase, "specialists").forEach((specialist, index) => {
    const at = [...path, "specialists", index];
    checkKeys(specialist, at, { allowed: SPECIALIST_KEYS, faults });
    if (isJsonObject(specialist) && typeof specialist["prompt"] !== "string")
      faults.add({ code: "missing_key", path: at, message: "a specialist needs a prompt" });
  });
}

function checkKeys(
  value: JsonValue,
  path: FaultPath,
  { allowed, faults }: { readonly allowed: readonly string[]; readonly faults: FaultList },
): void {
  if (!isJsonObject(value)) {
    faults.add({ code: "wrong_value", path, message: "must be an object" });
    return;
  }
  for (const key of Object.keys(value)) {
    if (allowed.includes(key)) continue;
    faults.add({
      code: "unknown_key",
      path: [...path, key],
      message: "is not part of a plan",
      suggestion: `allowed: ${allowed.join(", ")}`,
    });
  }
}

function refuseTemplates(value: JsonValue, path: FaultPath, faults: FaultList): void {
  if (typeof value === "string") {
    if (TEMPLATE.test(value))
      faults.add({ path, message: "is a template; a plan is plain text, and results are handed on by themselves" });
    return;
  }
  if (Array.isArray(value)) value.forEach((item: JsonValue, index) => refuseTemplates(item, [...path, index], faults));
  else if (isJsonObject(value))
    for (const [key, item] of Object.entries(value)) refuseTemplates(item ?? null, [...path, key], faults);
}
