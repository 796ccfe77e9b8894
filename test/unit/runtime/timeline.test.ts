import { describe, expect, it } from "vitest";
import type { EngineEvent } from "../../../src/engine/model/events.js";
import { foldTimeline } from "../../../src/runtime/verbs/reports/timeline.js";

/** Only the fields that the fold looks at. */
const event = (atMs: number, type: EngineEvent["type"], fields: object = {}): EngineEvent =>
  ({ atMs, type, ...fields }) as EngineEvent;

const intend = (atMs: number, step: string, attempt = 1): EngineEvent =>
  event(atMs, "step_intended", { step, path: step, phase: 1, attempt });

describe("foldTimeline", () => {
  it("ends what a dead owner left open at its last record, as crashed, and counts the next attempt apart", () => {
    const view = foldTimeline([
      event(0, "task_started", { definition: { name: "w" }, name: "t" }),
      event(0, "scope_entered", { path: "look", phase: 1 }),
      intend(10, "a"),
      event(20, "checkpoint_recorded", { seq: 1, trigger: "phase_started" }),
      event(5000, "task_resumed", { by: "run", crashed: true, epoch: 2 }),
      intend(5010, "a", 2),
      event(5050, "step_completed", { step: "a" }),
      event(5060, "scope_left", { path: "look", phase: 1, outcome: "done", confidence: 0.9 }),
    ]);
    const at = (ms: number): string => new Date(ms).toISOString();
    expect(view.workflow).toBe("w");
    expect(view.working).toEqual([
      { from: at(0), to: at(20) },
      { from: at(5000), to: at(5060) },
    ]);
    expect(view.lanes).toEqual([
      {
        step: "a",
        path: "a",
        phase: 1,
        spans: [
          { from: at(10), to: at(20), attempt: 1, status: "crashed" },
          { from: at(5010), to: at(5050), attempt: 2, status: "completed" },
        ],
      },
    ]);
    expect(view.phases).toEqual([{ name: "look", number: 1, from: at(0), to: at(5060), confidence: 0.9 }]);
    expect(view.marks.map(({ kind }) => kind)).toEqual(["checkpoint", "resumed"]);
  });

  it("shows what still runs as open until the last record, and tells failed from cancelled", () => {
    const { lanes } = foldTimeline([
      event(0, "task_started", { definition: { name: "w" }, name: "t" }),
      intend(1, "a"),
      intend(1, "b"),
      intend(1, "c"),
      event(5, "step_failed", { step: "a" }),
      event(6, "step_cancelled", { step: "b" }),
    ]);
    expect(lanes.map(({ spans }) => spans.map(({ status }) => status))).toEqual([["failed"], ["cancelled"], ["open"]]);
  });

  it("is empty for a task without a record", () => {
    expect(foldTimeline([])).toMatchObject({ working: [], lanes: [], phases: [], marks: [] });
  });
});
