import { describe, expect, it } from "vitest";
import { findHistoryFaults, wasSpawned } from "../../../proof/kill-loop/history.mjs";
import { EFFECTS, findLedgerFaults } from "../../../proof/kill-loop/ledger.mjs";
import { findSaidFaults } from "../../../proof/kill-loop/impatient-words.mjs";
import { planTasks } from "../../../proof/kill-loop/plan.mjs";
import { createRandom } from "../../../proof/kill-loop/random.mjs";

const lines = EFFECTS.map((name: string) => `${name} key-of-${name}`);

describe("the ledger's judgement", () => {
  it("accepts one line for every effect, and a repeated sub-step under the same key", () => {
    expect(findLedgerFaults(lines)).toEqual([]);
    expect(findLedgerFaults([...lines, "pay-book key-of-pay-book"])).toEqual([]);
  });

  it.each([
    ["a second line", [...lines, lines[0]], "effect first happened 2 times under 1 keys"],
    ["a missing line", lines.slice(1), "effect first happened 0 times under 0 keys"],
    ["a sub-step under another key", [...lines, "pay-book other"], "effect pay-book happened 2 times under 2 keys"],
    ["a late line", [...lines, "late-first"], "a line that must never appear: late-first"],
  ])("names %s", (_what, given, fault) => {
    expect(findLedgerFaults(given)).toEqual([fault]);
  });
});

describe("the history's judgement", () => {
  const event = (n: number, type: string, step = "main/a@1.1") => ({ n, type, event: { step } });
  const good = [
    event(1, "step_intended"),
    event(2, "step_spawned"),
    event(3, "step_completed"),
    event(4, "task_closed"),
  ];

  it("accepts steps that end once, in a history without gaps", () => {
    expect(findHistoryFaults(good)).toEqual([]);
  });

  it.each([
    ["a gap", [...good.slice(0, 3), event(5, "task_closed")], "event 5 follows event 3"],
    [
      "a second end",
      [...good.slice(0, 3), event(4, "step_completed"), event(5, "task_closed")],
      "main/a@1.1 ended twice",
    ],
    [
      "work on what was done",
      [...good.slice(0, 3), event(4, "step_intended"), event(5, "task_closed")],
      "main/a@1.1 was intended again after its end",
    ],
    ["no end", good.slice(0, 3), "the last event is step_completed"],
    ["nothing done", [event(1, "task_closed")], "no step has ended"],
  ])("names %s", (_what, given, fault) => {
    expect(findHistoryFaults(given)).toEqual([fault]);
  });

  it("tells a step that was let loose from one that never was", () => {
    expect(wasSpawned(good, "main/a@1.1")).toBe(true);
    expect(wasSpawned(good, "main/b@1.1")).toBe(false);
  });
});

describe("the plan", () => {
  const draw = (options: { killsWanted: number; only?: string[] }, killsPerTask = 1) => {
    const plan = planTasks({ random: createRandom(1), ...options });
    const tasks = [];
    for (let task = plan.next(0); task !== undefined; task = plan.next(tasks.length * killsPerTask)) tasks.push(task);
    return tasks;
  };

  it("meets every kind of point within the first dozen kills, and every named point before it draws any", () => {
    const kinds = new Set(draw({ killsWanted: 12 }).map(({ point }) => point.replace("audit ", "")));
    expect(kinds).toEqual(
      new Set(["done", "effect", "half-snapshot", "intent", "outlive", "recovery", "spawned", "start", "tools"]),
    );
    const all = draw({ killsWanted: 200 });
    expect(all).toHaveLength(200);
    expect(new Set(all.map(({ seed }) => seed)).size).toBeGreaterThan(190);
  });

  it("stays with the points that are named, and ends when nothing is struck", () => {
    expect(new Set(draw({ killsWanted: 9, only: ["effect"] }).map(({ point }) => point))).toEqual(new Set(["effect"]));
    expect(draw({ killsWanted: 5 }, 0).length).toBeLessThan(100);
    expect(() => draw({ killsWanted: 5, only: ["nowhere"] })).toThrow("no such point: nowhere");
  });

  it("calls a point that no kill struck untouched", () => {
    const plan = planTasks({ killsWanted: 1, random: createRandom(1) });
    const points = [
      { point: "intent", strikes: 2 },
      { point: "done", strikes: 0 },
    ];
    expect(plan.untouched({ points })).toEqual(["done: never struck"]);
  });
});

describe("what a command may say while others are typed", () => {
  const ended = (code: number, stderr = "") => ({ code, stdout: "", stderr });

  it.each([
    ["an end without a question", ["run", "f"], ended(0), 0],
    ["a status with the next command", ["resume", "t"], ended(22, "splashdown answer t q done"), 0],
    ["the owner, with a command that shows it", ["run", "f"], ended(11, "splashdown attach t"), 0],
    ["a question that names no command", ["run", "f"], ended(20, "a person is needed"), 1],
    ["a failure", ["recover"], ended(4), 1],
    ["several tasks of one definition", ["run", "f"], ended(2), 1],
    ["a mistake of ours", ["run", "f"], ended(1, "[INTERNAL]"), 2],
  ])("judges %s", (_what, words, end, faults) => {
    expect(findSaidFaults(words, end)).toHaveLength(faults);
  });
});
