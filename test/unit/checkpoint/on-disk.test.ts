import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createBlobShelf } from "../../../src/checkpoint/blobs/blobs.js";
import { writeSnapshot } from "../../../src/checkpoint/format/writer.js";
import { createSnapshotSource } from "../../../src/checkpoint/source.js";
import { hashState } from "../../../src/engine/model/state-codec.js";
import { addSteps, createTaskState, positionOf, RAW_BYTES_MAX, takeCheckpoint } from "../../support/checkpoint-room.js";
import { createTestVault } from "../../support/journal-room.js";
import { realClock } from "../../support/real-clock.js";
import { createRealStore, withFolder } from "../../support/store-places.js";

const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("snapshots and blobs in a folder", () => {
  it("lie under their names, readable by the owner alone, and hold nothing in the clear", async () => {
    await withFolder(async (folder) => {
      const task = await createRealStore(join(folder, "outputs")).createTask("t");
      if (task === undefined) throw new Error("the task exists");
      const vault = createTestVault("disk");
      const state = createTaskState();
      addSteps(state, 20, 500);
      const taken = takeCheckpoint(state);
      const options = { store: task, vault, clock: realClock, breathe, rawBytesMax: RAW_BYTES_MAX, app: "0.1.0" };
      const written = await writeSnapshot(taken, { position: positionOf(taken.position), prev: undefined }, options);
      const shelf = createBlobShelf({ store: task, vault });
      const ref = await shelf.put("the quick brown fox ".repeat(20_000));
      const checkpoints = join(folder, "outputs", "t", "checkpoints");
      for (const key of [written?.file ?? "", ref.key]) {
        expect((await stat(join(checkpoints, key))).mode & 0o777).toBe(0o600);
        expect((await readFile(join(checkpoints, key))).toString("latin1")).not.toMatch(/quick|market-report|reason/);
      }
      expect((await readdir(checkpoints)).filter((name) => name.endsWith(".json"))).toEqual([written?.file]);
      const source = createSnapshotSource({ store: task, vault, rawBytesMax: RAW_BYTES_MAX });
      const [entry] = await source.list();
      expect(entry).toMatchObject({ file: written?.file, seq: 1, sizeBytes: written?.sizeBytes });
      expect(hashState((await source.load(entry?.file ?? "")).state)).toBe(hashState(state));
      expect((await shelf.readRange(ref, { offset: 1, length: 9 })).toString()).toBe("the quick");
    });
  });
});
