/** What a plan names as to run again is what runs: groups that failed wholly or in part, in every form. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineWorkflow, type PlanView, type RunView } from "../../../src/index.js";
import { openTypist, type Typist } from "../../support/typed-again.js";

interface World {
  isUp: boolean;
  readonly ledger: string[];
}

/** A step that fails while the world is down, or always while `isBad` says so. */
function stepOf(world: World, name: string, more: object = {}): object {
  return {
    name,
    effects: "none",
    function: ({ item }: { item?: string }) => {
      world.ledger.push(item === undefined ? name : `${name} ${item}`);
      if (!world.isUp) throw new Error("down");
      return name;
    },
    ...more,
  };
}

const fine = (world: World, name: string, more: object = {}): object => ({
  name,
  effects: "none",
  function: () => (world.ledger.push(name), name),
  ...more,
});

const TOLERANT = { failure_mode: "continue_on_error" };

const FORMS: Readonly<Record<string, (world: World) => object>> = {
  for_each: (world) => ({
    steps: [{ name: "g", for_each: ["a", "b"], as: "i", ...TOLERANT, step: stepOf(world, "o") }],
  }),
  parallel: (world) => ({
    workflow: { entry_point: "g" },
    agents: [stepOf(world, "a"), stepOf(world, "b")],
    parallel: [{ name: "g", agents: ["a", "b"], ...TOLERANT, routes: [{ to: "$end" }] }],
  }),
  nested: (world) => ({
    steps: [
      {
        name: "outer",
        for_each: ["a"],
        as: "i",
        ...TOLERANT,
        step: { name: "inner", for_each: ["x", "y"], as: "j", ...TOLERANT, step: stepOf(world, "o") },
      },
    ],
  }),
  phases: (world) => ({ phases: [{ name: "p", specialists: [stepOf(world, "a"), stepOf(world, "b")] }] }),
};

async function start(typist: Typist, world: World, form: string): Promise<object> {
  const { workflow = {}, ...rest } = (FORMS[form] ?? (() => ({})))(world) as { workflow?: object };
  const defined = defineWorkflow({ workflow: { name: "groups", ...workflow }, ...rest } as never);
  const view = await typist.splashdown.run({ workflow: defined, task: "t" });
  expect(view).toMatchObject({
    status: "failed",
    exit_status: 4,
    next: "run the program again that defined the workflow groups",
  });
  return defined;
}

const planOf = async ({ splashdown }: Typist): Promise<PlanView> =>
  (await splashdown.resume({ task: "t", planOnly: true })) as PlanView;

/** Steps that started since, by what is told of them. */
async function resumeAndSee({ splashdown }: Typist): Promise<{ view: RunView; started: string[] }> {
  const started: string[] = [];
  const off = splashdown.on("step_started", ({ step }) => started.push(step.replace(/@.*/, "")));
  const view = (await splashdown.resume({ task: "t" })) as RunView;
  off();
  return { view, started };
}

describe("resume of a group in which everything failed", () => {
  it.each([
    ["[public F] for_each", "for_each"],
    ["[public F kin] parallel", "parallel"],
    ["[public F kin] a group in a group", "nested"],
    ["[public F kin] a phase", "phases"],
  ])("%s: runs what the plan names, and nothing else", async (_title, form) => {
    const world: World = { isUp: false, ledger: [] };
    const typist = await openTypist();
    await start(typist, world, form);
    const before = world.ledger.length;
    const named = (await planOf(typist)).to_rerun.map(({ step }) => step.replace(/@.*/, ""));
    expect(named.length).toBeGreaterThan(0);
    world.isUp = true;
    const { view, started } = await resumeAndSee(typist);
    expect(view.status).toBe("done");
    expect(world.ledger.length).toBeGreaterThan(before);
    for (const path of started) expect(named.some((name) => path === name || path.startsWith(`${name}/`))).toBe(true);
    for (const name of named) expect(started.some((path) => path === name || path.startsWith(`${name}/`))).toBe(true);
  });

  it("[public F kin] is tried again each time, as long as the outage lasts", async () => {
    const world: World = { isUp: false, ledger: [] };
    const typist = await openTypist();
    await start(typist, world, "for_each");
    for (let again = 1; again <= 3; again += 1) {
      expect((await resumeAndSee(typist)).view).toMatchObject({
        status: "failed",
        next: "run the program again that defined the workflow groups",
      });
      expect(world.ledger).toHaveLength(2 + 2 * again);
    }
    world.isUp = true;
    expect((await resumeAndSee(typist)).view.status).toBe("done");
  });

  it("[public F kin] the same run typed again tries it again, too", async () => {
    const world: World = { isUp: false, ledger: [] };
    const typist = await openTypist();
    const workflow = await start(typist, world, "parallel");
    world.isUp = true;
    expect(await typist.type(workflow)).toMatchObject({ task: "t", status: "done" });
  });
});

describe("resume of a group that failed in part", () => {
  it("[public F kin] names no member that its group has tolerated, and runs none", async () => {
    const world: World = { isUp: false, ledger: [] };
    const typist = await openTypist();
    const members = [stepOf(world, "bad"), fine(world, "good")];
    const defined = defineWorkflow({
      workflow: { name: "part", entry_point: "g" },
      agents: [...members, stepOf(world, "last", { routes: [{ to: "$end" }] })],
      parallel: [{ name: "g", agents: ["bad", "good"], ...TOLERANT, routes: [{ to: "last" }] }],
    } as never);
    await typist.splashdown.run({ workflow: defined, task: "t" });
    expect(world.ledger).toEqual(["bad", "good", "last"]);
    const named = (await planOf(typist)).to_rerun.map(({ step }) => step.replace(/@.*/, ""));
    expect(named).toEqual(["main/last"]);
    world.isUp = true;
    const { view, started } = await resumeAndSee(typist);
    expect(started).toEqual(named);
    expect(view).toMatchObject({ status: "partial" });
  });

  it("[public F kin] enters no failed member once more in which something has acted", async () => {
    const typist = await openTypist();
    const [inner, outer, ledger] = ["inner.yaml", "outer.yaml", "ledger"].map((name) => join(typist.folder, name));
    const notify = `echo notify >> ${ledger}; test -f ${ledger}.up`;
    writeFileSync(
      inner ?? "",
      `workflow: { name: inner }
steps:
  - { name: charge, command: [sh, -c, "echo charge >> ${ledger}; echo 1"], effects: external }
  - { name: notify, command: [sh, -c, "${notify}"], effects: none, depends_on: [charge] }
`,
    );
    writeFileSync(
      outer ?? "",
      `workflow: { name: outer }
steps: [{ name: g, for_each: [a], as: i, failure_mode: continue_on_error, step: { name: one, type: workflow, workflow: ./inner.yaml } }]
`,
    );
    expect(await typist.splashdown.run({ workflow: outer ?? "", task: "t" })).toMatchObject({ status: "failed" });
    writeFileSync(`${ledger}.up`, "");
    expect((await planOf(typist)).to_rerun).toEqual([]);
    await typist.splashdown.resume({ task: "t" });
    expect(readFileSync(ledger ?? "", "utf8")).toBe("charge\nnotify\n");
  });
});
