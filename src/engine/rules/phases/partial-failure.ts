/**
 * What the orchestrator makes of failed specialists and scorers, every choice of it a decision.
 *
 *   restart (bounded; chosen with the failure, see failure.ts) → else, as `restart.otherwise` says:
 *   continue: go on without, as long as not everything failed · rollback: back to the phase's start, bounded · fail
 * or, in model mode, as a model chooses among these; restarts are attempts, and nobody is asked for them.
 * The confidence is lowered: who was gone on without counts as half, restarts and roll-backs as uncertainties
 * (see confidence.ts).
 * Source: seed 003, scenario 3; DESIGN section 5.
 */
import { formatCount } from "../../../base/plain-text.js";
import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "../../../base/json.js";
import { createDecision, recordDecision, type Choice } from "../../model/choice.js";
import type { EngineEvent, StepError } from "../../model/events.js";
import { nameOfPath } from "../../model/identity.js";
import { leaveFailed } from "../scopes/leaving.js";
import {
  childPath,
  currentStepId,
  isHandledFailure,
  currentStep,
  findActedSince,
  findPlace,
} from "../../model/lookup.js";
import { type OpenPhase } from "../scopes/open-phase.js";
import { askOrchestrator, type Chosen } from "./orchestrator.js";
import { describeConfidence } from "./phase-confidence.js";
import { findPhaseStart, isAnythingDone, type PhaseStart } from "../steps/phase-start.js";
import type { StepEntry } from "../../model/state.js";

/** What may follow failed specialists and scorers. */
type Way = "go_on_without" | "roll_back" | "give_up";
const WAYS: readonly Way[] = ["go_on_without", "roll_back", "give_up"];

type FailedMember = Pick<StepEntry, "id" | "path" | "attempt" | "restarts"> & {
  readonly error?: StepError | undefined;
};

/** Failures that nothing was decided about yet, and what may be. */
interface Failures {
  readonly failed: readonly FailedMember[];
  readonly allowed: readonly Way[];
  readonly start: PhaseStart | undefined;
  readonly rollbacks: number;
}

/** What follows the failures of a phase in which everybody has ended; `undefined` when there are none, or none any more. */
export function settleFailures(
  choice: Choice,
  phase: OpenPhase,
  describe: () => JsonValue,
): readonly EngineEvent[] | undefined {
  const failures = findFailures(choice, phase);
  if (failures === undefined) return undefined;
  if (isGivenUp(choice, phase, failures)) return leaveFailed(choice, phase, describe);
  const { allowed } = failures;
  const asked = askOrchestrator(choice, phase, { text: describeSituation(phase, failures), allowed });
  if ("events" in asked) return asked.events;
  const way = asked.choice ?? wayOfRules(phase, failures);
  const chosen = { ...failures, asked };
  if (way === "roll_back" && failures.start !== undefined)
    return rollBackPhase(choice, phase, { ...chosen, start: failures.start });
  return [way === "go_on_without" ? goOnWithout(choice, phase, chosen) : giveUp(choice, phase, chosen)];
}

function findFailures(choice: Choice, phase: OpenPhase): Failures | undefined {
  const { node, data, scope } = phase;
  if (data.failed === 0) return undefined;
  const failed = listFailed(choice, phase).filter(({ id }) => data.without?.includes(id) !== true);
  if (failed.length === 0) return undefined;
  const rollbacks = choice.state.phases.get(scope.path)?.rollbacks ?? 0;
  const start = findPhaseStart(choice, { path: scope.path, node });
  const isOpen = (way: Way): boolean =>
    way === "give_up" || (way === "roll_back" ? start !== undefined : isAnythingDone(choice, scope.path));
  return { failed, allowed: WAYS.filter(isOpen), start, rollbacks };
}

/** As `restart.otherwise` says, where that can be done. */
function wayOfRules({ node }: OpenPhase, { allowed }: Failures): Way {
  const { otherwise } = node.restart;
  const wanted = otherwise === "continue" ? "go_on_without" : otherwise === "rollback" ? "roll_back" : "give_up";
  return allowed.includes(wanted) ? wanted : "give_up";
}

function describeSituation(phase: OpenPhase, failures: Failures): string {
  const { node } = phase;
  const members = [...node.children.map(({ name }) => name), ...Object.keys(phase.data.spawned)].join(", ");
  return [
    `Phase ${node.name} (${members}): ${explain(failures.failed)}.`,
    `It was rolled back ${formatCount(failures.rollbacks, "time")}. go_on_without: the others' results stand, and the confidence is lowered; roll_back: the phase starts over; give_up: the task stops here.`,
    `The rules would choose ${wayOfRules(phase, failures)}.`,
  ].join("\n\n");
}

interface ChosenWay extends Failures {
  readonly asked: Chosen<Way>;
}

