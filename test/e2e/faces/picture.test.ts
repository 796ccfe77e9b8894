/** The picture of a task in `final/`: the same bytes however often its owner was killed. */
import { describe, expect, it } from "vitest";
import type { RunView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { crashAt, release, startHeld, writeHeldSteps } from "../../support/held-steps.js";
import { findXmlFault } from "../../support/xml-check.js";

const STEPS = ["s1", "s2", "s3"];
const pictureOf = (place: CommandPlace, task: string): string => place.read(`outputs/${task}/final/task.svg`);

describe("final/task.svg", () => {
  it("is byte for byte the same after kills and in an undisturbed run, and named in the report", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS, { effects: "none" });
    const view = (await place.run(["run", file, "--task", "calm", "--json"])).json<RunView>();
    expect(view.deliverables).toMatchObject([{ file: "final/task.svg", in_the_clear: true }]);
    const calm = pictureOf(place, "calm");
    expect(findXmlFault(calm)).toBeUndefined();
    expect(calm).toContain(">s3<");
    await crashAt(place, "s1", ["run", file, "--task", "killed", "--new"]);
    await crashAt(place, "s3", ["resume", "killed"]);
    expect(pictureOf(place, "killed")).toBe("");
    expect((await place.run(["resume", "killed"])).code).toBe(0);
    expect(pictureOf(place, "killed")).toBe(calm);
  });

  it("is not there before the task has ended", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS);
    const { child, done } = await startHeld(place, "s2", { args: ["run", file, "--task", "t"] });
    child.kill("SIGTERM");
    await done;
    expect(pictureOf(place, "t")).toBe("");
    release(place, "s2");
  });
});
