import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Log } from "../../../src/base/log.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { codeOfAsync } from "../../support/error-code.js";
import { withFolder } from "../../support/store-places.js";

const WORKFLOW = {
  workflow: { name: "small", entry_point: "a" },
  agents: [{ name: "a", type: "set", value: "{{ 3 + 4 }}", routes: [{ to: "$end" }] }],
  output: { a: "{{ a.output }}" },
};

describe("a store with a folder that others may write to", () => {
  it("runs, finds and lists the other tasks, and says which one is passed over", async () => {
    await withFolder(async (root) => {
      const workflow = join(root, "workflow.json");
      await writeFile(workflow, JSON.stringify(WORKFLOW));
      await mkdir(join(root, "outputs/bad/checkpoints/journal"), { recursive: true, mode: 0o700 });
      await chmod(join(root, "outputs/bad"), 0o777);
      const variables = { HOME: join(root, "home"), SPLASHDOWN_STATE_DIR: join(root, "state") };
      const warnings: string[] = [];
      const log: Log = { info: () => undefined, warn: (text) => void warnings.push(text), debug: () => undefined };
      const splashdown = await openSplashdown({ environment: createEnvironment(variables, root), log });
      await splashdown.keys.init({});
      const view = await splashdown.run({ workflow, task: "good" });
      expect(view).toMatchObject({ status: "done", output: { a: 7 } });
      expect(await splashdown.show("small")).toMatchObject({ task: "good" });
      expect((await splashdown.checkpoints.list()).every(({ task }) => task === "good")).toBe(true);
      expect((await splashdown.list()).map(({ task, status, problem }) => [task, status, problem?.code])).toEqual([
        ["bad", "damaged", "STORE_UNSAFE"],
        ["good", "done", undefined],
      ]);
      expect(warnings).toContainEqual(expect.stringContaining("task bad was skipped"));
      expect(await codeOfAsync(() => splashdown.show("bad"))).toBe("STORE_UNSAFE");
      await splashdown.close();
    });
  });
});
