/** A task on a simulated disk whose owner died, and what tests do to it before somebody recovers it. */
import { silentLog } from "../../src/base/log.js";
import { createSnapshotSource } from "../../src/checkpoint/source.js";
import type { SnapshotSource } from "../../src/checkpoint/contract.js";
import type { GroupState, ProcessHost, ProcessIdentity } from "../../src/process/contract.js";
import { restoreTask, type Restored, type RestoreOptions } from "../../src/recovery/restore.js";
import type { TaskStore } from "../../src/store/contract/contract.js";
import type { TaskVault } from "../../src/vault/contract.js";
import { SplashdownError } from "../../src/base/errors.js";
import { FaultyFileSystem } from "../simulation/faulty-file-system.js";
import { ScriptedOwner, TASK_NAME, type OwnerPlace } from "../simulation/scripted-owner.js";
import { contentOf, type DiskNode, type FileNode } from "./disk-model.js";
import { FakeClock } from "./fake-clock.js";
import { createTestVault } from "./journal-room.js";
import { createSeededRandom } from "./seeded-random.js";
import { createModelStore } from "./store-places.js";
import { processOf } from "./places.js";

export const CHECKPOINTS = `/outputs/${TASK_NAME}/checkpoints`;
export const FIRST_SEGMENT = `${CHECKPOINTS}/journal/00000001-0000.jsonl`;

/** Processes of the dead owner: alive until ended. */
export class FakeProcesses implements ProcessHost {
  readonly self = processOf(1, 1, "boot");
  readonly alive = new Set<number>();
  /** Of a place that cannot be looked into. */
  readonly elsewhere = new Set<number>();
  readonly ended: number[] = [];
  /** Waits before a group is gone. */
  ending: () => Promise<void> = () => Promise.resolve();

  spawn(): Promise<never> {
    return Promise.reject(new Error("nothing is spawned here"));
  }

  groupState({ pid }: ProcessIdentity): Promise<GroupState> {
    if (this.elsewhere.has(pid)) return Promise.resolve("unclear");
    return Promise.resolve(this.alive.has(pid) ? "running" : "gone");
  }

  endAbandoned(): Promise<void> {
    return Promise.resolve();
  }

  async endGroup({ pid }: ProcessIdentity): Promise<void> {
    await this.ending();
    this.alive.delete(pid);
    this.ended.push(pid);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

export class RecoveryRoom {
  readonly disk = new FaultyFileSystem();
  readonly clock = new FakeClock();
  readonly processes = new FakeProcesses();
  #opened = 0;

  async task(): Promise<TaskStore> {
    this.#opened += 1;
    const parts = { random: createSeededRandom(`room ${this.#opened}`) };
    const task = await createModelStore(this.disk, { parts }).task(TASK_NAME);
    if (task === undefined) throw new Error("the task is not there");
    return task;
  }

  snapshots(task: TaskStore, vault: TaskVault = createTestVault("reader")): SnapshotSource {
    return createSnapshotSource({ store: task, vault, rawBytesMax: 10 * 1024 * 1024 });
  }

  /** Lets an owner live until it stands at the place for the given time, and die there; to its end without a place. */
  async live(stepCount: number, place?: OwnerPlace, times = 1): Promise<ScriptedOwner> {
    this.#opened += 1;
    const seed = `owner ${this.#opened}`;
    let count = 0;
    const pause = async (at: OwnerPlace) => {
      if (at === place && (count += 1) === times) throw new SplashdownError("CANCELLED", "the owner dies here");
    };
    const store = createModelStore(this.disk, { parts: { random: createSeededRandom(seed) } });
    const owner = new ScriptedOwner({ store, seed, stepCount, pause });
    try {
      await owner.live();
    } catch (error) {
      if (place === undefined || !(error instanceof SplashdownError) || error.code !== "CANCELLED") throw error;
    }
    return owner;
  }

  async restore(extra: Partial<RestoreOptions> = {}): Promise<Restored> {
    const task = extra.task ?? (await this.task());
    const vault = extra.vault ?? createTestVault("restorer");
    const { clock, processes } = this;
    const snapshots = extra.snapshots ?? this.snapshots(task, vault);
    return restoreTask({ task, vault, snapshots, processes, clock, log: silentLog, ...extra });
  }

  file(path: string): FileNode {
    const node = this.disk.disk.find(path);
    if (node.kind !== "file") throw new Error(`${path} is no file`);
    return node;
  }

  bytes(path: string): Buffer {
    return Buffer.from(contentOf(this.file(path)));
  }

  /** Puts other bytes into a file, as rot or an attacker does. */
  edit(path: string, change: (bytes: Buffer) => Buffer): void {
    const node = this.file(path);
    const bytes = change(this.bytes(path));
    node.extents.splice(0, node.extents.length, { bytes, state: "synced" });
    node.settledCount = 1;
    node.sizeBytes = bytes.length;
  }

  names(folder: string): string[] {
    return [...this.disk.disk.findFolder(folder).entries.keys()].sort();
  }

  /** Snapshot files, oldest first. */
  snapshotFiles(): string[] {
    return this.names(CHECKPOINTS).filter((name) => name.startsWith("checkpoint_"));
  }

  /** Every path with its content: for showing that nothing changed. */
  contents(): Map<string, string> {
    const found = new Map<string, string>();
    const walk = (node: DiskNode, path: string) => {
      if (node.kind === "folder") for (const [name, child] of node.entries) walk(child, `${path}/${name}`);
      else found.set(path, node.kind === "file" ? Buffer.from(contentOf(node)).toString("base64") : node.kind);
    };
    walk(this.disk.disk.root, "");
    return found;
  }
}

/** Flips one bit in the body of the record in that line of a segment; the header is line 1. */
export function damageLine(bytes: Buffer, line: number): Buffer {
  const copy = Buffer.from(bytes);
  let start = 0;
  for (let at = 1; at < line; at += 1) start = copy.indexOf(0x0a, start) + 1;
  const place = copy.indexOf('"d":"', start) + 10;
  copy[place] = (copy[place] ?? 0) ^ 1;
  return copy;
}
