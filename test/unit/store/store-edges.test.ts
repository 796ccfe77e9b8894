/** The corners of the store's small files: names, errors, short reads, clean-up that fails too. */
import { describe, expect, it } from "vitest";
import type { FileHandle, FileSystem } from "../../../src/base/file-system.js";
import { LIMITS } from "../../../src/base/limits.js";
import type { TaskStore } from "../../../src/store/contract/contract.js";
import { OBJECT_BYTES_MAX, requireObjectSize } from "../../../src/store/directory/directory-objects.js";
import { isObjectKey, isTaskName } from "../../../src/store/contract/object-key.js";
import { decodeOwnerRecord } from "../../../src/store/presence/owner-record.js";
import { joinLines } from "../../../src/store/files/segment-file.js";
import { formatSegmentName, parseSegmentEpoch, parseSegmentName } from "../../../src/store/contract/segment-name.js";
import { computeStoreError, withStoreErrors } from "../../../src/store/contract/store-failure.js";
import { FACTS } from "../../conformance/store-case.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { changeFileSystem } from "../../support/changed-file-system.js";
import { DiskError, DiskModel, type FileNode } from "../../support/disk-model.js";
import { ModelFileSystem, type OperationName } from "../../support/model-file-system.js";
import { RushingClock } from "../../support/rushing-clock.js";
import { createModelStore } from "../../support/store-places.js";

const CHECKPOINTS = "/outputs/task/checkpoints";

async function createTask(fileSystem: FileSystem): Promise<TaskStore> {
  const task = await createModelStore(fileSystem, { parts: { clock: new RushingClock() } }).createTask("task");
  if (task === undefined) throw new Error("not created");
  return task;
}

/** Fails the named operations on paths that hold the text, from `arm` on. */
class SabotagedFileSystem extends ModelFileSystem {
  readonly faults = new Map<OperationName, { text: string; errno: string }>();

  protected override async perform<T>(
    operation: Parameters<ModelFileSystem["perform"]>[0],
    act: Parameters<ModelFileSystem["perform"]>[1],
  ): Promise<T> {
    const fault = this.faults.get(operation.name);
    if (fault !== undefined && operation.path.includes(fault.text)) throw new DiskError(fault.errno, operation.path);
    return super.perform(operation, act) as Promise<T>;
  }
}

describe("segment names", () => {
  it("are read back as they were written, and nothing else is read as one", () => {
    expect(formatSegmentName({ epoch: 3, index: 0 })).toBe("00000003-0000.jsonl");
    expect(parseSegmentName("00000003-0012.jsonl")).toEqual({ epoch: 3, index: 12 });
    const foreign = ["00000000-0000.jsonl", "0000000a-0000.jsonl", "00000003-00x0.jsonl", "00000003_0000.jsonl"];
    foreign.push("00000003-0000.jsonx", "3-0.jsonl", "", "00000003-0000.jsonl ", "0000000/-0000.jsonl");
    expect(foreign.map(parseSegmentName)).toEqual(foreign.map(() => undefined));
    expect(parseSegmentEpoch("00000003-00x0.jsonl")).toBe(3);
  });
});

describe("task names and object keys", () => {
  it("are what can be stored on every platform", () => {
    expect(["a", "market-report_20240102_143522", "A.b~1", "x".repeat(64)].every(isTaskName)).toBe(true);
    expect(
      ["checkpoint_phase2_20240102T143522123Z_00000017.json", "keyring-1.json", "blobs/ab/0.bin"].every(isObjectKey),
    ).toBe(true);
    expect(["lpt1", "a/aux.json", "owner.json", "x".repeat(256), "journal/a"].some(isObjectKey)).toBe(false);
  });
});

