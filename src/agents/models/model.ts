/**
 * Mercury as a model: a conversation of turns and tools, and its last answer judged.
 *
 * A specialist of a phase is briefed (briefing.ts) and reports on itself (self-report.ts); any other step's prompt goes as
 * it is, and its answer is its output.
 * Shape of the output: an object the model gave; with a declared output, the JSON value in its text; else
 * `{result: text}`.
 * Source: CONDUCTOR-YAML 1.9 for `{result}`; FAULTS 20: a malformed answer is kept and told, not lost.
 */
import type { JsonValue } from "../../base/json.js";
import type { ModelStep } from "../../definition/model/step.js";
import type { StepOutcome, StepSink, StepWork } from "../../engine/model/ports.js";
import { findJson } from "../outcome/answer-text.js";
import { addGuidance, writeBriefing } from "./briefing.js";
import type { PerformerDeps } from "../outcome/contract.js";
import { converse, type Judgement } from "./conversation.js";
import { outputInvalid } from "../outcome/failure.js";
import type { DurableAnswer } from "./model-call.js";
import { readModelPlan } from "./model-plan.js";
import { createModelTools } from "./model-tools.js";
import { requireDeclaredOutput } from "../outcome/output-check.js";
import { performPlanner } from "./planner.js";
import { parseReport } from "../outcome/report.js";
import {
  ASSESSMENT_REQUEST,
  ASSESSMENT_SCHEMA,
  completeWith,
  isAssessed,
  readSelfReport,
  REPORT_FORM,
  reportSchema,
  reportedOutput,
  unassessed,
} from "./self-report.js";

interface Attempt {
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

export async function performModel(deps: PerformerDeps, work: StepWork, attempt: Attempt): Promise<StepOutcome> {
  const definition = work.definition as ModelStep;
  const { outputSchema, briefingTokensMax, planner } = definition;
  if (planner !== undefined) return performPlanner(deps, work, { rule: planner, ends: attempt });
  const { prompt, system_prompt: systemPrompt, model } = work.rendered;
  const text = typeof prompt === "string" ? prompt : JSON.stringify(prompt ?? "");
  const isBriefed = briefingTokensMax !== undefined;
  const plan = readModelPlan(definition, typeof model === "string" ? model : undefined);
  return converse(deps, work, {
    ...plan,
    systemPrompt: typeof systemPrompt === "string" ? systemPrompt : undefined,
    prompt: isBriefed
      ? `${writeBriefing(work, text, briefingTokensMax)}\n\n${REPORT_FORM}`
      : addGuidance(text, work.guidance),
    outputSchema: isBriefed ? reportSchema(outputSchema) : outputSchema,
    tools: createModelTools(deps, work, { plan, sink: attempt.sink }),
    judge: isBriefed ? createReportJudge(deps, work, attempt.sink) : (answer) => judge(deps, work, answer),
    ...attempt,
  });
}

async function judge(deps: PerformerDeps, work: StepWork, answer: DurableAnswer): Promise<Judgement<StepOutcome>> {
  const outcome = parseReport({
    output: outputOf(answer.say, work.definition.outputSchema !== undefined),
    confidence: answer.confidence,
    uncertainties: answer.uncertainties,
    factors: answer.factors,
  });
  await requireDeclaredOutput(deps, work, outcome.output);
  return { taken: outcome };
}

function outputOf(say: JsonValue, isDeclared: boolean): JsonValue {
  if (typeof say !== "string") return say;
  if (say.trim() === "") throw outputInvalid("the model's answer is empty", say);
  if (!isDeclared) return { result: say };
  const found = findJson(say);
  if (found === undefined) throw outputInvalid("the step declares an output, but the model's answer is not JSON", say);
  return found;
}

interface Kept {
  readonly output: JsonValue;
  readonly factors: readonly string[];
}

/** Takes a report; of an answer that is an output alone, the output is kept and the rest asked for, once. */
function createReportJudge(deps: PerformerDeps, work: StepWork, sink: StepSink) {
  let kept: Kept | undefined;
  return async (answer: DurableAnswer, { isLast }: { readonly isLast: boolean }): Promise<Judgement<StepOutcome>> => {
    const value = typeof answer.say === "string" ? findJson(answer.say) : answer.say;
    const report = readSelfReport(value, kept !== undefined);
    const isAssessing = report !== undefined && isAssessed(report);
    if (answer.whole === true && !isAssessing) return judge(deps, work, answer);
    const isAsked = kept !== undefined;
    kept ??= await keepOutput(deps, work, { answer, output: report?.output });
    if (!isAsked && !isLast && !isAssessing) return { ask: ASSESSMENT_REQUEST, outputSchema: ASSESSMENT_SCHEMA };
    const said = report ?? unassessed(kept.output);
    await tellMilestones(work, sink, said.milestones);
    return { taken: completeWith(kept.output, said, isAsked ? [...kept.factors, ...answer.factors] : kept.factors) };
  };
}

/** The output of an answer that is taken. Errors: STEP_OUTPUT_INVALID. */
async function keepOutput(
  deps: PerformerDeps,
  work: StepWork,
  { answer, output }: { readonly answer: DurableAnswer; readonly output: JsonValue | undefined },
): Promise<Kept> {
  const isDeclared = work.definition.outputSchema !== undefined;
  const kept = reportedOutput(output, isDeclared) ?? outputOf(answer.say, isDeclared);
  await requireDeclaredOutput(deps, work, kept);
  return { output: kept, factors: answer.factors };
}

/** Each once: an attempt before this one may have told some. */
async function tellMilestones({ milestone }: StepWork, sink: StepSink, names: readonly string[]): Promise<void> {
  const told = milestone === undefined ? -1 : names.lastIndexOf(milestone.name);
  for (const name of names.slice(told + 1)) await sink.milestone(name, null);
}
