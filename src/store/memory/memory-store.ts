/**
 * The store in memory (`memory:`): the same law as on disk, gone with the process. For tests, dry runs, and as the
 * model that other stores are compared with.
 *
 * The data lives in a `MemorySpace`, so that a store can be closed and opened again over the same data.
 */
import { join } from "node:path";
import { sha256Hex } from "../../base/digest.js";
import { SplashdownError, assert } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import type {
  ByteRange,
  Digests,
  ObjectEntry,
  OwnerFacts,
  OwnerState,
  PresenceHandle,
  SegmentId,
  SegmentWriter,
  Store,
  StoreManifest,
  TaskStore,
  TrashedTask,
} from "../contract/contract.js";
import { OBJECT_BYTES_MAX, requireObjectSize } from "../directory/directory-objects.js";
import { assertObjectKey, assertObjectPrefix, encodeEntries, isTaskName } from "../contract/object-key.js";
import { deadSegment, joinLines } from "../files/segment-file.js";
import { formatSegmentName } from "../contract/segment-name.js";

interface MemorySegment {
  readonly id: SegmentId;
  parts: Uint8Array[];
}

interface MemoryTaskData {
  highestEpoch: number;
  /** In the trash since then. */
  trashedAtMs?: number | undefined;
  readonly segments: Map<string, MemorySegment>;
  readonly objects: Map<string, Uint8Array>;
  readonly hints: Set<(key: string) => void>;
  owner?: { readonly facts: OwnerFacts; counter: number } | undefined;
  hasReserve: boolean;
}

/** What memory stores of one space share: tasks by name. */
export class MemorySpace {
  readonly tasks = new Map<string, MemoryTaskData>();
}

export interface MemoryStoreOptions {
  readonly space: MemorySpace;
  /** Absolute folder for deliverables, which are always files. */
  readonly deliverablesRoot: string;
  readonly address?: string;
}

export class MemoryStore implements Store {
  readonly manifest: StoreManifest = {
    kind: "memory",
    multiProcess: false,
    durable: false,
    reserve: true,
    objectBytesMax: OBJECT_BYTES_MAX,
    lineBytesMax: LIMITS.recordBytesMax,
  };
  readonly address: string;
  readonly #options: MemoryStoreOptions;

  constructor(options: MemoryStoreOptions) {
    this.address = options.address ?? "memory:";
    this.#options = options;
  }

