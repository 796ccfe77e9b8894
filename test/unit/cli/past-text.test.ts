import { describe, expect, it } from "vitest";
import { formatCheckpoint } from "../../../src/cli/text/checkpoint-text.js";
import { createCommandWriter } from "../../../src/cli/command/next-command.js";
import { formatDifferences } from "../../../src/cli/text/diff-text.js";
import { coloursOf } from "../../../src/cli/terminal/output.js";

const streams = (colour: boolean) => ({ out: () => undefined, error: () => undefined, interactive: false, colour });
const plain = coloursOf(streams(false));

const LONG_TEXT = "a long text ".repeat(8).trim();
const DIFF = {
  from: "t:1",
  to: "t:2",
  equal: false,
  differences: [
    { subject: "step", number: 2, name: "main/b@1.1", field: "output.v", kind: "changed", from: 1, to: "\u001b[2J2" },
    { subject: "step", number: 3, name: "main/c@1.1", field: "", kind: "added", to: { status: "completed" } },
    {
      subject: "decision",
      name: "atlas proceed main/b",
      field: "",
      kind: "added",
      to: { agent: "atlas", alternativesConsidered: ["spawn", "halt"], effect: { settled: "proceed", why: {} } },
    },
    { subject: "output", name: "main/b", field: "value", kind: "changed", from: "red", to: LONG_TEXT },
    {
      subject: "step",
      number: 2,
      name: "main/b@1.1",
      field: "output.text",
      kind: "text",
      lines: [
        { op: "skip", count: 3 },
        { op: "same", text: "one" },
        { op: "removed", text: "two" },
        { op: "added", text: "zwei" },
      ],
    },
    { subject: "totals", name: "totals", field: "calls", kind: "removed", from: 1 },
    { subject: "channel", name: "k", field: "", kind: "more", count: 4 },
  ],
  text: "",
};

describe("formatDifferences", () => {
  it("says how much differs and where first, then what changed, from what to what, long values by line", () => {
    expect(formatDifferences(DIFF, plain).split("\n")).toEqual([
      "t:1 → t:2: 7 differences, first at step 2 main/b@1.1: output.v",
      "",
      "step 2 main/b@1.1: output.v: 1 → \\u001b[2J2",
      "step 3 main/c@1.1: new: status: completed",
      "decision atlas proceed main/b: new",
      "+ agent: atlas",
      "+ alternativesConsidered: spawn, halt",
      "+ effect:",
      "+   settled: proceed",
      "+   why:",
      "+     (nothing)",
      "output main/b: value",
      "- red",
      `+ ${LONG_TEXT}`,
      "step 2 main/b@1.1: output.text",
      "  … 3 equal or left out",
      "  one",
      "- two",
      "+ zwei",
      "totals: calls: gone: 1",
      "  … and 4 more at channel k",
    ]);
  });

  it("colours what one side has red and what the other has green, on a terminal only", () => {
    const lines = formatDifferences(DIFF, coloursOf(streams(true))).split("\n");
    expect(lines).toContain("\u001b[31m- red\u001b[39m");
    expect(lines).toContain("\u001b[32m+ zwei\u001b[39m");
    expect(formatDifferences(DIFF, plain)).not.toContain("\u001b");
  });

  it("is one line for equal checkpoints", () => {
    const view = { from: "a:1", to: "b:9", equal: true, differences: [], text: "a:1 → b:9: equal" };
    expect(formatDifferences(view, plain)).toBe("a:1 → b:9: equal");
  });
});

const CHECKPOINT = {
  task: "t",
  checkpoint_id: "550e8400-e29b-41d4-a716-446655440000",
  seq: 3,
  phase: 1,
  trigger: "specialist_finished",
  status: "in_progress",
  timestamp: "2024-01-02T14:35:22.123Z",
  position: 9,
  note: "mine\nforged",
  file: "checkpoint_phase1_20240102T143522123Z_00000003.json",
  size: 3902,
  pinned: true,
  agents: {
    atlas: { status: "active", state: "scopes" },
    mercury_1: {
      status: "blocked",
      name: "a\u001b[2J",
      confidence: 0.73,
      output_ref: "main/a",
      blockers: ["key"],
      state: "x",
    },
  },
  steps: { done: 1, failed: 0, skipped: 0, open: 1 },
  phases: [{ name: "look", number: 1, status: "running", iteration: 2, confidence: null }],
  decisions: Array.from({ length: 7 }, (_decision, n) => ({
    timestamp: "2024-01-02T14:33:10.000Z",
    agent: "atlas",
    description: `choice ${n}`,
    rationale: n === 6 ? "0.73 < 0.75" : "",
  })),
  questions: [{ text: "continue?" }],
  metrics: {
    elapsed_time: 185.4,
    api_calls: 42,
    tokens_used: 18500,
    cost_usd: 0.081,
    unpriced_calls: 1,
    memory_peak: 512.3,
  },
};

const write = createCommandWriter({ store: "file:x" });

describe("formatCheckpoint", () => {
  it("shows what it is, phases, agents, the last decisions, open questions and figures", () => {
    expect(formatCheckpoint(CHECKPOINT, plain, write)).toBe(
      [
        "t:3  in_progress: specialist_finished in phase 1",
        "  2024-01-02 14:35:22 UTC, checkpoint_phase1_20240102T143522123Z_00000003.json (3.8 KiB), pinned",
        "  id 550e8400-e29b-41d4-a716-446655440000",
        "  note: mine forged",
        "",
        "phases",
        "  1 look: running, iteration 2, confidence –",
        "",
        "agents",
        "  AGENT      NAME        STATUS   CONFIDENCE  OUTPUT  BLOCKED BY",
        "  atlas                  active   –",
        "  mercury_1  a\\u001b[2J  blocked  73 %        main/a  key",
        "",
        "decisions",
        "  … 2 earlier",
        "  14:33:10 atlas: choice 2",
        "  14:33:10 atlas: choice 3",
        "  14:33:10 atlas: choice 4",
        "  14:33:10 atlas: choice 5",
        "  14:33:10 atlas: choice 6",
        "    because 0.73 < 0.75",
        "",
        "questions",
        "  ? continue?",
        "",
        "figures",
        "  steps 1 done, 0 failed, 0 skipped, 1 open",
        "  3 min 5 s of work, 42 model calls, 18500 tokens, $0.0810 and 1 call of unknown price, memory up to 512.3 MiB",
        "",
        "  continue from here: splashdown --store file:x fork t --from 3",
        "  everything: splashdown --store file:x checkpoints show t:3 --json",
      ].join("\n"),
    );
  });

  it("says of one without a file where it is, and leaves out what is not there", () => {
    const { file: _file, size: _size, pinned: _pinned, agents: _agents, note: _note, ...rest } = CHECKPOINT;
    const text = formatCheckpoint({ ...rest, decisions: [], questions: [], phases: [] }, plain, write);
    expect(text).toContain("no file: record 9 of the journal");
    expect(text).not.toMatch(/agents|decisions|questions|phases|note/);
    expect(formatCheckpoint({ ...rest, reachable: false }, plain, write)).toContain(
      "unreachable: the history before it was removed",
    );
  });
});
