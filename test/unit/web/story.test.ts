import { describe, expect, it } from "vitest";
import type { QuestionView, StepView, TaskView } from "../../../src/runtime/contract.js";
import { listFindings } from "../../../web/model/story.js";

const NOW = Date.parse("2026-01-01T00:10:00Z");
const at = (minute: number) => `2026-01-01T00:0${minute}:00Z`;
const view = (fields: Partial<TaskView>): TaskView => ({
  task: "t",
  status: "done",
  size: 1,
  folder: "",
  inputs: {},
  phases: [],
  steps: [],
  decisions: [],
  questions: [],
  guidance: [],
  unread: [],
  checkpoints: 0,
  deliverables: [],
  metrics: { elapsed_time: 1, api_calls: 0, tokens_used: 0, cost_usd: 0, unpriced_calls: 0, memory_peak: 0 },
  damage: [],
  encrypted: true,
  last_event: 9,
  started_at: at(0),
  last_event_at: at(2),
  ...fields,
});
const step = (path: string, status: string, fields: Partial<StepView> = {}): StepView => ({
  step: `${path}@1.1`,
  path,
  kind: "command",
  status,
  attempt: 1,
  phase: 0,
  started_at: at(9),
  ...fields,
});
const question = (status: QuestionView["status"]): QuestionView => ({
  id: "q",
  kind: "gate",
  text: "Send?",
  options: [],
  opened_at: at(4),
  status,
  command: "",
});
const lines = (fields: Partial<TaskView>) =>
  listFindings(view(fields), NOW).map(({ status, text }) => `${status}: ${text}`);

describe("what happened, in a few lines", () => {
  it("says how a task ended and how long it took", () => {
    expect(lines({ reason: "all steps are done" })).toEqual([
      "done: all steps are done, 2 min 0 s from beginning to end",
    ]);
  });

  it("says what it waits for: an answer, somebody who goes on, a time", () => {
    const waiting = { status: "waiting", reason: "Send?" };
    expect(lines({ ...waiting, questions: [question("open")] })).toEqual([
      "waiting: 1 question to answer, asked 6 min ago",
    ]);
    expect(lines({ ...waiting, questions: [question("answered")], next: "splashdown resume t" })).toEqual([
      "paused: it was answered, and nobody runs the task",
    ]);
    expect(lines({ ...waiting, resume_at: "2026-01-01T00:40:00Z" })).toEqual([
      "waiting: goes on in 30 min, at 2026-01-01T00:40:00Z",
    ]);
  });

  it("names what runs and what failed, each by its last attempt", () => {
    const steps = [
      step("main/a", "failed", { error: { message: "no" } }),
      step("main/a", "completed"),
      step("main/b", "failed", { error: { message: "row 17" } }),
      step("main/c", "open", { progress: { message: "half" } }),
      step("main/d", "open"),
    ];
    expect(lines({ status: "running", steps, steps_done: 1 })).toEqual([
      "running: 1 step done, began 10 min ago",
      "failed: main/b: row 17",
      "open: main/c since 1 min: half and 1 more step",
    ]);
  });

  it("says that nothing is lost when its process died", () => {
    expect(lines({ status: "crashed" })).toEqual([
      "crashed: its process died; nothing that was done is lost, began 10 min ago",
    ]);
  });
});
