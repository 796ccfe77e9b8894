import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorCodeOf } from "../../../src/base/errors.js";
import type { Splashdown } from "../../../src/runtime/contract.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { codeOfAsync } from "../../support/error-code.js";
import { until } from "../../support/real-clock.js";
import { withFolder } from "../../support/store-places.js";

const WORKFLOW = {
  workflow: { name: "small", entry_point: "a" },
  agents: [{ name: "a", type: "set", value: "{{ 3 + 4 }}", routes: [{ to: "$end" }] }],
  output: { a: "{{ a.output }}" },
};

/** A place as a process leaves it that dies before the first record of its task. */
async function withUnborn(act: (room: { splashdown: Splashdown; workflow: string; folder: string }) => Promise<void>) {
  await withFolder(async (root) => {
    const workflow = join(root, "workflow.json");
    await writeFile(workflow, JSON.stringify(WORKFLOW));
    const folder = join(root, "outputs/early/checkpoints");
    await mkdir(join(folder, "journal"), { recursive: true, mode: 0o700 });
    const variables = {
      HOME: root,
      SPLASHDOWN_CONFIG_DIR: join(root, "config"),
      SPLASHDOWN_STATE_DIR: join(root, "state"),
    };
    const splashdown = await openSplashdown({ environment: createEnvironment(variables, root) });
    await splashdown.keys.init({ ifMissing: true });
    try {
      await act({ splashdown, workflow, folder });
    } finally {
      await splashdown.close();
    }
  });
}

describe("a task whose first process died before anything was recorded", () => {
  it("is run from its beginning under its own name", async () => {
    await withUnborn(async ({ splashdown, workflow }) => {
      const view = await splashdown.run({ workflow, task: "early" });
      expect(view).toMatchObject({ task: "early", status: "done", how: "started", output: { a: 7 } });
    });
  });

  it("is run the same way when its keyring was written already", async () => {
    await withUnborn(async ({ splashdown, workflow, folder }) => {
      await splashdown.run({ workflow, task: "other" });
      // As if that task had only got its keyring: nothing of it was ever acknowledged.
      await rm(join(folder, "../../../state"), { recursive: true });
      await copyFile(join(folder, "../../other/checkpoints/keyring-1.json"), join(folder, "keyring-1.json"));
      expect(await splashdown.run({ workflow, task: "early" })).toMatchObject({ status: "done", output: { a: 7 } });
    });
  });

  it("gives its place to a fork, also where its journal was begun already", async () => {
    await withUnborn(async ({ splashdown, workflow, folder }) => {
      await splashdown.run({ workflow, task: "other" });
      const other = join(folder, "../../other/checkpoints");
      await copyFile(join(other, "keyring-1.json"), join(folder, "keyring-1.json"));
      const [header = ""] = (await readFile(join(other, "journal/00000001-0000.jsonl"), "utf8")).split("\n");
      await writeFile(join(folder, "journal/00000001-0000.jsonl"), `${header}\n`, { mode: 0o600 });
      await rm(join(folder, "../../../state"), { recursive: true });
      expect(await splashdown.fork("other", { from: "latest", task: "early" })).toMatchObject({ task: "early" });
      expect(await splashdown.resume({ task: "early" })).toMatchObject({ status: "done", output: { a: 7 } });
    });
  });

  it("is listed as crashed, left by recover, and named to whoever wants more of it", async () => {
    await withUnborn(async ({ splashdown }) => {
      expect(await splashdown.list()).toEqual([{ task: "early", status: "crashed", size: 0 }]);
      expect((await splashdown.recover()).tasks).toEqual([{ task: "early", action: "left", why: "it never started" }]);
      expect(await codeOfAsync(() => splashdown.resume({ task: "early" }))).toBe("TASK_NOT_STARTED");
      expect(await codeOfAsync(() => splashdown.show("early"))).toBe("TASK_NOT_STARTED");
    });
  });

  it("is begun by one of several that run it at once, and nobody takes it from that one", async () => {
    await withUnborn(async ({ splashdown, folder }) => {
      let calls = 0;
      let go = (): void => undefined;
      const held = new Promise<void>((resolve) => (go = resolve));
      const act = async (): Promise<number> => {
        calls += 1;
        await held;
        return 7;
      };
      const workflow = { workflow: { name: "held" }, steps: [{ name: "a", function: act, effects: "none" }] };
      const refused: (string | undefined)[] = [];
      const others = 3;
      const runs = Array.from({ length: 1 + others }, async () => {
        try {
          return (await splashdown.run({ workflow, task: "early" })).how;
        } catch (error) {
          refused.push(errorCodeOf(error));
          if (refused.length >= others) go();
          return "refused";
        }
      });
      await until("one runs it, or more than one", () => calls > 1 || refused.length >= others);
      go();
      expect((await Promise.all(runs)).filter((how) => how !== "refused")).toEqual(["started"]);
      expect(calls).toBe(1);
      for (const code of refused) expect(["OWNER_ALIVE", "OWNER_SUPERSEDED"]).toContain(code);
      expect(await readdir(join(folder, "journal"))).toEqual(["00000001-0000.jsonl"]);
    });
  });

  it("is damaged, not unborn, when a snapshot is there and the keyring is not", async () => {
    await withUnborn(async ({ splashdown, workflow, folder }) => {
      await writeFile(join(folder, "checkpoint_phase1_20260101T000000000Z_00000001.json"), "{}", { mode: 0o600 });
      expect(await codeOfAsync(() => splashdown.run({ workflow, task: "early" }))).toBe("KEYRING_CORRUPT");
    });
  });
});
