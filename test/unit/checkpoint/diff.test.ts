import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { formatDiff } from "../../../src/checkpoint/diff/diff-text.js";
import { diffStates, type StateDiff } from "../../../src/checkpoint/diff/state-diff.js";
import { diffText, diffValues } from "../../../src/checkpoint/diff/value-diff.js";
import type { Decision } from "../../../src/engine/model/decision.js";
import type { StepEntry, TaskState } from "../../../src/engine/model/state.js";
import { createStep, createTaskState, textOf } from "../../support/checkpoint-room.js";
import { processorMsOf } from "../../support/real-clock.js";
import { processOf } from "../../support/places.js";

function stateOf(...steps: StepEntry[]): TaskState {
  const state = createTaskState();
  for (const step of steps) state.steps.set(step.id, step);
  return state;
}

const nine = (change: (n: number) => Partial<StepEntry> = () => ({})): StepEntry[] =>
  Array.from({ length: 9 }, (_unused, index) => createStep(index + 1, change(index + 1)));

function decisionOf(n: number, extra: Partial<Decision> = {}): Decision {
  return {
    id: `d${n}`,
    atMs: n,
    agent: "atlas",
    type: "route",
    description: `go ${n}`,
    rationale: "first",
    alternativesConsidered: [],
    subject: `s${n}`,
    ...extra,
  };
}

