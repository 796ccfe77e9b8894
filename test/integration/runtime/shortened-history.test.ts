/** After `prune --history`: what was removed on purpose is lost for no verb, and what is damaged beside it is still said. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Splashdown } from "../../../src/runtime/contract.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

const gate = (name: string, to: string) => `  - name: ${name}
    type: human_gate
    prompt: "Pass ${name}?"
    options: [{label: Continue, value: approve, route: ${to}}]
`;
const GATES = `workflow: {name: gates, entry_point: g1}
agents:
${gate("g1", "g2")}${gate("g2", "g3")}${gate("g3", "g4")}${gate("g4", "$end")}output: {last: "{{ g4.output.selected }}"}
`;

async function openIn(place: CommandPlace, store: string): Promise<Splashdown> {
  const environment = createEnvironment({ PATH: process.env["PATH"] ?? "", ...place.env }, place.folder);
  const splashdown = await openSplashdown({ store, environment });
  onTestFinished(() => splashdown.close());
  return splashdown;
}

/** A task that three owners had, whose history begins in the middle; it waits for the fourth answer. */
async function openShortened(store = "file:outputs") {
  const place = openPlace();
  const splashdown = await openIn(place, store);
  await splashdown.run({ workflow: place.write("wf.yaml", GATES), task: "t" });
  for (let times = 1; times <= 3; times += 1) {
    await splashdown.answer({ task: "t", answer: "approve" });
    await splashdown.resume({ task: "t" });
  }
  const pruned = await splashdown.checkpoints.prune({ task: "t", keep: 1, history: true });
  expect(pruned.tasks[0]?.history?.before).toBeGreaterThan(1);
  return { place, splashdown };
}

async function expectWhole(splashdown: Splashdown): Promise<void> {
  const { checks } = await splashdown.doctor({ tasks: true });
  expect(checks.filter(({ name }) => name === "t")).toEqual([
    { name: "t", ok: true, text: expect.stringMatching(/^whole: /) },
  ]);
  expect(checks.find(({ name }) => name === "tasks")).toMatchObject({ ok: true });
  expect((await splashdown.list())[0]?.problem).toBe(undefined);
  expect(await splashdown.show("t")).toMatchObject({ damage: [] });
}

describe("a history that prune shortened", () => {
  it("[reliability 2] is whole for doctor --tasks, list and show", async () => {
    const { splashdown } = await openShortened();
    await expectWhole(splashdown);
  });

  it("[reliability 2 kin] is whole in a database too, and goes on", async () => {
    const { splashdown } = await openShortened("sqlite:tasks.db");
    await expectWhole(splashdown);
    await splashdown.answer({ task: "t", answer: "approve" });
    expect(await splashdown.resume({ task: "t" })).toMatchObject({ status: "done", output: { last: "approve" } });
    await expectWhole(splashdown);
  });

  it("[reliability 2 kin] keeps its open question in the list, and never says that it was answered", async () => {
    const { splashdown } = await openShortened();
    expect((await splashdown.list())[0]).toMatchObject({
      status: "waiting",
      open_questions: 1,
      waits_for: { text: "Pass g4?" },
    });
  });

  it("[reliability 2 kin] is read by events, replay, diff and the audit, which say nothing of loss", async () => {
    const { splashdown } = await openShortened();
    const events: number[] = [];
    for await (const { n } of splashdown.events("t")) events.push(n);
    expect(events[0]).toBeGreaterThan(1);
    expect(await splashdown.audit.verify("t")).toMatchObject({ intact: true });
    expect(await splashdown.debug.replay("t:latest")).toMatchObject({ task: "t" });
    expect(await splashdown.debug.diffCheckpoints("t:latest", "t:latest")).toBeDefined();
    expect((await splashdown.metrics("t")).passed_over).toEqual([]);
  });

  it("[reliability 2 kin] travels as a bundle and is whole where it arrives", async () => {
    const { place, splashdown } = await openShortened();
    await splashdown.checkpoints.export("t", { file: join(place.folder, "t.zip") });
    const elsewhere = await openIn(place, "file:elsewhere");
    await elsewhere.checkpoints.import(join(place.folder, "t.zip"));
    await expectWhole(elsewhere);
  });

  it("[reliability 2 kin] of which more is missing than was removed is damaged, from there on", async () => {
    const { place, splashdown } = await openShortened();
    const journal = join(place.folder, "outputs/t/checkpoints/journal");
    const [first = ""] = readdirSync(journal).sort();
    const before = (await splashdown.checkpoints.prune({ task: "t", keep: 1, history: true, dryRun: true })).tasks;
    expect(before).toHaveLength(1);
    rmSync(join(journal, first));
    const { checks } = await splashdown.doctor({ tasks: true });
    const bad = checks.filter(({ name, ok }) => name === "t" && !ok);
    expect(bad.length).toBeGreaterThan(0);
    expect(bad.map(({ text }) => text).join()).not.toContain("records 1 to");
  });
});
