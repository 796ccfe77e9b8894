/**
 * Takes a task over: proves what its history is, claims the next epoch, and hands its state to a new owner.
 *
 * Owns: the order. What liveness says comes before (liveness.ts), opening the journal and appending `task_resumed` after
 * (runtime). Steps: (1) read and fold everything, writing nothing; (2) refuse what must be refused; (3) claim; (4) read
 * again, because a superseded owner may have written until the claim; (5) end surviving processes; (6) set bad files
 * aside and sweep.
 *
 * R7: a refusal (wrong key, tampering, damage, newer version, roll-back) has changed no byte: all of it is judged in (2),
 *     and again in (4).
 * R8: the epoch is claimed before the segments it continues are read for good: either the claimer sees an intent, or its
 *     writer sees the claim and does not act.
 * R9: no outcome is judged while a process of the earlier owner may still act. What is of another namespace or machine, and
 *     cannot be looked up from here, may: such steps are handed on as `mayRun`.
 * R10: recovering twice gives the same state; an attempt that ends early has written nothing but the claim.
 * Source: DESIGN sections 3 and 7, STORAGE section 1.7.
 */
import type { Clock } from "../base/clock.js";
import { SplashdownError } from "../base/errors.js";
import type { StepId } from "../base/ids.js";
import type { JsonObject } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import type { Log } from "../base/log.js";
import type { SnapshotSource } from "../checkpoint/contract.js";
import type { EngineEvent, EventOf } from "../engine/model/events.js";
import type { TaskState } from "../engine/model/state.js";
import { findOpenTool } from "../engine/model/lookup.js";
import { processKeyOf } from "../engine/model/identity.js";
import { readHistory, type History, type ScanCache } from "../journal/history.js";
import { isSamePosition, type JournalPosition } from "../journal/position.js";
import type { ProcessPlace } from "../engine/model/input.js";
import type { ProcessHost, ProcessIdentity } from "../process/contract.js";
import type { TaskStore } from "../store/contract/contract.js";
import type { AnchorPosition } from "../vault/anchor.js";
import type { TaskVault } from "../vault/contract.js";
import { foldHistory, lossError, readTask, type FoldedTask, type KnownTask, type ReadTaskOptions } from "./fold.js";
import { journalLost } from "./evidence.js";
import { isRolledBack, requireNotRolledBack } from "./rollback-guard.js";

export interface RestoreOptions {
  readonly task: TaskStore;
  readonly vault: TaskVault;
  readonly snapshots: SnapshotSource;
  readonly processes: ProcessHost;
  readonly clock: Clock;
  readonly log: Log;
  /** What this machine last acknowledged of the task; absent where nothing is known. */
  readonly anchor?: AnchorPosition | undefined;
  /** Go on in spite of damage and roll-back: what may have begun there is unknown. */
  readonly acceptLoss?: boolean;
  /** The task as it was read before: folded again only if its history has changed. Its state is handed on. */
  readonly known?: KnownTask | undefined;
  /** Who owned the task, where a person takes it over and nobody knows whether that process still runs. */
  readonly unclearOwner?: () => ProcessPlace | undefined;
  /** `recovery_timeout_seconds`. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /**
   * The last look before the claim, at the state as it is now; throws to leave the task alone. `unused`: an epoch that was
   * claimed and whose journal was not opened.
   */
  readonly beforeClaim?: (state: TaskState, unused: number | undefined) => Promise<void>;
  /** The task is ours: called before anything else is done with it. */
  readonly afterClaim?: (epoch: number) => Promise<void>;
}

/** A completion off the chain. */
export interface FoundOrphan extends Pick<JournalPosition, "epoch" | "n"> {
  readonly event: EventOf<"step_completed">;
  /** Its step is open at this very attempt: it may be the answer. */
  readonly isOfOpenStep: boolean;
}

