/** `guide`: what a person says to a task under way reaches what begins after it, whoever is killed meanwhile. */
import { describe, expect, it, onTestFinished } from "vitest";
import { openSplashdown } from "../../../src/index.js";
import type { GuideView, RunView, TaskView } from "../../../src/runtime/contract.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { release, startHeld, writeHeldSteps } from "../../support/held-steps.js";
import { expectView } from "../../support/view-schemas.js";

const WORKFLOW = `workflow: {name: told, entry_point: a}
agents:
  - {name: a, command: [sh, step.sh, a], effects: none, routes: [{to: b}]}
  - {name: b, command: [sh, -c, 'cat > input-b; echo null'], effects: none, routes: [{to: c}]}
  - {name: c, command: [sh, -c, 'cat > input-c; echo null'], effects: none}
`;

function prepare(): CommandPlace {
  const place = openPlace();
  writeHeldSteps(place, ["unused"]);
  place.write("told.yaml", WORKFLOW);
  return place;
}

const heardBy = (place: CommandPlace, step: string): unknown =>
  (JSON.parse(place.read(`input-${step}`)) as { guidance: unknown }).guidance;

describe("splashdown guide", () => {
  it(
    "reaches what begins after it, though the owner is killed between taking and using it",
    { timeout: 120_000 },
    async () => {
      const place = prepare();
      const running = await startHeld(place, "a", { args: ["run", "told.yaml", "--task", "t"] });
      const first = (
        await place.run(["guide", "t", "-", "--json"], { input: "in euros\u001b[2J\n" })
      ).json<GuideView>();
      expectView("guide", first);
      expect(first).toMatchObject({ task: "t", text: "in euros\\u001b[2J", by: "tester", taken: true });
      running.child.kill("SIGKILL");
      await running.done;
      place.write("more.md", "by Friday\n");
      const second = await place.run(["guide", "t", "--file", "more.md", "--step", "c", "--by", "bob"]);
      expect(second.stdout).toBe(
        "kept for t for main/c, which takes it as soon as it is resumed: splashdown resume t\n",
      );
      const shown = (await place.run(["show", "t", "--json"])).json<TaskView>();
      expectView("show", shown);
      expect(shown.guidance.map(({ text, by, step, taken }) => [text, by, step, taken])).toEqual([
        ["in euros\\u001b[2J", "tester", undefined, true],
        ["by Friday", "bob", "main/c", false],
      ]);
      release(place, "a");
      const end = await place.run(["run", "told.yaml", "--task", "t", "--json"]);
      expect(end.json<RunView>()).toMatchObject({ status: "done", how: "taken_up" });
      expect(heardBy(place, "b")).toEqual(["in euros\\u001b[2J"]);
      expect(heardBy(place, "c")).toEqual(["in euros\\u001b[2J", "by Friday"]);
      await expectTold(place);
      expect((await place.run(["show", "t"])).stdout).toContain("told to a, b, c\n");
    },
  );
});

/** Once, by whom, in every account of the task. */
async function expectTold(place: CommandPlace): Promise<void> {
  const environment = createEnvironment({ PATH: process.env["PATH"] ?? "", ...place.env }, place.folder);
  const splashdown = await openSplashdown({ store: "file:outputs", environment });
  onTestFinished(() => splashdown.close());
  const told: string[] = [];
  for await (const { text } of splashdown.events("t")) if (text.includes("guidance")) told.push(text);
  expect(told).toEqual([
    "person:tester decided: guidance: in euros\\u001b[2J",
    "person:bob decided: guidance for main/c: by Friday",
  ]);
  const { marks } = await splashdown.timeline("t");
  expect(marks.filter(({ text }) => text.includes("guidance"))).toHaveLength(2);
  const { entries } = await splashdown.audit.show("t");
  expect(entries.filter(({ event }) => event === "guided")).toHaveLength(2);
  expect((await splashdown.debug.replay("t:latest")).differences).toEqual([]);
}
