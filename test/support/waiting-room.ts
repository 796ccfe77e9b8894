/** A task that did one step, with a large value, and waits at a gate; on a real disk, in a folder of its own. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Clock } from "../../src/base/clock.js";
import type { Splashdown } from "../../src/runtime/contract.js";
import { createEnvironment } from "../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../src/runtime/open.js";
import { withFolder } from "./store-places.js";
import { openContent, type ContentKind, type TaskContent } from "./task-content.js";

export interface WaitingRoom {
  readonly splashdown: Splashdown;
  readonly workflow: object;
  /** Steps that acted, in order. */
  readonly acts: string[];
  /** Of the task `t`. */
  readonly checkpoints: string;
  readonly state: string;
  readonly root: string;
  readonly warnings: string[];
  /** What stands in the task's place. */
  readonly content: TaskContent;
}

export interface WaitingOptions {
  readonly clock?: Clock;
  /** Files unless told otherwise. */
  readonly store?: ContentKind;
}

export const FIRST_FILE = "journal/00000001-0000.jsonl";

/** A task that did its first step, with a large value, and waits at a gate before its second one. */
export async function withWaiting(
  act: (room: WaitingRoom) => Promise<void>,
  settings: object = {},
  { clock, store = "file" }: WaitingOptions = {},
): Promise<void> {
  await withFolder(async (root) => {
    const acts: string[] = [];
    const step = (name: string, text: string) => () => {
      acts.push(name);
      return { output: { text } };
    };
    const workflow = {
      workflow: { name: "gated", entry_point: "big" },
      agents: [
        { name: "big", function: step("big", "x".repeat(400_000)), effects: "external", routes: [{ to: "g" }] },
        { name: "g", type: "human_gate", prompt: "go?", options: [{ label: "Y", value: "y", route: "z" }] },
        { name: "z", function: step("z", "end"), effects: "external", routes: [{ to: "$end" }] },
      ],
      output: { size: "{{ big.output.text | length }}" },
    };
    const environment = createEnvironment(
      { HOME: root, SPLASHDOWN_CONFIG_DIR: join(root, "config"), SPLASHDOWN_STATE_DIR: join(root, "state") },
      root,
    );
    const warnings: string[] = [];
    const none = () => undefined;
    const log = { debug: none, info: none, warn: (text: string) => void warnings.push(text), error: none };
    await writeFile(join(root, "splashdown.config.json"), JSON.stringify(settings));
    const content = openContent(store, root, "t");
    const splashdown = await openSplashdown({
      environment,
      log,
      store: content.store,
      ...(clock === undefined ? {} : { clock }),
    });
    await splashdown.keys.init({ ifMissing: true });
    try {
      const begun = await splashdown.run({ workflow, task: "t" });
      expect(begun.status).toBe("waiting");
      const checkpoints = join(root, "outputs/t/checkpoints");
      await act({ splashdown, workflow, acts, checkpoints, state: join(root, "state"), root, warnings, content });
    } finally {
      await splashdown.close();
    }
  });
}

export const NO_SNAPSHOTS = { checkpoint_config: { enabled: false } };