export interface Restored {
  readonly state: TaskState;
  /** Claimed by this call; nobody else has it. */
  readonly epoch: number;
  /** What the new journal continues. */
  readonly prev: JournalPosition | undefined;
  /** The last batch up to `prev`, for the new journal to repeat (J13). */
  readonly repeated: readonly EngineEvent[];
  /** The last event that is not the mere beginning of an owner. */
  readonly last: EngineEvent | undefined;
  /** Checkpoint the state was restored from. */
  readonly base: string | undefined;
  readonly journalBytes: number;
  /** The owner before ended without `task_closed`. */
  readonly crashed: boolean;
  /** Some step that began is perhaps not known. */
  readonly uncertain: boolean;
  /** Completions that superseded owners wrote too late, oldest first. */
  readonly orphans: readonly FoundOrphan[];
  /** Open steps of which something may still run, where this process can neither see nor end it. */
  readonly mayRun: ReadonlyMap<StepId, ProcessPlace>;
  /** Tool servers of which that is so, by `processKeyOf`. */
  readonly serversLeft: ReadonlySet<string>;
  /** For the `task_resumed` event, in snake_case. */
  readonly report: JsonObject;
  readonly history: History;
}

/**
 * Restores a task for a new owner.
 *
 * Errors: KEY_MISSING, KEY_WRONG, SEAL_MISSING, TASK_SWAPPED, JOURNAL_TAMPERED, FORMAT_*, STORE_*; JOURNAL_CORRUPT for
 * loss and TASK_ROLLED_BACK, both only without `acceptLoss`; OWNER_SUPERSEDED when somebody claimed it meanwhile;
 * RECOVERY_TIMEOUT; CANCELLED.
 */
export async function restoreTask(options: RestoreOptions): Promise<Restored> {
  const { task, vault, clock, snapshots, signal, known } = options;
  const deadline = createDeadline(options);
  const cache: ScanCache = known?.cache ?? new Map();
  const reading: ReadTaskOptions = {
    task,
    vault,
    snapshots,
    cache,
    checkTime: () => deadline.check(),
    signal,
  };
  const startedMs = clock.monotonicMs();
  const before = known === undefined ? await readTask(reading) : await readAgain(known.folded, reading);
  judge(before, options);
  deadline.check();
  await options.beforeClaim?.(before.state, unusedEpochOf(before.history));
  const epoch = await task.claim(before.history.claimedEpoch);
  await options.afterClaim?.(epoch);
  const folded = await readAgain(before, reading);
  const { isRolledBack: wasRolledBack } = judge(folded, options);
  reportCovered(folded, options);
  const { ended, mayRun, serversLeft } = await deadline.race(endProcesses(folded, options));
  deadline.check();
  const quarantined = await setAside(folded, options);
  await task.sweep();
  const orphans = findOrphans(folded);
  return {
    state: folded.state,
    epoch,
    prev: folded.position,
    repeated: lastBatchOf(folded),
    last: lastEventOf(folded),
    base: folded.base?.checkpointId,
    journalBytes: folded.history.sizeBytes,
    crashed: folded.state.task?.status === "running",
    uncertain: folded.lost.length > 0 || wasRolledBack,
    orphans,
    mayRun,
    serversLeft,
    report: {
      ...createReport(folded),
      ...reportOrphans(orphans),
      ...(wasRolledBack ? { loss_accepted: true, rolled_back: true } : {}),
      epoch,
      ended_processes: ended,
      ...reportSurvivors(mayRun),
      quarantined,
      duration_ms: Math.round(clock.monotonicMs() - startedMs),
    },
    history: folded.history,
  };
}

function lastEventOf({ position, history }: FoldedTask): EngineEvent | undefined {
  if (position?.n !== history.head?.n) return undefined;
  return history.records.findLast(({ kind }) => kind !== "recovery")?.decode();
}

/** The highest epoch, where it was claimed and has no header: its owner begins at this moment, or is gone. */
function unusedEpochOf({ claimedEpoch, epoch }: History): number | undefined {
  return claimedEpoch > epoch ? claimedEpoch : undefined;
}

/** Of what is continued; a snapshot beyond the end of a damaged journal has none. */
function lastBatchOf({ position, history }: FoldedTask): readonly EngineEvent[] {
  return position?.n === history.head?.n ? history.lastBatch() : [];
}

/** What must stop it, stops it; the answer says whether an accepted roll-back was found. */
function judge(
  folded: FoldedTask,
  { task, anchor, acceptLoss = false }: RestoreOptions,
): { readonly isRolledBack: boolean } {
  const question = { task: task.name, history: folded.history, anchor };
  if (isAllLost(folded, anchor)) throw journalLost(task.name, folded.evidence, anchor);
  if (acceptLoss) return { isRolledBack: isRolledBack(question) };
  if (folded.lost.length > 0) throw lossError(task.name, folded);
  requireNotRolledBack(question);
  return { isRolledBack: false };
}

