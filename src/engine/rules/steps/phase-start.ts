/** What a phase may still make of something in it that failed: whether it goes on without, or starts over. */
import type { PhaseScope } from "../../../definition/model/workflow.js";
import type { Choice } from "../../model/choice.js";
import { ownPhaseNumber } from "../../model/lookup.js";
import type { CheckpointEntry } from "../../model/state.js";

export interface PlacedPhase {
  readonly path: string;
  readonly node: PhaseScope;
}

export interface PhaseStart {
  readonly phase: number;
  readonly checkpoint: CheckpointEntry;
}

/**
 * Where the phase began, if it is one of the task's own and may be rolled back once more. Its checkpoint may not be there,
 * by a setting or a crash right before it: then the nearest one is named.
 */
export function findPhaseStart({ state }: Choice, { path, node }: PlacedPhase): PhaseStart | undefined {
  const entry = state.phases.get(path);
  if ((entry?.rollbacks ?? 0) >= Math.max(1, node.restart.maxAttempts)) return undefined;
  const phase = ownPhaseNumber(state, path);
  if (phase === undefined || state.task?.definition.root.scope !== "phases") return undefined;
  const startedAtMs = entry?.startedAtMs ?? 0;
  const checkpoint =
    state.checkpoints.findLast((one) => one.trigger === "phase_started" && one.phase === phase) ??
    state.checkpoints.findLast((one) => one.atMs <= startedAtMs) ??
    state.checkpoints[0];
  return checkpoint === undefined ? undefined : { phase, checkpoint };
}

/** True when something in the phase has ended well. */
export function isAnythingDone({ state }: Choice, path: string): boolean {
  return [...(state.frontier.get(path)?.ended.values() ?? [])].some((end) => end !== "failed");
}

/**
 * True where the phase deals with the failure of a group in it, so that the group may be left as failed. Otherwise the
 * group stays open, so that a resume begins with what failed in it.
 */
export function isSettledByPhase(choice: Choice, { path, node }: PlacedPhase): boolean {
  const { otherwise } = node.restart;
  const goesOn = otherwise === "continue" && isAnythingDone(choice, path);
  return goesOn || (otherwise === "rollback" && findPhaseStart(choice, { path, node }) !== undefined);
}
