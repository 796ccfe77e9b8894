/**
 * How every task of a store stands: from the end of its journal and from whether its owner lives.
 *
 * R11: a task is `running` only while its owner is alive; open and without an owner it is `crashed`, and where that
 *      cannot be told `unclear`.
 * R12: a task that cannot be read is one bad entry in the answer; the others are unaffected.
 * Owns: the short truth, cheap for a thousand tasks. `readTask` gives the long one.
 */
import { errorCodeOf, messageOf, SplashdownError } from "../base/errors.js";
import type { ErrorCode } from "../base/error-table.js";
import type { EngineEvent, EventOf } from "../engine/model/events.js";
import { mapInWindow } from "../base/window.js";
import { listSnapshotFiles } from "../checkpoint/source.js";
import { readJournalEnd, type JournalEnd } from "../journal/journal-end.js";
import type { HistoryRecord } from "../journal/segment-records.js";
import type { OwnerFacts, OwnerState, Store, TaskStore } from "../store/contract/contract.js";
import { findEvidence, journalLost } from "./evidence.js";
import type { TaskVault } from "../vault/contract.js";

export type TaskStatus =
  | "running"
  | "crashed"
  | "unclear"
  | "waiting"
  | "paused"
  | "failed"
  | "partial"
  | "done"
  | "stopped"
  | "damaged"
  | KeyStatus;

const KEY_CODES = [
  "KEY_MISSING",
  "KEY_WRONG",
  "KEY_SOURCE_INVALID",
  "KEY_NOT_CREATED",
  "KEY_NOT_TRIED",
  "FOLDER_NOT_TRUSTED",
] as const satisfies readonly ErrorCode[];

/** Its key stands against reading it: the reason's own word. */
export type KeyStatus = Lowercase<(typeof KEY_CODES)[number]>;

export interface ScannedTask {
  readonly name: string;
  readonly status: TaskStatus;
  /** Undefined where the journal could not be opened. */
  readonly taskId: string | undefined;
  readonly epoch: number;
  /** Number and time of the last record; 0 and undefined before the first. */
  readonly records: number;
  readonly lastAtMs: number | undefined;
  readonly owner: OwnerFacts | undefined;
  /** How it ended, when it did. */
  readonly closed: EventOf<"task_closed"> | undefined;
  readonly problem: { readonly code: ErrorCode; readonly message: string } | undefined;
}

export interface ScanOptions {
  readonly store: Store;
  /** Opens a task's keys. Errors: KEY_*, KEYRING_CORRUPT, TASK_NOT_STARTED; they become the task's status. */
  readonly openVault: (task: TaskStore) => Promise<TaskVault>;
  /** Only these; all tasks of the store when absent. */
  readonly names?: readonly string[];
}

const TASKS_AT_ONCE = 8;
/** What may follow a `task_closed` without opening the task again. */
const AFTERWARDS: ReadonlySet<EngineEvent["type"]> = new Set<EngineEvent["type"]>([
  "checkpoint_recorded",
  "snapshot_written",
  "snapshot_failed",
  "pruned",
  "noted",
]);

/**
 * Scans the tasks of a store.
 *
 * Shape: in the order of names. Errors: only those of listing the store; a task's own are in its entry.
 */
export async function scanTasks(options: ScanOptions): Promise<ScannedTask[]> {
  const names = options.names ?? (await options.store.tasks());
  const found = await mapInWindow(names, TASKS_AT_ONCE, (name) => scanTask(name, options));
  return found.filter((scanned) => scanned !== undefined);
}

/** One task; `undefined` when it is not there (any more). Errors: those that are no coded errors. */
export async function scanTask(
  name: string,
  { store, openVault }: Pick<ScanOptions, "store" | "openVault">,
): Promise<ScannedTask | undefined> {
  let task: TaskStore | undefined;
  try {
    task = await store.task(name);
    return task === undefined ? undefined : await inspect(task, openVault);
  } catch (error) {
    return createBadEntry(name, error);
  } finally {
    await task?.close();
  }
}