/** Nothing is left that a state could be made of, and something tells that there was more: no loss that can be accepted. */
export function isAllLost({ state, history, evidence }: FoldedTask, anchor: AnchorPosition | undefined): boolean {
  if (state.position > 0 || history.head !== undefined) return false;
  return evidence.length > 0 || (anchor !== undefined && anchor.n > 0);
}

/** The same history gives the same state: it is folded again only when the superseded owner wrote in between. */
async function readAgain(before: FoldedTask, reading: ReadTaskOptions): Promise<FoldedTask> {
  const history = await readHistory(reading);
  return isSameHistory(before.history, history) ? { ...before, history } : await foldHistory(history, reading);
}

function isSameHistory(first: History, second: History): boolean {
  const isSameHead =
    first.head === undefined || second.head === undefined
      ? first.head === second.head
      : isSamePosition(first.head, second.head);
  return (
    isSameHead && first.sizeBytes === second.sizeBytes && JSON.stringify(first.lost) === JSON.stringify(second.lost)
  );
}

interface Deadline {
  check(): void;
  race<T>(work: Promise<T>): Promise<T>;
}

function createDeadline({ clock, timeoutMs = Infinity, signal, task }: RestoreOptions): Deadline {
  const endMs = clock.monotonicMs() + timeoutMs;
  const timeout = () =>
    new SplashdownError("RECOVERY_TIMEOUT", `recovering ${task.name} took longer than ${timeoutMs / 1000} s`, {
      details: { task: task.name, timeoutMs },
    });
  return {
    check: () => {
      if (signal?.aborted === true)
        throw new SplashdownError("CANCELLED", "recovery was cancelled", {
          details: { task: task.name },
          cause: signal.reason,
        });
      if (clock.monotonicMs() > endMs) throw timeout();
    },
    race: async (work) => {
      if (timeoutMs === Infinity) return work;
      let cancel: () => void = () => undefined;
      const late = new Promise<never>((_resolve, reject) => {
        cancel = clock.schedule(Math.max(0, endMs - clock.monotonicMs()), () => reject(timeout()));
      });
      try {
        return await Promise.race([work, late]);
      } finally {
        cancel();
      }
    },
  };
}

interface EndedProcesses {
  readonly ended: JsonObject[];
  readonly mayRun: Map<StepId, ProcessPlace>;
  readonly serversLeft: Set<string>;
}

/** What runs for one step, or a tool server that runs for any of them. */
interface Suspect {
  readonly of: { readonly step: StepId } | { readonly server: string };
  readonly process: ProcessIdentity;
}

/**
 * Groups of open steps, tool servers, and what a superseded owner spawned too late. Where the owner itself may still run,
 * whatever is open may.
 */
async function endProcesses(
  folded: FoldedTask,
  { processes, log, unclearOwner }: RestoreOptions,
): Promise<EndedProcesses> {
  await processes.endAbandoned();
  const { open } = folded.state;
  const found: EndedProcesses = { ended: [], mayRun: new Map(), serversLeft: new Set() };
  const owner = unclearOwner?.();
  if (owner !== undefined) for (const step of open) found.mayRun.set(step, owner);
  for (const [key, { of, process }] of listSuspects(folded)) {
    const state = await processes.groupState(process);
    if (state === "gone") continue;
    const what = "step" in of ? `step ${of.step}` : `tool server ${of.server}`;
    if (state === "unclear") {
      log.warn(`process ${process.pid} of host ${process.host}, begun for ${what}, may still run`);
      if ("server" in of) found.serversLeft.add(key);
      for (const step of "step" in of ? [of.step] : listCalling(folded.state))
        found.mayRun.set(step, { pid: process.pid, host: process.host });
      continue;
    }
    log.warn(`ending process group ${process.pid}, which ${what} of the earlier owner left running`);
    await processes.endGroup(process, LIMITS.killGraceMs);
    found.ended.push({ ...of, pid: process.pid });
  }
  return found;
}

