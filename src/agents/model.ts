/**
 * Mercury as a model: one question, one answer, and the answer judged.
 *
 * Shape of the output: an object the model gave; with a declared output, the JSON of its text (also inside a fenced
 * block); else `{result: text}`.
 * Source: CONDUCTOR-YAML 1.9 for `{result}`; FAULTS 20: a malformed answer is kept and told, not lost.
 */
import type { JsonValue } from "../base/json.js";
import type { ModelStep } from "../definition/workflow.js";
import type { StepOutcome, StepSink, StepWork } from "../engine/ports.js";
import type { PerformerDeps } from "./contract.js";
import { isEndOfRun, outputInvalid } from "./failure.js";
import { callModel, findDurableAnswer, type DurableAnswer, type ModelTask } from "./model-call.js";
import { requireDeclaredOutput } from "./output-check.js";
import { parsePlainValue } from "./plain-value.js";
import { parseReport } from "./report.js";

export async function performModel(
  deps: PerformerDeps,
  work: StepWork,
  { sink, signal }: { readonly sink: StepSink; readonly signal: AbortSignal },
): Promise<StepOutcome> {
  const durable = findDurableAnswer(work);
  const judged = durable && (await judgeAgain(deps, work, durable));
  if (judged !== undefined) return judged;
  return judge(deps, work, await callModel(deps, work, taskOf(work, sink, signal)));
}

function taskOf(work: StepWork, sink: StepSink, signal: AbortSignal): ModelTask {
  const { prompt, system_prompt: systemPrompt, model } = work.rendered;
  return {
    provider: (work.definition as ModelStep).provider,
    model: typeof model === "string" ? model : undefined,
    systemPrompt: typeof systemPrompt === "string" ? systemPrompt : undefined,
    prompt: typeof prompt === "string" ? prompt : JSON.stringify(prompt ?? ""),
    sink,
    signal,
  };
}

/** `undefined` for an answer that was refused before: then the model is asked again. */
async function judgeAgain(
  deps: PerformerDeps,
  work: StepWork,
  answer: DurableAnswer,
): Promise<StepOutcome | undefined> {
  try {
    return await judge(deps, work, answer);
  } catch (error) {
    if (isEndOfRun(error)) throw error;
    return undefined;
  }
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

const FENCED = /^\s*```(?:json)?\s*\n([\s\S]*?)\n```\s*$/;

function outputOf(say: JsonValue, isDeclared: boolean): JsonValue {
  if (typeof say !== "string") return say;
  if (!isDeclared) return { result: say };
  try {
    return parsePlainValue(FENCED.exec(say)?.[1] ?? say);
  } catch (error) {
    if (error instanceof SyntaxError)
      throw outputInvalid("the step declares an output, but the model's answer is not JSON", say);
    throw error;
  }
}
