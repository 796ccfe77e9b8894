import { describe, expect, it, onTestFinished } from "vitest";
import { openSplashdown, type PlanView, type RunView, type Splashdown } from "../../../src/index.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

const say = (name: string, value: string, rest: string) =>
  `{name: ${name}, command: [sh, -c, 'echo ${name} >> ledger; echo "{\\"output\\":{\\"v\\":${value}}}"'], ${rest}}`;

/** A chain, a diamond, and a second phase that reads the first. */
const WORKFLOW = `
workflow: {name: past}
phases:
  - name: one
    specialists:
      - ${say("a", "1", "effects: none")}
      - ${say("b", "2", "effects: external, depends_on: [a]")}
      - ${say("c", "3", "effects: none, depends_on: [a]")}
      - ${say("d", "4", "effects: none, depends_on: [b, c]")}
  - name: two
    specialists:
      - ${say("e", "5", "effects: external")}
      - ${say("f", "6", "effects: none, depends_on: [e]")}
`;

async function openIn(place: CommandPlace): Promise<Splashdown> {
  const environment = createEnvironment({ PATH: process.env["PATH"] ?? "", ...place.env }, place.folder);
  const splashdown = await openSplashdown({ store: "file:outputs", environment });
  onTestFinished(() => splashdown.close());
  return splashdown;
}

const stepsOf = (ids: readonly string[]) => ids.map((id) => id.slice(id.lastIndexOf("/") + 1)).sort();

describe("resume --from", () => {
  it("goes back to every checkpoint of a task: what was done there stays, the rest runs again, once", async () => {
    const place = openPlace();
    const workflow = place.write("wf.yaml", WORKFLOW);
    const splashdown = await openIn(place);
    const first = await splashdown.run({ workflow, task: "t" });
    expect(first.status).toBe("done");
    const checkpoints = (await splashdown.checkpoints.list("t")).filter(({ trigger }) => trigger !== "user_requested");
    expect(checkpoints.length).toBeGreaterThan(8);
    for (const { seq } of checkpoints) {
      const plan = (await splashdown.resume({ task: "t", from: `${seq}`, planOnly: true })) as PlanView;
      const before = place.ledger().length;
      const view = (await splashdown.resume({ task: "t", from: `t:${seq}`, onUnknown: "rerun" })) as RunView;
      expect(view).toMatchObject({ status: "done", output: first.output });
      const again = place.ledger().slice(before).sort();
      expect([seq, again]).toEqual([
        seq,
        stepsOf([...plan.to_run, ...plan.to_rerun.map(({ step }) => step.split("@")[0] ?? "")]),
      ]);
      expect(new Set([...stepsOf(plan.done.map((id) => id.split("@")[0] ?? "")), ...again]).size).toBe(6);
    }
  });

  it("asks about external steps that were done since, keeps what a person says, and counts what was spent", async () => {
    const place = openPlace();
    const workflow = place.write("wf.yaml", WORKFLOW);
    const splashdown = await openIn(place);
    const first = await splashdown.run({ workflow, task: "t" });
    const start = (await splashdown.checkpoints.list("t")).find(
      ({ trigger, phase }) => trigger === "phase_started" && phase === 2,
    );
    const plan = (await splashdown.resume({ task: "t", from: String(start?.seq), planOnly: true })) as PlanView;
    expect(plan.acted_since).toEqual(["main/two/e@1.1"]);
    const asked = (await splashdown.resume({ task: "t", from: String(start?.seq) })) as RunView;
    expect(asked).toMatchObject({ status: "waiting", exit_status: 20 });
    expect(asked.questions[0]?.text).toContain("was done in round 1");
    expect(place.ledger().filter((line) => line === "e")).toEqual(["e"]);
    const kept = (await splashdown.resume({ task: "t", answer: "done" })) as RunView;
    expect(kept).toMatchObject({ status: "done", output: first.output });
    expect(place.ledger().filter((line) => line === "e")).toEqual(["e"]);
    expect(place.ledger().filter((line) => line === "f")).toEqual(["f", "f"]);
  });

  it("needs nothing but the journal: without any snapshot the state after going back is the same", async () => {
    const place = openPlace();
    const workflow = place.write("wf.yaml", WORKFLOW);
    const splashdown = await openIn(place);
    await splashdown.run({ workflow, task: "t" });
    await splashdown.resume({ task: "t", from: "phase1", onUnknown: "rerun" });
    const before = await splashdown.show("t");
    await splashdown.checkpoints.clear("t");
    const { last_event: _n, last_event_at: _at, size: _size, ...after } = await splashdown.show("t");
    expect(before).toMatchObject(JSON.parse(JSON.stringify(after)) as object);
    const replayed = await splashdown.debug.replay("t:latest");
    expect(replayed.differences).toEqual([]);
  });

  it("refuses a checkpoint that is not there, and changes nothing", async () => {
    const place = openPlace();
    const workflow = place.write("wf.yaml", WORKFLOW);
    const splashdown = await openIn(place);
    await splashdown.run({ workflow, task: "t" });
    await expect(splashdown.resume({ task: "t", from: "99" })).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
    expect(await splashdown.show("t")).toMatchObject({ status: "done" });
  });
});
