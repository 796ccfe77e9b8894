/** What waits or hangs, and what is said of it: one answer for one question, plans at a limit, steps that never end. */
import { describe, expect, it } from "vitest";
import type { PlanView, RunView } from "../../../src/index.js";
import { until } from "../../support/real-clock.js";
import { openTypist, type Typist } from "../../support/typed-again.js";

const GATE = { name: "g", type: "human_gate", prompt: "Send {{ item }}?", options: ["yes", "no"] };
const THREE = {
  workflow: { name: "three", entry_point: "each" },
  for_each: [{ name: "each", type: "for_each", source: "{{ ['a', 'b', 'c'] }}", as: "item", agent: GATE }],
  agents: [],
};

const failureOf = async (act: Promise<unknown>): Promise<unknown> => act.then(undefined, (error: unknown) => error);
const MANY = { code: "USAGE_INVALID", message: expect.stringContaining("names 3 open questions") as string };

async function openThree(store: string): Promise<Typist> {
  const typist = await openTypist(store);
  const view = await typist.type(THREE, { task: "t" });
  expect(view.questions).toHaveLength(3);
  return typist;
}

const openCount = async ({ splashdown }: Typist): Promise<number | undefined> =>
  (await splashdown.show("t")).open_questions;

describe("three items that wait at one gate", () => {
  it.each(["memory", "sqlite"])("[kinds F12] resume refuses one answer for all, as answer does (%s)", async (store) => {
    const typist = await openThree(store);
    const { splashdown } = typist;
    expect(await failureOf(splashdown.answer({ task: "t", question: "g", answer: "yes" }))).toMatchObject(MANY);
    expect(await failureOf(splashdown.resume({ task: "t", answers: { g: "yes" } }))).toMatchObject(MANY);
    expect(await openCount(typist)).toBe(3);
  });

  it("[kinds F12 kin] run with the same name refuses as well, and records nothing", async () => {
    const typist = await openThree("memory");
    expect(await failureOf(typist.type(THREE, { task: "t", answers: { g: "yes" } }))).toMatchObject(MANY);
    expect(await failureOf(typist.type(THREE, { answers: { g: "yes" } }))).toMatchObject(MANY);
    expect(await openCount(typist)).toBe(3);
  });

  it("[kinds F12 kin] each is answered by its own name, with resume and with run", async () => {
    const typist = await openThree("memory");
    const [first, second, third] = (await typist.splashdown.show("t")).questions.map(({ id }) => id);
    const view = await typist.splashdown.resume({ task: "t", answers: { [first ?? ""]: "yes" } });
    expect((view as RunView).questions.map(({ id }) => id)).toEqual([second, third]);
    const answers = { [second ?? ""]: "no", [third ?? ""]: "yes" };
    expect(await typist.type(THREE, { task: "t", answers })).toMatchObject({ status: "done" });
  });

  it("[kinds F12 kin] the last one left is named by the gate alone", async () => {
    const typist = await openThree("memory");
    const ids = (await typist.splashdown.show("t")).questions.map(({ id }) => id);
    for (const question of ids.slice(1)) await typist.splashdown.answer({ task: "t", question, answer: "no" });
    expect(await typist.splashdown.resume({ task: "t", answers: { g: "yes" } })).toMatchObject({ status: "done" });
  });
});

describe("a resume at a limit that is reached", () => {
  it("[kinds F19 kin] plans nothing to run again: what was cut off runs when the limit is extended", async () => {
    const { splashdown, type } = await openTypist();
    const step = { name: "a", type: "set", value: "{{ 1 }}", routes: [{ to: "a" }] };
    const workflow = { workflow: { name: "l", entry_point: "a", limits: { max_iterations: 3 } }, agents: [step] };
    expect(await type(workflow, { task: "t" })).toMatchObject({ exit_status: 21 });
    const plan = (await splashdown.resume({ task: "t", planOnly: true })) as PlanView;
    expect(plan).toMatchObject({
      to_rerun: [],
      may_run: expect.arrayContaining([
        { step: "main/a@1.4", when: "the limit that is reached is extended" },
      ]) as unknown,
    });
  });
});

describe("a step that can never end", () => {
  it("[kinds F19 kin] is named where nothing is left to wait for, and the task is interrupted and goes on later", async () => {
    const { splashdown, type, said } = await openTypist();
    const runtime = { provider: "scripted", scripted_answers: { stuck: [{ hang: true }] } };
    const workflow = {
      workflow: { name: "h", entry_point: "stuck", runtime },
      agents: [{ name: "stuck", prompt: "go", routes: [{ to: "$end" }] }],
    };
    const isUnderWay = () => splashdown.running().some(({ steps }) => JSON.stringify(steps).includes("stuck"));
    const running = type(workflow, { task: "t" });
    await until("the step is under way", isUnderWay);
    // As Node tells when its loop has nothing left, and once more after a turn in which nothing came of it.
    process.emit("beforeExit", 0);
    process.emit("beforeExit", 0);
    const reason = "interrupted: main/stuck@1.1 can never come to an end, as nothing is left to wait for";
    expect(await running).toMatchObject({ status: "stopped", exit_status: 4, resumable: true, reason });
    expect(said).toContain(reason);
    expect(await splashdown.list()).toMatchObject([{ status: "stopped" }]);
  });
});
