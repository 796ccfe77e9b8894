/**
 * A file system that fails as real ones do, and whose every operation is a place to crash.
 *
 * The legal faults:
 *  1. The process dies between two operations, or within a write (part of it is there). All it wrote is still there.
 *  2. The machine dies. What no sync covered may be dropped, cut at any length, be zeros in whole or behind any length,
 *     or have arrived in some 64-byte cells and be zeros in the others; the file may be as long as it was. What a sync
 *     covered is there.
 *  3. The machine dies. Of the changes to a folder that no `syncFolder` of it covered (creation, link, unlink, rename,
 *     mkdir, rmdir) any subset is there. A rename is there in whole or not at all, and durable when either folder is
 *     synced. Syncing a file says nothing about its name, syncing a folder nothing about what is in its files.
 *  4. An operation fails with an errno that it may have (`isLegalFault`), once or for ever, and has changed nothing.
 *     A write may take less than it was given.
 *  5. A sync fails: what it was to cover is lost (zeros, or nothing at the end of the file) although readers still see
 *     it, and the next sync of that file succeeds.
 * Not among them: rot of synced bytes, a disk that acknowledges a flush and drops it, a rename that is half there.
 *
 * Run the work once on it, then ask for `imageAt(k, loss)` for every k: no need to run it again for each crash. To see
 * which acknowledgements came before a crash, note `operationCount` when each arrives: an image of k must hold all with
 * a count of k or less. `crashAfter` is for work that must see the crash itself.
 */
import { DiskError, DiskModel, type Mutation } from "../support/disk-model.js";
import { type Act, ModelFileSystem, type Operation } from "../support/model-file-system.js";
import { createSeededNumbers } from "../support/seeded-random.js";
import { createDiskImage, type Loss } from "./disk-image.js";
import { type Fault, type FaultPlan, isLegalFault } from "./fault-plan.js";

/** What every call after the crash ends with; nothing may catch it and go on as if the call had failed. */
export class CrashSignal extends Error {
  override readonly name = "CrashSignal";
}

export interface FaultyFileSystemOptions {
  readonly disk?: DiskModel;
  /** Operations that complete before the crash; later ones throw a CrashSignal. */
  readonly crashAfter?: number;
  readonly faults?: readonly FaultPlan[];
  /** Waits before an operation takes effect, to change how users of one disk interleave. */
  readonly delay?: (operation: Operation) => Promise<void>;
}

interface LoggedMutation {
  /** The operation it belongs to, counted from 1. */
  readonly at: number;
  readonly mutation: Mutation;
}

interface ReplayPosition {
  readonly disk: DiskModel;
  operationCount: number;
  mutationCount: number;
}

export class FaultyFileSystem extends ModelFileSystem {
  /** Every operation begun, in order; the first is number 1. */
  readonly operations: Operation[] = [];
  /** Faults that took place so far. */
  faultCount = 0;
  readonly #start: DiskModel;
  readonly #options: FaultyFileSystemOptions;
  readonly #mutations: LoggedMutation[] = [];
  #replayed: ReplayPosition | undefined;
  #hasCrashed = false;

  constructor(options: FaultyFileSystemOptions = {}) {
    const disk = options.disk ?? new DiskModel();
    const start = createDiskImage(disk, { kind: "kill" });
    super(createDiskImage(start, { kind: "kill" }));
    this.#start = start;
    this.#options = options;
    this.disk.onMutation = (mutation) => this.#mutations.push({ at: this.operations.length, mutation });
  }

  get operationCount(): number {
    return this.operations.length;
  }

  get hasCrashed(): boolean {
    return this.#hasCrashed;
  }

  /** From now on every call throws a CrashSignal. */
  crash(): void {
    this.#hasCrashed = true;
  }

  /**
   * The disk as it may be found when the crash came after operation k (0: before the first).
   *
   * Shape: a fresh disk; give it to a new FaultyFileSystem or ModelFileSystem. Asking in order of rising k is fast.
   * With `tornWriteSeed` the write that comes next, if it is one, has begun: a part of it is there.
   */
  imageAt(k: number, loss: Loss, tornWriteSeed?: number): DiskModel {
    const { disk } = this.#replayTo(k);
    if (tornWriteSeed === undefined) return createDiskImage(disk, loss);
    const torn = createDiskImage(disk, { kind: "kill" });
    this.#beginNextWrite(torn, k, tornWriteSeed);
    return createDiskImage(torn, loss);
  }

  protected override async perform<T>(operation: Operation, act: Act<T>): Promise<T> {
    await this.#options.delay?.(operation);
    const { crashAfter = Infinity } = this.#options;
    if (this.#hasCrashed || this.operations.length >= crashAfter) {
      this.#hasCrashed = true;
      throw new CrashSignal(`crashed before ${operation.name} ${operation.path}`);
    }
    this.operations.push(operation);
    const fault = this.#selectFault(operation);
    if (fault === undefined) return act();
    this.faultCount += 1;
    if (fault === "shortWrite") return act(Math.floor((operation.sizeBytes ?? 0) / 2));
    if ((operation.name === "sync" || operation.name === "datasync") && operation.file !== undefined) {
      this.disk.apply({ kind: "loseSync", file: operation.file.id });
    }
    throw new DiskError(fault, operation.path);
  }

  #selectFault(operation: Operation): Fault | undefined {
    const index = this.operations.length;
    for (const plan of this.#options.faults ?? []) {
      const isDue = plan.times === "once" ? index === plan.at : index >= plan.at;
      // Half of a single byte is none, and a write of none would never end.
      const isPossible = plan.fault !== "shortWrite" || (operation.sizeBytes ?? 0) > 1;
      if (isDue && isPossible && isLegalFault(plan.fault, operation)) return plan.fault;
    }
    return undefined;
  }

  #replayTo(k: number): ReplayPosition {
    if (this.#replayed === undefined || this.#replayed.operationCount > k) {
      this.#replayed = { disk: createDiskImage(this.#start, { kind: "kill" }), operationCount: 0, mutationCount: 0 };
    }
    const position = this.#replayed;
    position.operationCount = k;
    for (;;) {
      const next = this.#mutations[position.mutationCount];
      if (next === undefined || next.at > k) return position;
      position.disk.apply(next.mutation);
      position.mutationCount += 1;
    }
  }

  /** The image has other file numbers than the log, so the file is found by its path. */
  #beginNextWrite(disk: DiskModel, k: number, seed: number): void {
    const operation = this.operations[k];
    const logged = this.#mutations.find((entry) => entry.at === k + 1);
    if (operation?.name !== "write" || logged?.mutation.kind !== "write") return;
    const node = findFile(disk, operation.path);
    if (node === undefined) return;
    const { bytes } = logged.mutation;
    const count = createSeededNumbers(seed).next(bytes.byteLength);
    if (count > 0) disk.apply({ kind: "write", file: node.id, bytes: bytes.subarray(0, count) });
  }
}

function findFile(disk: DiskModel, path: string) {
  try {
    const node = disk.find(path);
    return node.kind === "file" ? node : undefined;
  } catch {
    return undefined;
  }
}
