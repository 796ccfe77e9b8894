/** One function per step kind behind the engine's port. */
import { assert } from "../base/errors.js";
import type { StepKind } from "../definition/model/step.js";
import type { Performer, StepOutcome, StepSink, StepWork } from "../engine/model/ports.js";
import { performCli } from "./installed-agents/cli-step.js";
import { performCommand } from "./commands/command.js";
import type { PerformerDeps } from "./outcome/contract.js";
import { isEndOfRun, outcomeOfError } from "./outcome/failure.js";
import { performFunction } from "./functions/function.js";
import { performHttp } from "./http.js";
import { performMcp } from "./tools/mcp.js";
import { performModel } from "./models/model.js";
import { askProbe } from "./commands/probe.js";
import { performScorer } from "./scoring/scorer.js";
import { performScript } from "./commands/script.js";
import { requireUsableSchema } from "./outcome/output-check.js";
import { fillSecrets } from "./outcome/secrets.js";
import { performSet } from "./set.js";

interface AttemptEnds {
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

type PerformKind = (deps: PerformerDeps, work: StepWork, attempt: AttemptEnds) => Promise<StepOutcome>;

/** Kinds that `endedBy: "performer"` says of (definition/kinds); the engine handles the rest. */
const PERFORM: Readonly<Partial<Record<StepKind, PerformKind>>> = {
  command: performCommand,
  script: performScript,
  function: performFunction,
  model: performModel,
  cli: performCli,
  scorer: performScorer,
  http: performHttp,
  mcp: performMcp,
  set: performSet,
};

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
    const performKind = PERFORM[kind];
    assert(performKind !== undefined, `a step of kind ${kind} was to be performed`);
    await requireUsableSchema(deps, work);
    // What a set step gives is stored: a secret must not be in it.
    return await performKind(deps, kind === "set" ? work : fillSecrets(deps, work), attempt);
  } catch (error) {
    if (isEndOfRun(error)) throw error;
    return outcomeOfError(error);
  }
}
