/** What a task does, survives and refuses, wherever it is kept. */
import { expect } from "vitest";
import type {
  CheckpointView,
  EventView,
  PlanView,
  RecoverView,
  RunView,
  TaskSummaryView,
  TaskView,
} from "../../../src/runtime/contract.js";
import type { CommandPlace } from "../../support/command-place.js";
import { crashAt, release, spoil, repair, startHeld, writeHeldSteps } from "../../support/held-steps.js";
import { until } from "../../support/real-clock.js";
import type { Story } from "./story.js";

const STEPS = ["s1", "s2", "s3"];

/** Two phases; the second step gives a value that is kept as a blob. */
const WORKFLOW = `
workflow: {name: past}
phases:
  - name: one
    specialists:
      - {name: a, command: [sh, -c, 'echo a >> ledger; echo "{\\"output\\":{\\"v\\":1}}"'], effects: none, save_as: a.json}
      - {name: b, command: [sh, -c, 'echo b >> ledger; printf "{\\"output\\":{\\"v\\":\\"%0600000d\\"}}" 7'], effects: none, depends_on: [a]}
  - name: two
    specialists:
      - {name: c, command: [sh, -c, 'echo c >> ledger; echo "{\\"output\\":{\\"v\\":3}}"'], effects: none}
`;

export async function show(place: CommandPlace, task = "t"): Promise<TaskView> {
  return (await place.run(["show", task, "--json"])).json<TaskView>();
}

export async function runPast(place: CommandPlace): Promise<RunView> {
  const result = await place.run(["run", place.write("wf.yaml", WORKFLOW), "--task", "t", "--json"]);
  expect(result.code).toBe(0);
  return result.json<RunView>();
}

