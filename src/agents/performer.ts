/** One function per step kind behind the engine's port. */
import type { StepKind } from "../definition/workflow.js";
import type { Performer, StepOutcome, StepSink, StepWork } from "../engine/ports.js";
import { performCommand } from "./command.js";
import type { PerformerDeps } from "./contract.js";
import { isEndOfRun, outcomeOfError } from "./failure.js";
import { performFunction } from "./function.js";
import { performModel } from "./model.js";
import { askProbe } from "./probe.js";
import { performScorer } from "./scorer.js";
import { performScript } from "./script.js";
import { fillSecrets } from "./secrets.js";
import { performSet } from "./set.js";
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

/** What these give is stored: a secret must not be in it. */
const KEEPS_PLACEHOLDERS: ReadonlySet<StepKind> = new Set<StepKind>(["set", "wait"]);

/** The performer of the running system. */
export function createPerformer(deps: PerformerDeps): Performer {
  return {
    perform: (work, sink, signal) => perform(deps, work, { sink, signal }),
    probe: (work, signal) => askProbe(deps, work, signal),
  };
}

async function perform(deps: PerformerDeps, work: StepWork, attempt: AttemptEnds): Promise<StepOutcome> {
  try {
    const { kind } = work.definition;
    return await PERFORM[kind](deps, KEEPS_PLACEHOLDERS.has(kind) ? work : fillSecrets(deps, work), attempt);
  } catch (error) {
    if (isEndOfRun(error)) throw error;
    return outcomeOfError(error);
  }
}
