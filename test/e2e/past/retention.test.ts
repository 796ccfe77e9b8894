import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CheckpointView, PinView, PruneView, TaskSummaryView, TaskView } from "../../../src/runtime/contract.js";
import { openPlace as openAny, type CommandPlace } from "../../support/command-place.js";
import { until } from "../../support/real-clock.js";

/** Two phases; the third step fails until there is a file `go`. */
const WORKFLOW = `
workflow: {name: past}
phases:
  - name: one
    specialists:
      - {name: a, command: [sh, -c, 'echo a >> ledger; echo "{\\"output\\":{\\"v\\":1}}"'], effects: none}
      - {name: b, command: [sh, -c, 'echo b >> ledger; echo "{\\"output\\":{\\"v\\":2}}"'], effects: none, depends_on: [a]}
  - name: two
    specialists:
      - {name: c, command: [sh, -c, 'test -f go || exit 1; echo c >> ledger; echo "{\\"output\\":{\\"v\\":3}}"'], effects: none}
`;

/** Each checkpoint gets its file before anything follows: on a slow disk a newer one would take the place of one that waits. */
function openPlace(): CommandPlace {
  const place = openAny();
  place.write("splashdown.config.yaml", "performance_config: {async_writes: false}\n");
  return place;
}

async function runToEnd(place: CommandPlace, task = "t"): Promise<void> {
  place.write("wf.yaml", WORKFLOW);
  place.write("go", "");
  expect((await place.run(["run", "wf.yaml", "--task", task])).code).toBe(0);
}

function contents(place: CommandPlace, task = "t"): Map<string, string> {
  const root = join(place.folder, "outputs", task);
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(root.length), readFileSync(path, "base64")];
    }),
  );
}

const filesOf = (place: CommandPlace, task = "t") =>
  [...contents(place, task).keys()].filter((name) => name.includes("checkpoint_phase")).sort();

async function list(place: CommandPlace, task = "t"): Promise<CheckpointView[]> {
  return (await place.run(["checkpoints", "list", task, "--json"])).json<CheckpointView[]>();
}

