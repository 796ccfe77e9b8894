/**
 * What a store is: an append-only log with fencing, and a set of immutable objects, per task.
 *
 * The journal seals, chains and rotates; the store sees opaque lines and bytes. Nothing outside store/ knows of task
 * files.
 *
 * S1 (the law): once `claim` returns epoch E, nothing that an older epoch appends afterwards enters history, and its
 *     `confirm` says false. A stale append may be refused or void.
 * S2: `append` returns when the lines are durable; after a failure the segment is dead for ever.
 * S3: an object is never replaced: `putOnce` creates or says that it exists. What it created is durable on return.
 * S4: a refusal changes no byte.
 * Errors: the STORE_* codes and SEGMENT_DEAD; an absent task or object is `undefined`, never an error.
 * Source: DESIGN section 9, STORAGE sections 1.6, 1.8, 1.9.
 */
import type { JsonObject } from "../../base/json.js";

export interface StoreManifest {
  readonly kind: string;
  /** Several processes may open the same store. */
  readonly multiProcess: boolean;
  /** What it acknowledged survives the process and the machine. */
  readonly durable: boolean;
  /** A reserve can be kept on the disk that holds the store, for the end of a step when it is full. */
  readonly reserve: boolean;
  readonly objectBytesMax: number;
  readonly lineBytesMax: number;
}

export interface Store {
  readonly manifest: StoreManifest;
  /** A text that opens this store again, as in settings: `file:outputs`, `memory:`. */
  readonly address: string;
  /**
   * Names of all tasks, sorted. Folders that are no tasks are left out, and what is in the trash; a place of which that
   * cannot be told is in it, and `task` says why.
   */
  tasks(): Promise<string[]>;
  /** A handle on one task; creates nothing. `undefined` when there is no such task. */
  task(name: string): Promise<TaskStore | undefined>;
  /** Creates the task's place durably; `undefined` when the name is taken. */
  createTask(name: string, options?: CreateOptions): Promise<TaskStore | undefined>;
  /**
   * Removes a task with its log and objects, for good; absent is fine. It leaves every list at once and durably, whatever
   * interrupts the rest. Deliverables are people's files and stay. Whoever calls it has claimed the task.
   */
  removeTask(name: string): Promise<void>;
  /** What is in the trash, sorted by name. It is no task meanwhile, and its name is taken. */
  trash(): Promise<TrashedTask[]>;
  /** Moves a task to the trash with all it holds, at once and durably; false when there is none. As for `removeTask`. */
  trashTask(name: string, atMs: number): Promise<boolean>;
  /** Brings it back as it was, at once and durably; false when it is not in the trash. */
  restoreTask(name: string): Promise<boolean>;
  /** As `removeTask`, of what is in the trash and of nothing else; false when it is not there. */
  purgeTask(name: string): Promise<boolean>;
  /** Proves that the store can be written, with a real create, sync and remove. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

export interface CreateOptions {
  /** The folder of its deliverables may be there already, with what is in it. */
  readonly besideFiles?: boolean;
}

export interface TrashedTask {
  readonly name: string;
  /** Wall time, as who moved it there said. */
  readonly trashedAtMs: number;
  readonly sizeBytes: number;
}

export interface SegmentId {
  readonly epoch: number;
  readonly index: number;
}

export interface SegmentWriter {
  readonly id: SegmentId;
  /** Appends whole lines (each without its newline) in order; durable on return. */
  append(lines: readonly Uint8Array[]): Promise<void>;
  close(): Promise<void>;
}

export interface ObjectEntry {
  readonly key: string;
  readonly sizeBytes: number;
}

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** What one process says of itself while it owns a task; plain facts, a hint and never a lock. */
export interface OwnerFacts extends JsonObject {
  readonly pid: number;
  readonly host: string;
  readonly machineId: string;
  readonly bootId: string;
  readonly namespace: string;
  readonly processStartedAt: string;
  readonly since: string;
  /** What it has claimed. */
  readonly epoch?: number;
}

