/** Whoever removes is killed before each of its changing operations in turn: every listed checkpoint stays usable. */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSplashdown, type Splashdown } from "../../../src/index.js";
import { createEnvironment } from "../../../src/runtime/environment.js";
import { PROGRAM, PROJECT_FOLDER } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

const KILL_CHILD = join(PROJECT_FOLDER, "scripts/kill-loop/kill-child.mjs");
const POINTS_MAX = 80;
const WORKFLOW = `
workflow: {name: past}
phases:
  - name: one
    specialists:
      - {name: a, command: [sh, -c, 'echo a >> ledger'], effects: none}
      - {name: b, command: [sh, -c, 'echo b >> ledger'], effects: none, depends_on: [a]}
  - name: two
    specialists:
      - {name: c, command: [sh, -c, 'test -f go || exit 1; echo c >> ledger'], effects: none}
`;

/** A failed task of several epochs. */
async function prepare(place: CommandPlace): Promise<void> {
  place.write("wf.yaml", WORKFLOW);
  await place.run(["run", "wf.yaml", "--task", "t"]);
  for (let epoch = 2; epoch <= 4; epoch += 1) await place.run(["resume", "t"]);
  cpSync(join(place.folder, "outputs"), join(place.folder, "pristine"), { recursive: true });
  mkdirSync(join(place.folder, "home/state"), { recursive: true });
  cpSync(join(place.folder, "home/state"), join(place.folder, "pristine-state"), { recursive: true });
}

function restore(place: CommandPlace, name: string): string {
  cpSync(join(place.folder, "pristine"), join(place.folder, name), { recursive: true });
  return `file:${name}`;
}

function open(place: CommandPlace, store: string): Promise<Splashdown> {
  const state = join(place.folder, `state-${store.slice("file:".length)}`);
  const environment = createEnvironment(
    { PATH: process.env["PATH"] ?? "", ...place.env, SPLASHDOWN_STATE_DIR: state },
    place.folder,
  );
  return openSplashdown({ store, environment });
}

/** Kills a verb before its n-th changing operation for n = 1, 2, … until it gets through; tells how often it was killed. */
async function killEverywhere(
  place: CommandPlace,
  call: readonly [verb: string, args: readonly unknown[]],
  check: (store: string) => Promise<void>,
): Promise<number> {
  for (let n = 1; n <= POINTS_MAX; n += 1) {
    const store = restore(place, `killed-${n}`);
    const args = [KILL_CHILD, PROGRAM, `operation:${n}`, "call", call[0], JSON.stringify(call[1])];
    const env = {
      ...place.env,
      SPLASHDOWN_STORE: store,
      SPLASHDOWN_STATE_DIR: join(place.folder, `state-killed-${n}`),
    };
    const { signal, code, stderr } = await place.run(args, { program: process.execPath, env });
    await check(store);
    if (signal === "SIGKILL") continue;
    expect([code, stderr]).toEqual([0, ""]);
    return n - 1;
  }
  throw new Error(`it did not get through in ${POINTS_MAX} operations`);
}

describe("a removal that is killed at any operation", () => {
  it.each([
    ["checkpoints.prune", [{ task: "t", keep: 2 }]],
    ["checkpoints.prune", [{ task: "t", keep: 2, history: true }]],
  ] as const)(
    "%s %j leaves every listed checkpoint usable and the task whole",
    { timeout: 240_000 },
    async (...call) => {
      const place = openPlace();
      await prepare(place);
      const kills = await killEverywhere(place, call, async (store) => {
        const splashdown = await open(place, store);
        try {
          const [task] = await splashdown.list();
          expect(task).toMatchObject({ status: "failed", workflow: "past" });
          expect((await splashdown.show("t")).damage).toEqual([]);
          for (const { seq, reachable } of await splashdown.checkpoints.list("t")) {
            const shown = splashdown.checkpoints.show(`t:${seq}`);
            if (reachable === false) await expect(shown).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
            else expect(await shown).toMatchObject({ seq });
          }
          // Once more, to its end.
          const again = await splashdown.checkpoints.prune({ task: "t", keep: 2 });
          expect(again.dry_run || again.tasks[0]?.action === "prune").toBe(true);
          expect((await splashdown.resume({ task: "t" })) as object).toMatchObject({ status: "failed" });
        } finally {
          await splashdown.close();
        }
      });
      expect(kills).toBeGreaterThan(5);
    },
  );
});