describe("checkpoints prune", () => {
  it("plans without changing a byte, refuses to remove without --yes, and removes with it", async () => {
    const place = openPlace();
    await runToEnd(place);
    const before = contents(place);
    const dry = await place.run(["checkpoints", "prune", "t", "--keep", "2", "--dry-run", "--json"]);
    expect(dry.code).toBe(0);
    const plan = dry.json<PruneView>();
    expect(plan.dry_run).toBe(true);
    expect(plan.tasks[0]?.files.length).toBeGreaterThan(0);
    const refused = await place.run(["checkpoints", "prune", "t", "--keep", "2"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("--yes is needed");
    expect(contents(place)).toEqual(before);

    const done = await place.run(["checkpoints", "prune", "t", "--keep", "2", "--yes", "--verbose"]);
    expect(done.code).toBe(0);
    expect(filesOf(place)).toHaveLength(2);
    const lines = done.stderr.split("\n").filter((line) => line.startsWith("removed checkpoint_phase"));
    expect(lines).toHaveLength(plan.tasks[0]?.files.length ?? -1);
    expect(plan.freed).toBe(plan.tasks[0]?.files.reduce((sum, { size }) => sum + size, 0));
  });

  it("leaves every checkpoint listed and usable, and an ended task ended", async () => {
    const place = openPlace();
    await runToEnd(place);
    const before = await list(place);
    for (const keep of ["4", "2"]) await place.run(["checkpoints", "prune", "t", "--keep", keep, "--yes"]);
    await place.run(["checkpoints", "clear", "t", "--yes"]);
    expect(filesOf(place)).toEqual([]);
    const after = await list(place);
    expect(after.map(({ checkpoint_id }) => checkpoint_id)).toEqual(before.map(({ checkpoint_id }) => checkpoint_id));
    for (const { seq } of after) expect((await place.run(["checkpoints", "show", `t:${seq}`])).code).toBe(0);
    const [task] = (await place.run(["list", "--json"])).json<TaskSummaryView[]>();
    expect(task).toMatchObject({ status: "done", workflow: "past", steps_done: 3 });
  });

  it("never removes what is pinned, and keeps two files more of an unfinished task that is cleared", async () => {
    const place = openPlace();
    place.write("wf.yaml", WORKFLOW);
    expect((await place.run(["run", "wf.yaml", "--task", "t"])).code).toBe(4);
    const pin = (await place.run(["checkpoints", "pin", "t:1", "--note", "the start", "--json"])).json<PinView>();
    expect(pin).toMatchObject({ pinned: true, changed: true, by: "tester", note: "the start", seq: 1 });
    expect((await place.run(["checkpoints", "pin", "t:1", "--json"])).json<PinView>().changed).toBe(false);
    await place.run(["checkpoints", "clear", "t", "--yes"]);
    expect(filesOf(place).filter((name) => name.endsWith("_00000001.json"))).toHaveLength(1);
    expect(filesOf(place)).toHaveLength(3);
    expect((await list(place))[0]).toMatchObject({ seq: 1, pinned: true });
    expect((await place.run(["checkpoints", "unpin", "t:1", "--json"])).json<PinView>()).toMatchObject({
      pinned: false,
    });
    place.write("go", "");
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect(place.ledger()).toEqual(["a", "b", "c"]);
  });

  it("leaves a living task to its owner", async () => {
    const place = openPlace();
    place.write("slow.yaml", WORKFLOW.replace("test -f go || exit 1; echo c >> ledger", "echo c >> ledger; sleep 600"));
    const running = place.start(["run", "slow.yaml", "--task", "t"]);
    await until("the last step runs", () => place.ledger().includes("c"));
    const named = await place.run(["checkpoints", "clear", "t", "--yes"]);
    const all = (await place.run(["checkpoints", "prune", "--yes", "--json"])).json<PruneView>();
    running.child.kill("SIGINT");
    expect((await running.done).code).toBe(130);
    expect(named.code).toBe(11);
    expect(all.tasks[0]).toMatchObject({ action: "keep", status: "running" });
  });

  it("shortens the history, says what becomes unreachable, and the rest goes on", async () => {
    const place = openPlace();
    place.write("wf.yaml", WORKFLOW);
    await place.run(["run", "wf.yaml", "--task", "t"]);
    for (let epoch = 2; epoch <= 5; epoch += 1) await place.run(["resume", "t"]);
    const before = await list(place);
    const args = ["checkpoints", "prune", "t", "--keep", "2", "--history"];
    const plan = (await place.run([...args, "--dry-run", "--json"])).json<PruneView>();
    const done = (await place.run([...args, "--yes", "--json"])).json<PruneView>();
    expect(done.tasks[0]?.history).toMatchObject({ ...plan.tasks[0]?.history });
    const history = done.tasks[0]?.history;
    expect(history?.segments).toBeGreaterThanOrEqual(2);
    const lost = new Set(history?.unreachable.map(({ seq }) => seq));
    expect(lost.size).toBeGreaterThan(0);
    const after = await list(place);
    expect(after.map(({ seq }) => seq)).toEqual(before.map(({ seq }) => seq));
    for (const { seq, reachable } of after) {
      expect(reachable).toBe(lost.has(seq) ? false : undefined);
      expect((await place.run(["checkpoints", "show", `t:${seq}`])).code).toBe(lost.has(seq) ? 10 : 0);
    }
    const shown = (await place.run(["show", "t", "--json"])).json<TaskView>();
    expect(shown).toMatchObject({ status: "failed", damage: [] });
    expect((await place.run(["debug", "replay", "--checkpoint", "t:latest"])).code).toBe(0);
    expect((await place.run(["list", "--json"])).json<TaskSummaryView[]>()[0]).toMatchObject({ workflow: "past" });
    place.write("go", "");
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect(place.ledger()).toEqual(["a", "b", "c"]);
  });
});
