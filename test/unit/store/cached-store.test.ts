import { describe, expect, it, onTestFinished } from "vitest";
import { sha256Hex } from "../../../src/base/digest.js";
import { LIMITS } from "../../../src/base/limits.js";
import type { CachePort } from "../../../src/store/cache/cache-port.js";
import { CachedStore, openCachedStore } from "../../../src/store/cache/cached-store.js";
import type { Store, TaskStore } from "../../../src/store/contract/contract.js";
import { MemorySpace, MemoryStore } from "../../../src/store/memory/memory-store.js";
import { openStore } from "../../../src/store/open-store.js";
import { openRedis } from "../../../src/store/cache/redis-cache.js";
import { FakeClock } from "../../support/fake-clock.js";
import { HandCache, type CacheMood } from "../../support/hand-cache.js";
import { realClock, until } from "../../support/real-clock.js";
import { RedisServer, WITHOUT_REDIS } from "../../support/redis-server.js";
import { createStoreParts, SqlPlaces } from "../../support/sql-places.js";
import { wrapTask } from "../../support/wrapped-task.js";

const KEY = "checkpoint_phase1_a.json";

/** As a snapshot file begins. */
function sealed(text: string, suite = "A256GCM-HKDF-SHA512-KC1"): Buffer {
  const begin = `{"format":"splashdown.checkpoint","version":"1.0",\n"header":{"suite":"${suite}"},\n`;
  return Buffer.from(begin + text.padEnd(LIMITS.cacheValueBytesMin, "."));
}

async function openPrimary(): Promise<() => Promise<Store>> {
  const places = new SqlPlaces();
  onTestFinished(() => places.close());
  return places.sqlite("fresh");
}

async function openMemory(): Promise<MemoryStore> {
  return new MemoryStore({ space: new MemorySpace(), deliverablesRoot: "/outputs" });
}

interface Behind {
  readonly store: CachedStore;
  readonly task: TaskStore;
  readonly troubles: string[];
}

async function openBehind(open: () => Promise<Store>, cache: CachePort, clock = realClock): Promise<Behind> {
  const troubles: string[] = [];
  const onTrouble = (reason: string) => void troubles.push(reason);
  const store = new CachedStore({ store: await open(), open: async () => cache, clock, onTrouble });
  onTestFinished(() => store.close());
  const task = (await store.task("t")) ?? (await store.createTask("t"));
  if (task === undefined) throw new Error("taken");
  return { store, task, troubles };
}

