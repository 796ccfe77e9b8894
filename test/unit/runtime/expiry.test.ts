/** Whole tasks that go by themselves where a person has set an age or a number: what goes, what never does, and what is said. */
import { describe, expect, it } from "vitest";
import { openTypist, type Typist } from "../../support/typed-again.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const STEP = { name: "a", type: "set", value: "{{ 1 }}" };
const GATE = { name: "g", type: "human_gate", prompt: "Continue?", options: ["yes"] };

const workflowOf = (checkpoint: object, step: object = STEP, name = "w"): object => ({
  workflow: { name },
  checkpoint_config: { keep_successful: false, ...checkpoint },
  steps: [step],
});

const namesOf = async ({ splashdown }: Typist): Promise<string[]> =>
  (await splashdown.list()).map(({ task }) => task).sort();
const trashOf = async ({ splashdown }: Typist): Promise<string[]> =>
  (await splashdown.store.trash()).tasks.map(({ task }) => task).sort();

describe("tasks that are over by retention", () => {
  it.each(["memory", "file", "sqlite"])(
    "[source 8] go to the trash when a run ends, by max_tasks, and come back (%s)",
    async (store) => {
      const typist = await openTypist(store);
      const { splashdown, type, wait, said } = typist;
      for (const task of ["t1", "t2", "t3"]) {
        expect(await type(workflowOf({ max_tasks: 1 }), { task })).toMatchObject({ status: "done" });
        wait(1_000);
      }
      expect([await namesOf(typist), await trashOf(typist)]).toEqual([["t3"], ["t1", "t2"]]);
      expect(said.filter((line) => line.startsWith("moved to the trash"))).toEqual([
        "moved to the trash task t1: more than max_tasks: 1 ended tasks of w; deliverables stay; it can be restored for 30 days, with: splashdown store restore t1",
        expect.stringContaining("task t2") as string,
      ]);
      await splashdown.store.restore(["t1"]);
      expect(await namesOf(typist)).toEqual(["t1", "t3"]);
      const trail = (await splashdown.audit.show("t1")).entries.filter(({ event }) => event === "trashed");
      expect(trail).toMatchObject([{ event: "trashed", verb: "retention" }]);
    },
  );

  it("[source 8 kin] go by retention_days, those of the workflow's checkpoint.retention too", async () => {
    const typist = await openTypist();
    const retention = { max_age_days: 7, keep_successful: false };
    const aged = { workflow: { name: "aged", checkpoint: { retention } }, steps: [STEP] };
    await typist.type(aged, { task: "old" });
    typist.wait(8 * DAY_MS);
    await typist.type(aged, { task: "new" });
    expect([await namesOf(typist), await trashOf(typist)]).toEqual([["new"], ["old"]]);
  });

  it("[source 8 kin] are never unfinished ones, whatever they wait for, nor those that no rule is about", async () => {
    const typist = await openTypist();
    const { type, wait } = typist;
    await type(workflowOf({ retention_days: 1, max_tasks: 1 }, GATE), { task: "waiting" });
    const broken = { name: "a", command: ["false"], effects: "none" };
    await type(workflowOf({ retention_days: 1, max_tasks: 1 }, broken), { task: "failed" });
    await type(workflowOf({}, STEP, "without"), { task: "without" });
    wait(100 * DAY_MS);
    await type(workflowOf({ retention_days: 1, max_tasks: 1 }), { task: "new" });
    expect([await namesOf(typist), await trashOf(typist)]).toEqual([["failed", "new", "waiting", "without"], []]);
  });

  it("[source 8 kin] leave the trash for good when trash_days are over, and not before", async () => {
    const typist = await openTypist();
    const { type, wait } = typist;
    const kept = workflowOf({ max_tasks: 1 });
    for (const task of ["t1", "t2"]) await type(kept, { task });
    wait(29 * DAY_MS);
    await type(kept, { task: "t3" });
    expect(await trashOf(typist)).toEqual(["t1", "t2"]);
    wait(2 * DAY_MS);
    await type(kept, { task: "t4" });
    expect([await namesOf(typist), await trashOf(typist)]).toEqual([["t4"], ["t2", "t3"]]);
  });

  it("[source 8 kin] go when a task is resumed to its end, and recovered", async () => {
    const typist = await openTypist();
    const { splashdown, type, wait } = typist;
    await type(workflowOf({ max_tasks: 1 }), { task: "t1" });
    wait(1_000);
    await type(workflowOf({ max_tasks: 1 }, GATE), { task: "t2" });
    expect(await namesOf(typist)).toEqual(["t1", "t2"]);
    await splashdown.resume({ task: "t2", answers: { g: "yes" } });
    expect([await namesOf(typist), await trashOf(typist)]).toEqual([["t2"], ["t1"]]);
  });

  it("stay all where nobody has set anything", async () => {
    const typist = await openTypist();
    for (const task of ["t1", "t2"]) await typist.type(workflowOf({}), { task });
    typist.wait(300 * DAY_MS);
    await typist.type(workflowOf({}), { task: "t3" });
    expect([await namesOf(typist), await trashOf(typist)]).toEqual([["t1", "t2", "t3"], []]);
  });
});
