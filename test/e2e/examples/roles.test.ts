/** The examples of Atlas, Mercury and Apollo at work, each in full; killed on the way they leave the same final folder. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RunView } from "../../../src/runtime/contract.js";
import { PROJECT_FOLDER } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { countRecords, killAtRecord } from "../../support/killed-run.js";

const fileOf = (name: string) => join(PROJECT_FOLDER, "examples", name, "workflow.yaml");

function finalOf(place: CommandPlace, task: string): Record<string, string> {
  const names = readdirSync(`${place.folder}/outputs/${task}/final`);
  return Object.fromEntries(names.map((name) => [name, place.read(`outputs/${task}/final/${name}`)]));
}

/** Another task of the example, killed at that share of its records and resumed. */
async function runKilled(place: CommandPlace, name: string, share: number): Promise<RunView> {
  const point = Math.max(2, Math.floor(countRecords(place, "whole") * share));
  await killAtRecord(place.start(["run", fileOf(name), "--task", "t"]), { place, task: "t", point });
  return (await place.run(["resume", "t", "--json"])).json<RunView>();
}

describe("examples/research", () => {
  it("adds a specialist on what is uncertain, hears three judges, and merges what is sure enough", async () => {
    const place = openPlace();
    expect((await place.run(["run", fileOf("research"), "--task", "whole"])).code).toBe(0);
    const merged = place.read("outputs/whole/final/consolidated.md");
    expect(merged).toContain("### supply-more (85 %)");
    expect(merged).toContain("Heat pumps: 1,900 a year against 2,600 for gas");
    expect(merged).toContain("- supply (research): its confidence of 45 % is under 75 %");
    expect((await place.run(["show", "whole"])).stdout).toContain("one more specialist on the named uncertainties");
    expect(await runKilled(place, "research", 0.4)).toMatchObject({ exit_status: 0 });
    expect(finalOf(place, "t")).toEqual(finalOf(place, "whole"));
  });
});

describe("examples/write-review", () => {
  it("writes until the score reaches 90, with the feedback of each iteration", async () => {
    const place = openPlace();
    expect((await place.run(["run", fileOf("write-review"), "--task", "whole"])).code).toBe(0);
    expect(place.read("outputs/whole/final/announcement.md")).toContain("3 to 9 in the evening");
    const { stdout } = await place.run(["show", "whole", "--confidence"]);
    expect(stdout).toContain("score 97.2 in iteration 3 of 3: approve (clarity 96, length 100)");
    const events = (await place.run(["events", "whole", "--json"])).stdout;
    expect(events).toContain("clarity: 40");
    expect(await runKilled(place, "write-review", 0.6)).toMatchObject({ exit_status: 0 });
    expect(finalOf(place, "t")).toEqual(finalOf(place, "whole"));
  });
});

describe("examples/goal", () => {
  it("waits for a person to agree to its plan, keeps it when it is looked at again, and merges the results", async () => {
    const place = openPlace();
    expect((await place.run(["run", fileOf("goal"), "--task", "move"])).code).toBe(20);
    expect((await place.run(["answer", "move", "follow"])).code).toBe(0);
    expect((await place.run(["resume", "move"])).code).toBe(0);
    expect(place.read("outputs/move/final/consolidated.md")).toContain("Ann has the desks");
    const summary = place.read("outputs/move/final/workflow-summary.md");
    expect(summary).toContain("2 phases: inventory (furniture, machines); schedule (dates)");
    expect(summary).toContain("because the inventory brought no surprise");
  });
});
