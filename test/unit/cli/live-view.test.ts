import headless from "@xterm/headless";
import { describe, expect, it } from "vitest";
import { LoopRates, renderLiveView } from "../../../src/cli/terminal/live-view.js";
import { coloursOf } from "../../../src/cli/terminal/output.js";
import { createScreen, type Screen } from "../../../src/cli/terminal/screen.js";
import { countColumns, fitColumns, wrapColumns } from "../../../src/cli/terminal/text-width.js";
import type { RunningStepView, RunningView } from "../../../src/runtime/contract.js";

const START_MS = Date.UTC(2024, 0, 1);
const colours = coloursOf({ out: () => undefined, error: () => undefined, interactive: false, colour: false });
const at = (seconds: number): string => new Date(START_MS + seconds * 1000).toISOString();

const step = (name: string, more: Partial<RunningStepView> = {}): RunningStepView => ({
  step: `main/write/${name}@1.1`,
  name,
  phase: 2,
  attempt: 1,
  started_at: at(4),
  ...more,
});

const TASK: RunningView = {
  task: "t",
  workflow: "report",
  metrics: { elapsed_time: 10.9, api_calls: 3, tokens_used: 17, cost_usd: 0.0015, unpriced_calls: 2, memory_peak: 0 },
  phases: [
    { number: 2, name: "write", status: "running", iteration: 2 },
    { number: 1, name: "look", status: "done", iteration: 1, score: 92, confidence: 0.95 },
  ],
  steps: [step("b", { attempt: 2, fraction: 0.5, message: "half\nway", confidence: 0.8 })],
  phases_to_come: [],
  retries: [],
  loops: [],
  steps_done: 1,
  blocked: 0,
  checkpoint: { seq: 4, trigger: "phase_completed", at: at(3) },
  open_questions: 0,
};

const render = (task: RunningView, { width = 130, height = 40 } = {}): string[] =>
  renderLiveView([task], { width, height, nowMs: START_MS + 10_000, colours });