describe("a store behind a cache", () => {
  it("puts sealed snapshots and blobs into it under their digest, and nothing else", async () => {
    const cache = new HandCache();
    const { store, task } = await openBehind(await openPrimary(), cache);
    const [file, blob] = [sealed("file"), sealed("blob")];
    await task.putOnce(KEY, file);
    await task.putOnce("blobs/ab/c.bin", blob);
    await task.putOnce("checkpoint_plain.json", sealed("unencrypted", "none"));
    await task.putOnce("checkpoint_small.json", sealed("x").subarray(0, 100));
    await task.putOnce("keyring-1.json", sealed("keys"));
    await task.putOnce("control/answer-1", sealed("yes"));
    for (const key of ["checkpoint_plain.json", "keyring-1.json"]) expect(await task.get(key)).toBeDefined();
    await store.close();
    expect([...cache.held.keys()].sort()).toEqual([sha256Hex(file), sha256Hex(blob)].sort());
  });

  it("gives what the cache has without reading it from the store", async () => {
    const cache = new HandCache();
    const open = await openPrimary();
    const first = await openBehind(open, cache);
    await first.task.putOnce(KEY, sealed("file"));
    await first.store.close();
    const { task } = await openBehind(open, cache);
    const before = cache.calls;
    expect(Buffer.from((await task.get(KEY)) ?? [])).toEqual(sealed("file"));
    // One look, and nothing had to be put there again.
    expect(cache.calls).toBe(before + 1);
  });

  it("gives a list from it while the store says that it is the same, an empty one, too", async () => {
    const cache = new HandCache();
    const { task } = await openBehind(openMemory, cache);
    await task.putOnce(KEY, sealed("file"));
    const listed = [{ key: KEY, sizeBytes: sealed("file").byteLength }];
    expect([await task.list("checkpoint"), await task.list("blobs/")]).toEqual([listed, []]);
    await until("both lists are in the cache", () => cache.held.size === 3);
    const before = cache.calls;
    expect([await task.list("checkpoint"), await task.list("blobs/")]).toEqual([listed, []]);
    // One look for each, and nothing had to be put there again.
    expect(cache.calls).toBe(before + 2);
    await task.putOnce("checkpoint_a.json", Buffer.from("new"));
    expect(await task.list("checkpoint")).toEqual([{ key: "checkpoint_a.json", sizeBytes: 3 }, ...listed]);
  });

  it("is not asked for what is small, nor for answers and lists of them", async () => {
    const cache = new HandCache();
    const { task } = await openBehind(openMemory, cache);
    await task.putOnce("checkpoint_small.json", Buffer.from("small"));
    await task.putOnce("control/answer-1", sealed("yes"));
    expect(Buffer.from((await task.get("checkpoint_small.json")) ?? []).toString()).toBe("small");
    expect(Buffer.from((await task.get("control/answer-1")) ?? [])).toEqual(sealed("yes"));
    expect(await task.list("control/")).toEqual([{ key: "control/answer-1", sizeBytes: sealed("yes").byteLength }]);
    expect(cache.calls).toBe(0);
  });

  it("does not get a list that is over its limit", async () => {
    const cache = new HandCache();
    const entries = [{ key: "checkpoint".padEnd(LIMITS.cacheValueBytesMax, "x"), sizeBytes: 1 }];
    const memory = await openMemory();
    const task = await memory.createTask("t");
    if (task === undefined) throw new Error("taken");
    const digests = { ofObject: async () => undefined, ofList: async () => "a digest" };
    memory.task = async () => ({ ...wrapTask(task, { list: async () => entries }), digests });
    const behind = await openBehind(async () => memory, cache);
    expect((await behind.task.list("checkpoint")).map(({ key }) => key.length)).toEqual([LIMITS.cacheValueBytesMax]);
    await behind.store.close();
    expect(cache.held.size).toBe(0);
  });

  it.each<CacheMood>(["other", "flipped", "short", "absent", "failing"])(
    "gives the store's bytes when the cache is %s",
    async (mood) => {
      const cache = new HandCache();
      const { task } = await openBehind(await openPrimary(), cache);
      await task.putOnce(KEY, sealed("file"));
      await until("it is in the cache", () => cache.held.size === 1);
      cache.moods = [mood];
      expect(Buffer.from((await task.get(KEY)) ?? [])).toEqual(sealed("file"));
    },
  );

  it("knows what was removed, and what came after it under the same key, whatever the cache has", async () => {
    const cache = new HandCache();
    const open = await openPrimary();
    const { task } = await openBehind(open, cache);
    await task.putOnce(KEY, sealed("old"));
    await until("it is in the cache", () => cache.held.size === 1);
    const other = await (await open()).task("t");
    await other?.destroy(KEY);
    expect(await task.get(KEY)).toBeUndefined();
    await other?.putOnce(KEY, sealed("new"));
    expect(Buffer.from((await task.get(KEY)) ?? [])).toEqual(sealed("new"));
    expect(cache.held.has(sha256Hex(sealed("old")))).toBe(true);
  });

  it("leaves a cache that fails alone for a while, then asks it again", async () => {
    const cache = new HandCache();
    const clock = new FakeClock();
    const { task, troubles } = await openBehind(await openPrimary(), cache, clock);
    await task.putOnce(KEY, sealed("file"));
    cache.moods = ["failing"];
    const before = cache.calls;
    for (let at = 0; at < 5; at += 1) expect(await task.get(KEY)).toBeDefined();
    expect([cache.calls - before, troubles]).toEqual([1, ["connection refused"]]);
    await clock.advance(LIMITS.cacheRestMs);
    cache.moods = ["true"];
    expect(await task.get(KEY)).toBeDefined();
    expect(cache.calls - before).toBe(2);
  });

  it("waits for a silent cache no longer than its limit", async () => {
    const cache = new HandCache();
    const clock = new FakeClock();
    const { task, troubles } = await openBehind(await openPrimary(), cache, clock);
    await task.putOnce(KEY, sealed("file"));
    cache.moods = ["silent"];
    const asked = cache.calls;
    const reading = task.get(KEY);
    await until("the cache is asked", () => cache.calls > asked);
    await clock.advance(LIMITS.cacheWaitMs);
    expect(Buffer.from((await reading) ?? [])).toEqual(sealed("file"));
    expect(troubles).toEqual([`no answer within ${LIMITS.cacheWaitMs} ms`]);
  });

  it("is refused without its package, for what is no address of a cache, and before a store that is here", async () => {
    const missing = () => Promise.reject(new Error("Cannot find package"));
    await expect(openRedis("redis://me:a-password@h:1", missing)).rejects.toMatchObject({
      code: "STORE_UNSUPPORTED",
      message: "the cache redis://me@h:1 needs a package: npm install @redis/client",
    });
    const parts = { store: await openMemory(), clock: realClock, onTrouble: () => undefined };
    expect(() => openCachedStore("redis://h:1", parts)).toThrow("a cache goes with a postgres store");
    expect(() => openCachedStore("http://h:1", parts)).toThrow("no cache at http://h:1");
  });

  it("is put before a store on a server, and connects to neither before it is used", async () => {
    const address = "postgres://nobody@127.0.0.1:1/nowhere";
    const store = openStore(address, createStoreParts("/work"));
    const cached = openCachedStore("redis://127.0.0.1:1", { store, clock: realClock, onTrouble: () => undefined });
    expect([cached.address, cached.manifest.kind]).toEqual([address, "postgres"]);
    await cached.close();
  });
});

