import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import type { TaskStore } from "../../../src/store/contract/contract.js";
import { MemorySpace, MemoryStore } from "../../../src/store/memory/memory-store.js";
import { readTaskFiles, writeTask } from "../../../src/transfer/copy-task.js";
import { findPostgres } from "../../support/postgres-server.js";
import { findRedis } from "../../support/redis-server.js";
import { SqlPlaces } from "../../support/sql-places.js";
import { createRealStore } from "../../support/store-places.js";
import { describeStores, type StorePlaces } from "../../support/store-suite-run.js";

const sql = new SqlPlaces();
afterAll(() => sql.close());

const PLACES: StorePlaces = {
  sqlite: (instance) => sql.sqlite(instance),
  pglite: (instance) => sql.pglite(instance),
  // Without its binaries on this machine there is nothing to run it on.
  ...(findPostgres() === undefined ? {} : { postgres: (instance) => sql.postgres(instance) }),
  // The servers' own cases are in cached-store.test.ts; all of the contract is run by `npm run proof -- stores`.
  ...(process.env["SPLASHDOWN_TEST_STORES"] !== "all" || findPostgres() === undefined || findRedis() === undefined
    ? {}
    : { "postgres behind redis": (instance) => sql.postgresBehindRedis(instance) }),
};

describeStores(PLACES);

/** Segments with a gap between them, as after `prune --history`, objects of every kind, and the keyring. */
async function writeOrigin(task: TaskStore): Promise<void> {
  const first = await task.openSegment(await task.claim(), Buffer.from("h1"), [Buffer.from("a"), Buffer.from("b")]);
  await first.append([Buffer.from("c")]);
  await (await task.openSegment(1, Buffer.from("h1b"))).close();
  for (const line of [Buffer.from("gone"), Buffer.alloc(5_000, 98)])
    await (await task.openSegment(await task.claim(), Buffer.from("h"), [line])).close();
  await task.removeSegment({ epoch: 2, index: 0 });
  await task.putOnce("blobs/ab/x.bin", Buffer.from([0, 255, 13, 10, 0]));
  await task.putOnce("pins/a", Buffer.alloc(0));
  await task.putOnce("keyring-1.json", Buffer.from("{}"));
}

async function contentOf(task: TaskStore): Promise<unknown> {
  const files: unknown[] = [];
  for await (const { bytes, ...place } of readTaskFiles(task))
    files.push({ ...place, text: Buffer.from(bytes).toString("hex") });
  return { files, segments: await task.segments() };
}

const COPIED: StorePlaces = {
  memory: async () => async () => new MemoryStore({ space: new MemorySpace(), deliverablesRoot: "/outputs" }),
  file: async () => async () => createRealStore(await sql.folder()),
  ...PLACES,
};
const PAIRS = Object.keys(COPIED).flatMap((from) => Object.keys(COPIED).map((to) => ({ from, to })));

describe("a task that is copied", () => {
  const open = async (kind: string) => {
    const store = await (await COPIED[kind]?.("fresh"))?.();
    const task = await store?.createTask("task");
    if (store === undefined || task === undefined) throw new Error(`no ${kind}`);
    onTestFinished(() => store.close());
    return task;
  };

  it.each(PAIRS)("from $from to $to has the same segments, objects and epochs there", async ({ from, to }) => {
    const [origin, copy] = [await open(from), await open(to)];
    await writeOrigin(origin);
    await writeTask(copy, readTaskFiles(origin), { mark: {} });
    expect(await contentOf(copy)).toEqual(await contentOf(origin));
    expect(await copy.claim()).toBe(await origin.claim());
  });
});
