/** What goes wrong seldom: things that vanish between two looks, places that are in the way, drivers with words of their own. */
import { once } from "node:events";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FileSystem } from "../../../src/base/file-system.js";
import { LIMITS } from "../../../src/base/limits.js";
import { isSealedText, readClearHeader } from "../../../src/store/contract/plaintext-header.js";
import { openPgliteStore, openPostgresStore, openSqliteStore } from "../../../src/store/sql/open-sql-store.js";
import { openStore } from "../../../src/store/open-store.js";
import { createOwnerFolder } from "../../../src/store/presence/owner-place.js";
import { openPglite } from "../../../src/store/sql/pglite-database.js";
import { openPostgres } from "../../../src/store/sql/postgres-database.js";
import { computePgliteError } from "../../../src/store/sql/postgres-dialect.js";
import { openExclusively } from "../../../src/store/presence/exclusive-open.js";
import { createSocketPresence } from "../../../src/store/presence/socket-presence.js";
import { openSqlite } from "../../../src/store/sql/sqlite-database.js";
import { SplashdownError } from "../../../src/base/errors.js";
import { FACTS } from "../../conformance/store-case.js";
import { changeFileSystem } from "../../support/changed-file-system.js";
import { codeOfAsync } from "../../support/error-code.js";
import { FakeClock } from "../../support/fake-clock.js";
import { ModelFileSystem } from "../../support/model-file-system.js";
import { createStoreParts } from "../../support/sql-places.js";
import { createModelStore, DEAD_OWNERS, withFolder } from "../../support/store-places.js";
import { createPlatformError } from "../../support/platform-error.js";

const failing = (errno: string) => () => Promise.reject(createPlatformError(errno));
const bytes = Uint8Array.from([7]);

/** A store over a disk that behaves as told from now on, with a task and an object in it. */
async function createGround(change: Partial<FileSystem> = {}) {
  const disk = new ModelFileSystem();
  const made = await createModelStore(disk).createTask("task");
  await made?.putOnce("control/a", bytes);
  await made?.close();
  const store = createModelStore(changeFileSystem(disk, change));
  const task = await store.task("task");
  if (task === undefined) throw new Error("the task is not there");
  return { disk, store, task };
}

describe("a directory store", () => {
  it("destroys what vanished meanwhile without a word, and says when the disk refuses to write over it", async () => {
    const gone = await createGround({ erase: failing("ENOENT") });
    await gone.task.destroy("control/a");
    expect(await gone.task.get("control/a")).toBeUndefined();
    const refused = await createGround({ erase: failing("EIO") });
    expect(await codeOfAsync(() => refused.task.destroy("control/a"))).toBe("STORE_FAILED");
    expect(await refused.task.get("control/a")).toEqual(bytes);
  });

  it("lists what is there: nothing of a folder that vanishes, and nothing that is neither folder nor file", async () => {
    const vanishing = await createGround({ readdir: failing("ENOENT") });
    expect(await vanishing.task.list("control/")).toEqual([]);
    const disk = new ModelFileSystem();
    await (await createModelStore(disk).createTask("task"))?.putOnce("control/a", bytes);
    const look = async (path: string) => ({
      ...(await disk.lstat(path)),
      ...(path.endsWith("/a") ? { kind: "other" as const } : {}),
    });
    const task = await createModelStore(changeFileSystem(disk, { lstat: look })).task("task");
    expect(await task?.list("")).toEqual([]);
  });

  it("removes a task whose name is none, or that somebody else removes beside it, without harm", async () => {
    const { store, disk } = await createGround();
    await store.removeTask("../task");
    expect(await store.tasks()).toEqual(["task"]);
    const raced = createModelStore(changeFileSystem(disk, { rmdir: failing("ENOENT") }));
    await raced.removeTask("task");
    expect(await store.tasks()).toEqual([]);
    const stuck = await createGround({ rmdir: failing("EIO") });
    expect(await codeOfAsync(() => stuck.store.removeTask("task"))).toBe("STORE_FAILED");
  });

  it("sweeps what an interrupted removal left, and leaves a file of such a name alone", async () => {
    const { disk, store } = await createGround();
    const temp = ".0123456789abcdef.tmp";
    await (await disk.open(`/outputs/${temp}`, "create")).close();
    await store.removeTask("task");
    expect(await disk.readdir("/outputs")).toEqual([temp]);
  });
});