describe.skipIf(WITHOUT_REDIS !== "")(`a store behind a Redis server${WITHOUT_REDIS}`, () => {
  it("reads true while the server is emptied, lies, is frozen, is killed and comes back", async () => {
    const server = await RedisServer.start();
    onTestFinished(() => server.remove());
    const cache = await openRedis(server.url);
    const clock = new FakeClock();
    const { task, store } = await openBehind(await openPrimary(), cache, clock);
    const file = sealed("\0\r\n\xff file");
    const name = `splashdown:${sha256Hex(file)}`;
    const isThere = () => until("it is in the cache", async () => (await server.ask(`EXISTS ${name}`)) === ":1\r\n");
    const reads = async () => expect(Buffer.from((await task.get(KEY)) ?? [])).toEqual(file);
    await task.putOnce(KEY, file);
    await isThere();
    expect(Buffer.from((await cache.get(sha256Hex(file))) ?? [])).toEqual(file);
    expect(Number(/^:(\d+)/.exec(await server.ask(`PTTL ${name}`))?.[1])).toBeGreaterThan(0);
    await server.ask("FLUSHALL");
    await reads();
    await isThere();
    await server.ask(`SET ${name} nonsense`);
    await reads();
    server.freeze();
    const reading = reads();
    await until("the cache is waited for", () => clock.pendingCount > 0);
    await clock.advance(LIMITS.cacheWaitMs);
    await reading;
    server.wake();
    await server.kill();
    await clock.advance(LIMITS.cacheRestMs);
    await reads();
    await server.start();
    await clock.advance(LIMITS.cacheRestMs);
    await reads();
    await isThere();
    await store.close();
  });
});
