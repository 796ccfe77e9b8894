import { chmod, link, mkdir, readdir, rename, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FileSystem } from "../../../src/base/file-system.js";
import { createNodeFileSystem } from "../../../src/base/node-file-system.js";
import type { TaskStore } from "../../../src/store/contract/contract.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { DiskModel, type FileNode, type FolderNode } from "../../support/disk-model.js";
import { ModelFileSystem } from "../../support/model-file-system.js";
import { RushingClock } from "../../support/rushing-clock.js";
import { createModelStore, createRealStore, MODEL_USER_ID, withFolder } from "../../support/store-places.js";

const CHECKPOINTS = "/outputs/task/checkpoints";
const JOURNAL = `${CHECKPOINTS}/journal`;

async function createModelTask(fileSystem: FileSystem = new ModelFileSystem()): Promise<TaskStore> {
  const task = await createModelStore(fileSystem, { parts: { clock: new RushingClock() } }).createTask("task");
  if (task === undefined) throw new Error("not created");
  return task;
}

/** Everything below a folder with its type and mode. */
async function modesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const { mode } = await stat(join(entry.parentPath, entry.name));
    found.push(`${entry.isDirectory() ? "folder" : "file"} ${(mode & 0o777).toString(8)}`);
  }
  return found;
}

describe("DirectoryStore on this machine", () => {
  it.each([0o000, 0o022, 0o077, 0o277])("makes folders 0700 and files 0600 under umask %o", async (umask) => {
    await withFolder(async (folder) => {
      const before = process.umask(umask);
      try {
        const task = await createRealStore(join(folder, "outputs")).createTask("task");
        await task?.openSegment(await task.claim(), Buffer.from("h"));
        await task?.putOnce("blobs/ab/x.bin", Buffer.from("x"));
        await task?.ensureReserve();
        await (
          await task?.announce({
            pid: 1,
            host: "h",
            machineId: "m",
            bootId: "b",
            namespace: "pid:[1]",
            processStartedAt: "",
            since: "",
          })
        )?.beat();
        await task?.close();
      } finally {
        process.umask(before);
      }
      expect(new Set(await modesBelow(folder))).toEqual(new Set(["folder 700", "file 600"]));
    });
  });

  it("S4: refuses a key that is the folder of another, and one below an object", async () => {
    await withFolder(async (root) => {
      const task = await createRealStore(root).createTask("task");
      await task?.putOnce("a/b", Buffer.from("x"));
      for (const key of ["a", "a/b/c"]) {
        await expect(task?.putOnce(key, Buffer.from("y"))).rejects.toMatchObject({ code: "STORE_UNSAFE" });
      }
      await expect(task?.remove("a")).rejects.toMatchObject({ code: "STORE_UNSAFE" });
      expect(await task?.list("")).toEqual([{ key: "a/b", sizeBytes: 1 }]);
    });
  });

  it("leaves no temporary file behind and makes the reserve one megabyte", async () => {
    await withFolder(async (folder) => {
      const task = await createRealStore(folder).createTask("task");
      await task?.putOnce("a", Buffer.from("x"));
      await task?.ensureReserve();
      expect((await readdir(join(folder, "task/checkpoints"))).sort()).toEqual([".ballast", "a", "journal"]);
      expect((await stat(join(folder, "task/checkpoints/.ballast"))).size).toBe(1024 * 1024);
    });
  });

  it("follows no link at any component below its root", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "outputs");
      const levels = { a: "", b: "checkpoints", c: "checkpoints/journal", d: "checkpoints/blobs" };
      for (const [name, level] of Object.entries(levels)) {
        await (await createRealStore(root).createTask(name))?.putOnce("blobs/x", Buffer.from("x"));
        const path = join(root, name, level);
        await rename(path, `${path}-moved`);
        await symlink(`${path}-moved`, path);
        const again = createRealStore(root);
        const opened = async () => (await again.task(name))?.get("blobs/x");
        await expect(opened()).rejects.toMatchObject({ code: "STORE_UNSAFE" });
      }
      expect(await createRealStore(root).tasks()).toEqual(["a-moved", "d"]);
    });
  });

  it("reads and replaces nothing through a planted link, a third name or a pipe", async () => {
    await withFolder(async (folder) => {
      const task = await createRealStore(folder).createTask("task");
      const inTask = (name: string) => join(folder, "task/checkpoints", name);
      await writeFile(join(folder, "secret"), "secret", { mode: 0o600 });
      await symlink(join(folder, "secret"), inTask("linked"));
      await symlink(join(folder, "absent"), inTask("dangling"));
      await writeFile(inTask("named"), "x", { mode: 0o600 });
      await link(inTask("named"), inTask("named-2"));
      await link(inTask("named"), inTask("named-3"));
      for (const key of ["linked", "dangling", "named"]) {
        await expect(task?.get(key)).rejects.toMatchObject({ code: "STORE_UNSAFE" });
        await expect(task?.putOnce(key, Buffer.from("y"))).rejects.toMatchObject({ code: "STORE_UNSAFE" });
      }
      await symlink(join(folder, "secret"), join(folder, "task/checkpoints/journal/00000001-0000.jsonl"));
      await expect(task?.segments()).rejects.toMatchObject({ code: "STORE_UNSAFE" });
      await expect(task?.read({ epoch: 1, index: 0 })).rejects.toMatchObject({ code: "STORE_UNSAFE" });
      expect(await task?.claim()).toBe(2);
    });
  });

  it("refuses a task folder that others can write to, whichever of its folders it is", async () => {
    await withFolder(async (root) => {
      for (const level of ["", "checkpoints", "checkpoints/journal"]) {
        const name = `task${level.length}`;
        await createRealStore(root).createTask(name);
        await chmod(join(root, name, level), 0o770);
        await expect(createRealStore(root).task(name)).rejects.toMatchObject({ code: "STORE_UNSAFE" });
      }
      expect(await createRealStore(root).tasks()).toEqual(["task0", "task11", "task19"]);
    });
  });

  it("accepts a root that is a link and that others can write to", async () => {
    await withFolder(async (folder) => {
      await mkdir(join(folder, "real"));
      await chmod(join(folder, "real"), 0o777);
      await symlink(join(folder, "real"), join(folder, "outputs"));
      const store = createRealStore(join(folder, "outputs"));
      await store.probe();
      const task = await store.createTask("task");
      expect(await task?.claim()).toBe(1);
      expect(await createRealStore(join(folder, "real")).tasks()).toEqual(["task"]);
    });
  });

  it("leaves folders and files that are no tasks out of the list", async () => {
    await withFolder(async (root) => {
      const store = createRealStore(root);
      expect(await createRealStore(join(root, "absent")).tasks()).toEqual([]);
      await mkdir(join(root, "half/checkpoints"), { recursive: true });
      await mkdir(join(root, ".git/checkpoints/journal"), { recursive: true });
      await writeFile(join(root, "README.md"), "note");
      await store.createTask("real");
      expect(await store.tasks()).toEqual(["real"]);
      expect(await store.task("half")).toBe(undefined);
    });
  });

  it("finishes an interrupted creation, but takes over no folder with something in it", async () => {
    await withFolder(async (root) => {
      const store = createRealStore(root);
      await mkdir(join(root, "half/checkpoints"), { recursive: true, mode: 0o700 });
      await mkdir(join(root, "empty"), { mode: 0o700 });
      await mkdir(join(root, "mine/checkpoints"), { recursive: true, mode: 0o700 });
      await writeFile(join(root, "mine/report.md"), "mine");
      await mkdir(join(root, "old/checkpoints"), { recursive: true, mode: 0o700 });
      await writeFile(join(root, "old/checkpoints/keyring-1.json"), "{}");
      expect((await store.createTask("half"))?.name).toBe("half");
      expect((await store.createTask("empty"))?.name).toBe("empty");
      expect(await store.createTask("mine")).toBe(undefined);
      expect(await store.createTask("old")).toBe(undefined);
      expect(await readdir(join(root, "mine"))).toEqual(["checkpoints", "report.md"]);
    });
  });

  it("says whether a place can be written", async () => {
    await withFolder(async (folder) => {
      await writeFile(join(folder, "file"), "x");
      await expect(createRealStore(join(folder, "file")).probe()).rejects.toMatchObject({ code: "STORE_UNSAFE" });
      await createRealStore(join(folder, "new/outputs")).probe();
      expect(await readdir(join(folder, "new/outputs"))).toEqual([]);
    });
  });

  it("can be claimed and listed when its folder holds names that are no segments", async () => {
    await withFolder(async (root) => {
      const task = await createRealStore(root).createTask("task");
      for (const name of [
        "00000000-0000.jsonl",
        "99-0.jsonl",
        "0000000x-0000.jsonl",
        "00000009-0000.jsonl.bak",
        "zz",
      ]) {
        await writeFile(join(root, "task/checkpoints/journal", name), "x");
      }
      expect(await task?.claim()).toBe(1);
      expect(await task?.confirm(1)).toBe(true);
      expect(await task?.segments()).toEqual([{ epoch: 1, index: 0, sizeBytes: 0 }]);
    });
  });
});

