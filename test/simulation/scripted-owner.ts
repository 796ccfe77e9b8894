/**
 * One owner of the explored task: real store, vault, journal, snapshots and recovery over any file system.
 *
 * It tells a trace what was acknowledged and what it did to the world, each with the number of operations the disk had
 * done by then; the oracle (oracle.ts) holds a crash against that.
 */
import { silentLog } from "../../src/base/log.js";
import { createSnapshotSource } from "../../src/checkpoint/source.js";
import { capture } from "../../src/checkpoint/format/capture.js";
import { writeSnapshot } from "../../src/checkpoint/format/writer.js";
import { evolve } from "../../src/engine/fold/evolve.js";
import type { EngineEvent } from "../../src/engine/model/events.js";
import { createState, type TaskState } from "../../src/engine/model/state.js";
import { readHistory } from "../../src/journal/history.js";
import type { JournalPosition } from "../../src/journal/position.js";
import { openJournalWriter, type JournalWriter } from "../../src/journal/writer.js";
import type { ProcessHost } from "../../src/process/contract.js";
import { restoreTask, type Restored } from "../../src/recovery/restore.js";
import type { Store, TaskStore } from "../../src/store/contract/contract.js";
import type { AnchorPosition } from "../../src/vault/anchor.js";
import type { TaskVault } from "../../src/vault/contract.js";
import { FakeClock } from "../support/fake-clock.js";
import { createTestVault } from "../support/journal-room.js";
import { wrapTask } from "../support/wrapped-task.js";
import {
  checkpointEvent,
  closeEvents,
  completionOf,
  countSteps,
  missingStart,
  nextIntent,
  startEvents,
  type CheckpointRecorded,
  type StepIntended,
} from "./scripted-task.js";
import { processOf } from "../support/places.js";

export const TASK_NAME = "t";
const RAW_BYTES_MAX = 10 * 1024 * 1024;

/** Told of what an owner may rely on and what it did. */
export interface OwnerWitness {
  claimed(epoch: number): void;
  /** Its journal is open and continues the history of epoch `after` up to record `from`. */
  opened(epoch: number, after: number, from: number): void;
  /** Folded as record n; not yet durable. */
  recorded(epoch: number, n: number, event: EngineEvent): void;
  /** Durable up to here. */
  acknowledged(epoch: number, n: number): void;
  acted(intent: StepIntended): void;
  anchored(position: AnchorPosition): void;
}

export const noWitness: OwnerWitness = {
  claimed: () => undefined,
  opened: () => undefined,
  recorded: () => undefined,
  acknowledged: () => undefined,
  acted: () => undefined,
  anchored: () => undefined,
};

/** Deviations from the protocol, for mutants. */
export interface Deviations {
  /** Acts as soon as the intent is written, durable or not. */
  readonly actsBeforeDurable?: boolean;
  /** Acts without looking for a higher epoch. */
  readonly actsWithoutLook?: boolean;
  /** Continues not what it restored, but whatever stands there when its header is written. */
  readonly continuesUnread?: boolean;
  /** Builds upon the last batch of who came before without writing it once more. */
  readonly repeatsNothing?: boolean;
  /** Wraps the task's store; `pause` lets others go on. */
  readonly wrapTask?: (task: TaskStore, pause: () => Promise<void>) => TaskStore;
}

/** Where an owner may be held up: `recorded` is before its intent is durable, `intended` after, before it looks. */
export type OwnerPlace = "deviating" | "restored" | "opened" | "recorded" | "intended";

export interface OwnerOptions {
  readonly store: Store;
  /** Different for every incarnation: salts come from it. */
  readonly seed: string;
  readonly stepCount: number;
  readonly witness?: OwnerWitness;
  readonly deviations?: Deviations;
  /** Called between the acts of the owner, so that another may step in. */
  readonly pause?: (place: OwnerPlace) => Promise<void>;
}