export interface OwnerState {
  /** `alive`: it answered; `gone`: provably not there; `unclear`: neither could be shown. `none`: nobody ever said so. */
  readonly state: "alive" | "gone" | "unclear" | "none";
  readonly owner?: OwnerFacts;
  /** The owner's counter as last seen; watched by recovery when the state is unclear. */
  readonly counter?: number;
  /**
   * With `gone`: only because its machine was booted since. A clone has the identity of its original and runs beside it, so
   * who is going to act watches the counter first.
   */
  readonly hasBooted?: boolean;
}

export interface PresenceHandle {
  /** Raises the counter. Failures are ignored: presence is a hint. */
  beat(): Promise<void>;
  close(): Promise<void>;
}

/** What a task holds, by digest: from where the truth is, and cheaper than the bytes. SHA-256 as hex digits. */
export interface Digests {
  /** `undefined` when there is no such object. */
  ofObject(key: string): Promise<{ readonly digest: string; readonly sizeBytes: number } | undefined>;
  /** Of `KEY SIZE` for each entry of `list(prefix)` in its order, lines joined by newlines. */
  readonly ofList?: (prefix: string) => Promise<string>;
}

export interface TaskStore {
  readonly name: string;
  /** Where deliverables of the task go: an absolute folder path. Deliverables are always files. */
  readonly deliverablesFolder: string;
  /** Absent where reading the bytes costs no more. */
  readonly digests?: Digests | undefined;

  // Log
  /**
   * Takes the next epoch, exclusively and durably. Two callers never get the same. With `after`, the highest epoch the
   * caller has seen, it is that very next one or OWNER_SUPERSEDED: of those who saw the same, one gets it.
   */
  claim(after?: number): Promise<number>;
  /** Opens the next segment of an epoch this process claimed; its header and the lines after it are durable on return. */
  openSegment(epoch: number, header: Uint8Array, lines?: readonly Uint8Array[]): Promise<SegmentWriter>;
  /** The look: false when a higher epoch exists. Cheap enough for every step. */
  confirm(epoch: number): Promise<boolean>;
  /** All segments, by epoch and index; claimed epochs without a header are in it with `sizeBytes` 0. */
  segments(): Promise<(SegmentId & { readonly sizeBytes: number })[]>;
  /**
   * The bytes of a segment as they are now. Needs no claim; after a claim through this handle they are durable on
   * return, whoever wrote them and died before syncing them. STORE_FAILED when there is no such segment.
   */
  read(id: SegmentId): Promise<Uint8Array>;
  /** Removes a segment; only `prune --history` does. */
  removeSegment(id: SegmentId): Promise<void>;

  // Objects. Keys: `/`-separated, each part `[A-Za-z0-9._~-]`, at most 255 bytes in all, no part with a leading or
  // trailing dot or a Windows device's name, not below `journal` or `owner` (see object-key.ts; a key that breaks this is
  // our mistake: INTERNAL). No key is the folder of another.
  putOnce(key: string, bytes: Uint8Array): Promise<"created" | "exists">;
  get(key: string, range?: ByteRange): Promise<Uint8Array | undefined>;
  /** Entries whose key begins with the prefix, sorted by key. */
  list(prefix: string): Promise<ObjectEntry[]>;
  /** Removes durably; absent is fine. Many at once cost little more than one; interrupted, some of them are gone. */
  remove(...keys: readonly string[]): Promise<void>;
  /**
   * As `remove`, after the bytes were written over, as far as the storage below does as it is told.
   *
   * Shape: what may hold them all the same, in a sentence; `undefined` where nothing does that we know of.
   */
  destroy(key: string): Promise<string | undefined>;
  /** Calls back when something under the prefix may have changed. A hint only: a scan is the truth. */
  watch(prefix: string, hint: () => void): () => void;
  /** Sweeps what an interrupted `putOnce` left behind; called by the epoch's owner only. */
  sweep(): Promise<void>;
  /** Frees the reserve that lets the running step's completion fit on a full disk; `false` when there was none. */
  releaseReserve(): Promise<boolean>;
  /** Makes the reserve again when there is room; `false` when there is none, and always where the store keeps none. */
  ensureReserve(): Promise<boolean>;

  // Presence
  announce(facts: OwnerFacts): Promise<PresenceHandle>;
  ownerState(): Promise<OwnerState>;

  close(): Promise<void>;
}
