/** A task with a journal, faked around: memory store, sealed vault, a clock that moves when told. */
import type { TaskId } from "../../src/base/ids.js";
import type { EngineEvent } from "../../src/engine/model/events.js";
import { readHistory, type History } from "../../src/journal/history.js";
import type { JournalPosition } from "../../src/journal/position.js";
import { openJournalWriter, type JournalWriter, type JournalWriterOptions } from "../../src/journal/writer.js";
import { MemorySpace, MemoryStore } from "../../src/store/memory/memory-store.js";
import type { SegmentId, TaskStore } from "../../src/store/contract/contract.js";
import type { TaskVault } from "../../src/vault/contract.js";
import { createPlainVault, createSealedVault } from "../../src/vault/sealing.js";
import type { KeyId } from "../../src/base/ids.js";
import { FAKE_START_MS, FakeClock } from "./fake-clock.js";
import { createSeededRandom } from "./seeded-random.js";

export const JOURNAL_TASK_ID = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff" as TaskId;

export function createTestVault(seed: number | string = 1, taskId: string = JOURNAL_TASK_ID): TaskVault {
  const random = createSeededRandom(seed);
  const active = { id: "0123456789abcdef" as KeyId, generation: 1, bytes: createSeededRandom("key").bytes(32) };
  return createSealedVault({ taskId, active, keys: [active], minGeneration: 1, random, allowPlain: false });
}

export function createOtherKeyVault(): TaskVault {
  const active = { id: "0123456789abcdef" as KeyId, generation: 1, bytes: createSeededRandom("other").bytes(32) };
  const random = createSeededRandom("other salts");
  return createSealedVault({
    taskId: JOURNAL_TASK_ID,
    active,
    keys: [active],
    minGeneration: 1,
    random,
    allowPlain: false,
  });
}

export { createPlainVault };

/** The n-th of a series of small events. */
export function notedEvent(n: number, text = `note ${n}`): EngineEvent {
  return { type: "noted", atMs: FAKE_START_MS + n, text };
}

export interface JournalRoom {
  readonly clock: FakeClock;
  readonly space: MemorySpace;
  readonly store: MemoryStore;
  readonly task: TaskStore;
  readonly vault: TaskVault;
  /** Claims the next epoch and opens its first segment. */
  take(prev?: JournalPosition, extra?: Partial<JournalWriterOptions>): Promise<JournalWriter>;
  read(vault?: TaskVault): Promise<History>;
  bytes(id?: SegmentId): Promise<Buffer>;
}

export async function createJournalRoom(vault: TaskVault = createTestVault()): Promise<JournalRoom> {
  const clock = new FakeClock();
  const space = new MemorySpace();
  const store = new MemoryStore({ space, deliverablesRoot: "/outputs" });
  const task = await store.createTask("t");
  if (task === undefined) throw new Error("the task exists");
  return {
    clock,
    space,
    store,
    task,
    vault,
    take: async (prev, extra = {}) =>
      openJournalWriter({ task, vault, epoch: await task.claim(), prev, clock, ...extra }),
    read: (other = vault) => readHistory({ task, vault: other }),
    bytes: async (id = { epoch: 1, index: 0 }) => Buffer.from(await task.read(id)),
  };
}

/** A task of which only the segments can be read: for bytes that a test made. */
export function createSegmentsTask(segments: ReadonlyMap<string, Uint8Array>): TaskStore {
  const list = [...segments].map(([name, bytes]) => {
    const [epoch = 0, index = 0] = name.split("-").map(Number);
    return { epoch, index, sizeBytes: bytes.byteLength };
  });
  const refuse = () => Promise.reject(new Error("only segments can be read"));
  return {
    name: "t",
    deliverablesFolder: "/outputs/t",
    claim: refuse,
    openSegment: refuse,
    confirm: refuse,
    segments: () => Promise.resolve(list),
    read: (id) => Promise.resolve(segments.get(`${id.epoch}-${id.index}`) ?? Buffer.alloc(0)),
    removeSegment: refuse,
    putOnce: refuse,
    get: refuse,
    list: refuse,
    remove: refuse,
    destroy: refuse,
    watch: () => () => undefined,
    sweep: refuse,
    releaseReserve: refuse,
    ensureReserve: refuse,
    announce: refuse,
    ownerState: refuse,
    close: () => Promise.resolve(),
  };
}

/** Texts of the `noted` events that count, in order. */
export function textsOf(history: History): string[] {
  return history.records.map((record) => {
    const event = record.decode();
    return event.type === "noted" ? event.text : event.type;
  });
}
