/** Snapshot files that go, or turn out to be of no use, between two looks at them. */
import { describe, expect, it } from "vitest";
import { createBlobShelf } from "../../../src/checkpoint/blobs/blobs.js";
import { formatSnapshotName, parseSnapshotName } from "../../../src/checkpoint/format/names.js";
import { createSnapshotSource } from "../../../src/checkpoint/source.js";
import type { TaskStore } from "../../../src/store/contract/contract.js";
import { createCheckpointRoom, RAW_BYTES_MAX, textOf } from "../../support/checkpoint-room.js";
import { codeOfAsync } from "../../support/error-code.js";
import { FAKE_START_MS } from "../../support/fake-clock.js";
import { createTestVault } from "../../support/journal-room.js";
import { wrapTask } from "../../support/wrapped-task.js";

const nameOf = (seq: number, phase = 1) => formatSnapshotName({ phase, atMs: FAKE_START_MS, seq });

/** A task with files that hold nothing of use, read through a store that behaves as told. */
async function createGround(files: readonly string[], change: (task: TaskStore) => Partial<TaskStore> = () => ({})) {
  const { task } = await createCheckpointRoom();
  for (const file of files) await task.putOnce(file, Buffer.from("x"));
  const store = wrapTask(task, change(task));
  return {
    task,
    source: createSnapshotSource({ store, vault: createTestVault("reader"), rawBytesMax: RAW_BYTES_MAX }),
  };
}

describe("snapshot files", () => {
  it("are listed newest first whatever is in them, and in one order where two have the same number", async () => {
    const files = [nameOf(1), nameOf(2), nameOf(2, 2), nameOf(3)];
    const { source } = await createGround(files);
    const listed = await source.list();
    expect(listed.map(({ seq, phase }) => [seq, phase])).toEqual([
      [3, 1],
      [2, 2],
      [2, 1],
      [1, 1],
    ]);
  });

  it("are opened for the list only where two have the same number", async () => {
    const opened: string[] = [];
    const { source } = await createGround([nameOf(1), nameOf(2), nameOf(2, 2), nameOf(3)], (task) => ({
      get: (key, range) => {
        opened.push(key);
        return task.get(key, range);
      },
    }));
    await source.list();
    expect(opened.toSorted()).toEqual([nameOf(2), nameOf(2, 2)].toSorted());
  });

  it("stay listed when they go meanwhile; a store that fails is no file that is gone", async () => {
    const two = [nameOf(1), nameOf(1, 2)];
    const { source } = await createGround(two, () => ({ get: () => Promise.resolve(undefined) }));
    expect(await source.list()).toMatchObject([{ seq: 1 }, { seq: 1 }]);
    const { source: failing } = await createGround(two, () => ({
      get: () => Promise.reject(new TypeError("ours")),
    }));
    await expect(failing.list()).rejects.toThrow("ours");
  });

  it("are not found when they go between the look and the reading, or the setting aside", async () => {
    const { source } = await createGround([nameOf(1)], () => ({ get: () => Promise.resolve(undefined) }));
    expect(await codeOfAsync(() => source.load(nameOf(1)))).toBe("CHECKPOINT_NOT_FOUND");
    const { source: emptied } = await createGround([nameOf(1)], () => ({ list: () => Promise.resolve([]) }));
    expect(await codeOfAsync(() => emptied.quarantine(nameOf(1), "bad"))).toBe("CHECKPOINT_NOT_FOUND");
  });

  it("have names that say when they were sealed once more", () => {
    const name = { phase: 1, atMs: FAKE_START_MS, seq: 7, resealedIn: 4 };
    expect(parseSnapshotName(formatSnapshotName(name))).toEqual(name);
    expect(parseSnapshotName(nameOf(7))).toEqual({ phase: 1, atMs: FAKE_START_MS, seq: 7 });
    expect(parseSnapshotName(nameOf(7).replace(".json", "~0.json"))).toBeUndefined();
  });
});

describe("a damaged blob", () => {
  it("that is gone before it can be set aside is written anew all the same", async () => {
    const { task } = await createCheckpointRoom();
    const value = { text: textOf(1, 300_000) };
    const vault = createTestVault("blobs");
    const ref = await createBlobShelf({ store: task, vault }).put(value);
    const whole = (await task.get(ref.key)) ?? Buffer.alloc(0);
    await task.remove(ref.key);
    await task.putOnce(ref.key, whole.subarray(0, 5000));
    const store = wrapTask(task, {
      // Whoever reads all of it comes too late.
      get: (key, range) => (range === undefined ? Promise.resolve(undefined) : task.get(key, range)),
    });
    expect(await createBlobShelf({ store, vault }).put(value)).toEqual(ref);
    expect(await createBlobShelf({ store: task, vault }).get(ref)).toEqual(value);
    expect(await task.list("quarantine/")).toEqual([]);
  });
});
