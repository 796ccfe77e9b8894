import { describe, expect, it } from "vitest";
import type { TaskSummaryView } from "../../../src/runtime/contract.js";
import { chooseOpening, countByStatus, selectTasks, statusOf, tellNow } from "../../../web/model/task-list.js";

const spent = (cost_usd: number) => ({ calls: 1, tokens: 10, cost_usd, unpriced_calls: 0, uncounted_calls: 0 });
const problem = (code: string) => ({ code, message: "no key opens it", hint: "splashdown keys add" });
const TASKS: readonly TaskSummaryView[] = [
  { task: "b", workflow: "crawl", status: "running", size: 5, last_event_at: "2026-01-03T00:00:00Z", phase: 2 },
  { task: "a", workflow: "pay", status: "failed", size: 9, last_event_at: "2026-01-02T00:00:00Z", spent: spent(2) },
  { task: "c", workflow: "pay", status: "done", size: 1, last_event_at: "2026-01-01T00:00:00Z", spent: spent(10) },
  { task: "d", status: "unknown", size: 7, problem: problem("KEY_MISSING") },
];
const names = (status: string, text: string, sort: string) =>
  selectTasks(TASKS, { status, text, sort }).map(({ task }) => task);

describe("the list of tasks", () => {
  it.each([
    ["", "", "task", "a b c d"],
    ["", "", "-last", "b a c d"],
    ["", "", "-cost", "c a b d"],
    ["", "", "size", "c b d a"],
    ["failed", "", "task", "a"],
    ["locked", "", "task", "d"],
    ["", "PAY", "task", "a c"],
    ["", "pay done", "task", "c"],
    ["", "", "toString", "d c a b"],
  ])("of status %j with %j by %j is %s", (status, text, sort, expected) => {
    expect(names(status, text, sort).join(" ")).toBe(expected);
  });

  it("counts by status, what needs a person first", () => {
    expect(countByStatus(TASKS)).toEqual([
      ["failed", 1],
      ["running", 1],
      ["done", 1],
      ["locked", 1],
    ]);
  });

  it("tells a task whose key is not here from one that is damaged", () => {
    expect(statusOf({ task: "x", status: "unknown", size: 0, problem: problem("KEY_WRONG") })).toBe("locked");
    expect(statusOf({ task: "x", status: "damaged", size: 0, problem: problem("JOURNAL_CORRUPT") })).toBe("damaged");
  });

  it("says of each what is most urgent", () => {
    expect(TASKS.map(tellNow)).toEqual(["phase 2", "", "", "no key opens it"]);
    const waits_for = { question: "q", text: "Send\nit?" };
    expect(tellNow({ task: "x", status: "waiting", size: 0, waits_for, residence: "lives elsewhere" })).toBe(
      "Send it?",
    );
  });

  it("opens at what asks, else at the newest failure, else at what runs, else at the list", () => {
    expect(chooseOpening([...TASKS, { task: "q", status: "waiting", size: 0, open_questions: 1 }])).toEqual({
      place: "inbox",
    });
    expect(chooseOpening(TASKS)).toEqual({ place: "tasks", task: "a" });
    expect(chooseOpening(TASKS.filter(({ task }) => task !== "a"))).toEqual({ place: "tasks", task: "b" });
    expect(chooseOpening([])).toEqual({ place: "tasks" });
  });
});