describe("limits of the store", () => {
  it("refuse an object and a line that are over them", () => {
    const huge = { byteLength: OBJECT_BYTES_MAX + 1 } as Uint8Array;
    expect(() => requireObjectSize("a", huge)).toThrowError(expect.objectContaining({ code: "VALUE_TOO_LARGE" }));
    const line = Buffer.alloc(LIMITS.recordBytesMax + 1, "x");
    expect(() => joinLines([line])).toThrowError(expect.objectContaining({ code: "VALUE_TOO_LARGE" }));
  });

  it("refuse to read a file that somebody made larger than any object", async () => {
    const fileSystem = new ModelFileSystem();
    const task = await createTask(fileSystem);
    await task.putOnce("a", Buffer.from("x"));
    (fileSystem.disk.find(`${CHECKPOINTS}/a`) as FileNode).sizeBytes = OBJECT_BYTES_MAX + 1;
    await expect(task.get("a")).rejects.toMatchObject({ code: "VALUE_TOO_LARGE" });
  });

  it("end an epoch's segments after the last index", async () => {
    const fileSystem = new ModelFileSystem();
    const task = await createTask(fileSystem);
    const epoch = await task.claim();
    const open = fileSystem.open.bind(fileSystem);
    fileSystem.open = async () => {
      throw new DiskError("EIO", "/");
    };
    for (let index = 0; index < 10_000; index += 1) {
      await task.openSegment(epoch, Buffer.from("h")).then(
        (segment) => segment.close(),
        () => undefined,
      );
    }
    fileSystem.open = open;
    await expect(task.openSegment(epoch, Buffer.from("h"))).rejects.toMatchObject({ code: "STORE_UNSAFE" });
  });
});

describe("computeStoreError", () => {
  it("[reliability 4] gives each errno its code, also where Node has no name for it, and leaves our own mistakes alone", () => {
    const act = { action: "writing", path: "/p" };
    const codeOf = (errno: string) => (computeStoreError(new DiskError(errno, "/p"), act) as { code: string }).code;
    expect(["EDQUOT", "EPERM", "ENFILE", "ELOOP", "EIO", "ESTALE", "EUCLEAN", "ENOLCK"].map(codeOf)).toEqual([
      "STORE_FULL",
      "STORE_UNWRITABLE",
      "STORE_BUSY",
      "STORE_UNSAFE",
      "STORE_FAILED",
      "STORE_FAILED",
      "STORE_FAILED",
      "STORE_FAILED",
    ]);
    const mistakes = [new TypeError("ours"), "text", Object.assign(new Error("x"), { code: "ERR_INVALID_ARG_TYPE" })];
    expect(mistakes.map((mistake) => computeStoreError(mistake, act))).toEqual(mistakes);
  });

  it("does not wrap what has a code already", async () => {
    const inner = withStoreErrors({ action: "reading", path: "/inner" }, async () => {
      throw new DiskError("EIO", "/inner");
    });
    const outer = withStoreErrors({ action: "opening", path: "/outer" }, () => inner);
    await expect(outer).rejects.toMatchObject({ code: "STORE_FAILED", details: { path: "/inner" } });
  });
});

describe("decodeOwnerRecord", () => {
  it("reads a newer version and ignores a socket name that is not one", () => {
    const record = { format: "splashdown.owner", version: "9.9", facts: FACTS, counter: 2, socket: "x/../y", more: 1 };
    expect(decodeOwnerRecord(JSON.stringify(record))).toEqual({ facts: FACTS, counter: 2, socket: undefined });
    expect(decodeOwnerRecord(" ".repeat(20_000))).toBe(undefined);
  });
});

describe("reading and writing", () => {
  it("go on after every short read and write, and stop when no progress is made", async () => {
    const inner = new ModelFileSystem();
    let stuck = false;
    const fileSystem: FileSystem = new Proxy<FileSystem>(inner, {
      get: (_target, name) => {
        if (name === "open") return async (...args: Parameters<FileSystem["open"]>) => slow(await inner.open(...args));
        const member: unknown = Reflect.get(inner, name, inner);
        return typeof member === "function" ? member.bind(inner) : member;
      },
    });
    const slow = (handle: FileHandle): FileHandle => ({
      ...handle,
      write: (bytes) => (stuck ? Promise.resolve(0) : handle.write(bytes.subarray(0, 3))),
      read: (position, length) => handle.read(position, Math.min(length, 3)),
    });
    const task = await createTask(fileSystem);
    await task.putOnce("a", Buffer.from("0123456789"));
    expect(Buffer.from((await task.get("a")) ?? []).toString()).toBe("0123456789");
    expect(Buffer.from((await task.get("a", { offset: 2, length: 7 })) ?? []).toString()).toBe("2345678");
    const segment = await task.openSegment(await task.claim(), Buffer.from("header"));
    stuck = true;
    await expect(segment.append([Buffer.from("line")])).rejects.toMatchObject({ code: "STORE_FAILED" });
  });
});