  async tasks(): Promise<string[]> {
    return [...this.#options.space.tasks]
      .filter(([, data]) => data.trashedAtMs === undefined)
      .map(([name]) => name)
      .sort();
  }

  async task(name: string): Promise<TaskStore | undefined> {
    const data = this.#options.space.tasks.get(name);
    return data === undefined || data.trashedAtMs !== undefined ? undefined : this.#open(name, data);
  }

  async createTask(name: string): Promise<TaskStore | undefined> {
    if (!isTaskName(name)) {
      throw new SplashdownError("TASK_NAME_INVALID", `not a task name: ${JSON.stringify(name.slice(0, 100))}`, {
        details: { name: name.slice(0, 100) },
      });
    }
    const { tasks } = this.#options.space;
    if (tasks.has(name)) return undefined;
    const data: MemoryTaskData = {
      highestEpoch: 0,
      segments: new Map(),
      objects: new Map(),
      hints: new Set(),
      hasReserve: false,
    };
    tasks.set(name, data);
    return this.#open(name, data);
  }

  async removeTask(name: string): Promise<void> {
    if (this.#options.space.tasks.get(name)?.trashedAtMs === undefined) this.#options.space.tasks.delete(name);
  }

  async trash(): Promise<TrashedTask[]> {
    const found = [...this.#options.space.tasks].flatMap(([name, data]) =>
      data.trashedAtMs === undefined ? [] : [{ name, trashedAtMs: data.trashedAtMs, sizeBytes: measure(data) }],
    );
    return found.sort((first, second) => (first.name < second.name ? -1 : 1));
  }

  async trashTask(name: string, atMs: number): Promise<boolean> {
    const data = this.#options.space.tasks.get(name);
    if (data === undefined || data.trashedAtMs !== undefined) return false;
    data.trashedAtMs = atMs;
    return true;
  }

  async restoreTask(name: string): Promise<boolean> {
    const data = this.#options.space.tasks.get(name);
    if (data?.trashedAtMs === undefined) return false;
    data.trashedAtMs = undefined;
    return true;
  }

  async purgeTask(name: string): Promise<boolean> {
    const isThere = this.#options.space.tasks.get(name)?.trashedAtMs !== undefined;
    if (isThere) this.#options.space.tasks.delete(name);
    return isThere;
  }

  async probe(): Promise<void> {
    // Memory can always be written.
  }

  async close(): Promise<void> {
    // The space outlives the store.
  }

  #open(name: string, data: MemoryTaskData): TaskStore {
    return new MemoryTask({ name, data, deliverablesFolder: join(this.#options.deliverablesRoot, name) });
  }
}

function measure({ segments, objects }: MemoryTaskData): number {
  const parts = [...[...segments.values()].flatMap((segment) => segment.parts), ...objects.values()];
  return parts.reduce((total, { byteLength }) => total + byteLength, 0);
}

interface MemoryTaskParts {
  readonly name: string;
  readonly data: MemoryTaskData;
  readonly deliverablesFolder: string;
}

class MemoryTask implements TaskStore {
  readonly name: string;
  readonly deliverablesFolder: string;
  readonly digests: Digests = {
    ofObject: async (key) => {
      const bytes = await this.get(key);
      return bytes && { digest: sha256Hex(bytes), sizeBytes: bytes.byteLength };
    },
    ofList: async (prefix) => sha256Hex(encodeEntries(await this.list(prefix))),
  };
  readonly #data: MemoryTaskData;
  /** Epochs claimed through this handle, each with the index of its next segment. */
  readonly #nextIndex = new Map<number, number>();
  readonly #hints = new Set<(key: string) => void>();

  constructor(parts: MemoryTaskParts) {
    this.name = parts.name;
    this.deliverablesFolder = parts.deliverablesFolder;
    this.#data = parts.data;
  }

  async claim(after = this.#data.highestEpoch): Promise<number> {
    const { highestEpoch } = this.#data;
    if (highestEpoch > after) {
      throw new SplashdownError("OWNER_SUPERSEDED", `another process has claimed epoch ${highestEpoch} meanwhile`, {
        details: { task: this.name, epoch: highestEpoch },
      });
    }
    this.#data.highestEpoch += 1;
    const epoch = this.#data.highestEpoch;
    this.#nextIndex.set(epoch, 0);
    this.#addSegment({ epoch, index: 0 });
    return epoch;
  }

  async openSegment(epoch: number, header: Uint8Array, lines: readonly Uint8Array[] = []): Promise<SegmentWriter> {
    const index = this.#nextIndex.get(epoch);
    assert(index !== undefined, `epoch ${epoch} was not claimed here`);
    this.#nextIndex.set(epoch, index + 1);
    const id = { epoch, index };
    const writer = new MemorySegmentWriter(this.#addSegment(id));
    await writer.append([header, ...lines]);
    return writer;
  }

  async confirm(epoch: number): Promise<boolean> {
    return this.#data.highestEpoch <= epoch;
  }

  async segments(): Promise<(SegmentId & { readonly sizeBytes: number })[]> {
    return [...this.#data.segments.values()]
      .map(({ id, parts }) => ({ ...id, sizeBytes: parts.reduce((sum, part) => sum + part.byteLength, 0) }))
      .sort((first, second) => first.epoch - second.epoch || first.index - second.index);
  }

  async read(id: SegmentId): Promise<Uint8Array> {
    const segment = this.#data.segments.get(formatSegmentName(id));
    if (segment !== undefined) return Buffer.concat(segment.parts);
    throw new SplashdownError("STORE_FAILED", `segment ${id.epoch}-${id.index} does not exist`, { details: { ...id } });
  }

  async removeSegment(id: SegmentId): Promise<void> {
    assert(id.epoch < this.#data.highestEpoch, "a segment of the highest epoch stays");
    this.#data.segments.delete(formatSegmentName(id));
  }

  async putOnce(key: string, bytes: Uint8Array): Promise<"created" | "exists"> {
    assertObjectKey(key);
    requireObjectSize(key, bytes);
    if (this.#data.objects.has(key)) return "exists";
    this.#data.objects.set(key, Buffer.from(bytes));
    this.#tell(key);
    return "created";
  }

  async get(key: string, range?: ByteRange): Promise<Uint8Array | undefined> {
    assertObjectKey(key);
    const bytes = this.#data.objects.get(key);
    if (bytes === undefined) return undefined;
    return Buffer.from(range === undefined ? bytes : bytes.subarray(range.offset, range.offset + range.length));
  }

  async list(prefix: string): Promise<ObjectEntry[]> {
    assertObjectPrefix(prefix);
    return [...this.#data.objects]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, bytes]) => ({ key, sizeBytes: bytes.byteLength }))
      .sort((first, second) => (first.key < second.key ? -1 : 1));
  }

  async remove(...keys: readonly string[]): Promise<void> {
    for (const key of keys) assertObjectKey(key);
    for (const key of keys) if (this.#data.objects.delete(key)) this.#tell(key);
  }

  async destroy(key: string): Promise<undefined> {
    this.#data.objects.get(key)?.fill(0);
    await this.remove(key);
  }

  watch(prefix: string, hint: () => void): () => void {
    assertObjectPrefix(prefix);
    const listener = (key: string) => {
      if (key.startsWith(prefix)) hint();
    };
    this.#hints.add(listener);
    this.#data.hints.add(listener);
    return () => {
      this.#hints.delete(listener);
      this.#data.hints.delete(listener);
    };
  }

  async sweep(): Promise<void> {
    // An interrupted put leaves nothing behind in memory.
  }

  async releaseReserve(): Promise<boolean> {
    const had = this.#data.hasReserve;
    this.#data.hasReserve = false;
    return had;
  }

  async ensureReserve(): Promise<boolean> {
    this.#data.hasReserve = true;
    return true;
  }

  async announce(facts: OwnerFacts): Promise<PresenceHandle> {
    const own = { facts, counter: 1 };
    const { owner } = this.#data;
    // Who was superseded already does not hide its successor.
    if (owner === undefined || (owner.facts.epoch ?? 0) <= (facts.epoch ?? 0)) this.#data.owner = own;
    return {
      beat: async () => {
        own.counter += 1;
      },
      close: async () => {
        if (this.#data.owner === own) this.#data.owner = undefined;
      },
    };
  }

  async ownerState(): Promise<OwnerState> {
    const { owner } = this.#data;
    return owner === undefined ? { state: "none" } : { state: "alive", owner: owner.facts, counter: owner.counter };
  }

  async close(): Promise<void> {
    for (const listener of this.#hints) this.#data.hints.delete(listener);
    this.#hints.clear();
    this.#nextIndex.clear();
  }

  #addSegment(id: SegmentId): MemorySegment {
    const name = formatSegmentName(id);
    const segment = this.#data.segments.get(name) ?? { id, parts: [] };
    this.#data.segments.set(name, segment);
    return segment;
  }

  #tell(key: string): void {
    for (const hint of this.#data.hints) queueMicrotask(() => hint(key));
  }
}

class MemorySegmentWriter implements SegmentWriter {
  readonly id: SegmentId;
  readonly #segment: MemorySegment;
  #isOpen = true;

  constructor(segment: MemorySegment) {
    this.id = segment.id;
    this.#segment = segment;
  }

  async append(lines: readonly Uint8Array[]): Promise<void> {
    const bytes = joinLines(lines);
    if (!this.#isOpen) throw deadSegment(this.id);
    if (bytes.byteLength > 0) this.#segment.parts.push(bytes);
  }

  async close(): Promise<void> {
    this.#isOpen = false;
  }
}
