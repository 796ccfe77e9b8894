import { describe, expect, it } from "vitest";
import { EngineHarness } from "../../support/engine-harness.js";
import { RunnerRoom } from "../../support/runner-room.js";
import { command, machine, model, sleepUntil, workflow } from "../../support/workflow-builder.js";

const HOUR_MS = 3_600_000;
const flow = (until: string | number) =>
  workflow(machine("main", [sleepUntil("nap", until, { routes: [{ to: "c" }] }), command("c")]));
const isoAt = (atMs: number, zone = "Z"): string => new Date(atMs).toISOString().replace("Z", zone);

describe("a sleep_until step", () => {
  it("pauses the task until its moment, survives kills on the way, and is over when it has come", () => {
    const harness = new EngineHarness(flow("{{ workflow.input.when }}"), { sleepMsMax: 60_000 });
    const dueAtMs = harness.nowMs + 48 * HOUR_MS;
    const begun = new EngineHarness(flow("{{ workflow.input.when }}"), {
      sleepMsMax: 60_000,
      inputs: { when: isoAt(dueAtMs) },
    });
    expect(begun.run()).toMatchObject({ end: "paused", exitStatus: 75, resumeAtMs: dueAtMs });
    let owner = begun;
    for (const passedHours of [1, 30, 47]) {
      owner = owner.crash();
      owner.nowMs = dueAtMs - (48 - passedHours) * HOUR_MS;
      owner.resume();
      expect(owner.finish()).toMatchObject({ end: "paused", resumeAtMs: dueAtMs });
      expect(owner.performed).toEqual([]);
    }
    const last = owner.crash();
    last.nowMs = dueAtMs + HOUR_MS;
    last.resume();
    expect(last.finish().end).toBe("done");
    expect(last.step("main/nap").attempt).toBe(1);
    expect(last.step("main/nap").output).toEqual({ inline: { waited_seconds: 48 * 3_600 } });
  });

  it.each([
    ["a moment that has passed", "2001-01-01T00:00:00Z", 0],
    ["a duration, from its beginning", "36h", 36 * 3_600],
    ["seconds", 90, 90],
  ])("takes %s", (_what, until, seconds) => {
    const harness = new EngineHarness(flow(until));
    expect(harness.run().end).toBe("done");
    expect(harness.step("main/nap").output).toEqual({ inline: { waited_seconds: seconds } });
  });

  it("reads a moment of any zone as the same moment", () => {
    const harness = new EngineHarness(flow("{{ workflow.input.when }}"));
    const when = isoAt(harness.nowMs + 3 * HOUR_MS, "+02:00");
    const other = new EngineHarness(flow("{{ workflow.input.when }}"), { inputs: { when } });
    other.run();
    expect(other.step("main/nap").dueAtMs).toBe(harness.nowMs + HOUR_MS);
  });

  it("refuses a template that gives no moment, and says what one looks like", () => {
    const harness = new EngineHarness(flow("{{ workflow.input.when }}"), { inputs: { when: "tomorrow" } });
    expect(harness.run().reason).toContain("not a time with a zone, e.g. 2026-12-24T18:00:00+01:00");
  });

  it("keeps to the world's moment when the task's clock is ahead of the wall", async () => {
    const room = new RunnerRoom(
      workflow(
        machine("main", [model("a", { routes: [{ to: "nap" }] }), sleepUntil("nap", "{{ workflow.input.when }}")]),
      ),
      { sleepMsMax: 60_000, inputs: { when: "2099-01-01T00:00:00Z" } },
    );
    await room.start();
    room.clock.jumpWall(-10 * HOUR_MS);
    await room.finish("a");
    expect(room.closed).toMatchObject({ end: "paused", resumeAtMs: Date.parse("2099-01-01T00:00:00Z") });
  });
});
