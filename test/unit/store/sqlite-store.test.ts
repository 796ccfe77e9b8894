import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { openStore } from "../../../src/store/open-store.js";
import { openSqlite } from "../../../src/store/sql/sqlite-database.js";
import type { Store, TaskStore } from "../../../src/store/contract/contract.js";
import { createStoreParts } from "../../support/sql-places.js";
import { FakeClock } from "../../support/fake-clock.js";
import { realClock } from "../../support/real-clock.js";
import { withFolder } from "../../support/store-places.js";

interface Raw {
  prepare(sql: string): { all(...values: unknown[]): Record<string, unknown>[]; run(...values: unknown[]): unknown };
  exec(sql: string): void;
  close(): void;
}
/** Which of the two is there depends on the version of Node. */
type RawClass = new (path: string) => Raw;
const builtIn = process.getBuiltinModule("node:sqlite") as { DatabaseSync: RawClass } | undefined;
const packaged = () => createRequire(import.meta.url)("@photostructure/sqlite") as { DatabaseSync: RawClass };
const { DatabaseSync: Driver } = builtIn ?? packaged();

/** The file as a person's own tool opens it. */
function inspect<T>(path: string, work: (raw: Raw) => T): T {
  const raw = new Driver(path);
  try {
    return work(raw);
  } finally {
    raw.close();
  }
}

const HEADER = {
  checkpoint_id: "550e8400-e29b-41d4-a716-446655440000",
  workflow_id: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
  seq: 17,
  phase: 2,
  status: "paused",
  trigger: "question_opened",
  timestamp: "2024-01-02T14:35:22.123Z",
  workflow_name: "market report",
  current_agent: "review",
};
const FILE = "checkpoint_phase2_20240102T143522123Z_00000017.json";
const snapshot = (header: object) =>
  Buffer.from(
    `{"format":"splashdown.checkpoint","version":"1.0",\n"header":${JSON.stringify(header)},\n"payload":"c2VhbGVk",\n"sha256":"00"}\n`,
  );

async function withStore(
  work: (given: { folder: string; path: string; store: Store }) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const store = openStore("sqlite:tasks.db", createStoreParts(folder));
    try {
      await work({ folder, path: join(folder, "tasks.db"), store });
    } finally {
      await store.close();
    }
  });
}

async function create(store: Store, name = "task"): Promise<TaskStore> {
  const task = await store.createTask(name);
  if (task === undefined) throw new Error("taken");
  return task;
}