describe("renderLiveView", () => {
  it("shows phases, open specialists with progress and confidence, money and the last checkpoint", () => {
    expect(render(TASK)).toEqual([
      "t · report · 10 s",
      "  ✓ 1 look · scored 92 · confidence 95 %",
      "  ▸ 2 write · iteration 2",
      "    ● b  █████░░░░░ 50 % · 6 s · attempt 2 · confidence 80 % · half way",
      "  1 step done · 3 calls · 17 tokens · $0.0015 and 2 calls of unknown price · saved 7 s ago",
    ]);
  });

  it("[first-use F10] shows a loop as a counter with its rate and the time left, and three of its items", () => {
    const items = Array.from({ length: 25 }, (_item, n) => ({
      ...step("do_it"),
      step: `main/write/each/do_it[${n + 6}]@1.1`,
    }));
    const loop = { path: "main/write/each", name: "each", phase: 2, count: 40, done: 6, failed: 1, under_way: 25 };
    const lines = renderLiveView([{ ...TASK, steps: items, loops: [loop] }], {
      width: 100,
      height: 40,
      nowMs: START_MS + 10_000,
      colours,
      rate: () => 0.5,
    });
    expect(lines.slice(2, -1)).toEqual([
      "  ▸ 2 write · iteration 2",
      "    ↻ each      ██░░░░░░░░ 6 of 40 · 1 failed · 25 running · 30/min · 1 min 8 s left",
      "      ● do_it[6]  6 s",
      "      ● do_it[7]  6 s",
      "      ● do_it[8]  6 s",
    ]);
  });

  it("[first-use F10 kin] shows a step that is tried again, with its countdown and the reason", () => {
    const retry = { step: "main/write/c@1.1", name: "c", phase: 2, attempt: 3, at: at(52), error: "no network" };
    expect(render({ ...TASK, steps: [], retries: [retry] })).toContain("    … c  attempt 3 in 42 s · no network");
  });

  it("[first-use F10 kin] names the phases to come", () => {
    expect(render({ ...TASK, phases_to_come: ["review", "send"] })).toContain("  ○ next: review, send");
  });

  it.each([80, 100])("[first-use F10 kin] keeps to %d columns with loops, retries and phases to come", (width) => {
    const long = "a-very-long-name-that-goes-on-and-on-and-on-".repeat(3);
    const lines = render(
      {
        ...TASK,
        steps: [{ ...step(long), step: `main/each/${long}[1]@1.1` }],
        loops: [{ path: "main/each", name: long, phase: 0, count: 9, done: 1, failed: 1, under_way: 1 }],
        retries: [{ step: `main/${long}@1.1`, name: long, phase: 2, attempt: 2, at: at(20), error: long }],
        phases_to_come: [long, long],
      },
      { width },
    );
    expect(lines.filter((line) => countColumns(line) > width)).toEqual([]);
  });

  it("tells a loop's rate when enough was seen, and begins anew with its next visit", () => {
    const rates = new LoopRates();
    const loop = (done: number) => ({ path: "e", name: "e", phase: 0, count: 9, done, failed: 0, under_way: 1 });
    expect(rates.of(loop(2), 0)).toBeUndefined();
    expect(rates.of(loop(3), 10_000)).toBeUndefined();
    expect(rates.of(loop(7), 10_000)).toBe(0.5);
    expect(rates.of(loop(0), 11_000)).toBeUndefined();
  });

  it("says what holds up, which questions are open, and shows steps of no phase", () => {
    const lines = render({ ...TASK, phases: [], blocked: 2, open_questions: 1, steps: [step("a", { phase: 0 })] });
    expect(lines.slice(1)).toEqual([
      "  ● a  6 s",
      "  1 step done, 2 held up · 3 calls · 17 tokens · $0.0015 and 2 calls of unknown price · saved 7 s ago · 1 open question",
    ]);
  });

  it("puts figures on several lines where they do not fit on one", () => {
    expect(render(TASK, { width: 30 }).slice(-4)).toEqual([
      "  1 step done · 3 calls",
      "  17 tokens",
      "  $0.0015 and 2 calls of unkn…",
      "  saved 7 s ago",
    ]);
  });

  it("leaves out phases that are over first, then steps, and says how many; the figures stay", () => {
    const phases = Array.from({ length: 9 }, (_phase, n) => ({
      number: n + 1,
      name: `p${n + 1}`,
      status: n === 8 ? ("running" as const) : ("done" as const),
      iteration: 1,
    }));
    const steps = Array.from({ length: 5 }, (_step, n) => step(`s${n}`, { phase: 9 }));
    expect(render({ ...TASK, phases, steps }, { height: 9 })).toEqual([
      "t · report · 10 s",
      "  … 8 earlier phases",
      "  ▸ 9 p9",
      ...steps.map(({ name }) => `    ● ${name}  6 s`),
      expect.stringMatching(/^ {2}1 step done/),
    ]);
    expect(render({ ...TASK, phases, steps }, { height: 6 })).toEqual([
      "t · report · 10 s",
      "  … 8 earlier phases",
      "  ▸ 9 p9",
      "    ● s0  6 s",
      "  … 4 more lines",
      expect.stringMatching(/^ {2}1 step done/),
    ]);
  });

  it.each([1, 5, 20, 33, 60, 61])("keeps to %d columns whatever the names are", (width) => {
    const names = ["plain", "名前名前名前名前名前名前名前", "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", "e\u0301".repeat(90), "x".repeat(400)];
    const lines = render(
      {
        ...TASK,
        task: names.join(""),
        phases: names.map((name, n) => ({ number: n, name, status: "partial" as const, iteration: 3, score: 1 })),
        steps: names.map((name, n) => step(name, { phase: n, message: name })),
      },
      { width: Math.max(width, 7) },
    );
    for (const line of lines) expect(countColumns(line), line).toBeLessThanOrEqual(Math.max(width, 7));
  });

  it("lets no text of others move the cursor or break a line", () => {
    const lines = render({
      ...TASK,
      steps: [step("a\u001b[2J\r\nb\u009b1A", { message: "\u001b]0;t\u0007\t\u202ex" })],
    });
    expect(lines.join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(lines).toHaveLength(5);
  });
});

describe("countColumns", () => {
  it("counts as wide as any terminal draws it, and colours as nothing", () => {
    const counted = ["plain", "日本語", "e\u0301", "👩‍👩‍👧", "✓●█", "\u001b[31mred\u001b[39m", "❤\ufe0f", "🇩🇪"].map(
      countColumns,
    );
    expect(counted).toEqual([5, 6, 1, 6, 3, 3, 2, 4]);
  });
});

describe("wrapColumns", () => {
  it("breaks between words and leaves what is longer than a line whole", () => {
    expect(wrapColumns("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrapColumns("see /a/very/long/path now\nok", 8)).toEqual(["see", "/a/very/long/path", "now", "ok"]);
    expect(wrapColumns("日本 語 x", 6)).toEqual(["日本", "語 x"]);
  });
});

describe("fitColumns", () => {
  it("cuts to the columns with an ellipsis and breaks no character", () => {
    expect(fitColumns("plain", 5)).toBe("plain");
    expect(fitColumns("plainer", 5)).toBe("plai…");
    expect(fitColumns("日本語", 6)).toBe("日本語");
    expect(fitColumns("日本語", 5)).toBe("日本…");
    expect(fitColumns("a👩‍👩‍👧b", 3)).toBe("a…");
    expect(fitColumns("e\u0301clair", 6)).toBe("e\u0301clair");
    expect(fitColumns("abc", 1)).toBe("…");
    expect(fitColumns("abc", 0)).toBe("");
  });
});

interface Shown {
  readonly lines: string[];
  /** All rows after each character of the last write. */
  readonly within: string[][];
}

/** What a terminal shows after the writes. */
async function showOn(writes: readonly string[], columns = 80): Promise<Shown> {
  const terminal = new headless.Terminal({ cols: columns, rows: 20, convertEol: true, allowProposedApi: true });
  let end = 0;
  const put = async (text: string): Promise<string[]> => {
    await new Promise<void>((resolve) => terminal.write(text, resolve));
    const { active } = terminal.buffer;
    const lines = Array.from(
      { length: active.length },
      (_line, row) => active.getLine(row)?.translateToString(true) ?? "",
    );
    end = active.baseY + active.cursorY + 1;
    return lines;
  };
  for (const text of writes.slice(0, -1)) await put(text);
  const within: string[][] = [];
  for (const sign of writes.at(-1) ?? "") within.push(await put(sign));
  return { lines: (within.at(-1) ?? [""]).slice(0, end), within };
}

function openScreen({ columns = 80, canRedraw = true } = {}): {
  screen: Screen;
  writes: string[];
  narrow: (to: number) => void;
} {
  const writes: string[] = [];
  let now = columns;
  const screen = createScreen({
    write: (text) => writes.push(text),
    size: () => ({ columns: now, rows: 24 }),
    canRedraw,
  });
  return {
    screen,
    writes,
    narrow: (to) => {
      now = to;
    },
  };
}

describe("createScreen", () => {
  it("SC1: keeps text above the frame, and takes the frame away when there is none", async () => {
    const { screen, writes } = openScreen();
    screen.text("one\n");
    screen.frame(["a", "b"]);
    screen.text("two\n");
    expect((await showOn(writes)).lines).toEqual(["one", "two", "a", "b", ""]);
    screen.frame(["c"]);
    expect((await showOn(writes)).lines).toEqual(["one", "two", "c", ""]);
    screen.frame([]);
    screen.text("three\n");
    expect((await showOn(writes)).lines).toEqual(["one", "two", "three", ""]);
  });

  it("SC2: writes a frame in one piece, with wrapping off in it and on after it", async () => {
    const { screen, writes, narrow } = openScreen();
    screen.frame(["0123456789", ""]);
    expect(writes).toEqual(["\u001b[?7l0123456789\n\n\u001b[?7h"]);
    // The terminal has wrapped the first line to three rows.
    narrow(4);
    screen.frame(["a"]);
    expect(writes.at(-1)).toBe("\u001b[4A\r\u001b[J\u001b[?7la\n\u001b[?7h");
  });

  it("[first-use point 4] SC2: blanks nothing on its way from a frame to the next", async () => {
    const { screen, writes } = openScreen();
    screen.text("before\n");
    screen.frame(["head", "step a  1 s", "step b  1 s", "figures 1"]);
    screen.frame(["head", "step a  2 s", "step b  1 s", "figures 2"]);
    const { lines, within } = await showOn(writes);
    expect(lines).toEqual(["before", "head", "step a  2 s", "step b  1 s", "figures 2", ""]);
    for (const shown of within) {
      const [, head, a, b, figures] = shown;
      expect([head, a?.slice(0, 6), b, figures?.slice(0, 7)]).toEqual(["head", "step a", "step b  1 s", "figures"]);
    }
    screen.frame(["head", "figures 3"]);
    expect((await showOn(writes)).lines).toEqual(["before", "head", "figures 3", ""]);
  });

  it("[first-use point 4] SC2: shows text and the frame below it at once", () => {
    const { screen, writes } = openScreen();
    screen.frame(["a"]);
    screen.text("one\n");
    expect(writes).toHaveLength(2);
    expect(writes[1]).toMatch(/^\u001b\[\?2026h[\s\S]*\u001b\[\?2026l$/);
  });

  it("SC3: writes nothing for the same frame, text as it is without one, and no frame where a terminal cannot", () => {
    const { screen, writes } = openScreen();
    screen.text("as it is");
    screen.frame(["a"]);
    screen.frame(["a"]);
    expect(writes).toEqual(["as it is", "\u001b[?7la\n\u001b[?7h"]);
    const dumb = openScreen({ canRedraw: false });
    dumb.screen.frame(["a"]);
    dumb.screen.text("b\n");
    expect(dumb.writes).toEqual(["b\n"]);
  });

  it("SC4: writes nothing while it is held, by several too, and all text in its order then", async () => {
    const { screen, writes } = openScreen();
    screen.frame(["a"]);
    const first = screen.hold();
    const second = screen.hold();
    expect((await showOn(writes)).lines).toEqual([""]);
    screen.text("one\n");
    screen.frame(["b"]);
    first();
    screen.text("two\n");
    expect((await showOn(writes)).lines).toEqual([""]);
    second();
    screen.frame(["c"]);
    expect((await showOn(writes)).lines).toEqual(["one", "two", "c", ""]);
  });
});
