import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createNodeFileSystem } from "../../../src/base/node-file-system.js";
import { MemorySpace } from "../../../src/store/memory/memory-store.js";
import { openStore } from "../../../src/store/open-store.js";
import type { OpenStoreParts } from "../../../src/store/open-store.js";
import { realClock, until } from "../../support/real-clock.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { withFolder } from "../../support/store-places.js";

function partsIn(workingFolder: string): OpenStoreParts {
  return {
    fileSystem: createNodeFileSystem(),
    clock: realClock,
    random: createSeededRandom(workingFolder),
    platform: process.platform,
    userId: process.getuid?.(),
    workingFolder,
  };
}

/** Things that this process watches, as the kernel counts them. */
function countWatches(): number {
  const texts = readdirSync("/proc/self/fdinfo").map((name) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${name}`, "utf8");
    } catch {
      // Closed meanwhile, as the descriptor of this very look.
      return "";
    }
  });
  return texts
    .join("\n")
    .split("\n")
    .filter((line) => line.startsWith("inotify wd:")).length;
}

describe("openStore", () => {
  it("opens a folder relative to the working folder, or an absolute one, and makes nothing yet", async () => {
    await withFolder(async (folder) => {
      const store = openStore("file:outputs", partsIn(folder));
      expect([store.address, store.manifest.kind]).toEqual(["file:outputs", "file"]);
      expect(await createNodeFileSystem().readdir(folder)).toEqual([]);
      await store.createTask("task");
      expect(await openStore(`file:${folder}/outputs`, partsIn("/")).tasks()).toEqual(["task"]);
      expect((await store.task("task"))?.deliverablesFolder).toBe(`${folder}/outputs/task`);
    });
  });

  it("opens memory over a given space, with deliverables as files", async () => {
    const memory = new MemorySpace();
    const parts = { ...partsIn("/work"), memory };
    await openStore("memory:", parts).createTask("task");
    const task = await openStore("memory:", parts).task("task");
    expect(task?.deliverablesFolder).toBe("/work/outputs/task");
    expect(await openStore("memory:", partsIn("/work")).tasks()).toEqual([]);
  });

  it.each([
    "sqlite:",
    "pglite:",
    "postgres://me:secret@host:x/db",
    "postgres://me:secret@host/db?table_prefix=No",
    "mysql://me:secret@host/db",
    "file:",
    "outputs",
    "",
    "memory:x",
    "s3://b",
    "file:a\0b",
  ])("says that %j names no store here, and shows no password", (address) => {
    const open = () => openStore(address, partsIn("/work"));
    expect(open).toThrowError(expect.objectContaining({ code: "STORE_UNSUPPORTED" }));
    expect(open).not.toThrowError(/secret/);
  });

  it("hints at changes below a prefix and at nothing else, until it is stopped", async () => {
    await withFolder(async (folder) => {
      const task = await openStore("file:outputs", partsIn(folder)).createTask("task");
      let hints = 0;
      let others = 0;
      task?.watch("control/", () => (hints += 1));
      const stop = task?.watch("audit/", () => (others += 1));
      let at = 0;
      await until("a hint comes", async () => {
        await task?.putOnce(`control/answer-${(at += 1)}`, Buffer.from("x"));
        return hints > 0;
      });
      expect(others).toBe(0);
      stop?.();
      await task?.close();
    });
  });

  it("hints at what is put into a folder that comes late, that goes, and that comes again", async () => {
    await withFolder(async (folder) => {
      const task = await openStore("file:outputs", partsIn(folder)).createTask("task");
      const control = join(folder, "outputs/task/checkpoints/control");
      let hints = 0;
      let at = 0;
      task?.watch("control/", () => (hints += 1));
      const put = () => task?.putOnce(`control/answer-${(at += 1)}`, Buffer.from("x"));
      const hintsAgain = async (what: string) => {
        const before = hints;
        await until(what, async () => {
          await put();
          return hints > before;
        });
      };
      expect(existsSync(control)).toBe(false);
      await hintsAgain("a hint comes from a folder that was not there");
      const before = hints;
      rmSync(control, { recursive: true });
      await until("a hint comes at its end", () => hints > before);
      await hintsAgain("a hint comes from the folder that came again");
      await task?.close();
    });
  });

  // Linux alone says how many watches a process has.
  it.runIf(process.platform === "linux")(
    "watches only the folder that is waited for, however full the task is",
    async () => {
      await withFolder(async (folder) => {
        const task = await openStore("file:outputs", partsIn(folder)).createTask("task");
        const names = Array.from({ length: 30 }, (_none, at) => String(at).padStart(8, "0"));
        for (const name of names) {
          await task?.putOnce(`checkpoint_phase1_${name}.json`, Buffer.from("x"));
          await task?.putOnce(`audit/${name}.jsonl`, Buffer.from("x"));
        }
        const before = countWatches();
        let hints = 0;
        let at = 0;
        task?.watch("control/", () => (hints += 1));
        await until("a hint comes", async () => {
          await task?.putOnce(`control/answer-${(at += 1)}`, Buffer.from("x"));
          return hints > 0;
        });
        expect(countWatches() - before).toBeGreaterThan(0);
        // The task's folder, the folder that is waited for, and what came into it.
        expect(countWatches() - before).toBeLessThanOrEqual(2 + at);
        await task?.close();
      });
    },
  );

  it("never begins to watch when it is stopped at once, and survives a folder that vanishes", async () => {
    await withFolder(async (folder) => {
      const task = await openStore("file:outputs", partsIn(folder)).createTask("task");
      let hints = 0;
      task?.watch("", () => (hints += 1))();
      await task?.putOnce("control/a", Buffer.from("x"));
      task?.watch("", () => undefined);
      await task?.close();
      expect(hints).toBe(0);
    });
  });

  it("hints in memory too", async () => {
    const task = await openStore("memory:", partsIn("/work")).createTask("task");
    const seen: string[] = [];
    const stop = task?.watch("control/", () => seen.push("hint"));
    await task?.putOnce("control/a", Buffer.from("x"));
    await task?.putOnce("other/a", Buffer.from("x"));
    await task?.remove("control/a");
    stop?.();
    await task?.putOnce("control/b", Buffer.from("x"));
    expect(seen).toEqual(["hint", "hint"]);
  });
});
