import { describe, expect, it } from "vitest";
import { computeTaskName } from "../../../src/runtime/tasks/task-name.js";

describe("the name of a task", () => {
  it("is made of the workflow's and the time in UTC, whatever the zone and its summer time", () => {
    // Half an hour after clocks went forward in Berlin, and back in New York.
    expect(computeTaskName("Market Report", Date.UTC(2026, 2, 29, 1, 30))).toBe("market-report_20260329_013000");
    expect(computeTaskName("…", Date.UTC(2026, 10, 1, 6, 30, 5, 999))).toBe("task_20261101_063005");
    expect(computeTaskName("x".repeat(90), 0)).toBe(`${"x".repeat(44)}_19700101_000000`);
  });
});
