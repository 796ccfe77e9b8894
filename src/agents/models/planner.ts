/**
 * Atlas as a planner: a model is asked for phases and specialists that reach a goal, and its plan is checked like a file.
 *
 * What is wrong with a plan is told, and the model mends it, as often as any answer may be repaired. Before a later phase
 * it is asked once more: what is done stands, and it may keep the rest of the plan or change it.
 * Shape of the output: `{rationale, phases, built}`: the phases as planned, those that are done included, and as the engine
 * runs them; `{rationale, keep: true}` where the rest of a plan stays.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { buildPlannedPhases, type PlanFrame } from "../../definition/compile/planned-phases.js";
import type { ModelStep, PlannerRule } from "../../definition/model/step.js";
import type { StepOutcome, StepSink, StepWork } from "../../engine/model/ports.js";
import { findJson } from "../outcome/answer-text.js";
import { writeBriefing } from "./briefing.js";
import type { PerformerDeps } from "../outcome/contract.js";
import { converse, type Judgement } from "./conversation.js";
import { outputInvalid } from "../outcome/failure.js";
import type { DurableAnswer } from "./model-call.js";
import { readModelPlan } from "./model-plan.js";

const TEXT: JsonObject = { type: "string" };
const TEXTS: JsonObject = { type: "array", items: TEXT };

const PLAN_SCHEMA: JsonObject = {
  type: "object",
  required: ["rationale"],
  properties: {
    rationale: TEXT,
    keep: { type: "boolean" },
    phases: {
      type: "array",
      items: {
        type: "object",
        required: ["name", "specialists"],
        properties: {
          name: TEXT,
          description: TEXT,
          specialists: {
            type: "array",
            items: {
              type: "object",
              required: ["name", "prompt"],
              properties: {
                name: TEXT,
                prompt: TEXT,
                depends_on: TEXTS,
                criticality: { enum: ["critical", "high", "standard", "low"] },
              },
            },
          },
          evaluate: {
            type: "object",
            required: ["criteria"],
            properties: { criteria: TEXT, approve: { type: "number" }, max_iterations: { type: "integer" } },
          },
          confidence: { type: "number" },
        },
      },
    },
  },
};

interface Ends {
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

interface Planning extends PlanFrame {
  /** The plan as it stands, in a later planning. */
  readonly before: readonly JsonValue[];
}

export async function performPlanner(
  deps: PerformerDeps,
  work: StepWork,
  { rule, ends }: { readonly rule: PlannerRule; readonly ends: Ends },
): Promise<StepOutcome> {
  const definition = work.definition as ModelStep;
  const { prompt, model } = work.rendered;
  const before = listOf(work.input["phases"]);
  const done = before.slice(0, numberOf(work.input["done"]));
  const named = typeof model === "string" ? model : undefined;
  const planning: Planning = { rule, done, before };
  return converse(deps, work, {
    ...readModelPlan(definition, named),
    prompt: writeRequest(work, typeof prompt === "string" ? prompt : "", {
      ...planning,
      tokensMax: definition.briefingTokensMax ?? 0,
    }),
    outputSchema: PLAN_SCHEMA,
    judge: async (answer) => Promise.resolve(judge(answer, planning)),
    ...ends,
  });
}

function writeRequest(
  work: StepWork,
  goal: string,
  { rule, done, before, tokensMax }: Planning & { readonly tokensMax: number },
): string {
  const parts = [
    `Plan the work that reaches this goal:\n\n${goal}`,
    ...(done.length === 0 ? [] : [describeStanding(done, before.slice(done.length))]),
    ...describeRefusals(work.input["feedback"]),
    describeRules(rule, done.length > 0),
  ];
  return writeBriefing({ ...work, input: {} }, parts.join("\n\n"), tokensMax);
}

function describeStanding(done: readonly JsonValue[], rest: readonly JsonValue[]): string {
  return `These phases are done, their results stand above: ${JSON.stringify(done)}\nThe rest of the plan as it is: ${JSON.stringify(rest)}`;
}

function describeRefusals(feedback: JsonValue | undefined): readonly string[] {
  return typeof feedback === "string" && feedback !== "" ? [`A person said of your last plan: ${feedback}`] : [];
}

function describeRules({ phasesMax, specialistsMax }: PlannerRule, isLater: boolean): string {
  const answer = isLater
    ? 'Answer with one JSON object: {"rationale": "…", "keep": true} to continue as planned, or {"rationale": "…", "phases": […]} with the phases that are to follow instead of the rest.'
    : 'Answer with one JSON object: {"rationale": "…", "phases": […]}.';
  return `Phases are done in order. The specialists of a phase are language models that work side by side; one waits for others of its phase that it names in depends_on. Each gets the results of all earlier phases by itself. A phase may be judged by criteria; it is done again with the feedback until its score reaches "approve" (90 unless you say otherwise).
${answer} A phase: {"name": "short-name", "description": "…", "specialists": [{"name": "short-name", "prompt": "what to do, in full", "depends_on": [], "criticality": "critical | high | standard | low"}], "evaluate": {"criteria": "…", "approve": 90, "max_iterations": 3}, "confidence": 0.75}. description, depends_on, criticality, evaluate and confidence may be left out.
At most ${phasesMax} phases and ${specialistsMax} specialists in all; as few as do the work. Names are unique. Plain text, no templates.`;
}

function judge({ say, factors }: DurableAnswer, planning: Planning): Judgement<StepOutcome> {
  const answer = typeof say === "string" ? findJson(say) : say;
  if (!isJsonObject(answer)) throw outputInvalid("the answer is no plan", typeof say === "string" ? say : undefined);
  const rationale = typeof answer["rationale"] === "string" ? answer["rationale"] : "";
  if (answer["keep"] === true && planning.done.length > 0)
    return { taken: { status: "completed", output: { rationale, keep: true }, factors } };
  const planned = listOf(answer["phases"]);
  const checked = buildPlannedPhases(planned, planning);
  if ("faults" in checked)
    throw outputInvalid(`the plan cannot be followed: ${checked.faults.join("; ")}`, JSON.stringify(answer));
  const output = { rationale, phases: [...planning.done, ...planned], built: checked.phases as unknown as JsonValue };
  return { taken: { status: "completed", output, factors } };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}
