/** A disk that refuses is a crash with a reason, never a failed task: after it gives again the task goes on, once. */
import { constants } from "node:os";
import { describe, expect, it } from "vitest";
import { createNodeFileSystem } from "../../../src/base/node-file-system.js";
import type { FileSystem } from "../../../src/base/file-system.js";
import { defineWorkflow, type SplashdownError } from "../../../src/index.js";
import { changeFileSystem, changeHandle } from "../../support/changed-file-system.js";
import { until } from "../../support/real-clock.js";
import { openTypist } from "../../support/typed-again.js";

interface Disk {
  refuses: boolean;
  /** Checkpoints that could not be saved. */
  failed: number;
}

type Errno = "ENOSPC" | "EDQUOT" | "EIO" | "EROFS";
/** What is refused: a file by its path, and by what is written into it. */
type Where = (path: string, bytes: Uint8Array) => boolean;

const holds = (bytes: Uint8Array, word: string): boolean => Buffer.from(bytes.subarray(0, 64)).includes(word);
const JOURNAL: Where = (path) => path.includes("/journal/");
const BLOBS: Where = (_path, bytes) => holds(bytes, "splashdown.blob");
const SNAPSHOTS: Where = (_path, bytes) => holds(bytes, "splashdown.checkpoint");
const EVERYWHERE: Where = (path) => path.includes("/outputs/");

/** Such writes are refused as long as the disk says so, as Node tells it. */
function createRefusing(disk: Disk, isRefused: Where, errno: Errno): FileSystem {
  const real = createNodeFileSystem();
  const said = { errno: -constants.errno[errno], code: errno, syscall: "write" };
  return changeFileSystem(real, {
    open: async (path, intent) => {
      const handle = await real.open(path, intent);
      return changeHandle(handle, {
        write: (bytes) =>
          disk.refuses && isRefused(path, bytes)
            ? Promise.reject(Object.assign(new Error(`${errno}: refused, write`), said))
            : handle.write(bytes),
      });
    },
  });
}

async function whenFailed(disk: Disk, count: number): Promise<number> {
  await until("checkpoints have failed", () => !disk.refuses || disk.failed >= count);
  return count;
}

/** The disk refuses from the second step on; that step gives a large value. */
function defineGrowing(ledger: string[], disk: Disk): object {
  const step = (name: string, before: string | undefined, act: () => unknown) => ({
    name,
    ...(before === undefined ? {} : { depends_on: [before] }),
    effects: "idempotent",
    function: () => {
      ledger.push(name);
      return act();
    },
  });
  return defineWorkflow({
    workflow: { name: "growing" },
    steps: [
      step("first", undefined, () => 1),
      step("large", "first", () => {
        disk.refuses = ledger.filter((name) => name === "large").length === 1;
        return "x".repeat(300 * 1024);
      }),
      // After two of them no step starts, however slowly they are written; of two that wait one is written.
      step("third", "large", () => whenFailed(disk, 1)),
      step("fourth", "third", () => whenFailed(disk, 2)),
      step("last", "fourth", () => 4),
    ],
  } as never);
}

describe("a disk that refuses in the middle of a run", () => {
  it.each([
    ["[first-use F13] the journal's append, full", JOURNAL, "ENOSPC"],
    ["[first-use F13 kin] the journal's append, over quota", JOURNAL, "EDQUOT"],
    ["[first-use F13 kin] the journal's append, broken", JOURNAL, "EIO"],
    ["[first-use F13 kin] the journal's append, read-only", JOURNAL, "EROFS"],
    ["[reliability 10] a blob, full", BLOBS, "ENOSPC"],
    ["[reliability 10 kin] a blob, over quota", BLOBS, "EDQUOT"],
    ["[reliability 10 kin] a blob, broken", BLOBS, "EIO"],
    ["[first-use F13 kin] snapshots, full", SNAPSHOTS, "ENOSPC"],
    ["[reliability 10 kin] everything, full", EVERYWHERE, "ENOSPC"],
  ] as const)("%s: the task is crashed, not failed, and recover ends it", async (_title, where, errno) => {
    const disk: Disk = { refuses: false, failed: 0 };
    const typist = await openTypist("file");
    const { ledger } = typist;
    const workflow = defineGrowing(ledger, disk);
    const splashdown = await typist.open({ fileSystem: createRefusing(disk, where, errno) });
    splashdown.on("checkpoint_failed", () => (disk.failed += 1));
    const error = await splashdown.run({ workflow, task: "t" }).then(
      () => undefined,
      (refused: unknown) => refused as SplashdownError,
    );
    expect(error?.code).toMatch(/^(STORE_|SEGMENT_DEAD)/);
    expect(error?.details["task"]).toBe("t");
    if (errno === "ENOSPC" || errno === "EDQUOT")
      expect(error?.hint).toBe("free some space (2 MiB or more), then: splashdown resume t");
    disk.refuses = false;
    expect(await typist.splashdown.list()).toMatchObject([{ task: "t", status: "crashed" }]);
    const recovered = await typist.splashdown.recover({ workflows: [workflow] });
    expect(recovered.tasks).toMatchObject([{ task: "t", action: "taken_up", result: { status: "done" } }]);
    expect(ledger.filter((name) => name === "first")).toEqual(["first"]);
    expect(ledger.at(-1)).toBe("last");
  });

  it("[first-use F13 kin] goes on with the same run typed again, and pays for nothing twice", async () => {
    const disk: Disk = { refuses: false, failed: 0 };
    const typist = await openTypist("file");
    const workflow = defineGrowing(typist.ledger, disk);
    const splashdown = await typist.open({ fileSystem: createRefusing(disk, SNAPSHOTS, "ENOSPC") });
    splashdown.on("checkpoint_failed", () => (disk.failed += 1));
    await expect(splashdown.run({ workflow })).rejects.toMatchObject({ code: "STORE_FULL" });
    const [{ task } = { task: "" }] = await typist.splashdown.list();
    expect(await typist.splashdown.show(task)).toMatchObject({
      status: "crashed",
      reason: expect.stringContaining("STORE_FULL") as string,
    });
    expect(await typist.type(workflow)).toMatchObject({ task, status: "done", how: "taken_up" });
    expect(typist.ledger).toEqual(["first", "large", "third", "fourth", "last"]);
  });
});