describe("DirectoryStore when cleaning up fails too", () => {
  it("closes the claimed file when its name cannot be made durable, and gives the next claim the next number", async () => {
    const fileSystem = new SabotagedFileSystem();
    const task = await createTask(fileSystem);
    await task.claim();
    fileSystem.faults.set("syncFolder", { text: "journal", errno: "EIO" });
    fileSystem.faults.set("close", { text: "", errno: "EIO" });
    await expect(task.claim()).rejects.toMatchObject({ code: "STORE_FAILED" });
    await expect(task.openSegment(2, Buffer.from("h"))).rejects.toMatchObject({ code: "INTERNAL" });
    await task.openSegment(1, Buffer.from("h"));
    await expect(task.openSegment(1, Buffer.from("h"))).rejects.toMatchObject({ code: "STORE_FAILED" });
    fileSystem.faults.delete("syncFolder");
    expect(await task.claim()).toBe(3);
    await task.close();
  });

  it("names the first failure of a put, of a reserve and of a segment, not that of the clean-up", async () => {
    const fileSystem = new SabotagedFileSystem();
    const task = await createTask(fileSystem);
    const segment = await task.openSegment(await task.claim(), Buffer.from("h"));
    for (const name of ["close", "unlink"] as const) fileSystem.faults.set(name, { text: "", errno: "EACCES" });
    fileSystem.faults.set("write", { text: "", errno: "EDQUOT" });
    await expect(task.putOnce("a", Buffer.from("x"))).rejects.toMatchObject({ code: "STORE_FULL" });
    await task.ensureReserve();
    await expect(segment.append([Buffer.from("x")])).rejects.toMatchObject({ code: "STORE_FULL" });
    await expect(task.releaseReserve()).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
    fileSystem.faults.set("write", { text: "", errno: "EIO" });
    fileSystem.faults.delete("unlink");
    await expect(task.ensureReserve()).rejects.toMatchObject({ code: "STORE_FAILED" });
    fileSystem.faults.clear();
    await task.ensureReserve();
    fileSystem.faults.set("syncFolder", { text: "", errno: "EIO" });
    expect(await task.releaseReserve()).toBe(true);
  });

  it("passes on what is wrong with a place instead of calling it absent", async () => {
    const fileSystem = new SabotagedFileSystem();
    const task = await createTask(fileSystem);
    await task.putOnce("a/b", Buffer.from("x"));
    fileSystem.faults.set("lstat", { text: "", errno: "EIO" });
    const store = createModelStore(fileSystem);
    // Listed all the same, so that it hides no other.
    expect(await store.tasks()).toEqual(["task"]);
    const failed: Promise<unknown>[] = [store.task("task"), store.createTask("task"), task.get("a/b"), task.list("")];
    failed.push(task.remove("a/b"), task.ensureReserve(), task.putOnce("a/b", Buffer.from("x")));
    for (const work of failed) await expect(work).rejects.toMatchObject({ code: "STORE_FAILED" });
    fileSystem.faults.clear();
    fileSystem.faults.set("unlink", { text: "", errno: "EIO" });
    await expect(task.remove("a/b")).rejects.toMatchObject({ code: "STORE_FAILED" });
    await task.claim();
    await task.claim();
    await expect(task.removeSegment({ epoch: 1, index: 0 })).rejects.toMatchObject({ code: "STORE_FAILED" });
    fileSystem.faults.set("readdir", { text: "", errno: "EACCES" });
    await expect(createModelStore(fileSystem).tasks()).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
    await expect(task.ownerState()).rejects.toMatchObject({ code: "STORE_UNWRITABLE" });
    fileSystem.faults.clear();
    await task.announce(FACTS);
    fileSystem.faults.set("open", { text: "owner", errno: "EIO" });
    await expect(task.ownerState()).rejects.toMatchObject({ code: "STORE_FAILED" });
  });

  it("tolerates a root whose parent it may not sync, and no other failure there", async () => {
    const fileSystem = new SabotagedFileSystem();
    await fileSystem.mkdir("/outputs");
    fileSystem.faults.set("syncFolder", { text: "/.", errno: "EIO" });
    await expect(createModelStore(fileSystem).createTask("task")).rejects.toMatchObject({ code: "STORE_FAILED" });
    const parentOnly = new FaultyFileSystem();
    await parentOnly.mkdir("/outputs");
    const inner = parentOnly.syncFolder.bind(parentOnly);
    parentOnly.syncFolder = async (path) => {
      if (path === "//.") throw new DiskError("EACCES", path);
      return inner(path);
    };
    expect((await createModelStore(parentOnly).createTask("task"))?.name).toBe("task");
  });

  it("cannot make a root where nothing can be made", async () => {
    const fileSystem = new SabotagedFileSystem();
    fileSystem.faults.set("mkdir", { text: "", errno: "ENOENT" });
    await expect(createModelStore(fileSystem).createTask("task")).rejects.toMatchObject({ code: "STORE_FAILED" });
  });

  describe("when others made what lies around its root, and died before it was durable", () => {
    const root = "/deep/below/outputs";

    async function expectDurable(
      fileSystem: FaultyFileSystem,
      change: (inner: FileSystem) => Partial<FileSystem> = () => ({}),
    ): Promise<void> {
      const used = changeFileSystem(fileSystem, change(fileSystem));
      expect((await createModelStore(used, { root }).createTask("task"))?.name).toBe("task");
      for (let seed = 0; seed < 20; seed += 1) {
        const after = new ModelFileSystem(fileSystem.imageAt(fileSystem.operationCount, { kind: "power", seed }));
        expect(await createModelStore(after, { root }).tasks()).toEqual(["task"]);
      }
    }

    /** Another one makes `other` between our attempt at `first` and what we do about its failure. */
    const meanwhile = (first: string, other: string) => (inner: FileSystem) => ({
      mkdir: async (path: string) => {
        const made = inner.mkdir(path);
        if (path === first) await made.catch(() => inner.mkdir(other));
        return made;
      },
    });

    it("S3: makes the name of a folder durable that it finds where it wants to make it", async () => {
      const disk = new DiskModel();
      disk.apply({ kind: "mkdir", path: "/deep" });
      disk.apply({ kind: "syncFolder", path: "/" });
      await expectDurable(new FaultyFileSystem({ disk }), meanwhile(root, "/deep/below"));
    });

    it("S3: makes the name of a folder durable in which it could make one without seeing that it was new", async () => {
      await expectDurable(new FaultyFileSystem(), meanwhile(root, "/deep"));
    });

    it.each([1, 2, 3])(
      "S3: makes all names on the way to its root durable where it finds %i of them",
      async (count) => {
        const disk = new DiskModel();
        for (const path of ["/deep", "/deep/below", root].slice(0, count)) disk.apply({ kind: "mkdir", path });
        await expectDurable(new FaultyFileSystem({ disk }));
      },
    );
  });

  it("gives up on an object whose temporary file vanishes again and again, and on an epoch that others always take", async () => {
    const fileSystem = new SabotagedFileSystem();
    const task = await createTask(fileSystem);
    fileSystem.faults.set("link", { text: "", errno: "ENOENT" });
    await expect(task.putOnce("a", Buffer.from("x"))).rejects.toMatchObject({ code: "STORE_BUSY" });
    fileSystem.faults.set("open", { text: "journal", errno: "EEXIST" });
    await expect(task.claim()).rejects.toMatchObject({ code: "STORE_BUSY" });
  });

  it("takes rename for the name where links are refused, and tells who was first meanwhile", async () => {
    const fileSystem = new SabotagedFileSystem();
    const task = await createTask(fileSystem);
    fileSystem.link = async (_from, to) => {
      if (to.endsWith("/late")) await (await fileSystem.open(to, "create")).close();
      throw new DiskError("EPERM", to);
    };
    expect(await task.putOnce("late", Buffer.from("x"))).toBe("exists");
    expect(await task.putOnce("free", Buffer.from("x"))).toBe("created");
  });

  it("does not sync what it read where the platform cannot", async () => {
    const fileSystem = new FaultyFileSystem();
    const store = createModelStore(fileSystem, { parts: { platform: "win32" } });
    const task = await store.createTask("task");
    const segment = await task?.openSegment(await task.claim(), Buffer.from("h"));
    const count = () => fileSystem.operations.filter((operation) => operation.name === "datasync").length;
    const before = count();
    await task?.read(segment?.id ?? { epoch: 1, index: 0 });
    expect(count()).toBe(before);
  });
});
