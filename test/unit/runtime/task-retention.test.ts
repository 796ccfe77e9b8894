import { describe, expect, it } from "vitest";
import { defaultSettings } from "../../../src/definition/settings/settings.js";
import { DAY_MS, TaskRetention, type RetainedTask } from "../../../src/runtime/verbs/retention/task-retention.js";

const NOW_MS = Date.UTC(2024, 0, 31);
const at = (daysAgo: number): number => NOW_MS - daysAgo * DAY_MS;

function standing(name: string, daysAgo: number, more: Partial<RetainedTask> = {}): RetainedTask {
  return { name, workflow: "w", status: "done", lastAtMs: at(daysAgo), ...more };
}

function configOf(more: object): ReturnType<typeof defaultSettings>["checkpoint_config"] {
  return { ...defaultSettings().checkpoint_config, keep_successful: false, ...more };
}

function goers(standings: readonly RetainedTask[], more: object, nowMs = NOW_MS): string[] {
  const whole = new TaskRetention(standings, [], nowMs);
  return standings.filter((each) => whole.judge(each, configOf(more)).goes).map(({ name }) => name);
}

describe("which whole tasks go", () => {
  it("are none where nobody has set an age or a number", () => {
    expect(goers([standing("a", 300), standing("b", 1)], {})).toEqual([]);
  });

  it("are by number those of a workflow that ended before its newest ones", () => {
    const all = [
      standing("a", 4),
      standing("b", 2),
      standing("c", 3, { status: "partial" }),
      standing("other", 9, { workflow: "x" }),
      standing("unfinished", 20, { status: "failed" }),
    ];
    expect(goers(all, { max_tasks: 1 })).toEqual(["a", "c"]);
    expect(goers(all, { max_tasks: 2 })).toEqual(["a"]);
    expect(goers(all, { max_tasks: 3 })).toEqual([]);
    // A clock that cannot be right says nothing about an order.
    expect(goers(all, { max_tasks: 2 }, at(400))).toEqual(["a"]);
  });

  it("are by age ended ones that nothing touched for so long, and no unfinished one", () => {
    const all = [standing("a", 8), standing("b", 7), standing("c", 8, { status: "crashed" }), standing("d", 0)];
    expect(goers(all, { retention_days: 7 })).toEqual(["a"]);
    expect(goers(all, { retention_days: 7, keep_successful: true })).toEqual(["a"]);
    expect(goers([standing("a", 8)], { retention_days: 7, keep_successful: true })).toEqual([]);
  });

  it("are by age none when the clock is behind what was recorded, or a year ahead of it", () => {
    const all = [standing("a", 8), standing("b", 0)];
    expect(goers(all, { retention_days: 7 }, at(0) - 1)).toEqual([]);
    expect(goers(all, { retention_days: 7 }, at(-366))).toEqual([]);
    expect(goers(all, { retention_days: 7 }, at(-364))).toEqual(["a", "b"]);
  });

  it("leave the trash when their time there is over, by the same clock", () => {
    const trashed = { name: "t", trashedAtMs: at(30), sizeBytes: 1 };
    const judge = (nowMs: number, more: object = {}) =>
      new TaskRetention([], [trashed], nowMs).judgeTrashed(trashed, configOf(more));
    expect(judge(NOW_MS - 1)).toEqual({
      goes: false,
      why: "in the trash since 2024-01-01T00:00:00.000Z, until 2024-01-31T00:00:00.000Z: splashdown store restore t",
    });
    expect(judge(NOW_MS).goes).toBe(true);
    expect(judge(NOW_MS - 1, { trash_days: 29 }).goes).toBe(true);
    expect([judge(at(31)).goes, judge(at(-366)).goes]).toEqual([false, false]);
  });
});