describe("DirectoryStore over a failing disk", () => {
  it("S2: after a failed append the segment is dead, its handle closed, and the next index takes over", async () => {
    for (const name of ["write", "datasync"] as const) {
      const probe = new FaultyFileSystem();
      await fillSegment(probe);
      const at = probe.operations.findLastIndex((operation) => operation.name === name) + 1;
      const fileSystem = new FaultyFileSystem({ faults: [{ at, fault: "EIO", times: "once" }] });
      const { task, segment, error } = await fillSegment(fileSystem);
      expect(error).toMatchObject({ code: "STORE_FAILED" });
      expect(fileSystem.operations.at(-1)?.name).toBe("close");
      const count = fileSystem.operationCount;
      await expect(segment.append([Buffer.from("again")])).rejects.toMatchObject({ code: "SEGMENT_DEAD" });
      await segment.close();
      expect(fileSystem.operationCount).toBe(count);
      const next = await task.openSegment(1, Buffer.from("h2"));
      expect(next.id).toEqual({ epoch: 1, index: 1 });
      await next.append([Buffer.from("saved")]);
    }
  });

  it("goes on to the next index when the header itself could not be written", async () => {
    const probe = new FaultyFileSystem();
    await fillSegment(probe);
    const at = probe.operations.findIndex((operation) => operation.name === "datasync") + 1;
    const fileSystem = new FaultyFileSystem({ faults: [{ at, fault: "ENOSPC", times: "once" }] });
    const task = await createModelTask(fileSystem);
    const epoch = await task.claim();
    await expect(task.openSegment(epoch, Buffer.from("h"))).rejects.toMatchObject({ code: "STORE_FULL" });
    expect((await task.openSegment(epoch, Buffer.from("h"))).id).toEqual({ epoch: 1, index: 1 });
  });

  it("waits for descriptors up to five seconds, then says that the store is busy", async () => {
    const clock = new RushingClock();
    const fileSystem = new FaultyFileSystem({ faults: [{ at: 1, fault: "EMFILE", times: "forEver" }] });
    const store = createModelStore(fileSystem, { parts: { clock } });
    await expect(store.tasks()).rejects.toMatchObject({ code: "STORE_BUSY" });
    expect(clock.sleptMs).toBeGreaterThanOrEqual(5000);
    expect(clock.sleptMs).toBeLessThan(6000);
    const passing = new FaultyFileSystem({ faults: [{ at: 1, fault: "EMFILE", times: "once" }] });
    expect(await createModelStore(passing, { parts: { clock } }).createTask("task")).toBeDefined();
  });

  it("S4: finds a full disk, keeps what was there, and fits a completion once the reserve is given up", async () => {
    const fileSystem = new ModelFileSystem(new DiskModel({ capacityBytes: 12_000 }));
    const task = await createModelTask(fileSystem);
    await task.ensureReserve();
    const epoch = await task.claim();
    let segment = await task.openSegment(epoch, Buffer.from("h"));
    const line = Buffer.alloc(1000, "x");
    const fill = async () => {
      for (let count = 0; count < 100; count += 1) await segment.append([line]);
    };
    await expect(fill()).rejects.toMatchObject({ code: "STORE_FULL" });
    await expect(task.putOnce("a", Buffer.alloc(5000))).rejects.toMatchObject({ code: "STORE_FULL" });
    expect(await task.list("")).toEqual([]);
    expect(await task.releaseReserve()).toBe(true);
    segment = await task.openSegment(epoch, Buffer.from("h2"));
    await segment.append([Buffer.alloc(3000, "y")]);
    await task.ensureReserve();
    expect(await task.releaseReserve()).toBe(false);
    await task.removeSegment({ epoch: await task.claim().then((next) => next - 1), index: 0 });
    await task.ensureReserve();
    expect(await task.releaseReserve()).toBe(true);
  });

  it("creates objects by rename where there are no hard links, still without replacing", async () => {
    const fileSystem = new ModelFileSystem(new DiskModel({ hasLinks: false }));
    const task = await createModelTask(fileSystem);
    expect(await task.putOnce("a/b", Buffer.from("1"))).toBe("created");
    expect(await task.putOnce("a/b", Buffer.from("2"))).toBe("exists");
    expect(Buffer.from((await task.get("a/b")) ?? []).toString()).toBe("1");
    expect(await fileSystem.readdir(CHECKPOINTS)).toEqual(["journal", "a"]);
  });

  it("refuses an object that does not read back as it was written", async () => {
    const fileSystem = new ModelFileSystem();
    const open = fileSystem.open.bind(fileSystem);
    fileSystem.open = async (path, intent) => {
      const handle = await open(path, intent);
      return {
        ...handle,
        read: async (position, length) => (await handle.read(position, length)).map((byte) => byte ^ 1),
      };
    };
    const task = await createModelTask(fileSystem);
    await expect(task.putOnce("a", Buffer.from("x"))).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(await task.list("")).toEqual([]);
  });

  it("refuses what belongs to another user", async () => {
    const fileSystem = new ModelFileSystem();
    const task = await createModelTask(fileSystem);
    await task.putOnce("a", Buffer.from("x"));
    (fileSystem.disk.find(`${CHECKPOINTS}/a`) as FileNode).uid = MODEL_USER_ID + 1;
    await expect(task.get("a")).rejects.toMatchObject({ code: "STORE_UNSAFE" });
    (fileSystem.disk.find(JOURNAL) as FolderNode).uid = MODEL_USER_ID + 1;
    await expect(task.claim()).rejects.toMatchObject({ code: "STORE_UNSAFE" });
    await expect(createModelStore(fileSystem).task("task")).rejects.toMatchObject({ code: "STORE_UNSAFE" });
  });

  it("sweeps temporary files by their name only", async () => {
    const fileSystem = new ModelFileSystem();
    const task = await createModelTask(fileSystem);
    for (const name of [".0123456789abcdef.tmp", ".0123456789abcde.tmp", ".0123456789abcdeg.tmp", "a.tmp"]) {
      await (await fileSystem.open(`${CHECKPOINTS}/${name}`, "create")).close();
    }
    await task.sweep();
    expect((await fileSystem.readdir(CHECKPOINTS)).sort()).toEqual([
      ".0123456789abcde.tmp",
      ".0123456789abcdeg.tmp",
      "a.tmp",
      "journal",
    ]);
  });

  it("has no epoch left after the last number and says so", async () => {
    const fileSystem = new ModelFileSystem();
    const task = await createModelTask(fileSystem);
    await (await fileSystem.open(`${JOURNAL}/99999999-0000.jsonl`, "create")).close();
    await expect(task.claim()).rejects.toMatchObject({ code: "STORE_UNSAFE" });
  });

  it("says what was being done to what when it failed", async () => {
    const fileSystem = new FaultyFileSystem({ faults: [{ at: 1, fault: "EROFS", times: "forEver" }] });
    const store = createModelStore(fileSystem);
    await expect(store.createTask("task")).rejects.toMatchObject({
      code: "STORE_UNWRITABLE",
      message: "creating /outputs/task failed: EROFS",
      details: { path: "/outputs/task", errno: "EROFS" },
    });
    await expect(store.probe()).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
  });
});

