/** The state a task had at one of its checkpoints, to go back to or to fork from. Reads only. */
import { canonicalJson } from "../../base/json-encoding.js";
import { selectCheckpoint } from "../../checkpoint/listing.js";
import { encodeForReturn } from "../../engine/fold/restore-state.js";
import { previewAfter, rollBackTo } from "../../engine/rules/task/rollback.js";
import type { Rollback } from "../../engine/model/input.js";
import type { CheckpointEntry, TaskState } from "../../engine/model/state.js";
import type { StepId } from "../../base/ids.js";
import { foldUntil } from "../../recovery/fold.js";
import type { OpenedTask } from "../tasks/reading.js";
import type { Services } from "../services/services.js";
import { findActedSince } from "../../engine/model/lookup.js";

interface CurrentTask extends OpenedTask {
  readonly state: TaskState;
}

export interface EarlierState {
  readonly checkpoint: CheckpointEntry;
  readonly earlier: TaskState;
  /** External steps that were done, or may have acted, since. */
  readonly acted: readonly StepId[];
  /** Steps that were done there. */
  readonly done: ReadonlySet<StepId>;
}

/** Errors: CHECKPOINT_NOT_FOUND, also for one that a shortened history does not lead to; CHECKPOINT_AMBIGUOUS. */
export async function readEarlier(current: CurrentTask, reference: string): Promise<EarlierState> {
  const { state, task } = current;
  const own = reference.startsWith(`${task.name}:`) ? reference.slice(task.name.length + 1) : reference;
  const { entry: checkpoint } = selectCheckpoint(
    state.checkpoints.map((entry) => ({ entry })),
    own,
    task.name,
  );
  const { state: earlier } = await foldUntil({ ...current, until: checkpoint.position });
  const done = new Set([...earlier.steps.values()].flatMap(({ id, status }) => (status === "completed" ? [id] : [])));
  return { checkpoint, earlier, done, acted: findActedSince(state, done).map(({ id }) => id) };
}

export async function prepareRollback(
  services: Services,
  current: CurrentTask,
  reference: string,
): Promise<{
  readonly goBack: Rollback;
  readonly after: TaskState;
  readonly acted: readonly StepId[];
  /** False: nothing but bookkeeping was recorded since, so that there is nothing to go back over. */
  readonly hasMoved: boolean;
}> {
  const { state } = current;
  const { checkpoint, earlier, done, acted } = await readEarlier(current, reference);
  const goBack = { to: checkpoint, state: encodeForReturn(earlier), done, by: services.environment.user };
  const after = previewAfter(state, [rollBackTo(state, goBack, state.atMs)]);
  return { goBack, acted, after, hasMoved: markOf(earlier) !== markOf(state) };
}

/** What work and people change, and a start, a stop or a checkpoint does not. */
function markOf({ steps, questions, decisions, channel, guidance, round, totals }: TaskState): string {
  const ofSteps = [...steps.values()].map(({ id, status, attempt }) => [id, status, attempt]);
  const asked = [...questions.values()].map(({ id, status }) => [id, status]);
  const counts = [decisions.length, guidance.length, totals.calls, round];
  return canonicalJson([ofSteps, asked, [...channel], counts]);
}
