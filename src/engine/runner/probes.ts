/**
 * Asks the probes of steps whose outcome is unknown, before a new owner decides about them.
 *
 * A probe only looks; a probe that fails does not know. Of a step that may still act it would say what is so by chance: it is
 * not asked.
 */
import { messageOf, SplashdownError } from "../../base/errors.js";
import type { JsonValue } from "../../base/json.js";
import { findStepDefinition } from "../model/lookup.js";
import type { EngineInput } from "../model/input.js";
import type { EnginePorts } from "../model/ports.js";
import type { StepEntry, TaskState } from "../model/state.js";
import { judgeOutcome } from "./outcome.js";
import type { LargeValues } from "./values.js";
import { assembleWork } from "./work.js";

type ResumedInput = Extract<EngineInput, { kind: "resumed" }>;
type Probed = ResumedInput["probed"] extends ReadonlyMap<infer Id, infer Answer> ? readonly [Id, Answer] : never;

export interface ProbeDeps {
  readonly state: TaskState;
  readonly ports: EnginePorts;
  readonly values: LargeValues;
  readonly signal: AbortSignal;
}

/**
 * The input with what the probes said, all asked at once.
 *
 * Errors: CANCELLED when the signal fires while they are asked.
 */
export async function askProbes(deps: ProbeDeps, input: ResumedInput): Promise<ResumedInput> {
  const steps = listUnknown(deps.state, input);
  if (steps.length === 0) return input;
  const answers = await Promise.all(steps.map((step) => askProbe(deps, step)));
  if (deps.signal.aborted) throw new SplashdownError("CANCELLED", "the task was left before it continued");
  return { ...input, probed: new Map([...input.probed, ...answers.filter((answer) => answer !== undefined)]) };
}

/** Steps that may or may not have acted and have a probe. */
function listUnknown(state: TaskState, input: ResumedInput): readonly StepEntry[] {
  return [...state.open, ...state.blocked].flatMap((id) => {
    const step = state.steps.get(id);
    return step !== undefined &&
      mayHaveActed(step, input) &&
      input.mayRun?.has(id) !== true &&
      findStepDefinition(state, step).probe !== undefined
      ? [step]
      : [];
  });
}

/** A child waits until `spawned` is durable, so one that was never spawned has not acted, unless records are missing. */
function mayHaveActed(step: StepEntry, { uncertain }: ResumedInput): boolean {
  if (step.effects !== "external" || step.questionId !== undefined || step.held === true) return false;
  if (step.status !== "open" && step.status !== "unknown") return false;
  const waitsForSpawned = step.kind === "command" || step.kind === "script" || step.kind === "cli";
  return uncertain || step.process !== undefined || !waitsForSpawned;
}

async function askProbe({ state, ports, values, signal }: ProbeDeps, step: StepEntry): Promise<Probed | undefined> {
  try {
    const work = await assembleWork({ state, values }, step, findStepDefinition(state, step));
    const answer = await ports.performer.probe(work, signal);
    return answer === undefined ? undefined : [step.id, { done: answer.done, ...cleanOutput(ports, answer.output) }];
  } catch (error) {
    ports.log.warn(`the probe of ${step.path} failed: ${messageOf(error)}`);
    return undefined;
  }
}

function cleanOutput({ sanitiser }: EnginePorts, output: JsonValue | undefined): { readonly output?: JsonValue } {
  if (output === undefined) return {};
  const judged = judgeOutcome({ status: "completed", output }, undefined, sanitiser);
  if (judged.status === "failed") throw new SplashdownError("VALUE_TOO_LARGE", judged.error.message);
  return judged.status === "completed" ? { output: judged.output } : {};
}
