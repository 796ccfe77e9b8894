/**
 * `metrics`: how checkpoints and recoveries did, from the journals of one task or of all.
 *
 * Owns: the five figures of seed 003, and what calls of models used, by day. Everything comes from recorded events and from the sizes of what is stored, so the
 * figures of a task are the same on every machine that can read it.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, SplashdownError } from "../../../base/errors.js";
import { mapInWindow } from "../../../base/window.js";
import type { EngineEvent } from "../../../engine/model/events.js";
import { readHistory, type History } from "../../../journal/history.js";
import type { TaskStore } from "../../../store/contract/contract.js";
import { SpentTally } from "../../views/spent.js";
import { round, summariseValues } from "../../views/distribution.js";
import type { CheckpointMetrics, MetricsReport } from "../../views/face-views.js";
import { findTask } from "../../tasks/finding.js";
import { TASKS_AT_ONCE } from "../../keychain/readable-tasks.js";
import { openTask, whileOpen } from "../../tasks/reading.js";
import type { Services } from "../../services/services.js";

/** What is counted over the events; the figures are made from it, for one task or for the sum of all. */
interface Tally {
  readonly durationsMs: number[];
  readonly sizesBytes: number[];
  checkpoints: number;
  failed: number;
  attempts: number;
  succeeded: number;
  workedMs: number;
  readonly spent: SpentTally;
  readonly byDay: Map<string, SpentTally>;
  readonly callsMs: number[];
  readonly storage: { journal: number; snapshots: number; blobs: number; other: number; deliverables: number };
}

/** Errors: TASK_NOT_FOUND, TASK_AMBIGUOUS and those of reading for a named task; of all tasks bad ones are passed over. */
export async function reportMetrics(services: Services, reference: string | undefined): Promise<MetricsReport> {
  const names = reference === undefined ? await services.store.tasks() : [await resolveName(services, reference)];
  const found = await mapInWindow(names, TASKS_AT_ONCE, async (name) => {
    try {
      const task = await services.store.task(name);
      return task && { task: name, tally: await whileOpen(task, () => tallyTask(services, task)) };
    } catch (error) {
      if (reference !== undefined || !(error instanceof SplashdownError)) throw error;
      return { task: name, why: messageOf(error) };
    }
  });
  const tallies = found.flatMap((each) => (each?.tally === undefined ? [] : [each]));
  const passedOver = found.flatMap((each) => (each?.why === undefined ? [] : [each]));
  return {
    ...computeMetrics(addTallies(tallies.map(({ tally }) => tally))),
    tasks: tallies.map(({ task, tally }) => ({ task, ...computeMetrics(tally) })),
    passed_over: passedOver,
  };
}

async function resolveName(services: Services, reference: string): Promise<string> {
  const task = await findTask(services, reference, "read");
  return whileOpen(task, () => Promise.resolve(task.name));
}

function createTally(): Tally {
  return {
    durationsMs: [],
    sizesBytes: [],
    checkpoints: 0,
    failed: 0,
    attempts: 0,
    succeeded: 0,
    workedMs: 0,
    spent: new SpentTally(),
    byDay: new Map(),
    callsMs: [],
    storage: { journal: 0, snapshots: 0, blobs: 0, other: 0, deliverables: 0 },
  };
}

async function tallyTask(services: Services, task: TaskStore): Promise<Tally> {
  const { vault } = await openTask(services, task);
  const history = await readHistory({ task, vault });
  const tally = createTally();
  tallyEvents(tally, history);
  await tallyStorage(tally, { task, journalBytes: history.sizeBytes });
  return tally;
}

function tallyEvents(tally: Tally, history: History): void {
  let lastAtMs: number | undefined;
  const asked = new Map<string, number>();
  for (const record of history.records) {
    const event = record.decode();
    const continues = event.type !== "task_started" && event.type !== "task_resumed";
    if (continues && lastAtMs !== undefined) tally.workedMs += event.atMs - lastAtMs;
    lastAtMs = event.atMs;
    tallyEvent(tally, event);
    tallySpent(tally, event, asked);
  }
  // An epoch that was claimed and has no record on the chain is a taking-up that came to nothing.
  const recorded = new Set(history.records.map(({ position }) => position.epoch));
  const barren = Math.max(0, history.claimedEpoch - recorded.size);
  tally.attempts += barren;
}