async function inspect(task: TaskStore, openVault: ScanOptions["openVault"]): Promise<ScannedTask> {
  const ownership = await task.ownerState();
  const vault = await openVault(task);
  const end = await readJournalEnd({ task, vault, isEnough: (records) => !records.every(isAfterwards) });
  const { closed, lastAtMs } = readClosing(end);
  if (end.records.length === 0 && !end.isDamaged) await requireNothingLost(task, end);
  return {
    name: task.name,
    status: end.isDamaged ? "damaged" : (closed?.end ?? statusOfOpen(ownership)),
    taskId: vault.taskId,
    epoch: end.epoch,
    records: end.records.at(-1)?.position.n ?? 0,
    lastAtMs,
    owner: ownership.owner,
    closed,
    problem: end.isDamaged
      ? { code: "JOURNAL_CORRUPT", message: `the end of the journal of ${task.name} is damaged` }
      : undefined,
  };
}

/** Errors: JOURNAL_MISSING, JOURNAL_CORRUPT: what there is beside the journal tells of records (R17). */
async function requireNothingLost(task: TaskStore, { epoch }: JournalEnd): Promise<void> {
  const evidence = await findEvidence(task, { head: undefined, isEmpty: epoch === 0 });
  if (evidence.length === 0) return;
  const lost = journalLost(task.name, evidence, undefined);
  if (!(await hasSnapshots(task))) throw lost;
  throw new SplashdownError("JOURNAL_CORRUPT", lost.message, { details: lost.details });
}

async function hasSnapshots(task: TaskStore): Promise<boolean> {
  return (await listSnapshotFiles(task)).length > 0;
}

function statusOfOpen({ state }: OwnerState): TaskStatus {
  if (state === "alive") return "running";
  return state === "unclear" ? "unclear" : "crashed";
}

/** A fork that has not run yet is paused, and nobody takes it up unasked. */
function closedByFork({ atMs, origin }: EventOf<"task_forked">): EventOf<"task_closed"> {
  const reason = `forked from checkpoint ${origin.seq} of ${origin.name}`;
  return { type: "task_closed", atMs, end: "paused", reason, exitStatus: 20, resumable: true };
}

/** Such records say nothing of how the task stands: what was before them does. */
function isAfterwards(record: HistoryRecord): boolean {
  return AFTERWARDS.has(record.decode().type);
}

function readClosing({ records }: JournalEnd): {
  closed: EventOf<"task_closed"> | undefined;
  lastAtMs: number | undefined;
} {
  let lastAtMs: number | undefined;
  for (const record of records.toReversed()) {
    const event = record.decode();
    lastAtMs ??= event.atMs;
    if (event.type === "task_closed") return { closed: event, lastAtMs };
    if (event.type === "task_forked") return { closed: closedByFork(event), lastAtMs };
    if (!AFTERWARDS.has(event.type)) break;
  }
  return { closed: undefined, lastAtMs };
}

/** A task that died before its first record has no keys yet, and nothing is wrong with it. */
function statusOfProblem(code: ErrorCode): TaskStatus {
  if (code === "TASK_NOT_STARTED") return "crashed";
  const stands = KEY_CODES.find((one) => one === code);
  return stands === undefined ? "damaged" : (stands.toLowerCase() as KeyStatus);
}

function createBadEntry(name: string, error: unknown): ScannedTask {
  const code = errorCodeOf(error);
  if (code === undefined || code === "INTERNAL") {
    throw new SplashdownError("INTERNAL", `scanning task ${name} failed: ${messageOf(error)}`, { cause: error });
  }
  const status = statusOfProblem(code);
  return {
    name,
    status,
    taskId: undefined,
    epoch: 0,
    records: 0,
    lastAtMs: undefined,
    owner: undefined,
    closed: undefined,
    problem: status === "crashed" ? undefined : { code, message: messageOf(error) },
  };
}
