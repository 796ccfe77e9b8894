/**
 * Mercury as a model: a conversation of turns and tools, and its last answer judged.
 *
 * Shape of the output: an object the model gave; with a declared output, the JSON value in its text; else
 * `{result: text}`.
 * Source: CONDUCTOR-YAML 1.9 for `{result}`; FAULTS 20: a malformed answer is kept and told, not lost.
 */
import type { JsonValue } from "../base/json.js";
import type { ModelStep } from "../definition/workflow.js";
import type { StepOutcome, StepSink, StepWork } from "../engine/ports.js";
import { findJson } from "./answer-text.js";
import type { PerformerDeps } from "./contract.js";
import { converse } from "./conversation.js";
import { outputInvalid } from "./failure.js";
import { createFunctionTools } from "./function-tool.js";
import type { DurableAnswer } from "./model-call.js";
import { readModelPlan } from "./model-plan.js";
import { requireDeclaredOutput } from "./output-check.js";
import { parseReport } from "./report.js";

export async function performModel(
  deps: PerformerDeps,
  work: StepWork,
  { sink, signal }: { readonly sink: StepSink; readonly signal: AbortSignal },
): Promise<StepOutcome> {
  const definition = work.definition as ModelStep;
  const { prompt, system_prompt: systemPrompt, model } = work.rendered;
  return converse(deps, work, {
    ...readModelPlan(definition, typeof model === "string" ? model : undefined),
    systemPrompt: typeof systemPrompt === "string" ? systemPrompt : undefined,
    prompt: typeof prompt === "string" ? prompt : JSON.stringify(prompt ?? ""),
    outputSchema: definition.outputSchema,
    tools: createFunctionTools(deps, work, definition.tools ?? []),
    judge: (answer) => judge(deps, work, answer),
    sink,
    signal,
  });
}

async function judge(deps: PerformerDeps, work: StepWork, answer: DurableAnswer): Promise<StepOutcome> {
  const outcome = parseReport({
    output: outputOf(answer.say, work.definition.outputSchema !== undefined),
    confidence: answer.confidence,
    uncertainties: answer.uncertainties,
    factors: answer.factors,
  });
  await requireDeclaredOutput(deps, work, outcome.output);
  return outcome;
}

function outputOf(say: JsonValue, isDeclared: boolean): JsonValue {
  if (typeof say !== "string") return say;
  if (!isDeclared) return { result: say };
  const found = findJson(say);
  if (found === undefined) throw outputInvalid("the step declares an output, but the model's answer is not JSON", say);
  return found;
}
