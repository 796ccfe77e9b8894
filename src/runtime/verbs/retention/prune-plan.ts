/**
 * What `checkpoints prune` and `clear` would remove of one task, with the reason for each file. Reads only.
 *
 * The same plan is made twice: for the person, without owning the task, and again after the claim; only what stands in
 * both is removed.
 */
import { silentLog, type Log } from "../../../base/log.js";
import type { LoadedSnapshot } from "../../../checkpoint/contract.js";
import { createBlobShelf } from "../../../checkpoint/blobs/blobs.js";
import { NamedBlobs, planHistoryCut, type HistoryCut } from "../../../checkpoint/history-cut.js";
import { listPinned } from "../../../checkpoint/pins.js";
import {
  createVerify,
  SnapshotRetention,
  type ExpiredFile,
  type RetainedHistory,
  type RetentionRules,
} from "../../../checkpoint/retention.js";
import type { TaskState } from "../../../engine/model/state.js";
import type { History } from "../../../journal/history.js";
import type { ObjectEntry } from "../../../store/contract/contract.js";
import type { OpenedTask } from "../../tasks/reading.js";
import type { PrunedHistoryView, PrunedTaskView } from "../../views/past-views.js";

export interface PlanRequest {
  readonly opened: OpenedTask;
  readonly state: TaskState;
  readonly history: History;
  readonly rules: RetentionRules;
  readonly shortensHistory: boolean;
  /** The epoch before the one that removes. */
  readonly previousEpoch: number;
}

export interface PrunePlan {
  readonly files: readonly ExpiredFile[];
  readonly cut: HistoryCut | undefined;
  /** Nothing that stays names them. */
  readonly blobs: readonly ObjectEntry[];
}

export function retainedOf(state: TaskState): RetainedHistory {
  return { checkpoints: state.checkpoints, historyFrom: state.task?.historyFrom };
}

/** Retention over a task that nobody runs. `record` takes the event into the history. */
export function createRetention(
  { opened, rules }: Pick<PlanRequest, "opened" | "rules">,
  owner: Pick<ConstructorParameters<typeof SnapshotRetention>[0], "journal" | "onPruned" | "nowMs" | "log"> = PLANNING,
): SnapshotRetention {
  const { task, snapshots } = opened;
  const verify = createVerify((file) => snapshots.load(file), owner.log);
  return new SnapshotRetention({ store: task, rules, verify, pins: () => listPinned(task), ...owner });
}

const refuse = (): Promise<never> => Promise.reject(new Error("a plan removes nothing"));
const PLANNING: { readonly log: Log } & Parameters<typeof createRetention>[1] = {
  journal: { confirm: refuse },
  onPruned: refuse,
  nowMs: () => 0,
  log: silentLog,
};

export async function planPruning(request: PlanRequest): Promise<PrunePlan> {
  const { state, shortensHistory } = request;
  const files = await createRetention(request).plan(retainedOf(state));
  if (!shortensHistory) return { files, cut: undefined, blobs: [] };
  // The file that the journal begins at may go with what it begins: the cut moves on.
  const more = await createRetention(request).plan({ checkpoints: state.checkpoints });
  const kept = await loadKept(request, more);
  const cut = await chooseCut(request, kept);
  return cut.before === 1
    ? { files, cut, blobs: [] }
    : { files: more, cut, blobs: await findUnnamed(request, cut, kept) };
}

/** Opened one after the other, so that large states are not held together. */
async function loadKept(
  { opened, state }: PlanRequest,
  going: readonly ExpiredFile[],
): Promise<readonly Pick<LoadedSnapshot, "file" | "position">[]> {
  const names = new Set(state.checkpoints.map(({ checkpointId }) => checkpointId as string));
  const leaving = new Set(going.map(({ file }) => file));
  const verify = createVerify((file) => opened.snapshots.load(file), silentLog);
  const kept: Pick<LoadedSnapshot, "file" | "position">[] = [];
  for (const { file } of await opened.snapshots.list()) {
    if (leaving.has(file) || !(await verify(file))) continue;
    const { checkpointId, position } = await opened.snapshots.load(file);
    if (names.has(checkpointId)) kept.push({ file, position });
  }
  return kept;
}

async function chooseCut(
  { opened, state, history, previousEpoch }: PlanRequest,
  kept: readonly Pick<LoadedSnapshot, "position">[],
): Promise<HistoryCut> {
  const ids = await listPinned(opened.task);
  const { checkpoints } = state;
  const pinned = checkpoints.filter(({ checkpointId }) => ids.has(checkpointId));
  return planHistoryCut({ history, checkpoints, kept, previousEpoch, pinned });
}

async function findUnnamed(
  { opened, history }: PlanRequest,
  cut: HistoryCut,
  kept: readonly Pick<LoadedSnapshot, "file">[],
): Promise<ObjectEntry[]> {
  const blobs = await opened.task.list("blobs/");
  if (blobs.length === 0) return [];
  const named = new NamedBlobs();
  const shelf = createBlobShelf({ store: opened.task, vault: opened.vault });
  for (const record of history.recordsFrom(cut.before)) await named.addRecord(record, (ref) => shelf.get(ref));
  for (const { file } of kept) named.addState((await opened.snapshots.load(file)).state);
  return blobs.filter(({ key }) => !named.keys.has(key));
}

export function sum(entries: readonly { readonly sizeBytes: number }[]): number {
  return entries.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
}

export function viewPlan(plan: PrunePlan): Pick<PrunedTaskView, "files" | "freed"> & { history?: PrunedHistoryView } {
  const { files, cut, blobs } = plan;
  const hasCut = cut !== undefined && cut.before > 1;
  const segments = hasCut ? cut.segments : [];
  return {
    files: files.map(({ file, seq, phase, sizeBytes, reason }) => ({ file, seq, phase, size: sizeBytes, reason })),
    freed: sum(files) + sum(segments) + sum(blobs),
    ...(hasCut
      ? {
          history: {
            before: cut.before,
            segments: segments.length,
            segments_size: sum(segments),
            blobs: blobs.length,
            blobs_size: sum(blobs),
            unreachable: cut.unreachable.map(({ checkpointId, seq, phase }) => ({
              checkpoint_id: checkpointId,
              seq,
              phase,
            })),
          },
        }
      : {}),
  };
}
