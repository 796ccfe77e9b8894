/** The performer: one function per step kind behind the engine's port, and the probe. */
import { SplashdownError, isErrorCode, messageOf } from "../base/errors.js";
import { LIMITS } from "../base/limits.js";
import type { StepKind } from "../definition/workflow.js";
import type { Performer, StepOutcome, StepSink, StepWork } from "../engine/ports.js";
import { runChild } from "./child-run.js";
import { performCommand } from "./command.js";
import type { PerformerDeps } from "./contract.js";
import { isEndOfRun, outcomeOfError } from "./failure.js";
import { performFunction } from "./function.js";
import { performModel } from "./model.js";
import { performScorer } from "./scorer.js";
import { performScript } from "./script.js";
import { performSet } from "./set.js";
import { parseStdout } from "./specialist-protocol.js";
import { performWait } from "./wait.js";

interface AttemptEnds {
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

type PerformKind = (deps: PerformerDeps, work: StepWork, attempt: AttemptEnds) => Promise<StepOutcome>;

const PERFORM: Readonly<Record<StepKind, PerformKind>> = {
  command: performCommand,
  script: performScript,
  function: performFunction,
  model: performModel,
  scorer: performScorer,
  set: (_deps, work) => performSet(work),
  wait: performWait,
};

const PROBE_DONE = 0;
const PROBE_NOT_DONE = 3;

export function createPerformer(deps: PerformerDeps): Performer {
  return {
    perform: (work, sink, signal) => perform(deps, work, { sink, signal }),
    probe: (work, signal) => probe(deps, work, signal),
  };
}

async function perform(deps: PerformerDeps, work: StepWork, attempt: AttemptEnds): Promise<StepOutcome> {
  try {
    return await PERFORM[work.definition.kind](deps, work, attempt);
  } catch (error) {
    if (isEndOfRun(error)) throw error;
    return outcomeOfError(error);
  }
}

type ProbeAnswer = Awaited<ReturnType<Performer["probe"]>>;

/** Shape: exit 0 is done, with stdout as output; 3 is not done; anything else, and no answer in time, is not known. */
async function probe(deps: PerformerDeps, work: StepWork, signal: AbortSignal): Promise<ProbeAnswer> {
  const command = probeCommandOf(work);
  if (command === undefined) return undefined;
  const timeout = new AbortController();
  const cancelTimeout = deps.clock.schedule(LIMITS.probeTimeoutMs, () => timeout.abort());
  try {
    const run = { work, command, input: "", signal: AbortSignal.any([signal, timeout.signal]) };
    const result = await runChild(deps, run);
    if (result?.exitCode === PROBE_NOT_DONE) return { done: false };
    if (result?.exitCode === PROBE_DONE) return { done: true, output: parseStdout(result.stdout) };
    const why =
      result === undefined ? "it did not end in time" : `it ended with ${result.exitCode ?? result.signal ?? ""}`;
    deps.log.warn(`the probe of step ${work.step.path} does not know: ${why}`);
  } catch (error) {
    if (isErrorCode(error, "INTERNAL")) throw error;
    deps.log.warn(`the probe of step ${work.step.path} does not know: ${messageOf(error)}`);
  } finally {
    cancelTimeout();
  }
  return undefined;
}

/** The probe rendered by the engine; a probe without templates needs no rendering. */
function probeCommandOf(work: StepWork): readonly string[] | undefined {
  const rendered = work.rendered["probe"];
  if (Array.isArray(rendered) && rendered.length > 0)
    return rendered.map((part) => (typeof part === "string" ? part : JSON.stringify(part)));
  const { probe: plain } = work.definition;
  if (plain === undefined || plain.length === 0) return undefined;
  if (plain.some((part) => /\{[{%]/.test(part))) {
    throw new SplashdownError("INTERNAL", `the probe of step ${work.step.path} was not rendered`);
  }
  return plain;
}
