/** Whole tasks on a file system where a scanner holds every file for a while, as on Windows. */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FileSystem } from "../../../src/base/file-system.js";
import { createNodeFileSystem } from "../../../src/base/node-file-system.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { changeFileSystem } from "../../support/changed-file-system.js";
import { RushingClock } from "../../support/rushing-clock.js";
import { withFolder } from "../../support/store-places.js";

const WORKFLOW = {
  workflow: { name: "held", checkpoint: { enabled: true } },
  phases: [
    { name: "one", specialists: [{ name: "a", value: 1 }] },
    { name: "two", specialists: [{ name: "b", value: 2 }] },
  ],
};

/** Refuses to rename to each name as often as told, for as long as it is told to. */
function holdNames(errno: string, times: number) {
  const inner = createNodeFileSystem();
  const refused = new Map<string, number>();
  const state = { holds: true };
  const fileSystem: FileSystem = changeFileSystem(inner, {
    rename: async (from, to) => {
      const count = refused.get(to) ?? 0;
      if (state.holds && count < times) {
        refused.set(to, count + 1);
        throw Object.assign(new Error(`${errno}: operation not permitted, rename`), { code: errno });
      }
      await inner.rename(from, to);
    },
  });
  return { fileSystem, refused, state };
}

describe("FAULTS 45: a task whose files are held when they are renamed", () => {
  it.each(["EPERM", "EBUSY", "EACCES"].flatMap((errno) => [1, 5, 50].map((times) => ({ errno, times }))))(
    "$times times each with $errno ends as it would, or says so and goes on once they are free, and leaves no file behind",
    async ({ errno, times }) => {
      await withFolder(async (root) => {
        const workflow = join(root, "workflow.json");
        await writeFile(workflow, JSON.stringify(WORKFLOW));
        const { fileSystem, refused, state } = holdNames(errno, times);
        const variables = {
          HOME: root,
          SPLASHDOWN_CONFIG_DIR: join(root, "config"),
          SPLASHDOWN_STATE_DIR: join(root, "state"),
        };
        const splashdown = await openSplashdown({
          environment: createEnvironment(variables, root, "win32"),
          fileSystem,
          clock: new RushingClock(),
        });
        try {
          const first = splashdown.run({ workflow, task: "t" });
          if (times === 50) {
            // Longer than anything is waited for: the file is named, and nothing is lost.
            await expect(first).rejects.toMatchObject({
              code: expect.stringMatching(/^STORE_(?:UNWRITABLE|BUSY)$/) as string,
              message: expect.stringMatching(/t\/final\/.*E[A-Z]+$/) as string,
            });
            state.holds = false;
            expect(await splashdown.resume({ task: "t" })).toMatchObject({ status: "done" });
          } else expect(await first).toMatchObject({ status: "done" });
          expect(Math.max(...refused.values())).toBeGreaterThanOrEqual(Math.min(times, 10));
          const { steps } = await splashdown.show("t");
          expect(steps.map(({ step, attempt }) => [step, attempt])).toEqual([
            ["main/one/a@1.1", 1],
            ["main/two/b@1.1", 1],
          ]);
        } finally {
          await splashdown.close();
        }
        expect((await readdir(root, { recursive: true })).filter((name) => name.endsWith(".tmp"))).toEqual([]);
      });
    },
  );
});