export const TASK_STORIES: readonly Story[] = [
  {
    title: "a task runs to its end, and all that reads it agrees",
    isShort: true,
    tell: async (place) => {
      const view = await runPast(place);
      expect(view.deliverables.map(({ file }) => file)).toContain("phases/phase1/a.json");
      const tasks = (await place.run(["list", "--json"])).json<TaskSummaryView[]>();
      expect(tasks).toMatchObject([{ task: "t", status: "done", workflow: "past" }]);
      expect(await show(place)).toMatchObject({ status: "done", damage: [] });
      const checkpoints = (await place.run(["checkpoints", "list", "t", "--json"])).json<CheckpointView[]>();
      expect(checkpoints.map(({ seq }) => seq)).toEqual(checkpoints.map((_one, at) => at + 1));
      const events = (await place.run(["events", "t", "--json"])).json<EventView[]>();
      expect(events.at(-1)?.type).toBe("task_closed");
      expect((await place.run(["debug", "replay", "--checkpoint=t:latest"])).stdout).toContain(
        "today's engine makes the same choices",
      );
      expect((await place.run(["run", "wf.yaml", "--task", "t", "--json"])).json<RunView>().output).toEqual(
        view.output,
      );
      expect((await place.run(["doctor"])).code).toBe(0);
      expect(place.ledger()).toEqual(["a", "b", "c"]);
    },
  },
  {
    title: "what was done before a kill -9 is kept, and what may have acted is asked about",
    isShort: true,
    tell: async (place) => {
      const file = writeHeldSteps(place, STEPS);
      await crashAt(place, "s2", ["run", file, "--task", "t"]);
      expect((await show(place)).status).toBe("crashed");
      expect((await place.run(["resume", "t"])).code).toBe(22);
      expect((await place.run(["answer", "t", "rerun"])).code).toBe(0);
      expect((await place.run(["resume", "t"])).code).toBe(0);
      expect(place.ledger()).toEqual(["s1", "s2", "s2", "s3"]);
      expect((await show(place)).damage).toEqual([]);
    },
  },
  {
    title: "refuses another key, and reads nothing with it",
    tell: async (place) => {
      await runPast(place);
      const stranger = { SPLASHDOWN_KEY: Buffer.alloc(32, 8).toString("base64") };
      const refused = await place.run(["show", "t"], { env: stranger });
      expect([refused.code, refused.stdout]).toEqual([12, ""]);
      expect((await place.run(["show", "t"])).code).toBe(0);
    },
  },
  {
    title: "FAULTS 25: while one process has the task, another one is refused and changes nothing",
    tell: async (place, store) => {
      const file = writeHeldSteps(place, STEPS);
      const running = await startHeld(place, "s2", { args: ["run", file, "--task", "t"] });
      const refused = await place.run(["resume", "t"]);
      expect(refused.code).toBe(store.isShared ? 11 : 4);
      expect(refused.stderr).toContain(store.isShared ? `process ${running.pid}` : `process ${running.pid} on `);
      release(place, "s2");
      expect((await running.done).code).toBe(0);
      expect(place.ledger()).toEqual(STEPS);
    },
  },
  {
    title: "FAULTS 36: of several that recover at once exactly one runs each task",
    isShort: true,
    tell: async (place, store) => {
      const file = writeHeldSteps(place, STEPS, { effects: "none" });
      for (const n of [1, 2]) await crashAt(place, "s2", ["run", file, "--task", `t${n}`, "--input", `n=${n}`]);
      const before = place.ledger().length;
      const codes = await Promise.all([1, 2, 3].map(async () => (await place.run(["recover"])).code));
      // Where one process at a time may open the store, the others are told so.
      expect(codes.filter((code) => code === 0).length).toBeGreaterThan(0);
      if (store.isShared) expect(codes).toEqual([0, 0, 0]);
      expect(place.ledger().slice(before).sort()).toEqual(["s2", "s2", "s3", "s3"]);
      const tasks = (await place.run(["list", "--json"])).json<TaskSummaryView[]>();
      expect(tasks.map(({ status }) => status)).toEqual(["done", "done"]);
    },
  },
  {
    title: "a failed task continues where it failed, and `recover` says why it leaves it",
    tell: async (place) => {
      spoil(place, "s2");
      const file = writeHeldSteps(place, STEPS, { effects: "none" });
      expect((await place.run(["run", file, "--task", "t"])).code).toBe(4);
      const recovered = (await place.run(["recover", "--json"])).json<RecoverView>();
      expect(recovered.tasks).toMatchObject([{ task: "t", action: "left", why: "it failed and needs a person" }]);
      repair(place, "s2");
      const plan = (await place.run(["resume", "t", "--json"])).json<PlanView | RunView>();
      expect(plan).toMatchObject({ status: "done" });
      expect(place.ledger()).toEqual(["s1", "s2", "s2", "s3"]);
    },
  },
  {
    title: "a fork begins at an old checkpoint and leaves the task as it was",
    tell: async (place) => {
      const first = await runPast(place);
      const before = await show(place);
      expect((await place.run(["fork", "t", "--from", "2", "--task", "f"])).code).toBe(0);
      const forked = (await place.run(["resume", "f", "--json"])).json<RunView>();
      expect(forked).toMatchObject({ status: "done", output: first.output });
      expect(await show(place)).toEqual(before);
      expect((await place.run(["debug", "diff-checkpoints", "--from=t:latest", "--to=f:latest"])).code).toBe(0);
    },
  },
  {
    title: "pruned files and history leave a task that can be read and taken up",
    tell: async (place) => {
      await runPast(place);
      expect((await place.run(["checkpoints", "prune", "t", "--keep", "2", "--history", "--yes"])).code).toBe(0);
      const listed = (await place.run(["checkpoints", "list", "t", "--json"])).json<CheckpointView[]>();
      expect(listed.filter(({ file }) => file !== null && file !== undefined)).toHaveLength(2);
      expect(await show(place)).toMatchObject({ status: "done", damage: [] });
      expect((await place.run(["run", "wf.yaml", "--task", "t"])).code).toBe(0);
      expect(place.ledger()).toEqual(["a", "b", "c"]);
    },
  },
  {
    title: "a running task hears what other processes ask and answer",
    needsSharing: true,
    tell: async (place) => {
      const file = writeHeldSteps(place, STEPS, { effects: "none" });
      const running = await startHeld(place, "s2", { args: ["run", file, "--task", "t"] });
      expect((await show(place)).status).toBe("running");
      const before = (await show(place)).checkpoints;
      expect((await place.run(["checkpoint", "t", "--note", "now"])).code).toBe(0);
      await until("the checkpoint is there", async () => (await show(place)).checkpoints !== before);
      expect((await place.run(["pause", "t"])).code).toBe(0);
      release(place, "s2");
      expect((await running.done).code).toBe(20);
      expect((await place.run(["resume", "t"])).code).toBe(0);
      expect(place.ledger().at(-1)).toBe("s3");
    },
  },
];