function listSuspects(folded: FoldedTask): ReadonlyMap<string, Suspect> {
  const { open, steps, servers } = folded.state;
  const suspects = new Map<string, Suspect>();
  const add = (of: Suspect["of"], process: ProcessIdentity | undefined) => {
    if (process !== undefined) suspects.set(processKeyOf(process), { of, process });
  };
  for (const step of open) add({ step }, steps.get(step)?.process);
  for (const { server, process } of servers.values()) add({ server }, process);
  for (const { event } of decodeOrphans(folded.history)) {
    if (event.type === "step_spawned") add({ step: event.step }, event.process);
    if (event.type === "server_spawned") add({ server: event.server }, event.process);
  }
  return suspects;
}

/** Steps with a call of a tool whose end is not known: the server may be at work on it. */
function listCalling(state: TaskState): readonly StepId[] {
  return [...state.open].filter((step) => findOpenTool(state, step) !== undefined);
}

function reportSurvivors(mayRun: ReadonlyMap<StepId, ProcessPlace>): JsonObject {
  if (mayRun.size === 0) return {};
  return { may_still_run: [...mayRun].map(([step, { pid, host }]) => ({ step, pid, host })) };
}

/** Damage that costs nothing is told all the same: the next one may. */
function reportCovered({ history, lost, base }: FoldedTask, { log, task }: RestoreOptions): void {
  if (lost.length > 0) return;
  for (const { segment, line, what } of history.damage) {
    const place = `journal segment ${segment}${line === undefined ? "" : ` line ${line}`} of ${task.name}`;
    const covered = history.lost.length > 0 && base !== undefined ? `, which ${base.file} covers` : "";
    log.warn(`${place} is damaged (${what})${covered}; nothing is lost`);
  }
}

async function setAside(folded: FoldedTask, { snapshots, log }: RestoreOptions): Promise<JsonObject[]> {
  const quarantined: JsonObject[] = [];
  for (const { file, code, reason, isBad } of folded.refused) {
    if (!isBad) {
      if (code !== "OFF_CHAIN") log.warn(`${file} is left as it is and not used (${code}: ${reason})`);
      continue;
    }
    const movedTo = await snapshots.quarantine(file, `${code}: ${reason}`);
    log.warn(`${file} is not usable (${code}) and was moved to ${movedTo}; ${describeBase(folded)} is used instead`);
    quarantined.push({ file, code, moved_to: movedTo });
  }
  return quarantined;
}

function describeBase({ base }: FoldedTask): string {
  return base === undefined ? "the journal from its first record" : base.file;
}

function decodeOrphans(history: History) {
  return history.orphans.flatMap((record) => {
    try {
      const { n, position } = record;
      return [{ n, epoch: position.epoch, event: record.decode() }];
    } catch {
      // Off the chain nothing is relied upon, so nothing there can stop a recovery.
      return [];
    }
  });
}

function findOrphans({ state, history }: FoldedTask): FoundOrphan[] {
  const found = decodeOrphans(history).flatMap(({ event, n, epoch }) => {
    if (event.type !== "step_completed") return [];
    const isOpen = state.open.has(event.step) || state.blocked.has(event.step);
    return [{ event, n, epoch, isOfOpenStep: isOpen && state.steps.get(event.step)?.attempt === event.attempt }];
  });
  return found.sort((first, second) => first.epoch - second.epoch || first.n - second.n);
}

/** By name; how many records there are off the chain says `orphans`. */
function reportOrphans(orphans: readonly FoundOrphan[]): JsonObject {
  if (orphans.length === 0) return {};
  const named = orphans.map(({ epoch, n, event: { step, attempt } }) => ({ step, attempt, epoch, n }));
  return { orphan_completions: named };
}

/** What was found and used, for the event, the audit and people. */
export function createReport(folded: FoldedTask): JsonObject {
  const { base, refused, lost, history } = folded;
  return {
    base:
      base === undefined
        ? null
        : { file: base.file, seq: base.seq, checkpoint_id: base.checkpointId, n: base.position.n },
    records_replayed: folded.recordsReplayed,
    ...history.report(),
    lost: lost.map(({ from, to }) => ({ from, to: to ?? null })),
    ...(lost.length > 0 ? { loss_accepted: true, unfoldable: folded.unfoldable } : {}),
    passed_over: refused.map(({ file, code, reason }) => ({ file, code, reason })),
  };
}
