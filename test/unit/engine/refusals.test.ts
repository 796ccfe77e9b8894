/** Refusals for a rate limit in a row: the shortest wait doubles, a told time may be later, and nothing waits without end. */
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/base/limits.js";
import type { StepError } from "../../../src/engine/model/events.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { machine, model, workflow } from "../../support/workflow-builder.js";

const DAY_MS = 24 * 3_600_000;

/** How long the step waits after each refusal. Units: milliseconds. */
function waitsOf(refuse: (nowMs: number, attempt: number) => Partial<StepError>, refusals: number): readonly number[] {
  const waits: number[] = [];
  const harness: EngineHarness = new EngineHarness(workflow(machine("main", [model("a")])), {
    perform: ({ attempt }) =>
      attempt > refusals
        ? done("yes")
        : failed("429", { code: "MODEL_RATE_LIMITED", ...refuse(harness.nowMs, attempt) }),
  });
  harness.start();
  expect(harness.finish().end).toBe("done");
  for (const event of harness.events) {
    if (event.type === "step_failed" && event.disposition.action === "pause_until")
      waits.push(event.disposition.atMs - event.atMs);
  }
  return waits;
}

describe("refusals for a rate limit", () => {
  it("[public E] wait longer each time where the time that was told is now", () => {
    const waits = waitsOf((nowMs) => ({ retryAtMs: nowMs }), 12);
    expect(waits.slice(0, 6)).toEqual(Array.from({ length: 6 }, () => 60_000));
    expect(waits.slice(-3)).toEqual([512_000, 900_000, 900_000]);
  });

  it("[public E kin] wait longer each time where a short time is told again and again", () => {
    expect(waitsOf((nowMs) => ({ retryAtMs: nowMs + 10 }), 7)).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000,
    ]);
  });

  it("[public E kin] wait no longer than a month where a time is told that nobody lives to see", () => {
    expect(waitsOf((nowMs) => ({ retryAtMs: nowMs + 400 * DAY_MS }), 1)).toEqual([LIMITS.retryAfterMsMax]);
  });

  it("[public E kin] of a step's request over http wait in the same way", () => {
    const http = { code: "HTTP_RATE_LIMITED" };
    expect(waitsOf((nowMs) => ({ ...http, retryAtMs: nowMs - DAY_MS }), 2)).toEqual([60_000, 60_000]);
    expect(waitsOf((nowMs) => ({ ...http, retryAtMs: nowMs + 2 }), 3)).toEqual([1_000, 2_000, 4_000]);
  });

  it("are told times where these are later than the shortest wait", () => {
    expect(waitsOf((nowMs) => ({ retryAtMs: nowMs + 7_001 }), 3)).toEqual([7_000, 7_000, 7_000]);
  });

  it("do not count calls that an earlier refusal held back", () => {
    const waits = waitsOf((nowMs, attempt) => {
      const isHeldBack = attempt < 5;
      return { retryAtMs: nowMs + 6, details: isHeldBack ? { held_back: true } : {} };
    }, 5);
    expect(waits).toEqual([5, 5, 5, 5, 1_000]);
  });

  it("begin anew after a call that went well", () => {
    const harness: EngineHarness = new EngineHarness(workflow(machine("main", [model("a")])), {
      perform: (step) => {
        if (step.attempt === 3)
          harness.report({ type: "turn_recorded", step: step.id, attempt: 3, value: { inline: { say: "half" } } });
        return step.attempt > 4
          ? done("yes")
          : failed("429", { code: "MODEL_RATE_LIMITED", retryAtMs: harness.nowMs + 2 });
      },
    });
    harness.start();
    harness.finish();
    const waits = harness.events.flatMap((event) =>
      event.type === "step_failed" && event.disposition.action === "pause_until"
        ? [event.disposition.atMs - event.atMs]
        : [],
    );
    expect(waits).toEqual([1_000, 2_000, 1_000, 2_000]);
  });
});