/** A module of a driver that gives this connection. */
function driverOf(connection: object): () => Promise<unknown> {
  function Driver(): object {
    return connection;
  }
  return () => Promise.resolve({ DatabaseSync: Driver });
}

describe("a store in a database", () => {
  it("is opened by its address, and makes nothing before it is used", async () => {
    await withFolder(async (folder) => {
      const parts = createStoreParts(folder);
      const { machine: _machine, ...nameless } = parts;
      expect(openStore("pglite:data", parts).address).toBe("pglite:data");
      expect(openPgliteStore("data", nameless).manifest.kind).toBe("pglite");
      expect(openPostgresStore("postgres://me:secret@host/db", parts).address).not.toContain("secret");
      expect(await parts.fileSystem.readdir(folder)).toEqual([]);
    });
  });

  it("makes no database of PGlite among other things, and none by looking into an empty folder", async () => {
    await withFolder(async (folder) => {
      const parts = createStoreParts(folder);
      await writeFile(join(folder, "a-file"), "x");
      await mkdir(join(folder, "empty"));
      for (const address of ["pglite:a-file", "pglite:."]) {
        const store = openStore(address, parts);
        const refused = { code: "STORE_UNSUPPORTED", message: expect.stringContaining("other things") as unknown };
        await expect(store.tasks()).rejects.toMatchObject(refused);
        await expect(store.createTask("task")).rejects.toMatchObject(refused);
      }
      expect(await openStore("pglite:empty", parts).tasks()).toEqual([]);
      expect((await readdir(folder, { recursive: true })).sort()).toEqual(["a-file", "empty"]);
    });
  });

  it("takes a file that another process made at the same moment, and says when it may not look", async () => {
    await withFolder(async (folder) => {
      const parts = createStoreParts(folder);
      let looks = 0;
      const late = changeFileSystem(parts.fileSystem, {
        lstat: async (path) => {
          looks += 1;
          if (looks > 1) return parts.fileSystem.lstat(path);
          await (await parts.fileSystem.open(path, "create")).close();
          return failing("ENOENT")();
        },
      });
      const store = openSqliteStore("tasks.db", { ...parts, fileSystem: late });
      expect((await store.createTask("task"))?.name).toBe("task");
      await store.close();
      const blind = changeFileSystem(parts.fileSystem, { lstat: failing("EACCES") });
      const closed = openSqliteStore("tasks.db", { ...parts, fileSystem: blind });
      expect(await codeOfAsync(() => closed.createTask("other"))).toBe("STORE_UNWRITABLE");
    });
  });

  it("says when its file cannot be made, and tries again at the next use", async () => {
    await withFolder(async (folder) => {
      const parts = createStoreParts(folder);
      let isFull = true;
      const fileSystem = changeFileSystem(parts.fileSystem, {
        open: (path, intent) => (isFull ? failing("ENOSPC")() : parts.fileSystem.open(path, intent)),
      });
      const store = openSqliteStore("tasks.db", { ...parts, fileSystem });
      expect(await codeOfAsync(() => store.createTask("task"))).toBe("STORE_FULL");
      expect(await parts.fileSystem.readdir(folder)).toEqual([]);
      isFull = false;
      expect((await store.createTask("task"))?.name).toBe("task");
      await store.close();
    });
  });

  it("says what its driver says, by codes of ours", async () => {
    const answer = (prepare: () => never): Promise<string | undefined> => {
      const connection = { exec: () => undefined, prepare, close: () => undefined };
      const load = driverOf(connection);
      return codeOfAsync(() => openSqlite({ path: "/x", clock: new FakeClock(), load }));
    };
    const told = async (thrown: unknown) =>
      answer(() => {
        throw thrown;
      });
    // Extended codes of node:sqlite, texts of the package, and whatever else may be thrown.
    expect(await told(Object.assign(new Error("full"), { errcode: 13 | (3 << 8) }))).toBe("STORE_FULL");
    const packaged = (text: string) => Object.assign(new Error(text), { code: "ERR_SQLITE_ERROR" });
    expect(await told(packaged("database or disk is full"))).toBe("STORE_FULL");
    expect(await told(packaged("attempt to write a readonly database"))).toBe("STORE_UNWRITABLE");
    expect(await told(packaged("no such table: t"))).toBe("STORE_FAILED");
    expect(await told(Object.assign(new Error("odd"), { code: "ODD" }))).toBe("STORE_FAILED");
    expect(await told("in words")).toBe("STORE_FAILED");
    expect(await told(new SplashdownError("STORE_BUSY", "ours"))).toBe("STORE_BUSY");
  });

  it("tells a place that cannot be opened from a driver that was not built", async () => {
    function Driver(): void {
      throw Object.assign(new Error("unable to open"), { code: "ERR_SQLITE_ERROR", errcode: 14 });
    }
    const opening = openSqlite({
      path: "/x",
      clock: new FakeClock(),
      load: () => Promise.resolve({ DatabaseSync: Driver }),
    });
    await expect(opening).rejects.toMatchObject({
      code: "STORE_UNWRITABLE",
      message: "using /x failed: unable to open",
    });
  });

  it("refuses a file that takes no write-ahead log", async () => {
    const statement = { reader: true, all: () => [{ journal_mode: "delete", synchronous: 2 }], run: () => undefined };
    let closed = 0;
    const connection = { exec: () => undefined, prepare: () => statement, close: () => (closed += 1) };
    const load = driverOf(connection);
    const opening = openSqlite({ path: "/x", clock: new FakeClock(), load });
    await expect(opening).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining("/x") as unknown,
    });
    expect(closed).toBe(1);
  });

  it("names the command to type when a package is not there", async () => {
    const load = () => Promise.reject(new Error("Cannot find package"));
    const postgres = openPostgres({
      url: "postgres://h",
      place: "postgres://h",
      clock: new FakeClock(),
      channel: "c",
      load,
    });
    const pglite = openPglite({
      folder: "/x",
      place: "pglite:x",
      channel: "c",
      isThere: async () => false,
      move: async () => undefined,
      createTemp: () => "/y",
      makeFolder: () => Promise.resolve(),
      makePrivate: () => Promise.resolve(),
      release: async () => undefined,
      load,
    });
    for (const [opening, name] of [
      [postgres, "pg"],
      [pglite, "@electric-sql/pglite"],
    ] as const)
      await expect(opening).rejects.toMatchObject({
        code: "STORE_UNSUPPORTED",
        message: expect.stringContaining(`npm install ${name}`) as unknown,
        details: { package: name },
      });
  });

  it("keeps a code of ours, and gives PGlite's failures one", () => {
    const ours = new SplashdownError("STORE_BUSY", "taken");
    expect(computePgliteError(ours, "pglite:x")).toBe(ours);
    expect(computePgliteError(Object.assign(new Error("full"), { code: "53100" }), "pglite:x")).toMatchObject({
      code: "STORE_FULL",
      details: { store: "pglite:x", sqlstate: "53100" },
    });
    expect(computePgliteError(new Error("odd"), "pglite:x")).toMatchObject({ code: "STORE_FAILED" });
  });

  it("makes a reserve of one megabyte for owners beside it, and says when no folder can be made for them", async () => {
    await withFolder(async (folder) => {
      const parts = createStoreParts(folder);
      const { reserveBytes: _size, ...store } = parts;
      const task = { name: "task", id: 1 };
      const place = createOwnerFolder({ root: join(folder, "owners"), task, store });
      expect(await place.ensureReserve()).toBe(true);
      const [reserve = ""] = await parts.fileSystem.readdir(join(folder, "owners/task-1"));
      const { sizeBytes } = await parts.fileSystem.lstat(join(folder, "owners/task-1", reserve));
      expect(sizeBytes).toBe(LIMITS.ballastBytes);
      const fileSystem = changeFileSystem(parts.fileSystem, { mkdir: failing("EROFS") });
      const refused = createOwnerFolder({ root: join(folder, "others"), task, store: { ...store, fileSystem } });
      await expect(refused.ensureReserve()).rejects.toMatchObject({ code: "EROFS" });
      // To announce an owner is worth a try only.
      await expect(refused.announce(FACTS)).resolves.toBeDefined();
    });
  });
});