describe("the SQLite store", () => {
  it("S4: makes no file when it is only read", async () => {
    await withStore(async ({ path, store }) => {
      expect([await store.tasks(), await store.task("task")]).toEqual([[], undefined]);
      await store.removeTask("task");
      expect([await store.trash(), await store.trashTask("task", 1), await store.purgeTask("task")]).toEqual([
        [],
        false,
        false,
      ]);
      await expect(stat(path)).rejects.toThrow(/ENOENT/);
    });
  });

  it("keeps its files to their owner", async () => {
    await withStore(async ({ path, store }) => {
      await create(store);
      const modes = await Promise.all([path, `${path}-wal`].map(async (file) => (await stat(file)).mode & 0o777));
      expect(modes).toEqual([0o600, 0o600]);
    });
  });

  it("S2: writes ahead and syncs at every commit", async () => {
    await withStore(async ({ path, store }) => {
      await create(store);
      expect(inspect(path, (raw) => raw.prepare("PRAGMA journal_mode").all())).toEqual([{ journal_mode: "wal" }]);
      const database = await openSqlite({ path, clock: realClock });
      expect(await database.query("PRAGMA synchronous")).toEqual([{ synchronous: 2 }]);
      await database.close();
    });
  });

  it("S1: refuses what a superseded owner appends, and the segment it would open", async () => {
    await withStore(async ({ store }) => {
      const old = await create(store);
      const epoch = await old.claim();
      const segment = await old.openSegment(epoch, Buffer.from("h"));
      const next = await store.task("task");
      await next?.claim();
      await expect(segment.append([Buffer.from("late")])).rejects.toMatchObject({ code: "OWNER_SUPERSEDED" });
      await expect(segment.append([Buffer.from("later")])).rejects.toMatchObject({ code: "SEGMENT_DEAD" });
      await expect(old.openSegment(epoch, Buffer.from("h2"))).rejects.toMatchObject({ code: "OWNER_SUPERSEDED" });
      expect(await next?.segments()).toEqual([
        { epoch: 1, index: 0, sizeBytes: 2 },
        { epoch: 2, index: 0, sizeBytes: 0 },
      ]);
    });
  });

  it.each([0, 1, -1, 9, "abc", 2_147_483_647])(
    "[security C1 kin] claims after every segment that is there, with %j as the epoch of the task's row",
    async (epoch) => {
      await withStore(async ({ path, store }) => {
        const task = await create(store);
        for (let count = 0; count < 3; count += 1) await task.openSegment(await task.claim(), Buffer.from("h"));
        await task.removeSegment({ epoch: 1, index: 0 });
        inspect(path, (raw) => raw.prepare("UPDATE splashdown_tasks SET epoch = ?").run(epoch));
        await expect(task.claim(2)).rejects.toMatchObject({ code: "OWNER_SUPERSEDED" });
        const next = epoch === 9 ? 10 : 4;
        expect(await task.claim(3)).toBe(next);
        expect(await task.confirm(3)).toBe(false);
        expect(await task.confirm(next)).toBe(true);
        await (await task.openSegment(next, Buffer.from("h"))).append([Buffer.from("line")]);
        expect(Buffer.from(await task.read({ epoch: next, index: 0 })).toString()).toBe("h\nline\n");
      });
    },
  );

  it("[security C1 kin] gives out no epoch again whose segments were removed", async () => {
    await withStore(async ({ path, store }) => {
      const task = await create(store);
      const stale = await task.openSegment(await task.claim(), Buffer.from("h"));
      inspect(path, (raw) => raw.exec("DELETE FROM splashdown_segments; DELETE FROM splashdown_lines"));
      expect(await task.claim(0)).toBe(2);
      await expect(stale.append([Buffer.from("late")])).rejects.toMatchObject({ code: "OWNER_SUPERSEDED" });
    });
  });

  it.each([0, -1, 1.5, "abc", 100_000_000])(
    "[security C1 kin] sees no segment in a row of epoch %j, which it never gives out",
    async (epoch) => {
      await withStore(async ({ path, store }) => {
        const task = await create(store);
        await task.claim();
        const sql = "INSERT INTO splashdown_segments (task, epoch, idx) VALUES (1, ?, ?)";
        inspect(path, (raw) => raw.prepare(sql).run(epoch, 0));
        inspect(path, (raw) => raw.prepare(sql).run(1, epoch === 0 ? "abc" : epoch));
        expect(await task.segments()).toEqual([{ epoch: 1, index: 0, sizeBytes: 0 }]);
        expect(await task.claim(1)).toBe(2);
      });
    },
  );

  it("[security M3 kin] tells how large an object is, whatever the clear column says", async () => {
    await withStore(async ({ path, store }) => {
      const task = await create(store);
      await task.putOnce("keyring-1.json", Buffer.alloc(5_000));
      inspect(path, (raw) => raw.exec("UPDATE splashdown_objects SET size = 1"));
      expect(await task.list("keyring-")).toEqual([{ key: "keyring-1.json", sizeBytes: 5_000 }]);
      expect(await task.digests?.ofObject("keyring-1.json")).toMatchObject({ sizeBytes: 5_000 });
    });
  });

  it("takes all of a task with it, and nothing of a removed task reaches the next one of its name", async () => {
    await withStore(async ({ path, store }) => {
      const old = await create(store);
      const segment = await old.openSegment(await old.claim(), Buffer.from("h"));
      await old.putOnce("note", Buffer.from("old"));
      await store.removeTask("task");
      const rows = ["tasks", "segments", "lines", "objects"].map((table) =>
        inspect(path, (raw) => raw.prepare(`SELECT COUNT(*) AS n FROM splashdown_${table}`).all()[0]?.["n"]),
      );
      expect(rows).toEqual([0, 0, 0, 0]);
      const next = await create(store);
      expect(await next.claim()).toBe(1);
      await expect(segment.append([Buffer.from("late")])).rejects.toMatchObject({ code: "STORE_FAILED" });
      await expect(old.putOnce("note", Buffer.from("late"))).rejects.toMatchObject({ code: "STORE_FAILED" });
      expect(await next.list("")).toEqual([]);
    });
  });

  it("shows checkpoints to who queries: what the header says, the sealed bytes, and nothing of other objects", async () => {
    await withStore(async ({ path, store }) => {
      const task = await create(store);
      await task.putOnce(FILE, snapshot(HEADER));
      const {
        status: _status,
        trigger: _trigger,
        workflow_name: _name,
        current_agent: _agent,
        ...minimal
      } = { ...HEADER, seq: 18, phase: 3 };
      await task.putOnce(FILE.replace("17", "18"), snapshot(minimal));
      await task.putOnce(
        "checkpoint_broken",
        Buffer.from('{"format":"splashdown.checkpoint","version":"1.0",\n"header":{,\n'),
      );
      await task.putOnce("keyring-1.json", snapshot(HEADER));
      const rows = inspect(path, (raw) => raw.prepare("SELECT * FROM splashdown_checkpoints ORDER BY sequence").all());
      const { sealed, ...clear } = rows[0] ?? {};
      expect(clear).toEqual({
        id: HEADER.checkpoint_id,
        workflow_id: HEADER.workflow_id,
        workflow_name: "market report",
        current_agent: "review",
        task: "task",
        sequence: 17,
        phase: 2,
        status: "paused",
        trigger_name: "question_opened",
        created_at: HEADER.timestamp,
        size_bytes: snapshot(HEADER).byteLength,
        file: FILE,
      });
      expect(Buffer.compare(Buffer.from(sealed as Uint8Array), snapshot(HEADER))).toBe(0);
      expect(rows.map((row) => [row["sequence"], row["status"]])).toEqual([
        [17, "paused"],
        [18, null],
      ]);
      const layers = inspect(path, (raw) =>
        raw.prepare("SELECT id, layer_index, timestamp FROM splashdown_workflow_checkpoints").all(),
      );
      expect(layers[0]).toMatchObject({ id: HEADER.checkpoint_id, layer_index: 2, timestamp: HEADER.timestamp });
      const tasks = inspect(path, (raw) => raw.prepare("SELECT * FROM splashdown_task_list").all());
      expect(tasks).toMatchObject([{ task: "task", epoch: 0, checkpoints: 2, journal_bytes: 0 }]);
    });
  });

  it("leaves nothing of a destroyed object in its files", async () => {
    await withStore(async ({ path, store }) => {
      const task = await create(store);
      await task.putOnce("keyring-1.json", Buffer.from("a wrapped key ".repeat(400)));
      const holds = async () => {
        const texts = await Promise.all([path, `${path}-wal`].map((file) => readFile(file, "latin1")));
        return texts.some((text) => text.includes("a wrapped key"));
      };
      expect(await holds()).toBe(true);
      await task.destroy("keyring-1.json");
      expect(await holds()).toBe(false);
    });
  });

  it("hints at what came below a watched prefix when it looks again, and never once the watch is stopped", async () => {
    await withFolder(async (folder) => {
      const clock = new FakeClock();
      const store = openStore("sqlite:tasks.db", { ...createStoreParts(folder), clock });
      const task = await create(store);
      let hints = 0;
      const stop = task.watch("control/", () => (hints += 1));
      // Calls go in turn: when this one is answered, the watch has seen that there is nothing.
      await task.list("control/");
      const lookAgain = async () => {
        await clock.advance(1_000);
        await task.list("control/");
      };
      await task.putOnce("note", Buffer.from("elsewhere"));
      await lookAgain();
      expect(hints).toBe(0);
      await task.putOnce("control/answer-1", Buffer.from("yes"));
      await lookAgain();
      expect(hints).toBe(1);
      stop();
      await task.putOnce("control/answer-2", Buffer.from("no"));
      await lookAgain();
      expect(hints).toBe(1);
      await store.close();
    });
  });

  it("refuses tables of a newer version and changes nothing in them", async () => {
    await withStore(async ({ folder, path, store }) => {
      await create(store);
      await store.close();
      inspect(path, (raw) => raw.exec("INSERT INTO splashdown_migrations (version) VALUES (999)"));
      const later = openStore("sqlite:tasks.db", createStoreParts(folder));
      await expect(later.createTask("other")).rejects.toMatchObject({ code: "STORE_UNSUPPORTED" });
      await later.close();
    });
  });

  it("finishes migrations that an older version began", async () => {
    await withStore(async ({ folder, path, store }) => {
      await create(store);
      await store.close();
      inspect(path, (raw) => {
        for (const view of ["checkpoints", "workflow_checkpoints", "task_list"])
          raw.exec(`DROP VIEW splashdown_${view}`);
        raw.exec("DELETE FROM splashdown_migrations WHERE version > 1");
      });
      const later = openStore("sqlite:tasks.db", createStoreParts(folder));
      expect(await later.tasks()).toEqual(["task"]);
      expect(inspect(path, (raw) => raw.prepare("SELECT task FROM splashdown_task_list").all())).toEqual([
        { task: "task" },
      ]);
      await later.close();
    });
  });

  it("waits for a writer that holds the file, and says STORE_BUSY when it never lets go", async () => {
    await withStore(async ({ path, store }) => {
      await create(store);
      const clock = new FakeClock();
      const database = await openSqlite({ path, clock });
      const raw = new Driver(path);
      raw.exec("BEGIN IMMEDIATE");
      const insert = () => database.query("INSERT INTO splashdown_probes (at) VALUES (?) RETURNING id", [1]);
      const first = insert();
      await clock.advance(1_000);
      raw.exec("COMMIT");
      await clock.advance(10);
      expect(await first).toEqual([{ id: 1 }]);
      raw.exec("BEGIN IMMEDIATE");
      const second = insert().catch((error: unknown) => error);
      await clock.advance(10_000);
      expect(await second).toMatchObject({ code: "STORE_BUSY" });
      raw.exec("ROLLBACK");
      raw.close();
      await database.close();
    });
  });

  it("S2: says STORE_FULL when there is no room, keeps what was there, and goes on when there is", async () => {
    await withStore(async ({ path, store }) => {
      await create(store);
      const database = await openSqlite({ path, clock: realClock });
      const [pages] = await database.query("PRAGMA page_count");
      await database.query(`PRAGMA max_page_count=${Number(pages?.["page_count"]) + 4}`);
      const sql = "INSERT INTO splashdown_objects (task, key, size, digest, bytes) VALUES (1, ?, ?, '', ?)";
      await database.query(sql, ["small", 1, Buffer.from("x")]);
      const large = Buffer.alloc(1024 * 1024);
      await expect(database.query(sql, ["large", large.length, large])).rejects.toMatchObject({ code: "STORE_FULL" });
      await expect(
        database.transaction(async (query) => {
          await query(sql, ["other", 1, Buffer.from("y")]);
          await query(sql, ["large", large.length, large]);
        }),
      ).rejects.toMatchObject({ code: "STORE_FULL" });
      await database.query("PRAGMA max_page_count=100000");
      await database.query(sql, ["large", large.length, large]);
      await database.close();
      const task = await store.task("task");
      expect((await task?.list(""))?.map(({ key }) => key)).toEqual(["large", "small"]);
    });
  });

  it("undoes a transaction that fails", async () => {
    await withStore(async ({ path, store }) => {
      await create(store);
      const database = await openSqlite({ path, clock: realClock });
      const failed = database.transaction(async (query) => {
        await query("DELETE FROM splashdown_tasks");
        throw new Error("no");
      });
      await expect(failed).rejects.toThrow("no");
      expect(await store.tasks()).toEqual(["task"]);
      await database.close();
    });
  });

  it("names the command to type when no driver is there, and when one was not built", async () => {
    const none = openSqlite({ path: "/x", clock: realClock, load: () => Promise.reject(new Error("none")) });
    await expect(none).rejects.toMatchObject({
      code: "STORE_UNSUPPORTED",
      message: expect.stringContaining("npm install @photostructure/sqlite") as string,
    });
    function Broken(): void {
      throw new Error("Could not locate the bindings file. Tried:\n → a\n → b");
    }
    const broken = openSqlite({ path: "/x", clock: realClock, load: async () => ({ DatabaseSync: Broken }) });
    await expect(broken).rejects.toMatchObject({
      code: "STORE_UNSUPPORTED",
      message: expect.not.stringContaining("→") as string,
    });
  });

  it("says which file it is when it is no database", async () => {
    await withFolder(async (folder) => {
      const parts = createStoreParts(folder);
      const handle = await parts.fileSystem.open(join(folder, "tasks.db"), "create");
      await handle.write(Buffer.from("this is a text, and no database at all".repeat(40)));
      await handle.close();
      const store = openStore("sqlite:tasks.db", parts);
      await expect(store.tasks()).rejects.toMatchObject({
        code: "STORE_FAILED",
        message: expect.stringContaining("tasks.db") as string,
      });
      await store.close();
    });
  });
});
