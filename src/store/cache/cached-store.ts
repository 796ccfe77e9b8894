/**
 * A store whose snapshots, blobs and lists of them are kept in a cache beside it, too.
 *
 * The store says what it holds by digest (`Digests`), each time it is asked; the cache may then give the bytes, and they
 * count only when they have that digest. So a cache that is dead, slow, emptied or lies makes reading slower and never
 * wrong, nothing has to be taken out of it, and what the store has removed is gone at once. Only sealed bytes go there,
 * and lists of names and sizes; epochs, segments, keyrings, answers and audits are never looked for in it.
 * Source: DESIGN section 13: recovery and writes use the primary, only listings may come from elsewhere.
 */
import type { Clock } from "../../base/clock.js";
import { sha256Hex } from "../../base/digest.js";
import { SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import { hidePassword } from "../../base/store-address.js";
import type { CachePort } from "./cache-port.js";
import { isSealedText } from "../contract/plaintext-header.js";
import type {
  ByteRange,
  CreateOptions,
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
import { encodeEntries } from "../contract/object-key.js";
import { BestEffortCache } from "./best-effort-cache.js";
import { openRedis } from "./redis-cache.js";

/** What may go into the cache. */
export interface CacheRules {
  /** Of a key or of a prefix. */
  readonly isHot: (key: string) => boolean;
  readonly isSealed: (bytes: Uint8Array) => boolean;
  /** Smaller ones are read faster than asked about. */
  readonly sizeBytesMin: number;
}

const HOT: CacheRules = {
  isHot: (key) => key.startsWith("checkpoint") || key.startsWith("blobs/"),
  isSealed: isSealedText,
  sizeBytesMin: LIMITS.cacheValueBytesMin,
};

export interface CachedStoreParts {
  readonly store: Store;
  /** Called at first use. */
  readonly open: () => Promise<CachePort>;
  readonly clock: Clock;
  readonly onTrouble: (reason: string) => void;
  readonly rules?: CacheRules | undefined;
}

/**
 * The store with the cache that an address names in front of it; touches nothing yet.
 *
 * Errors: STORE_UNSUPPORTED for an address that names no cache, and for a store that is read as fast as a cache.
 */
export function openCachedStore(
  address: string,
  { store, ...parts }: Pick<CachedStoreParts, "store" | "clock" | "onTrouble">,
): CachedStore {
  if (!/^rediss?:\/\//.test(address))
    throw unsupported(`no cache at ${hidePassword(address)}: it is redis://HOST:PORT`);
  if (store.manifest.kind !== "postgres")
    throw unsupported(
      `a cache goes with a postgres store: ${store.manifest.kind}: is read on this machine, and faster`,
    );
  return new CachedStore({ ...parts, store, open: () => openRedis(address) });
}

function unsupported(reason: string): SplashdownError {
  return new SplashdownError("STORE_UNSUPPORTED", reason);
}

export class CachedStore implements Store {
  readonly manifest: StoreManifest;
  readonly address: string;
  readonly #parts: CachedStoreParts;
  #cache: Promise<BestEffortCache> | undefined;

  constructor(parts: CachedStoreParts) {
    this.#parts = parts;
    this.manifest = parts.store.manifest;
    this.address = parts.store.address;
  }

  tasks(): Promise<string[]> {
    return this.#parts.store.tasks();
  }

  async task(name: string): Promise<TaskStore | undefined> {
    return this.#wrap(await this.#parts.store.task(name));
  }

  async createTask(name: string, options?: CreateOptions): Promise<TaskStore | undefined> {
    return this.#wrap(await this.#parts.store.createTask(name, options));
  }

  removeTask(name: string): Promise<void> {
    return this.#parts.store.removeTask(name);
  }

  trash(): Promise<TrashedTask[]> {
    return this.#parts.store.trash();
  }

  trashTask(name: string, atMs: number): Promise<boolean> {
    return this.#parts.store.trashTask(name, atMs);
  }

  restoreTask(name: string): Promise<boolean> {
    return this.#parts.store.restoreTask(name);
  }

  purgeTask(name: string): Promise<boolean> {
    return this.#parts.store.purgeTask(name);
  }

  async probe(): Promise<void> {
    await this.#open();
    await this.#parts.store.probe();
  }

  async close(): Promise<void> {
    await (await this.#cache?.catch(() => undefined))?.close();
    this.#cache = undefined;
    await this.#parts.store.close();
  }

  async #wrap(task: TaskStore | undefined): Promise<TaskStore | undefined> {
    if (task?.digests === undefined) return task;
    const { digests } = task;
    return new CachedTask({ task, digests, cache: await this.#open(), rules: this.#parts.rules ?? HOT });
  }

  #open(): Promise<BestEffortCache> {
    const { open, clock, onTrouble } = this.#parts;
    this.#cache ??= open().then((cache) => new BestEffortCache({ cache, clock, onTrouble }));
    return this.#cache;
  }
}

interface CachedTaskParts {
  readonly task: TaskStore;
  readonly digests: Digests;
  readonly cache: BestEffortCache;
  readonly rules: CacheRules;
}

class CachedTask implements TaskStore {
  readonly name: string;
  readonly deliverablesFolder: string;
  readonly digests: Digests;
  readonly #task: TaskStore;
  readonly #cache: BestEffortCache;
  readonly #rules: CacheRules;

  constructor({ task, digests, cache, rules }: CachedTaskParts) {
    this.name = task.name;
    this.deliverablesFolder = task.deliverablesFolder;
    this.digests = digests;
    this.#task = task;
    this.#cache = cache;
    this.#rules = rules;
  }

  async putOnce(key: string, bytes: Uint8Array): Promise<"created" | "exists"> {
    // What the caller changes afterwards is not what was put.
    const kept = this.#isWorth(key, bytes) ? Uint8Array.from(bytes) : undefined;
    const outcome = await this.#task.putOnce(key, bytes);
    if (outcome === "created" && kept !== undefined) this.#cache.set(sha256Hex(kept), kept);
    return outcome;
  }

  async get(key: string, range?: ByteRange): Promise<Uint8Array | undefined> {
    if (range !== undefined || !this.#rules.isHot(key)) return this.#task.get(key, range);
    const known = await this.digests.ofObject(key);
    if (known === undefined) return undefined;
    const isWorth = known.sizeBytes >= this.#rules.sizeBytesMin && known.sizeBytes <= LIMITS.cacheValueBytesMax;
    if (!isWorth) return this.#task.get(key);
    const cached = await this.#lookUp(known.digest);
    if (cached !== undefined) return cached;
    const bytes = await this.#task.get(key);
    if (bytes !== undefined && this.#isWorth(key, bytes)) this.#cache.set(sha256Hex(bytes), Uint8Array.from(bytes));
    return bytes;
  }

  async list(prefix: string): Promise<ObjectEntry[]> {
    const digest = this.#rules.isHot(prefix) ? await this.digests.ofList?.(prefix) : undefined;
    if (digest === undefined) return this.#task.list(prefix);
    const cached = await this.#lookUp(digest);
    if (cached !== undefined) return decodeEntries(Buffer.from(cached).toString());
    const entries = await this.#task.list(prefix);
    const bytes = Buffer.from(encodeEntries(entries));
    if (bytes.length <= LIMITS.cacheValueBytesMax) this.#cache.set(sha256Hex(bytes), bytes);
    return entries;
  }

  claim(after?: number): Promise<number> {
    return this.#task.claim(after);
  }

  openSegment(epoch: number, header: Uint8Array, lines?: readonly Uint8Array[]): Promise<SegmentWriter> {
    return this.#task.openSegment(epoch, header, lines);
  }

  confirm(epoch: number): Promise<boolean> {
    return this.#task.confirm(epoch);
  }

  segments(): Promise<(SegmentId & { readonly sizeBytes: number })[]> {
    return this.#task.segments();
  }

  read(id: SegmentId): Promise<Uint8Array> {
    return this.#task.read(id);
  }

  removeSegment(id: SegmentId): Promise<void> {
    return this.#task.removeSegment(id);
  }

  remove(...keys: readonly string[]): Promise<void> {
    return this.#task.remove(...keys);
  }

  destroy(key: string): Promise<string | undefined> {
    return this.#task.destroy(key);
  }

  watch(prefix: string, hint: () => void): () => void {
    return this.#task.watch(prefix, hint);
  }

  sweep(): Promise<void> {
    return this.#task.sweep();
  }

  releaseReserve(): Promise<boolean> {
    return this.#task.releaseReserve();
  }

  ensureReserve(): Promise<boolean> {
    return this.#task.ensureReserve();
  }

  announce(facts: OwnerFacts): Promise<PresenceHandle> {
    return this.#task.announce(facts);
  }

  ownerState(): Promise<OwnerState> {
    return this.#task.ownerState();
  }

  close(): Promise<void> {
    return this.#task.close();
  }

  #isWorth(key: string, bytes: Uint8Array): boolean {
    const { isHot, isSealed, sizeBytesMin } = this.#rules;
    return isHot(key) && bytes.length >= sizeBytesMin && bytes.length <= LIMITS.cacheValueBytesMax && isSealed(bytes);
  }

  async #lookUp(digest: string): Promise<Uint8Array | undefined> {
    const bytes = await this.#cache.get(digest);
    return bytes !== undefined && sha256Hex(bytes) === digest ? bytes : undefined;
  }
}

function decodeEntries(text: string): ObjectEntry[] {
  if (text === "") return [];
  return text.split("\n").map((line) => {
    const [key = "", size] = line.split(" ");
    return { key, sizeBytes: Number(size) };
  });
}