function tallyEvent(tally: Tally, event: EngineEvent): void {
  if (event.type === "checkpoint_recorded") tally.checkpoints += 1;
  if (event.type === "snapshot_failed") tally.failed += 1;
  if (event.type === "snapshot_written") {
    tally.durationsMs.push(event.durationMs);
    tally.sizesBytes.push(event.sizeBytes);
  }
  if (event.type === "task_resumed" && event.crashed) {
    tally.attempts += 1;
    tally.succeeded += 1;
  }
}

/** `asked`: when the open call of each step began. */
function tallySpent({ spent, byDay, callsMs }: Tally, event: EngineEvent, asked: Map<string, number>): void {
  if (event.type === "call_begun") asked.set(event.step, event.atMs);
  if (event.type === "turn_recorded") {
    const from = asked.get(event.step);
    if (from !== undefined) callsMs.push(event.atMs - from);
    asked.delete(event.step);
  }
  if (!("usage" in event) || event.usage === undefined || event.usage.calls === 0) return;
  spent.add(event.usage);
  dayOf(byDay, formatDay(event.atMs)).add(event.usage);
}

function dayOf(byDay: Map<string, SpentTally>, day: string): SpentTally {
  const known = byDay.get(day) ?? new SpentTally();
  byDay.set(day, known);
  return known;
}

/** The day in the time zone of this machine. Shape: `2026-11-29`. */
function formatDay(atMs: number): string {
  const at = new Date(atMs);
  const [month, day] = [at.getMonth() + 1, at.getDate()].map((value) => String(value).padStart(2, "0"));
  return `${at.getFullYear()}-${month ?? ""}-${day ?? ""}`;
}

async function tallyStorage(
  { storage }: Tally,
  { task, journalBytes }: { readonly task: TaskStore; readonly journalBytes: number },
): Promise<void> {
  storage.journal += journalBytes;
  for (const { key, sizeBytes } of await task.list("")) {
    if (key.startsWith("checkpoint_")) storage.snapshots += sizeBytes;
    else if (key.startsWith("blobs/")) storage.blobs += sizeBytes;
    else storage.other += sizeBytes;
  }
  for (const folder of ["phases", "final"])
    storage.deliverables += await measureFolder(join(task.deliverablesFolder, folder));
}

/** Bytes of the files below a folder; one that is not there has none. */
async function measureFolder(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let sum = 0;
  for (const entry of entries) {
    if (entry.isFile()) sum += (await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0;
  }
  return sum;
}

function addTallies(tallies: readonly Tally[]): Tally {
  const sum = createTally();
  for (const tally of tallies) {
    for (const duration of tally.durationsMs) sum.durationsMs.push(duration);
    for (const size of tally.sizesBytes) sum.sizesBytes.push(size);
    for (const call of tally.callsMs) sum.callsMs.push(call);
    sum.spent.addAll(tally.spent);
    for (const [day, spent] of tally.byDay) dayOf(sum.byDay, day).addAll(spent);
    for (const name of ["checkpoints", "failed", "attempts", "succeeded", "workedMs"] as const)
      sum[name] += tally[name];
    for (const name of ["journal", "snapshots", "blobs", "other", "deliverables"] as const)
      sum.storage[name] += tally.storage[name];
  }
  return sum;
}

const HOUR_MS = 3_600_000;

function computeMetrics(tally: Tally): CheckpointMetrics {
  const { checkpoints, failed, attempts, succeeded, workedMs, storage } = tally;
  const { journal, snapshots, blobs, other, deliverables } = storage;
  const isMeasured = checkpoints > 0 && workedMs > 0;
  return {
    checkpoint_write_duration: summariseValues(tally.durationsMs, "ms"),
    checkpoint_size: summariseValues(tally.sizesBytes, "bytes"),
    recovery_success_rate: { attempts, succeeded, rate: attempts === 0 ? null : round(succeeded / attempts) },
    checkpoint_frequency: {
      checkpoints,
      files: tally.sizesBytes.length,
      failed,
      per_hour: isMeasured ? round((checkpoints * HOUR_MS) / workedMs) : null,
      mean_interval_seconds: isMeasured ? round(workedMs / checkpoints / 1000) : null,
    },
    spent: {
      total: tally.spent.view(),
      call_duration: summariseValues(tally.callsMs, "ms"),
      by_day: [...tally.byDay].sort(([a], [b]) => (a < b ? -1 : 1)).map(([day, spent]) => ({ day, ...spent.view() })),
    },
    storage_usage: { total: journal + snapshots + blobs + other + deliverables, ...storage },
  };
}