describe("diffStates", () => {
  it("says nothing of equal states", async () => {
    const diff = await diffStates(stateOf(...nine()), stateOf(...nine()));
    expect(diff).toEqual({ equal: true, differences: [] });
    expect(formatDiff(diff)).toBe("");
  });

  it("FAULTS 52: names the first step, the field and both words, whatever the order of finishing", async () => {
    const from = stateOf(...nine((n) => ({ output: { inline: { text: n === 4 ? "red" : "same" } } })));
    const changed = nine((n) => ({
      output: { inline: { text: n === 4 ? "blue" : "same" } },
      intendedAtMs: 99,
      idempotencyKey: "other",
      process: processOf(n, 1, "b"),
    }));
    const diff = await diffStates(from, stateOf(...changed.reverse()));
    expect(diff.differences).toEqual([
      {
        subject: "step",
        name: "research/step4@1.1",
        number: 4,
        field: "output.text",
        kind: "changed",
        from: "red",
        to: "blue",
      },
    ]);
    expect(formatDiff(diff)).toBe('step 4 research/step4@1.1: output.text\n- "red"\n+ "blue"');
  });

  it("tells differences by step, then the rest", async () => {
    const from = stateOf(
      createStep(1),
      createStep(2, { status: "failed", error: { code: "STEP_FAILED", message: "no", retryable: false } }),
    );
    const to = stateOf(createStep(1, { blockers: ["key"] }), createStep(2), createStep(3));
    to.channel.set("topic", "new");
    from.decisions.push(decisionOf(1), decisionOf(2));
    to.decisions.push(decisionOf(2, { id: "x", atMs: 77 }), decisionOf(1, { rationale: "second" }));
    to.totals = { ...to.totals, calls: 3, elapsedMs: 999 };
    const diff = await diffStates(from, to);
    expect(
      formatDiff(diff)
        .split("\n")
        .filter((line) => !/^[-+ ]/.test(line)),
    ).toEqual([
      "step 1 research/step1@1.1: blockers[0]",
      "step 2 research/step2@1.1: status",
      "step 2 research/step2@1.1: error",
      "step 3 research/step3@1.1",
      "step 3 research/step3@1.1: output",
      "decision atlas route s1: rationale",
      "channel topic",
      "totals: calls",
    ]);
  });

  it("tells what a thing holds that only one side has", async () => {
    const to = createTaskState();
    to.deliverables.set("final/a.md", { file: "final/a.md", content: { inline: "text" }, sha256: "0", sizeBytes: 4 });
    const from = createTaskState();
    const told = async (one: TaskState, other: TaskState) =>
      (await diffStates(one, other)).differences.filter(({ subject }) => subject === "deliverable");
    const where = { subject: "deliverable", name: "final/a.md", field: "content" };
    expect(await told(from, to)).toEqual([{ ...where, kind: "added", to: "text" }]);
    expect(await told(to, from)).toEqual([{ ...where, kind: "removed", from: "text" }]);
  });

  it("tells which model answered in another one's place", async () => {
    const fallback = { asked: "far/large", answered: "near/small", why: "it was limited" };
    const diff = await diffStates(stateOf(createStep(1)), stateOf(createStep(1, { fallback })));
    expect(formatDiff(diff)).toBe('step 1 research/step1@1.1: fallback\n+ "near/small instead of far/large"');
  });

  it("takes what a person said for the same whenever it was left, unless all is shown", async () => {
    const said = (id: string, at: string) =>
      decisionOf(1, {
        agent: "ada",
        type: "guidance_given",
        effect: { kind: "guide", text: "in euros", request: id, saidAt: at },
      });
    const [from, to] = [stateOf(), stateOf()];
    from.decisions.push(said("a", "2026-01-01T00:00:00.000Z"));
    to.decisions.push(said("b", "2026-02-02T00:00:00.000Z"));
    expect((await diffStates(from, to)).equal).toBe(true);
    const all = await diffStates(from, to, { showsAll: true });
    expect(all.differences.map(({ field }) => field)).toEqual(["effect.request", "effect.saidAt"]);
  });

  it("shows ids, times and checkpoints when asked", async () => {
    const from = stateOf(createStep(1));
    const to = stateOf(createStep(1, { intendedAtMs: 5 }));
    from.decisions.push(decisionOf(1));
    to.decisions.push(decisionOf(1, { atMs: 8 }));
    expect((await diffStates(from, to)).equal).toBe(true);
    const all = await diffStates(from, to, { showsAll: true });
    expect(all.differences.map(({ subject, field }) => [subject, field])).toEqual([
      ["step", "intendedAtMs"],
      ["decision", "atMs"],
    ]);
  });

  it("covers every part of a state", async () => {
    const from = createTaskState();
    const to = createTaskState();
    to.task = to.task && Object.freeze({ ...to.task, inputs: { question: "how" }, output: { inline: 1 } });
    to.phases.set("p", {
      path: "p",
      name: "p",
      number: 1,
      status: "done",
      iteration: 1,
      startedAtMs: 1,
      feedback: [],
      spawned: 0,
    });
    to.evaluations.push({ path: "p", iteration: 1, scores: {} });
    to.outputs.set("p", { value: { inline: 7 }, by: "p" });
    to.deliverables.set("final/r.md", {
      file: "final/r.md",
      sha256: "0".repeat(64),
      sizeBytes: 1,
      content: { inline: "x" },
    });
    to.questions.set("q" as never, {
      id: "q" as never,
      kind: "gate",
      text: "ok?",
      options: [],
      openedAtMs: 1,
      status: "open",
    });
    const { differences } = await diffStates(from, to);
    expect(new Set(differences.map(({ subject }) => subject))).toEqual(
      new Set(["evaluation", "question", "phase", "output", "deliverable", "task"]),
    );
  });

  it("compares large values by size and digest, or by content when it can read them", async () => {
    const blob = (digest: string, sizeBytes: number) => ({
      output: { blob: { key: `blobs/aa/${digest}.bin`, sizeBytes, digest } },
    });
    const from = stateOf(createStep(1, blob("one", 300_000)));
    const to = stateOf(createStep(1, blob("two", 300_005)));
    expect((await diffStates(from, stateOf(createStep(1, blob("one", 300_000))))).equal).toBe(true);
    const marks = await diffStates(from, to);
    expect(formatDiff(marks)).toBe(
      "step 1 research/step1@1.1: output\n- 300000 bytes, digest one\n+ 300005 bytes, digest two",
    );
    const load = (value: JsonValue) => async (): Promise<JsonValue> => value;
    const read = await diffStates(from, to, { load: { from: load({ a: 1, b: 2 }), to: load({ b: 3, a: 1 }) } });
    expect(read.differences).toMatchObject([{ field: "output.b", from: 2, to: 3 }]);
  });

  it("is plain JSON", async () => {
    const diff: StateDiff = await diffStates(
      stateOf(createStep(1)),
      stateOf(createStep(1, { status: "failed" }), createStep(2)),
    );
    expect(JSON.parse(JSON.stringify(diff))).toEqual(diff);
  });
});