/** The text that is common to every way, with what a model said before the reasons. */
function describeWay(phase: OpenPhase, { asked }: ChosenWay, [way, reasons]: readonly [Way, string]) {
  const { orchestrator, said } = asked;
  return {
    agent: "atlas",
    type: way,
    rationale: said === undefined ? reasons : `${said}; ${reasons}`,
    alternatives: WAYS.filter((other) => other !== way),
    subject: phase.scope.path,
    orchestrator,
  } as const;
}

function goOnWithout(choice: Choice, phase: OpenPhase, chosen: ChosenWay): EngineEvent {
  const { failed } = chosen;
  const reasons = `${explain(failed)}; the confidence of the phase is lowered`;
  const text = describeWay(phase, chosen, ["go_on_without", reasons]);
  const { value } = describeConfidence(choice, phase);
  return recordDecision(choice, {
    ...text,
    description: `phase ${phase.node.name} continues without ${failed.map(({ path }) => nameOfPath(path)).join(", ")}`,
    ...(value === undefined ? {} : { confidence: value }),
    effect: { kind: "go_on_without", failed: failed.map(({ id }) => id) },
  });
}

function giveUp(choice: Choice, phase: OpenPhase, chosen: ChosenWay): EngineEvent {
  const { failed, rollbacks } = chosen;
  const reasons = `${explain(failed)}${rollbacks === 0 ? "" : `; it was rolled back ${formatCount(rollbacks, "time")}`}`;
  const text = describeWay(phase, chosen, ["give_up", reasons]);
  return recordDecision(choice, {
    ...text,
    description: `phase ${phase.node.name} failed`,
    effect: { kind: "give_up", attempts: listAttempts(failed) },
  });
}

function listAttempts(failed: readonly FailedMember[]): readonly string[] {
  return failed.map(({ id, attempt }) => `${id}#${attempt}`);
}

/** It stays so, until one of them is started again. */
function isGivenUp({ state }: Choice, { scope }: OpenPhase, { failed }: Failures): boolean {
  const made = state.decisions.findLast(({ subject, type }) => subject === scope.path && type === "give_up");
  return made?.effect?.kind === "give_up" && isDeepStrictEqual(made.effect.attempts, listAttempts(failed));
}

function listFailed(choice: Choice, { scope }: OpenPhase): readonly FailedMember[] {
  const { state } = choice;
  const frontier = state.frontier.get(scope.path);
  return [...(frontier?.ended ?? [])].flatMap(([name, end]): readonly FailedMember[] => {
    const path = childPath(scope.path, name);
    if (end !== "failed" || isHandledFailure(state, path)) return [];
    const step = currentStep(choice, path);
    if (step !== undefined) return [step];
    if (findPlace(state, path)?.node.node !== "scope") return [];
    const group = { id: currentStepId(state, path), path, attempt: state.visits.get(path) ?? 1, restarts: 0 };
    return [{ ...group, error: frontier?.causes.get(name) }];
  });
}

function explain(failed: readonly FailedMember[]): string {
  return failed
    .map(({ path, restarts, error }) => {
      const tried = restarts === 0 ? "" : ` after ${formatCount(restarts, "restart")}`;
      return `${nameOfPath(path)} failed${tried}: ${error?.code ?? "STEP_FAILED"}: ${error?.message ?? ""}`;
    })
    .join("; ");
}

/** External steps that were done since are named, and asked about where they would run again. */
function rollBackPhase(
  choice: Choice,
  phase: OpenPhase,
  chosen: ChosenWay & { readonly start: PhaseStart },
): readonly EngineEvent[] {
  const { state, nowMs } = choice;
  const { node, scope } = phase;
  const { phase: number, checkpoint } = chosen.start;
  const since = state.phases.get(scope.path)?.startedAtMs ?? 0;
  const acted = findActedSince(state, new Set())
    .filter(({ path, intendedAtMs }) => path.startsWith(`${scope.path}/`) && intendedAtMs >= since)
    .map(({ id }) => id);
  const round = state.round + 1;
  const why = `restarts of phase ${node.name} are used up`;
  const again =
    acted.length === 0 ? "" : `; these external steps are asked about before they run again: ${acted.join(", ")}`;
  const text = describeWay(phase, chosen, ["roll_back", `${why}: ${explain(chosen.failed)}${again}`]);
  const decision = createDecision(choice, {
    ...text,
    description: `rolled back to the start of phase ${node.number} (${node.name})`,
    facts: { checkpoint: checkpoint.checkpointId, round, external_steps: acted },
  });
  return [
    {
      type: "rolled_back",
      atMs: nowMs,
      to: checkpoint.checkpointId,
      seq: checkpoint.seq,
      round,
      reason: why,
      phase: number,
      decision,
    },
  ];
}
