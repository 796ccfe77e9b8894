/** Time that was worked in processes that were killed counts for a limit in time, but for what came after the last mark. */
import { describe, expect, it } from "vitest";
import { EngineHarness } from "../../support/engine-harness.js";
import { machine, model, workflow } from "../../support/workflow-builder.js";
import { nextDueAtMs } from "../../../src/engine/rules/steps/due.js";

function working(timeoutMs: number | undefined): EngineHarness {
  const limits = { maxIterations: 100, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const harness = new EngineHarness(workflow(machine("main", [model("slow")]), { limits }), {
    perform: () => undefined,
  });
  harness.start();
  return harness;
}

/** Lets time pass as the runner does: what falls due is fed when its time comes. */
function pass(harness: EngineHarness, ms: number): void {
  const endMs = harness.nowMs + ms;
  for (let dueAtMs = nextDueAtMs(harness.state); dueAtMs !== undefined && dueAtMs <= endMs;) {
    harness.nowMs = Math.max(harness.nowMs, dueAtMs);
    if (harness.submit({ kind: "due" }).length === 0) break;
    dueAtMs = nextDueAtMs(harness.state);
  }
  harness.nowMs = endMs;
}

function killed(harness: EngineHarness): EngineHarness {
  const next = harness.crash();
  next.resume();
  return next;
}

describe("the limit in time of a task that is killed again and again", () => {
  it("[reliability 9] is reached by what all processes have worked, the killed ones included", () => {
    let harness = working(6_000);
    pass(harness, 3_800);
    harness = killed(harness);
    expect(harness.state.totals.elapsedMs).toBeGreaterThanOrEqual(3_500);
    expect(harness.state.totals.elapsedMs).toBeLessThanOrEqual(3_800);
    pass(harness, 3_800);
    expect(harness.openQuestions.map(({ kind }) => kind)).toEqual(["limit"]);
    expect(harness.state.totals.elapsedMs).toBeLessThanOrEqual(6_100);
  });

  it("[reliability 9 kin] is reached however often it is killed", () => {
    let harness = working(6_000);
    for (let kills = 0; kills < 12 && harness.openQuestions.length === 0; kills += 1) {
      pass(harness, 700);
      // Progress: a step that is killed without any is parked sooner.
      const { id, attempt } = harness.step("main/slow");
      harness.report({ type: "milestone_reached", step: id, attempt, name: `m${kills}`, state: { inline: null } });
      harness = killed(harness);
    }
    expect(harness.openQuestions.map(({ kind }) => kind)).toEqual(["limit"]);
  });

  it("[reliability 9 kin] counts nothing of the time in which nobody worked", () => {
    let harness = working(6_000);
    pass(harness, 1_000);
    const before = harness.state.totals.elapsedMs;
    harness.nowMs += 86_400_000;
    harness = killed(harness);
    expect(harness.state.totals.elapsedMs).toBe(before);
  });

  it("[reliability 9 kin] is marked a bounded number of times, and not at all where there is none", () => {
    const long = working(86_400_000);
    pass(long, 86_000_000);
    expect(long.of("time_counted").length).toBeLessThan(1_440);
    const free = working(undefined);
    pass(free, 86_000_000);
    expect(free.of("time_counted")).toEqual([]);
  });
});