/** Every process of the dead owner is gone. */
const noProcesses: ProcessHost = {
  self: processOf(1, 1, "boot"),
  spawn: () => Promise.reject(new Error("nothing is spawned in a simulation")),
  groupState: () => Promise.resolve("gone" as const),
  endGroup: () => Promise.resolve(),
  endAbandoned: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

export class ScriptedOwner {
  readonly #options: OwnerOptions;
  readonly #witness: OwnerWitness;
  readonly #clock = new FakeClock();
  readonly #vault: TaskVault;
  #journal: JournalWriter | undefined;
  #state: TaskState = createState();
  #snapshots: { prev: Parameters<typeof writeSnapshot>[1]["prev"] } = { prev: undefined };

  constructor(options: OwnerOptions) {
    this.#options = options;
    this.#witness = options.witness ?? noWitness;
    this.#vault = createTestVault(options.seed);
  }

  get state(): TaskState {
    return this.#state;
  }

  /** Starts the task, or takes it over where it is there already, and runs it to its end. */
  async live(): Promise<void> {
    const { store, stepCount, deviations, pause } = this.#options;
    const made = await store.createTask(TASK_NAME);
    const found = made ?? (await store.task(TASK_NAME));
    if (found === undefined) throw new Error("the task vanished");
    const task = this.#watchClaim(deviations?.wrapTask?.(found, async () => pause?.("deviating")) ?? found);
    const restored = made === undefined ? await this.#restore(task) : undefined;
    const epoch = restored?.epoch ?? (await task.claim());
    await pause?.("restored");
    const prev = await this.#selectPrev(task, restored);
    const base = restored?.base;
    const repeated = this.#options.deviations?.repeatsNothing === true ? [] : (restored?.repeated ?? []);
    const continued = { epoch, prev, base, repeated: prev === restored?.prev ? repeated : [] };
    this.#journal = await openJournalWriter({ ...continued, task, vault: this.#vault, clock: this.#clock });
    this.#witness.opened(epoch, restored?.history.epoch ?? 0, restored?.prev?.n ?? 0);
    await pause?.("opened");
    if (this.#state.task === undefined) await this.#record(startEvents(stepCount));
    else if (restored !== undefined) await this.#record([this.#resumedEvent(restored), ...missingStart(this.#state)]);
    await this.#run(task);
    await this.#journal.close();
  }

  #watchClaim(task: TaskStore): TaskStore {
    const claim = async () => {
      const epoch = await task.claim();
      this.#witness.claimed(epoch);
      return epoch;
    };
    return wrapTask(task, { claim });
  }

  async #restore(task: TaskStore): Promise<Restored> {
    const restored = await restoreHere(task, this.#vault, this.#clock);
    this.#state = restored.state;
    const last = restored.state.checkpoints.findLast((entry) => entry.snapshot !== undefined);
    this.#snapshots.prev =
      last?.snapshot === undefined ? undefined : { checkpointId: last.checkpointId, sha256: last.snapshot.sha256 };
    return restored;
  }

  async #selectPrev(task: TaskStore, restored: Restored | undefined): Promise<JournalPosition | undefined> {
    if (this.#options.deviations?.continuesUnread !== true) return restored?.prev;
    return (await readHistory({ task, vault: this.#vault })).head;
  }

  #resumedEvent(restored: Restored): EngineEvent {
    return {
      type: "task_resumed",
      atMs: this.#state.atMs + 1,
      epoch: restored.epoch,
      by: "recover",
      crashed: restored.crashed,
      report: {},
    };
  }

  async #run(task: TaskStore): Promise<void> {
    if (this.#state.task?.status === "done") return;
    let intent = nextIntent(this.#state);
    if (intent !== undefined) await this.#begin([], intent);
    while (intent !== undefined) {
      const completed = completionOf(this.#state, intent);
      this.#fold([completed]);
      const checkpoint = checkpointEvent(this.#state);
      this.#fold([checkpoint]);
      const taken = capture(this.#state, checkpoint);
      const next = nextIntent(this.#state);
      if (next === undefined) await this.#durable();
      else await this.#begin([], next);
      await this.#snapshot(task, checkpoint, taken);
      intent = next;
    }
    if (countSteps(this.#state) > 0) await this.#record(closeEvents(this.#state));
  }

  /** Intent durable → look → act. */
  async #begin(before: readonly EngineEvent[], intent: StepIntended): Promise<void> {
    const { deviations = {}, pause } = this.#options;
    this.#fold([...before, intent]);
    if (deviations.actsBeforeDurable === true) this.#witness.acted(intent);
    await pause?.("recorded");
    await this.#durable();
    await pause?.("intended");
    if (deviations.actsWithoutLook !== true) await this.#requireJournal().confirm();
    if (deviations.actsBeforeDurable !== true) this.#witness.acted(intent);
  }

  async #snapshot(task: TaskStore, event: CheckpointRecorded, taken: ReturnType<typeof capture>): Promise<void> {
    const journal = this.#requireJournal();
    const position = taken === undefined ? undefined : journal.positionAt(taken.position);
    if (taken === undefined || position === undefined) throw new Error("the checkpoint is not durable");
    const writer = {
      store: task,
      vault: this.#vault,
      clock: this.#clock,
      breathe: () => Promise.resolve(),
      rawBytesMax: RAW_BYTES_MAX,
      app: "0",
    };
    const written = await writeSnapshot(taken, { position, prev: this.#snapshots.prev }, { ...writer, level: 0 });
    if (written === undefined) throw new Error("the snapshot was not admitted");
    this.#snapshots.prev = { checkpointId: event.checkpointId, sha256: written.sha256 };
    const { checkpointId, seq } = event;
    const { file, sha256, sizeBytes, rawBytes } = written;
    await this.#record([
      {
        type: "snapshot_written",
        atMs: this.#state.atMs + 1,
        checkpointId,
        seq,
        file,
        sha256,
        sizeBytes,
        rawBytes,
        durationMs: 0,
      },
    ]);
    this.#witness.anchored({ epoch: journal.epoch, n: this.#state.position, hash: journal.position?.h ?? "" });
  }

  async #record(events: readonly EngineEvent[]): Promise<void> {
    this.#fold(events);
    await this.#durable();
  }

  #fold(events: readonly EngineEvent[]): void {
    for (const event of events) {
      evolve(this.#state, event);
      const journal = this.#requireJournal();
      this.#witness.recorded(journal.epoch, this.#state.position, event);
      journal.append([event]);
    }
  }

  async #durable(): Promise<void> {
    const journal = this.#requireJournal();
    await journal.durable();
    this.#witness.acknowledged(journal.epoch, journal.position?.n ?? 0);
  }

  #requireJournal(): JournalWriter {
    if (this.#journal === undefined) throw new Error("no journal is open");
    return this.#journal;
  }
}

/** Recovery as a new owner does it, up to and with the claim. */
export function restoreHere(
  task: TaskStore,
  vault: TaskVault,
  clock = new FakeClock(),
  anchor?: AnchorPosition,
): Promise<Restored> {
  const snapshots = createSnapshotSource({ store: task, vault, rawBytesMax: RAW_BYTES_MAX });
  return restoreTask({ task, vault, snapshots, processes: noProcesses, clock, log: silentLog, anchor });
}
