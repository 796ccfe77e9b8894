/** How the files of a task are made with fixed keys, salts and clocks, and read: journal segments, snapshots, large values. */
import type { JsonObject, JsonValue } from "../../../src/base/json.js";
import { createBlobShelf } from "../../../src/checkpoint/blobs/blobs.js";
import { capture } from "../../../src/checkpoint/format/capture.js";
import { createSnapshotSource } from "../../../src/checkpoint/source.js";
import { writeSnapshot } from "../../../src/checkpoint/format/writer.js";
import { readHistory } from "../../../src/journal/history.js";
import { openWholeSegment } from "../../../src/journal/whole-segment.js";
import { decodeControlFile, encodeControlFile } from "../../../src/runtime/mailbox/control-file.js";
import type { TaskStore } from "../../../src/store/contract/contract.js";
import { MemorySpace, MemoryStore } from "../../../src/store/memory/memory-store.js";
import type { TaskVault } from "../../../src/vault/contract.js";
import { addSteps, createTaskState, RAW_BYTES_MAX, recordCheckpoint } from "../../support/checkpoint-room.js";
import { FakeClock } from "../../support/fake-clock.js";
import { createJournalRoom, createSegmentsTask, createTestVault, notedEvent, textsOf } from "../../support/journal-room.js";
import { loadGolden } from "./golden-files.js";

export interface GoldenFormat {
  /** Below `files/`; a name that ends with `.b64` holds base64. */
  readonly name: string;
  /** The bytes as they are made today; absent for what is only read. */
  readonly make?: () => Promise<Uint8Array>;
  readonly read: (bytes: Uint8Array, reader?: TaskVault) => Promise<unknown>;
  readonly tells: unknown;
}

interface Making {
  /** Of a segment: one that was written as a whole. */
  readonly isWhole?: boolean;
  readonly writer?: TaskVault;
  /** Of a snapshot: the epoch in which it was sealed again. */
  readonly resealedIn?: number;
}

export const vault = (seed = "golden"): TaskVault => createTestVault(seed);
export const H = Buffer.alloc(32, 7).toString("base64url");

export async function openTask(): Promise<TaskStore> {
  const task = await new MemoryStore({ space: new MemorySpace(), deliverablesRoot: "/outputs" }).createTask("t");
  if (task === undefined) throw new Error("the task exists");
  return task;
}

export async function taskWith(key: string, bytes: Uint8Array): Promise<TaskStore> {
  const task = await openTask();
  await task.putOnce(key, bytes);
  return task;
}

export async function onlyObject(task: TaskStore): Promise<Uint8Array> {
  const [entry] = await task.list("");
  return (await task.get(entry?.key ?? "")) ?? Buffer.alloc(0);
}

export async function makeSegment({ isWhole = false, writer: sealing = vault() }: Making = {}): Promise<Uint8Array> {
  const room = await createJournalRoom(sealing);
  const writer = await room.take();
  writer.append([notedEvent(1), notedEvent(2)]);
  await writer.durable();
  writer.append([notedEvent(3, "long ".repeat(220))]);
  await writer.close();
  if (!isWhole) return room.bytes();
  const history = await room.read();
  if (history.head === undefined) throw new Error("nothing was written");
  const whole = await openWholeSegment({ ...room, epoch: await room.task.claim(), prev: history.head, firstN: 1 });
  for (const record of history.records) await whole.add(record.decode());
  await whole.conclude(notedEvent(4, "sealed again"));
  await whole.close();
  return room.bytes({ epoch: 2, index: 0 });
}

export async function readSegment(bytes: Uint8Array, name: string, reader = vault("reading")): Promise<unknown> {
  const history = await readHistory({ task: createSegmentsTask(new Map([[name, bytes]])), vault: reader });
  return { texts: textsOf(history).map((text) => text.slice(0, 12)), damage: history.damage, lost: history.lost };
}

const SNAPSHOT = "checkpoint_phase1_20240101T000001000Z_00000001.json";

export async function makeSnapshot({ writer: sealing = vault(), resealedIn }: Making = {}): Promise<Uint8Array> {
  const store = await openTask();
  const state = createTaskState();
  addSteps(state, 2);
  const taken = capture(state, recordCheckpoint(state));
  if (taken === undefined) throw new Error("there is no task");
  const again = resealedIn === undefined ? {} : { resealedIn };
  const position = { n: state.position, epoch: resealedIn ?? 1, index: 0, h: H };
  const place = { position, prev: undefined, ...again };
  const how = { store, vault: sealing, clock: new FakeClock(), breathe: () => Promise.resolve(), app: "0.0.0" };
  // Not compressed: what gzip makes of it differs between versions of zlib.
  await writeSnapshot(taken, place, { ...how, rawBytesMax: RAW_BYTES_MAX, level: 0 });
  return onlyObject(store);
}

export async function readSnapshot(bytes: Uint8Array, reader = vault("reading"), again = ""): Promise<unknown> {
  const header = /"seq":(\d+),.*"timestamp":"([^"]*)"/.exec(loadGolden("snapshot-1.0.json").toString("utf8"));
  const time = (header?.[2] ?? "").replaceAll(/[-:.]/g, "");
  const name = SNAPSHOT.replace(/_2024.*Z_/, `_${time}_`).replace(".json", `${again}.json`);
  const store = await taskWith(name, bytes);
  const source = createSnapshotSource({ store, vault: reader, rawBytesMax: RAW_BYTES_MAX });
  const { state, seq, position } = await source.load(name);
  return { seq, n: position.n, steps: [...state.steps.keys()], outputs: [...state.outputs.keys()] };
}

export const VALUE = { text: "a large value, ".repeat(8) };
const BLOB_REF = /"name":"([a-z2-7]{52})".*"raw":(\d+)/;

export async function makeBlob({ writer: sealing = vault() }: Making = {}): Promise<Uint8Array> {
  const store = await openTask();
  await createBlobShelf({ store, vault: sealing }).put(VALUE);
  return onlyObject(store);
}

export async function readBlob(
  bytes: Uint8Array,
  reader = vault("reading"),
  golden = "blob-1.0.bin.b64",
): Promise<JsonValue> {
  const [, name = "", raw] = BLOB_REF.exec(loadGolden(golden).toString("latin1")) ?? [];
  const key = `blobs/${name.slice(0, 2)}/${name}.bin`;
  const shelf = createBlobShelf({ store: await taskWith(key, bytes), vault: reader });
  return shelf.get({ key, sizeBytes: Number(raw), digest: "" });
}

export function control(name: string, key: string, body: JsonObject): GoldenFormat {
  return {
    name,
    make: () => Promise.resolve(encodeControlFile(vault(), key, body)),
    read: async (bytes, reader = vault("reading")) => decodeControlFile(reader, key, bytes),
    tells: body,
  };
}