describe("the node file system", () => {
  it("creates exclusively, refuses links and tells volumes", async () => {
    await withFolder(async (folder) => {
      const fileSystem = createNodeFileSystem();
      const handle = await fileSystem.open(join(folder, "a"), "create");
      expect(await handle.write(Buffer.from("text"))).toBe(4);
      await handle.datasync();
      await handle.close();
      await expect(fileSystem.open(join(folder, "a"), "create")).rejects.toMatchObject({ code: "EEXIST" });
      await symlink(join(folder, "a"), join(folder, "l"));
      await expect(fileSystem.open(join(folder, "l"), "read")).rejects.toMatchObject({ code: "ELOOP" });
      const more = await fileSystem.open(join(folder, "a"), "append");
      await more.write(Buffer.from("+"));
      await more.sync();
      expect((await more.stat()).sizeBytes).toBe(5);
      await more.close();
      const read = await fileSystem.open(join(folder, "a"), "read");
      expect(Buffer.from(await read.read(2, 100)).toString()).toBe("xt+");
      await read.close();
      await fileSystem.mkdir(join(folder, "d"));
      await fileSystem.rmdir(join(folder, "d"));
      expect((await fileSystem.lstat(join(folder, "l"))).kind).toBe("link");
      expect(typeof (await fileSystem.volumeOf(folder)).type).toBe("number");
    });
  });

  it.runIf(process.platform === "linux")("knows memory for what it is", async () => {
    expect(await createNodeFileSystem().volumeOf("/dev/shm")).toMatchObject({ volatile: true, network: false });
  });
});

async function fillSegment(fileSystem: FaultyFileSystem) {
  const task = await createModelTask(fileSystem);
  const segment = await task.openSegment(await task.claim(), Buffer.from("h"));
  const error: unknown = await segment.append([Buffer.from("a")]).catch((reason: unknown) => reason);
  return { task, segment, error };
}
