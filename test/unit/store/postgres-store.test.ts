import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { CachedStore } from "../../../src/store/cache/cached-store.js";
import { openStore } from "../../../src/store/open-store.js";
import type { OpenStoreParts } from "../../../src/store/open-store.js";
import { errorCodeOf, messageOf } from "../../../src/base/errors.js";
import { LIMITS } from "../../../src/base/limits.js";
import { openPostgres } from "../../../src/store/sql/postgres-database.js";
import type { OwnerFacts, Store, TaskStore } from "../../../src/store/contract/contract.js";
import { FACTS } from "../../conformance/store-case.js";
import { CutWire } from "../../support/cut-wire.js";
import { HandCache } from "../../support/hand-cache.js";
import { PostgresServer, WITHOUT_POSTGRES } from "../../support/postgres-server.js";
import { realClock, until } from "../../support/real-clock.js";
import { createStoreParts } from "../../support/sql-places.js";
import { Client } from "pg";
import { observeOwner, requireOwnerGone } from "../../../src/recovery/liveness.js";
import { FakeClock } from "../../support/fake-clock.js";
import { placeOf } from "../../support/places.js";

describe.skipIf(WITHOUT_POSTGRES !== "")(`the Postgres store${WITHOUT_POSTGRES}`, () => {
  let server: PostgresServer;
  let count = 0;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());

  function open(url = server.url, prefix = `p${(count += 1)}_`, parts: Partial<OpenStoreParts> = {}) {
    const usual = createStoreParts("/work", `${prefix} ${randomBytes(4).toString("hex")}`);
    const store = openStore(`${url}?table_prefix=${prefix}`, { ...usual, ...parts });
    onTestFinished(() => store.close());
    return { store, prefix };
  }

  async function create(store: Store): Promise<TaskStore> {
    const task = await store.createTask("task");
    if (task === undefined) throw new Error("taken");
    return task;
  }

  async function openWire(): Promise<{ wire: CutWire; url: string }> {
    const wire = new CutWire();
    const url = await wire.open(server.url);
    onTestFinished(() => wire.close());
    return { wire, url };
  }

  it("has no password in its address, and none in what it says when it cannot connect", async () => {
    expect(open().store.address).not.toContain("a-password");
    const { store } = open("postgres://me:a-password@127.0.0.1:1/db");
    const error: unknown = await store.tasks().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "STORE_UNREACHABLE", retryable: true });
    expect(JSON.stringify(error) + String(error)).not.toContain("a-password");
    const { store: stranger } = open(server.url.replace("/postgres?", "/nowhere?").replace(/postgres$/, "nowhere"));
    await expect(stranger.tasks()).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringContaining("3D000") as string,
    });
  });

  it("S1: a claim waits for an append that is under way, and the append after it is refused", async () => {
    const { store, prefix } = open();
    const { store: other } = open(server.url, prefix);
    const old = await create(store);
    const segment = await old.openSegment(await old.claim(), Buffer.from("h"));
    const next = await other.task("task");
    for (let round = 0; round < 20; round += 1) {
      const [appended, epoch] = await Promise.all([
        segment.append([Buffer.from(`line ${round}`)]).then(
          () => true,
          () => false,
        ),
        round === 10 ? next?.claim() : undefined,
      ]);
      if (epoch !== undefined) {
        const seen = Buffer.from((await next?.read(segment.id)) ?? []).toString();
        expect(seen.includes("line 10\n")).toBe(appended);
      }
      if (round > 10) expect(appended).toBe(false);
    }
    expect(Buffer.from((await next?.read(segment.id)) ?? []).toString()).not.toContain("line 11");
  });

  it("S2: an append whose answer was cut off kills the segment, and the next segment goes on", async () => {
    const { wire, url } = await openWire();
    const { store, prefix } = open(url);
    const task = await create(store);
    const epoch = await task.claim();
    const segment = await task.openSegment(epoch, Buffer.from("h"));
    wire.cutAfter = (sent) => sent.includes("unanswered");
    await expect(segment.append([Buffer.from("unanswered")])).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
    await expect(segment.append([Buffer.from("more")])).rejects.toMatchObject({ code: "SEGMENT_DEAD" });
    wire.cutAfter = () => false;
    const again = await task.openSegment(epoch, Buffer.from("h2"), [Buffer.from("unanswered")]);
    await again.append([Buffer.from("more")]);
    const { store: other } = open(server.url, prefix);
    const read = Buffer.from((await (await other.task("task"))?.read(again.id)) ?? []).toString();
    expect(read).toBe("h2\nunanswered\nmore\n");
  });

  it("asks again what only reads when the connection was cut, and begins a transaction again before its commit", async () => {
    const { wire, url } = await openWire();
    const { store } = open(url);
    const task = await create(store);
    await task.putOnce("note", Buffer.from("kept"));
    wire.cut();
    expect(Buffer.from((await task.get("note")) ?? []).toString()).toBe("kept");
    let isFirst = true;
    wire.cutAfter = (sent) => {
      const isToCut = isFirst && sent.includes("UPDATE");
      isFirst &&= !isToCut;
      return isToCut;
    };
    expect(await task.claim()).toBe(1);
    expect(isFirst).toBe(false);
  });

  it("FAULTS 6: an answer whose acknowledgement was cut off stands, and is not given a second time", async () => {
    const { wire, url } = await openWire();
    const { store } = open(url);
    const task = await create(store);
    wire.cutAfter = (sent) => sent.includes("control/answer");
    await expect(task.putOnce("control/answer-1", Buffer.from("yes"))).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
    });
    wire.cutAfter = () => false;
    expect(await task.putOnce("control/answer-1", Buffer.from("no"))).toBe("exists");
    expect(Buffer.from((await task.get("control/answer-1")) ?? []).toString()).toBe("yes");
  });

  it("tells of an object that another process makes, also after the connection was cut", async () => {
    const { wire, url } = await openWire();
    const { store, prefix } = open(url);
    const task = await create(store);
    let hints = 0;
    const stop = task.watch("control/", () => (hints += 1));
    const teller = await open(server.url, prefix).store.task("task");
    let at = 0;
    const tellUntil = (seen: number) =>
      until("a hint comes", async () => {
        await teller?.putOnce(`control/a-${(at += 1)}`, Buffer.from("x"));
        await teller?.putOnce(`other/a-${at}`, Buffer.from("x"));
        return hints > seen;
      });
    await tellUntil(0);
    wire.cut();
    const before = hints;
    await tellUntil(before);
    stop();
    expect(hints).toBeLessThanOrEqual(at);
  });

  it("knows an owner as alive while its connection is, as unclear when it ended, and holds it again when it was cut", async () => {
    const { wire, url } = await openWire();
    const { store, prefix } = open(url);
    const task = await create(store);
    const handle = await task.announce(FACTS);
    const watching = await open(server.url, prefix).store.task("task");
    expect(await watching?.ownerState()).toMatchObject({ state: "alive", owner: FACTS, counter: 1 });
    wire.cut();
    // The server may take a moment to see that the old connection ended; until then its lock is held as well.
    await until("it is held again, and its beats are seen", async () => {
      await handle.beat();
      const seen = await watching?.ownerState();
      return seen?.state === "alive" && (seen.counter ?? 0) > 1;
    });
    wire.close();
    await until("it is unclear", async () => (await watching?.ownerState())?.state === "unclear");
  });

  it("[reliability S07] lets a claim wait for an append that has looked at the epoch and not yet written", async () => {
    const { store, prefix } = open();
    const { store: other } = open(server.url, prefix);
    const old = await create(store);
    const segment = await old.openSegment(await old.claim(), Buffer.from("h"));
    const next = await other.task("task");
    if (next === undefined) throw new Error("the task is not there");
    const holder = new Client({ connectionString: server.url });
    await holder.connect();
    onTestFinished(() => holder.end());
    // The same row, not committed: the append waits for it, after its look at the epoch.
    const row = `SELECT task, epoch, idx, max(n) + 1, 'x'::bytea FROM ${prefix}lines GROUP BY task, epoch, idx`;
    await holder.query(`BEGIN; INSERT INTO ${prefix}lines ${row}`);
    const waiting = () => Number(server.query("SELECT count(*) FROM pg_locks WHERE NOT granted"));
    const appended = segment.append([Buffer.from("in time")]).then(
      () => true,
      () => false,
    );
    await until("the append waits", () => waiting() === 1);
    let isClaimed = false;
    const claimed = next.claim().then((epoch) => {
      isClaimed = true;
      return epoch;
    });
    await until("the claim waits, or is through", () => isClaimed || waiting() === 2);
    expect(isClaimed).toBe(false);
    await holder.query("ROLLBACK");
    expect([await appended, await claimed]).toEqual([true, 2]);
    expect(Buffer.from(await next.read(segment.id)).toString()).toBe("h\nin time\n");
  });

  it("[reliability 1b] calls an owner unclear whose connection was ended, and alive when its session is back", async () => {
    const { store, prefix } = open();
    const task = await create(store);
    const handle = await task.announce(FACTS);
    const watching = await open(server.url, prefix).store.task("task");
    const held = "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND granted";
    const { store: stopped } = open(server.url, prefix);
    await (await stopped.task("task"))?.announce({ ...FACTS, epoch: 1 });
    // A session that is not opened again, as that of a stopped process is not.
    await stopped.close();
    await until("its lock is free", async () => (await watching?.ownerState())?.state !== "alive");
    expect(await watching?.ownerState()).toMatchObject({ state: "unclear", owner: { epoch: 1 } });
    await handle.close();
    const again = await task.announce({ ...FACTS, epoch: 2 });
    expect(Number(server.query(held))).toBeGreaterThan(0);
    await until("its session is back", async () => {
      await again.beat();
      return (await watching?.ownerState())?.state === "alive";
    });
    await again.close();
    expect((await watching?.ownerState())?.state).not.toBe("alive");
  });

  it("[reliability 1b kin] calls an owner gone when its process has ended on this machine, whatever the lock says", async () => {
    const { store, prefix } = open();
    await create(store);
    const { store: dead } = open(server.url, prefix);
    await (await dead.task("task"))?.announce(FACTS);
    await dead.close();
    for (const [hasEnded, state] of [
      [true, "gone"],
      [false, "unclear"],
    ] as const) {
      const machine = { ...placeOf("boot-a"), hasEnded: async () => hasEnded };
      const seen = await open(server.url, prefix, { machine }).store.task("task");
      await until("its lock is free", async () => (await seen?.ownerState())?.state !== "alive");
      expect(await seen?.ownerState()).toMatchObject({ state, owner: FACTS });
    }
  });

  it("[reliability 1b kin] lets nobody have a task whose owner may only have lost its connection, and names the owner", async () => {
    const { store, prefix } = open();
    await create(store);
    const { store: asleep } = open(server.url, prefix);
    await (await asleep.task("task"))?.announce(FACTS);
    await asleep.close();
    const task = await open(server.url, prefix).store.task("task");
    if (task === undefined) throw new Error("the task is not there");
    await until("its lock is free", async () => (await task.ownerState()).state !== "alive");
    await expect(requireOwnerGone({ task, clock: realClock, watchMs: 0, takeOver: false })).rejects.toMatchObject({
      code: "OWNER_UNCLEAR",
      message: expect.stringContaining("process 4711 on host-a") as string,
    });
    const taken = await requireOwnerGone({ task, clock: realClock, takeOver: true });
    expect(taken).toMatchObject({ state: "unclear", owner: FACTS });
  });

  it("[reliability 1b kin] sees a counter that moves through another connection than the lock's", async () => {
    const { store, prefix } = open();
    await create(store);
    const { store: cut } = open(server.url, prefix);
    await (await cut.task("task"))?.announce(FACTS);
    await cut.close();
    const task = await open(server.url, prefix).store.task("task");
    if (task === undefined) throw new Error("the task is not there");
    await until("its lock is free", async () => (await task.ownerState()).state !== "alive");
    const clock = new FakeClock();
    const seen = observeOwner({ task, clock });
    await until("it is watched", async () => clock.pendingCount > 0);
    server.query(`UPDATE ${prefix}owners SET counter = counter + 1`);
    await clock.advance(1_000);
    expect(await seen).toMatchObject({ state: "alive", owner: FACTS });
  });

  it("goes on after the server was killed and started again, and no owner from before is called gone", async () => {
    const own = await PostgresServer.start();
    onTestFinished(() => own.remove());
    // What is asked of a dead server fails at once, and later waits as long as the server needs to come back.
    let waitedMs = 0;
    let monotonicMs = (): number => (waitedMs += LIMITS.storeRetryMs);
    const { store, prefix } = open(own.url, undefined, {
      clock: { ...realClock, monotonicMs: () => monotonicMs() },
    });
    const task = await create(store);
    const epoch = await task.claim();
    const segment = await task.openSegment(epoch, Buffer.from("h"));
    await segment.append([Buffer.from("acknowledged")]);
    const { store: crashed } = open(own.url, prefix);
    await (await crashed.task("task"))?.announce(FACTS);
    // Its connection ends, and what it announced stays.
    await crashed.close();
    await own.kill();
    await expect(segment.append([Buffer.from("lost")])).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
    monotonicMs = () => 0;
    const [confirmed] = await Promise.all([task.confirm(epoch), own.start()]);
    expect(confirmed).toBe(true);
    expect(Buffer.from(await task.read(segment.id)).toString()).toBe("h\nacknowledged\n");
    expect((await task.ownerState()).state).toBe("unclear");
    // Unless the machine it ran on says so.
    const machine = { ...placeOf("boot-a"), hasEnded: async ({ pid }: OwnerFacts) => pid === FACTS.pid };
    const { store: local } = open(own.url, prefix, { machine });
    expect(await (await local.task("task"))?.ownerState()).toMatchObject({ state: "gone", owner: FACTS });
    expect((await task.openSegment(epoch, Buffer.from("h2"))).id).toEqual({ epoch, index: 1 });
  });

  it.each(["synchronous_commit", "fsync"])(
    "refuses a server that acknowledges before it has synced: %s",
    async (setting) => {
      const set = async (change: string, value: string) => {
        server.query(`ALTER SYSTEM ${change}`);
        server.query("SELECT pg_reload_conf()");
        await until(`${setting} is ${value}`, () => server.query(`SHOW ${setting}`) === value);
      };
      await set(`SET ${setting} = off`, "off");
      try {
        await expect(open().store.createTask("task")).rejects.toMatchObject({
          code: "STORE_UNSUPPORTED",
          message: expect.stringContaining(`${setting} is off`) as string,
        });
      } finally {
        await set(`RESET ${setting}`, "on");
      }
    },
  );

  it("tries again what the database asks to try again, and says STORE_BUSY of a statement it gave up", async () => {
    const { store, prefix } = open();
    await create(store);
    const database = await openPostgres({
      url: server.url,
      place: "postgres://here",
      clock: realClock,
      channel: `${prefix}objects`,
    });
    onTestFinished(() => database.close());
    let tries = 0;
    const rows = await database.transaction(async (query) => {
      tries += 1;
      if (tries < 3) await query("DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$");
      return query(`UPDATE ${prefix}tasks SET epoch = epoch + 1 RETURNING epoch`);
    });
    expect([tries, rows]).toEqual([3, [{ epoch: 1 }]]);
    for (const [state, code] of [
      ["57014", "STORE_BUSY"],
      ["53100", "STORE_FULL"],
      ["42501", "STORE_UNWRITABLE"],
      ["XX000", "STORE_FAILED"],
    ]) {
      const failing = database.query(`DO $$ BEGIN RAISE EXCEPTION 'so' USING ERRCODE = '${state}'; END $$`);
      await expect(failing).rejects.toMatchObject({ code, details: { sqlstate: state } });
    }
  });

  /** What opening it as that role says, and how long was waited for it; each wait lasts until it may last no longer. */
  async function refuse(role: string, more = "") {
    const url = new URL(server.url + more);
    url.username = role;
    let waitedMs = 0;
    const clock = {
      ...realClock,
      monotonicMs: () => waitedMs,
      sleep: async () => void (waitedMs += LIMITS.storeRetryMs),
    };
    const error: unknown = await openPostgres({ url: url.href, place: "postgres://here", clock, channel: "c" }).then(
      (database) => database.close(),
      (reason: unknown) => reason,
    );
    return { error, waitedMs };
  }

  it("says by name that a password is wrong, that there is no TLS, and that the server lies nowhere", async () => {
    server.requirePassword("locked", "right");
    const cases = [
      { role: "locked", says: "password authentication failed" },
      { role: "postgres", more: "?sslmode=verify-full", says: "does not support SSL" },
      { role: "nobody", says: 'role "nobody" does not exist' },
    ];
    for (const { role, more, says } of cases)
      await until(`${says} is said`, async () => {
        const { error, waitedMs } = await refuse(role, more);
        expect(JSON.stringify(error)).not.toContain("a-password");
        // The server may take a moment to read its rules again.
        return messageOf(error).includes(says) && errorCodeOf(error) === "STORE_UNREACHABLE" && waitedMs === 0;
      });
    // By name it may have two addresses.
    const { store } = open("postgres://me@localhost:1/db");
    await expect(store.tasks()).rejects.toMatchObject({ message: expect.stringContaining("127.0.0.1:1") as string });
  });

  it("waits for a server that has no connection left, and takes the one that comes free", async () => {
    server.query("CREATE ROLE crowded LOGIN CONNECTION LIMIT 0");
    const { error, waitedMs } = await refuse("crowded");
    expect(error).toMatchObject({ code: "STORE_BUSY", details: { sqlstate: "53300" } });
    expect(waitedMs).toBe(LIMITS.storeRetryMs);
    const opening = openPostgres({
      url: server.url.replace("postgres:a-password", "crowded"),
      place: "postgres://here",
      clock: {
        ...realClock,
        // The first wait ends when there is room.
        sleep: async () => void server.query("ALTER ROLE crowded CONNECTION LIMIT 2"),
      },
      channel: "c",
    });
    expect(await (await opening).query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await (await opening).close();
  });

  it("is read where nothing may be written, as on a standby, and says so of every change", async () => {
    const { store, prefix } = open();
    const task = await create(store);
    await task.putOnce("note", Buffer.from("kept"));
    server.query("CREATE ROLE reader LOGIN SUPERUSER");
    server.query("ALTER ROLE reader SET default_transaction_read_only = on");
    const { store: standby } = open(server.url.replace("postgres:a-password", "reader"), prefix);
    const seen = await standby.task("task");
    expect(Buffer.from((await seen?.get("note")) ?? []).toString()).toBe("kept");
    expect((await seen?.ownerState())?.state).toBe("none");
    const changes = [
      () => seen?.claim(),
      () => seen?.putOnce("other", Buffer.from("x")),
      () => standby.createTask("other"),
      () => standby.probe(),
    ];
    for (const change of changes)
      await expect(change()).rejects.toMatchObject({ code: "STORE_UNWRITABLE", details: { sqlstate: "25006" } });
    const { store: empty } = open(server.url.replace("postgres:a-password", "reader"));
    await expect(empty.tasks()).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
  });

  it("makes its tables once for several at a time, brings older ones up to date, and refuses those of a newer version", async () => {
    const { store, prefix } = open();
    const together = Array.from({ length: 4 }, () => open(server.url, prefix).store.tasks());
    expect(await Promise.all(together)).toEqual([[], [], [], []]);
    await create(store);
    const views = ["checkpoints", "workflow_checkpoints", "task_list"].map((view) => prefix + view);
    server.query(`DROP VIEW ${views.join(", ")}`);
    server.query(`DELETE FROM ${prefix}migrations WHERE version > 1`);
    expect(await open(server.url, prefix).store.tasks()).toEqual(["task"]);
    expect(server.query(`SELECT task FROM ${prefix}task_list`)).toBe("task");
    server.query(`INSERT INTO ${prefix}migrations (version) VALUES (999)`);
    const { store: older } = open(server.url, prefix);
    await expect(older.createTask("other")).rejects.toMatchObject({
      code: "STORE_UNSUPPORTED",
      message: expect.stringContaining("of version 999") as string,
    });
    expect(server.query(`SELECT count(*) FROM ${prefix}tasks`)).toBe("1");
  });

  it("shows checkpoints to who queries", async () => {
    const { store, prefix } = open();
    const task = await create(store);
    const header = `{"checkpoint_id":"c-1","workflow_id":"w-1","seq":4,"phase":1,"status":"completed","timestamp":"2024-01-02T14:35:22.123Z"}`;
    await task.putOnce(
      "checkpoint_phase1_x.json",
      Buffer.from(`{"format":"splashdown.checkpoint","version":"1.0",\n"header":${header},\n`),
    );
    const clear = `SELECT id, task, sequence, phase, status, created_at FROM ${prefix}checkpoints`;
    expect(server.query(clear)).toBe("c-1|task|4|1|completed|2024-01-02T14:35:22.123Z");
    expect(server.query(`SELECT layer_index, length(state) > 0 FROM ${prefix}workflow_checkpoints`)).toBe("1|t");
    expect(server.query(`SELECT task, checkpoints FROM ${prefix}task_list`)).toBe("task|1");
  });

  it("lists from a cache what the server says is the list, and from the server when the cache lies", async () => {
    const { store } = open();
    const cache = new HandCache();
    const cached = new CachedStore({ store, open: async () => cache, clock: realClock, onTrouble: () => undefined });
    const task = await create(cached);
    for (const at of [1, 2, 10]) await task.putOnce(`checkpoint_${at}.json`, Buffer.alloc(at));
    await task.putOnce("pins/a", Buffer.from("x"));
    const expected = [1, 10, 2].map((at) => ({ key: `checkpoint_${at}.json`, sizeBytes: at }));
    expect(await task.list("checkpoint")).toEqual(expected);
    await until("the list is in the cache", () => cache.held.size === 1);
    expect(Buffer.from([...cache.held.values()][0] ?? []).toString()).toBe(
      "checkpoint_1.json 1\ncheckpoint_10.json 10\ncheckpoint_2.json 2",
    );
    for (const mood of ["true", "other", "flipped", "absent", "failing"] as const) {
      cache.moods = [mood];
      expect(await task.list("checkpoint")).toEqual(expected);
    }
    await task.remove("checkpoint_10.json");
    expect((await task.list("checkpoint")).map(({ key }) => key)).toEqual(["checkpoint_1.json", "checkpoint_2.json"]);
    expect(await task.list("checkpoint_x")).toEqual([]);
  });
});
