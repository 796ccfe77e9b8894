/** Tasks in the trash: their order, names that are none, what else lies there, and what the disk refuses. */
import { describe, expect, it } from "vitest";
import type { FileSystem } from "../../../src/base/file-system.js";
import type { Store } from "../../../src/store/contract/contract.js";
import { MemorySpace, MemoryStore } from "../../../src/store/memory/memory-store.js";
import { openStore } from "../../../src/store/open-store.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { changeFileSystem } from "../../support/changed-file-system.js";
import { DiskError } from "../../support/disk-model.js";
import { codeOfAsync } from "../../support/error-code.js";
import { ModelFileSystem } from "../../support/model-file-system.js";
import { createStoreParts } from "../../support/sql-places.js";
import { createModelStore, withFolder } from "../../support/store-places.js";

const AT_MS = Date.UTC(2024, 11, 31, 23, 59, 58, 7);
const STORES: Record<string, (folder: string) => Store> = {
  memory: () => new MemoryStore({ space: new MemorySpace(), deliverablesRoot: "/outputs" }),
  directory: () => createModelStore(new ModelFileSystem()),
  sqlite: (folder) => openStore("sqlite:tasks.db", createStoreParts(folder)),
};

/** A disk with a task on it, and a store over it that behaves as told. */
async function createGround(change: (disk: FileSystem) => Partial<FileSystem> = () => ({})) {
  const disk = new FaultyFileSystem();
  await (await createModelStore(disk).createTask("task"))?.putOnce("note", Buffer.from("kept"));
  return { disk, store: createModelStore(changeFileSystem(disk, change(disk))) };
}

function failing(errno: string): (path: string) => Promise<never> {
  return (path) => Promise.reject(new DiskError(errno, path));
}

describe("the trash", () => {
  it.each(Object.keys(STORES))("is listed by name and with the time, whatever came first: %s", async (kind) => {
    await withFolder(async (folder) => {
      const store = STORES[kind]?.(folder);
      for (const [at, name] of ["b", "a", "c"].entries()) {
        await store?.createTask(name);
        expect(await store?.trashTask(name, AT_MS + at)).toBe(true);
      }
      expect((await store?.trash())?.map(({ name, trashedAtMs }) => [name, trashedAtMs - AT_MS])).toEqual([
        ["a", 1],
        ["b", 0],
        ["c", 2],
      ]);
      await store?.close();
    });
  });
});

describe("the trash of a directory store", () => {
  it("touches nothing for a name that is none", async () => {
    const { disk, store } = await createGround();
    const before = disk.operationCount;
    for (const name of ["../task", ".git", ""]) {
      const answers = [await store.trashTask(name, AT_MS), await store.restoreTask(name), await store.purgeTask(name)];
      expect([name, ...answers]).toEqual([name, false, false, false]);
    }
    expect(disk.operationCount).toBe(before);
  });

  it("is the newest folder of its kind, and no file of such a name", async () => {
    const { disk, store } = await createGround();
    await store.trashTask("task", AT_MS);
    await disk.mkdir("/outputs/task/trashed-20230101T000000000Z");
    await (await disk.open("/outputs/task/trashed-20991231T235959999Z", "create")).close();
    expect(await store.trash()).toEqual([{ name: "task", trashedAtMs: AT_MS, sizeBytes: 4 }]);
    expect(await store.restoreTask("task")).toBe(true);
    expect(Buffer.from((await (await store.task("task"))?.get("note")) ?? []).toString()).toBe("kept");
  });

  it("takes no task that another takes at the same moment, and says what the disk refuses", async () => {
    const raced = await createGround(() => ({ rename: failing("ENOENT") }));
    expect(await raced.store.trashTask("task", AT_MS)).toBe(false);
    const refused = await createGround(() => ({ rename: failing("EROFS") }));
    expect(await codeOfAsync(() => refused.store.trashTask("task", AT_MS))).toBe("STORE_UNWRITABLE");
    expect([await refused.store.tasks(), await refused.store.trash()]).toEqual([["task"], []]);
  });

  it("says when the folder of a purged task cannot be removed; the task is gone", async () => {
    const { store } = await createGround((disk) => ({
      rmdir: (path) => (path === "/outputs/task" ? failing("EIO")(path) : disk.rmdir(path)),
    }));
    await store.trashTask("task", AT_MS);
    expect(await codeOfAsync(() => store.purgeTask("task"))).toBe("STORE_FAILED");
    expect([await store.tasks(), await store.trash()]).toEqual([[], []]);
  });
});
