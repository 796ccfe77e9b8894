/** Builds what a workflow with a goal has instead of phases, and the merging of results: model steps of the root itself. */
import { MODEL } from "../kinds/model.js";
import type { JsonObject } from "../../base/json.js";
import type { Plan, WorkflowFile } from "../../schema/generated/workflow.js";
import type { BuildContext } from "../kinds/build-context.js";
import {
  ATLAS_NAME,
  CONSOLIDATE_NAME,
  PLAN_NAME,
  PLAN_PHASES_MAX,
  PLAN_SPECIALISTS_MAX,
  ROOT_NAME,
} from "../model/defaults.js";
import { fingerprintStep } from "../model/fingerprint.js";
import type { ConsolidationRule, PlanRule } from "../model/goal-rules.js";
import { buildModelOptions } from "../kinds/model-options.js";
import { buildRetry, omitUndefined } from "../kinds/step-fields.js";
import type { ModelStep, PlannerRule } from "../model/step.js";

/** What a person is told where the file names no words of its own. */
const MERGE =
  "Merge the results of all phases into one text for the person who asked: complete, without repetition, in a good order. Say where results contradict each other and what stayed uncertain. Add nothing that is not in them.";

/** Says nothing for a file without a goal. */
export function buildPlan(file: WorkflowFile, context: BuildContext): PlanRule | undefined {
  const { goal, plan = {} } = file;
  if (goal === undefined) {
    if (file.plan !== undefined)
      context.faults.add({
        code: "conflict",
        path: ["plan"],
        message: "plan goes with goal only",
        suggestion: "add goal: TEXT",
        atKey: true,
      });
    return undefined;
  }
  const planner: PlannerRule = {
    phasesMax: plan.max_phases ?? PLAN_PHASES_MAX,
    specialistsMax: plan.max_specialists ?? PLAN_SPECIALISTS_MAX,
    header: headerOf(file),
    provider: context.provider,
    ...omitUndefined("model", context.model),
    ...omitUndefined("atlas", context.atlas === undefined ? undefined : { mode: "model", ...pickModel(context.atlas) }),
  };
  const input = { done: "{{ done }}", phases: "{{ phases }}", feedback: "{{ feedback }}" };
  return {
    approve: plan.approve ?? false,
    replan: plan.replan ?? false,
    planner: buildOwnStep({ name: PLAN_NAME, prompt: goal, input, planner, ...pickModel(plan) }, context),
  };
}

/** The answers of a script are the task's, not the plan's. */
function headerOf({ workflow }: WorkflowFile): JsonObject {
  const { runtime, ...rest } = workflow;
  const { scripted_answers: _answers, ...kept } = runtime ?? {};
  return JSON.parse(JSON.stringify({ ...rest, hooks: undefined, runtime: kept })) as JsonObject;
}

/** A goal wants one answer; phases of a file are merged where they say so. */
export function buildConsolidation(file: WorkflowFile, context: BuildContext): ConsolidationRule | undefined {
  const { consolidate = file.goal === undefined ? false : {} } = file;
  if (consolidate === false) return undefined;
  if (file.phases === undefined && file.goal === undefined) {
    const message = "results are consolidated over phases, and there are none";
    context.faults.add({ path: ["consolidate"], message, suggestion: "remove it", atKey: true });
    return undefined;
  }
  if (consolidate === true) return {};
  const { minimum, prompt = MERGE } = consolidate;
  const writer = buildOwnStep({ name: CONSOLIDATE_NAME, prompt, input: {}, ...pickModel(consolidate) }, context);
  return { ...omitUndefined("minimum", minimum), writer };
}

function pickModel({ provider, model }: Pick<Plan, "provider" | "model">): { provider?: string; model?: string } {
  return { ...omitUndefined("provider", provider), ...omitUndefined("model", model) };
}

const ON_CONFIDENCE = ["proceed", "proceed_flagged", "spawn_specialist", "spawn_specialists", "halt"];
const ON_FAILURE = ["go_on_without", "roll_back", "give_up"];

/** The step of a phase in which a model chooses for the orchestrator; the engine says what there is to choose from. */
export function buildOrchestrator(phase: string, context: BuildContext): ModelStep | undefined {
  const { atlas } = context;
  if (atlas === undefined) return undefined;
  const outputSchema = {
    type: "object",
    required: ["choice", "rationale"],
    properties: { choice: { enum: [...ON_CONFIDENCE, ...ON_FAILURE] }, rationale: { type: "string" } },
  };
  const own = { name: ATLAS_NAME, prompt: "{{ situation }}", input: {}, outputSchema, parent: phase, isBriefed: false };
  return buildOwnStep({ ...own, ...pickModel(atlas) }, context);
}

interface OwnStep extends Pick<ModelStep, "name" | "prompt" | "input" | "outputSchema"> {
  readonly parent?: string;
  readonly isBriefed?: boolean;
  readonly planner?: PlannerRule;
  readonly provider?: string;
  readonly model?: string;
}

/** A model step that stands beside the phases, under a name that no file can give. */
function buildOwnStep(
  { provider, model, parent = ROOT_NAME, isBriefed = true, ...own }: OwnStep,
  context: BuildContext,
): ModelStep {
  const { instructions, runtime, briefingTokensMax } = context;
  const options = buildModelOptions(provider === undefined ? {} : { provider }, runtime);
  const step: Omit<ModelStep, "fingerprint"> = {
    node: "step",
    kind: "model",
    path: `${parent}/${own.name}`,
    dependsOn: [],
    routes: [],
    effects: MODEL.effects,
    retry: buildRetry(undefined),
    criticality: "standard",
    risky: false,
    saveAs: {},
    secrets: [],
    provider: provider ?? context.provider,
    ...omitUndefined("model", model ?? context.model),
    ...(isBriefed ? { briefingTokensMax } : {}),
    ...omitUndefined("instructions", instructions.length === 0 ? undefined : instructions.join("\n\n")),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...own,
  };
  return { ...step, fingerprint: fingerprintStep(step) };
}
