/**
 * What the orchestrator makes of failed specialists and scorers, every choice of it a decision.
 *
 *   restart (bounded; chosen with the failure, see failure.ts) → else, as `restart.otherwise` says:
 *   continue: go on without, as long as not everything failed · rollback: back to the phase's start, bounded · fail
 * The confidence is lowered: who was gone on without counts as half, restarts and roll-backs as uncertainties
 * (see confidence.ts).
 * Source: seed 003, scenario 3; DESIGN section 5.
 */
import type { JsonValue } from "../base/json.js";
import { createDecision, decideOnce, decideThat, type Choice } from "./choice.js";
import type { EngineEvent } from "./events.js";
import { findActedSince } from "./going-back.js";
import { nameOfPath } from "./identity.js";
import { leaveFailed } from "./leaving.js";
import { ownPhaseNumber } from "./lookup.js";
import { countedStep, type OpenPhase } from "./open-phase.js";
import { describeConfidence } from "./phase-confidence.js";
import type { CheckpointEntry, StepEntry } from "./state.js";

/** The decision to do without what failed; nothing when it was made before. */
export function goOnWithout(choice: Choice, phase: OpenPhase): readonly EngineEvent[] {
  const { node, data, scope } = phase;
  if (data.failed === 0) return [];
  const failed = failedSteps(choice, phase).filter(({ id }) => data.without?.includes(id) !== true);
  if (failed.length === 0) return [];
  const { value } = describeConfidence(choice, phase);
  return [
    decideThat(choice, {
      agent: "atlas",
      type: "go_on_without",
      description: `phase ${node.name} goes on without ${failed.map(({ path }) => nameOfPath(path)).join(", ")}`,
      rationale: `${explain(failed)}; the confidence of the phase is lowered`,
      alternatives: ["give_up", "roll_back"],
      ...(value === undefined ? {} : { confidence: value }),
      subject: scope.path,
      facts: { without: failed.map(({ id }) => id) },
    }),
  ];
}

/** Failures that nobody tolerates: back to the phase's start as often as is allowed, else the phase fails. */
export function failPhase(choice: Choice, phase: OpenPhase, describe: () => JsonValue): readonly EngineEvent[] {
  const { node, scope } = phase;
  const rollbacks = choice.state.phases.get(scope.path)?.rollbacks ?? 0;
  const start = findStart(choice, phase);
  if (node.restart.otherwise === "rollback" && rollbacks < Math.max(1, node.restart.maxAttempts) && start !== undefined)
    return rollBackPhase(choice, phase, start);
  const failed = failedSteps(choice, phase);
  const given = decideOnce(choice, {
    agent: "atlas",
    type: "give_up",
    description: `phase ${node.name} failed`,
    rationale: `${explain(failed)}${rollbacks === 0 ? "" : `; it was rolled back ${rollbacks} times`}`,
    alternatives: ["go_on_without", "roll_back"],
    subject: phase.scope.path,
    facts: { failed: failed.map(({ id, attempt }) => `${id}#${attempt}`) },
  });
  return given.length > 0 ? given : leaveFailed(choice, phase, describe);
}

interface PhaseStart {
  readonly phase: number;
  readonly checkpoint: CheckpointEntry;
}

/**
 * Where the phase began, if it is one of the task's own. Its checkpoint may not be there, by a setting or a crash right
 * before it: then the nearest one is named.
 */
function findStart({ state }: Choice, { scope }: OpenPhase): PhaseStart | undefined {
  const phase = ownPhaseNumber(state, scope.path);
  if (phase === undefined || state.task?.definition.root.scope !== "phases") return undefined;
  const startedAtMs = state.phases.get(scope.path)?.startedAtMs ?? 0;
  const checkpoint =
    state.checkpoints.findLast((entry) => entry.trigger === "phase_started" && entry.phase === phase) ??
    state.checkpoints.findLast((entry) => entry.atMs <= startedAtMs) ??
    state.checkpoints[0];
  return checkpoint === undefined ? undefined : { phase, checkpoint };
}

function failedSteps(choice: Choice, phase: OpenPhase): readonly StepEntry[] {
  const ended = choice.state.frontier.get(phase.scope.path)?.ended ?? new Map<string, string>();
  return [...ended].flatMap(([name, end]) => {
    const step = end === "failed" ? countedStep(choice, phase, name) : undefined;
    return step === undefined ? [] : [step];
  });
}

function explain(failed: readonly StepEntry[]): string {
  return failed
    .map(({ path, restarts, error }) => {
      const tried = restarts === 0 ? "" : ` after ${restarts} restarts`;
      return `${nameOfPath(path)} failed${tried}: ${error?.code ?? "STEP_FAILED"}: ${error?.message ?? ""}`;
    })
    .join("; ");
}

/** Restarts did not help. External steps that were done since are named, and asked about where they would run again. */
function rollBackPhase(
  choice: Choice,
  phase: OpenPhase,
  { phase: number, checkpoint }: PhaseStart,
): readonly EngineEvent[] {
  const { state, nowMs } = choice;
  const { node, scope } = phase;
  const since = state.phases.get(scope.path)?.startedAtMs ?? 0;
  const acted = findActedSince(state, new Set())
    .filter(({ path, intendedAtMs }) => path.startsWith(`${scope.path}/`) && intendedAtMs >= since)
    .map(({ id }) => id);
  const round = state.round + 1;
  const why = `restarts of phase ${node.name} are used up`;
  const decision = createDecision(choice, {
    agent: "atlas",
    type: "roll_back",
    description: `rolled back to the start of phase ${node.number} (${node.name})`,
    rationale: `${why}: ${explain(failedSteps(choice, phase))}${acted.length === 0 ? "" : `; these external steps are asked about before they run again: ${acted.join(", ")}`}`,
    alternatives: ["give_up", "go_on_without"],
    subject: scope.path,
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