describe("the record of an owner", () => {
  it("is passed over when it goes while it is read: the one before counts", async () => {
    const disk = new ModelFileSystem();
    const task = await createModelStore(disk).createTask("task");
    await task?.announce({ ...FACTS, epoch: 2, pid: 2 });
    await task?.announce({ ...FACTS, epoch: 1, pid: 1 });
    const records = (await disk.readdir("/outputs/task/checkpoints")).filter((name) => /^owner-\d+$/.test(name)).sort();
    expect(records).toHaveLength(2);
    const vanishing = changeFileSystem(disk, {
      open: (path, intent) => (path.endsWith(records[1] ?? "") ? failing("ENOENT")() : disk.open(path, intent)),
    });
    const looking = await createModelStore(vanishing).task("task");
    expect((await looking?.ownerState())?.owner?.pid).toBe(1);
  });
});

describe("the only opener of a place", () => {
  it("says what the disk refused, leaving nothing of its own, and whom it does not know", async () => {
    await withFolder(async (folder) => {
      const store = { ...createStoreParts(folder, "opener"), presence: DEAD_OWNERS };
      const root = join(folder, "openings");
      const shared = { root, place: "pglite:data", facts: FACTS };
      const fileSystem = changeFileSystem(store.fileSystem, { rename: failing("EIO") });
      await expect(openExclusively({ ...shared, store: { ...store, fileSystem } })).rejects.toMatchObject({
        code: "STORE_FAILED",
      });
      expect(await store.fileSystem.readdir(root)).toEqual([]);
      await openExclusively({ ...shared, store });
      const [record = ""] = (await store.fileSystem.readdir(join(root, "opening-1"))).filter((name) =>
        name.startsWith("owner-"),
      );
      await rm(join(root, "opening-1", record));
      await (await store.fileSystem.open(join(root, "opening-1", record), "create")).close();
      await expect(openExclusively({ ...shared, store })).rejects.toMatchObject({
        code: "STORE_BUSY",
        message: expect.stringMatching(/^another process, of which it is unclear/) as unknown,
      });
    });
  });
});

