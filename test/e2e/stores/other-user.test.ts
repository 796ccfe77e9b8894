/** Task folders of another user, as one `sudo splashdown run` in the folder leaves them behind. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import type { RecoverView, RunView, TaskSummaryView } from "../../../src/runtime/contract.js";
import { PROGRAM } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

const NOBODY = 65_534;
const AS_NOBODY = ["--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups", process.execPath, PROGRAM];

function requireOtherUser(context: TestContext): void {
  if (process.getuid?.() !== 0) context.skip("only root can run as another user");
  const probe = spawnSync("setpriv", [...AS_NOBODY, "--version"]);
  if (probe.status !== 0) context.skip("no other user can run the program here");
}

function runAsNobody(place: CommandPlace, ...args: readonly string[]) {
  return place.run([...AS_NOBODY, ...args, "--json"], { program: "setpriv" });
}

function giveAway(path: string): void {
  chownSync(path, NOBODY, NOBODY);
}

function openSharedPlace(): CommandPlace {
  const place = openPlace();
  place.write(
    "other.yaml",
    'workflow: {name: other, entry_point: a}\nagents: [{name: a, type: set, value: 7, routes: [{to: $end}]}]\noutput: {a: "{{ a.output }}"}\n',
  );
  place.write("home/.keep", "");
  chmodSync(place.folder, 0o755);
  giveAway(place.folder);
  giveAway(join(place.folder, "home"));
  return place;
}

async function requireOthersUnaffected(place: CommandPlace): Promise<void> {
  const listed = await runAsNobody(place, "list");
  expect([
    listed.code,
    listed.json<TaskSummaryView[]>().map(({ task, problem }) => [task, problem !== undefined]),
  ]).toEqual([
    0,
    [
      ["mine", false],
      ["roots", true],
    ],
  ]);
  const run = await runAsNobody(place, "run", "other.yaml", "--task", "second");
  expect(run.json<RunView>()).toMatchObject({ status: "done", output: { a: 7 } });
  const recovered = await runAsNobody(place, "recover");
  expect(recovered.json<RecoverView>().tasks.map(({ task }) => task)).toEqual(["mine", "roots", "second"]);
  expect((await runAsNobody(place, "checkpoints", "prune", "--dry-run")).code).toBe(0);
  expect(`${recovered.stderr}${listed.stderr}`).not.toContain("INTERNAL");
}

describe("a task folder of another user", () => {
  it("[reliability 3a] stops no verb over the tasks of one's own, and is reported by its name", async (context) => {
    requireOtherUser(context);
    const place = openSharedPlace();
    expect((await runAsNobody(place, "run", "other.yaml", "--task", "mine")).code).toBe(0);
    expect((await place.run(["run", "other.yaml", "--task", "roots"])).code).toBe(0);
    await requireOthersUnaffected(place);
  });

  it("[reliability 3a kin] of which only what lies below is closed stops no verb over the tasks of one's own", async (context) => {
    requireOtherUser(context);
    const place = openSharedPlace();
    for (const task of ["mine", "roots"])
      expect((await runAsNobody(place, "run", "other.yaml", "--task", task)).code).toBe(0);
    const journal = join(place.folder, "outputs/roots/checkpoints/journal");
    for (const path of [journal, ...readdirSync(journal).map((name) => join(journal, name))]) chownSync(path, 0, 0);
    await requireOthersUnaffected(place);
  });
});