describe("diffText", () => {
  it("shows the changed lines with a little around them", async () => {
    const lines = Array.from({ length: 40 }, (_unused, at) => `line ${at}`);
    const changed = lines.with(10, "LINE 10").with(12, "LINE 12").toSpliced(30, 1);
    const text = (await diffText(lines.join("\n"), changed.join("\n"))).map((line) =>
      line.op === "skip" ? `skip ${line.count}` : `${line.op} ${line.text}`,
    );
    expect(text).toEqual([
      "skip 8",
      "same line 8",
      "same line 9",
      "removed line 10",
      "added LINE 10",
      "same line 11",
      "removed line 12",
      "added LINE 12",
      "same line 13",
      "same line 14",
      "skip 13",
      "same line 28",
      "same line 29",
      "removed line 30",
      "same line 31",
      "same line 32",
      "skip 7",
    ]);
  });

  it("shows the place in a long line", async () => {
    const text = textOf(1, 5000);
    const lines = await diffText(text, `${text.slice(0, 2500)}CHANGED${text.slice(2505)}`);
    expect(lines).toHaveLength(2);
    const [first, second] = lines;
    if (first?.op !== "removed" || second?.op !== "added") throw new Error("not a change");
    expect(second.text).toContain("CHANGED");
    expect(second.text.length).toBeLessThan(250);
  });

  it("handles two texts of 5 MB in under two seconds", async () => {
    const lines = Array.from({ length: 60_000 }, (_unused, at) => `${at} ${textOf(at, 80)}`);
    const changed = lines.map((line, at) => (at % 997 === 500 ? `${line} changed` : line));
    const all = lines.map((line) => line.toUpperCase());
    const timed = async (from: string, to: string): Promise<Awaited<ReturnType<typeof diffText>>> => {
      let found: Awaited<ReturnType<typeof diffText>> | undefined;
      const tookMs = await processorMsOf(async () => (found = await diffText(from, to)));
      expect(tookMs).toBeLessThan(2000);
      return found!;
    };
    const few = await timed(lines.join("\n"), changed.join("\n"));
    const many = await timed(lines.join("\n"), all.join("\n"));
    const oneLine = await timed(textOf(3, 5_000_000), textOf(4, 5_000_000));
    expect(few.filter(({ op }) => op === "added").length).toBeGreaterThan(20);
    expect(many.length).toBeLessThan(210);
    expect(JSON.stringify(oneLine).length).toBeLessThan(2000);
  });
});

describe("diffValues", () => {
  it("finds every kind of change, and none in the order of keys", async () => {
    expect(await diffValues("v", { a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toEqual([]);
    expect(await diffValues("v", { a: 1, b: [1, 2], c: null }, { a: "1", b: [1], d: true })).toEqual([
      { field: "v.a", kind: "changed", from: 1, to: "1" },
      { field: "v.b[1]", kind: "removed", from: 2 },
      { field: "v.c", kind: "removed", from: null },
      { field: "v.d", kind: "added", to: true },
    ]);
    expect(await diffValues("v", { toString: 1 }, {})).toEqual([{ field: "v.toString", kind: "removed", from: 1 }]);
  });

  it("shows bytes by size and digest", async () => {
    const [difference] = await diffValues("v", { $t: "bytes", v: "AAAA" }, { $t: "bytes", v: "BBBB" });
    expect(difference).toMatchObject({ kind: "changed", from: { $t: "mark", size: 25 }, to: { $t: "mark", size: 25 } });
    expect(await diffValues("v", { $t: "bytes", v: "AAAA" }, { $t: "bytes", v: "AAAA" })).toEqual([]);
  });

  it("stops telling after fifty", async () => {
    const from = Array.from({ length: 100 }, (_unused, at) => at);
    const found = await diffValues(
      "v",
      from,
      from.map((n) => n + 1),
    );
    expect(found).toHaveLength(51);
    expect(found.at(-1)).toEqual({ field: "v", kind: "more", count: 50 });
  });
});
