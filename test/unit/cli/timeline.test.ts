import { describe, expect, it } from "vitest";
import { coloursOf } from "../../../src/cli/terminal/output.js";
import { createAxis } from "../../../src/cli/text/time-axis.js";
import { formatTimelineSvg } from "../../../src/cli/text/timeline-svg.js";
import { formatTimeline } from "../../../src/cli/text/timeline-text.js";
import type { TimelineView } from "../../../src/runtime/contract.js";

const at = (seconds: number): string => new Date(Date.UTC(2024, 0, 1) + seconds * 1000).toISOString();

/** Ten seconds of work, an hour of nobody, ten seconds of work. */
const VIEW: TimelineView = {
  task: "t",
  workflow: "w <&>",
  from: at(0),
  to: at(3620),
  working: [
    { from: at(0), to: at(10) },
    { from: at(3610), to: at(3620) },
  ],
  phases: [{ name: "look", number: 1, from: at(0), to: at(3620), confidence: 0.9 }],
  lanes: [
    { step: "a@1.1", path: "look/a", phase: 1, spans: [{ from: at(0), to: at(5), attempt: 1, status: "completed" }] },
    {
      step: "b@1.1",
      path: 'look/b"\u0007',
      phase: 1,
      spans: [
        { from: at(5), to: at(10), attempt: 1, status: "crashed" },
        { from: at(3610), to: at(3620), attempt: 2, status: "completed" },
      ],
    },
  ],
  marks: [
    { at: at(5), kind: "checkpoint", text: "checkpoint 1" },
    { at: at(3610), kind: "resumed", text: "taken up" },
  ],
};

const plain = coloursOf({ out: () => undefined, error: () => undefined, interactive: false, colour: false });

describe("createAxis", () => {
  it("gives columns by worked time and one to a stretch without work", () => {
    const axis = createAxis(VIEW.working, 21);
    expect({ columns: axis.columns, workedMs: axis.workedMs }).toEqual({ columns: 21, workedMs: 20_000 });
    expect(axis.emptyRow().join("")).toBe("          ┊          ");
    expect(axis.cells(at(0), at(10))).toEqual([0, 9]);
    expect(axis.cells(at(3610), at(3620))).toEqual([11, 20]);
    expect([axis.share(at(5)), axis.share(at(1800)), axis.share(at(3615))]).toEqual([0.25, 0.5, 0.75]);
  });

  it("survives a task that took no time, and one without a record", () => {
    expect(createAxis([{ from: at(1), to: at(1) }], 20).cells(at(1), at(1))).toEqual([0, 0]);
    expect(createAxis([], 20).cells(at(1), at(1))).toEqual([0, 0]);
  });
});

describe("formatTimeline", () => {
  it("draws a bar per step where it ran, cuts out the time without work, and marks", () => {
    const lines = formatTimeline(VIEW, { width: 12 + 1 + 21 + 11, colours: plain }).split("\n");
    expect(lines[0]).toBe("t  2024-01-01 00:00:00 UTC to 2024-01-01 01:00:20 UTC, 20 s of work");
    expect(lines[1]).toBe("1 look       ───────────────────── 90 %");
    expect(lines[2]).toBe("look/a       ██████    ┊           5.0 s");
    expect(lines[3]).toMatch(/▒▒▒▒▒┊██████████ 15 s \(2 attempts\)$/);
    expect(lines[4]).toMatch(/^checkpoints +■ +┊ +1$/);
    expect(lines[5]).toMatch(/^resumed +┊↻ +1$/);
    expect(lines.join("")).not.toContain("\u0007");
  });
});

describe("formatTimelineSvg", () => {
  it("is one well-formed picture without anything that acts or loads", () => {
    const svg = formatTimelineSvg(VIEW);
    expect(svg).toContain("<title>t</title>");
    expect(svg).toContain("w &lt;&amp;&gt;");
    expect(svg).not.toContain("\u0007");
    expect(svg).not.toMatch(/<script|href|url\(|@import/);
    expect(tagsOf(svg)).toEqual([]);
    expect(svg.match(/fill="#e5897f"><title>look\/b/g)).toHaveLength(1);
  });

  it("[first-use point 4] has an axis of the time at work, the duration of each step, and a legend", () => {
    const texts = [...formatTimelineSvg(VIEW).matchAll(/<text[^>]*>([^<]*)</g)].map(([, content]) => content);
    expect(texts.slice(2, 14)).toEqual(["0", "5 s", "10 s", "15 s", "20 s", ...texts.slice(7, 14)]);
    expect(texts).toContain("5.0 s");
    expect(texts).toContain("15 s · 2 attempts");
    expect(texts).toContain("1 h 0 min later");
    expect(texts).toContain("confidence 90 %");
    expect(texts.slice(-2)).toEqual(["done", "cut off by a crash"]);
  });

  it("[first-use point 4 kin] has marks on the axis for a task of a tenth of a second, of days, and of no time", () => {
    const ticksOf = (seconds: number): string[] => {
      const span = { from: at(0), to: at(seconds) };
      const lanes = [{ step: "a@1.1", path: "a", phase: 0, spans: [{ ...span, attempt: 1, status: "completed" }] }];
      const svg = formatTimelineSvg({ ...VIEW, ...span, working: [span], phases: [], lanes, marks: [] });
      return [...svg.matchAll(/font-size="11"[^>]*>([^<]*)</g)].map(([, content = ""]) => content);
    };
    expect(ticksOf(0.25)).toEqual(["0", "0.1 s", "0.2 s"]);
    expect(ticksOf(400)).toEqual(["0", "1 min", "2 min", "3 min", "4 min", "5 min", "6 min"]);
    expect(ticksOf(3 * 86_400).at(-1)).toBe("3 d");
    expect(ticksOf(0)).toEqual(["0"]);
  });
});

/** Tags that were opened and not closed, or closed and not the last opened. */
function tagsOf(xml: string): string[] {
  const open: string[] = [];
  for (const [, close, name = "", self] of xml.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
    if (self === "/") continue;
    if (close === "/" && open.at(-1) === name) open.pop();
    else open.push(name);
  }
  return open;
}
