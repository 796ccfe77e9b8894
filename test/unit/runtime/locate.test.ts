/** What a task may be called by, and what is said where nothing fits. */
import { describe, expect, it } from "vitest";
import { selectTask } from "../../../src/runtime/tasks/locate.js";
import type { TaskSummaryView } from "../../../src/runtime/views/task-views.js";
import { codeOf, refusalOf } from "../../support/error-code.js";

const ID = "550e8400-e29b-41d4-a716-446655440000";
const OLD: TaskSummaryView = {
  task: "old",
  workflow: "flow",
  status: "done",
  started_at: "2026-01-01T00:00:00.000Z",
  size: 1,
};
const NEW: TaskSummaryView = { ...OLD, task: "new", workflow_id: ID, started_at: "2026-01-02T00:00:00.000Z" };
const SEALED: TaskSummaryView = {
  task: "sealed",
  status: "unknown",
  size: 1,
  problem: { code: "KEY_WRONG", message: "no key opens it", hint: "splashdown keys show" },
};

describe("a task", () => {
  const notices: string[] = [];
  const select = (reference: string, purpose: "read" | "act" = "act") =>
    selectTask([OLD, NEW, SEALED], { reference, purpose, notice: (text) => notices.push(text) });

  it("is found by name and id, and by workflow where one fits or is only read", () => {
    expect([select("old"), select(ID), select("sealed"), select("flow", "read")]).toEqual([
      "old",
      "new",
      "sealed",
      "new",
    ]);
    expect(notices).toEqual(["2 tasks of workflow flow fit; the newest is taken: new"]);
    expect(codeOf(() => select("flow"))).toBe("TASK_AMBIGUOUS");
  });

  it("may be one that cannot be read, which is said where nothing fits", async () => {
    const error = await refusalOf(() => Promise.resolve().then(() => select("other")));
    expect([error.code, error.message]).toEqual([
      "TASK_NOT_FOUND",
      "no task has the name, id or workflow other; 1 task cannot be read (KEY_WRONG), and is found by its name alone",
    ]);
  });
});