describe("a socket that says more than an owner would", () => {
  it("is answered all the same, and is not listened to for ever", async () => {
    await withFolder(async (folder) => {
      const server = createServer((socket) => {
        socket.on("error", () => undefined);
        // It never ends what it says.
        socket.write("x".repeat(200_000));
      }).listen(join(folder, "door.sock"));
      await once(server, "listening");
      const clock = new FakeClock();
      const knock = await createSocketPresence({ clock, platform: process.platform }).ping({
        folder,
        name: "door.sock",
      });
      expect(knock.kind).toBe("answered");
      expect(clock.monotonicMs()).toBe(0);
      server.close();
    });
  });
});

describe("what an object says in the clear", () => {
  it("is its header, of files that begin as ours do; without encryption it is not called sealed", async () => {
    const text = (suite: string) =>
      Buffer.from(`{"format":"splashdown.blob","version":"1.0",\n"header":{"suite":"${suite}"},\n`);
    expect([isSealedText(text("AES")), isSealedText(text("none")), isSealedText(Buffer.from("{}"))]).toEqual([
      true,
      false,
      false,
    ]);
    expect(readClearHeader(text("AES"))).toBe('{"suite":"AES"}');
    expect(readClearHeader(Buffer.from("one line"))).toBeUndefined();
    expect(readClearHeader(Buffer.from("one line\nand no other"))).toBeUndefined();
    const begun = '{"format":"splashdown.blob","version":"1.0",\n';
    for (const rest of [
      '"footer":{},\n',
      '"header":{}\n',
      '"header":[],\n',
      '"header":{"a":"\\u0000"},\n',
      '"header":{,\n',
    ])
      expect([rest, readClearHeader(Buffer.from(begun + rest))]).toEqual([rest, undefined]);
    expect(readClearHeader(Buffer.from('{"format":"other"}\n"header":{}\n'))).toBeUndefined();
  });
});
