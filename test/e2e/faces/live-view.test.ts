/** The live view on a real terminal, and plain lines where there is none. */
import { describe, expect, it } from "vitest";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { crashAt, hold, release } from "../../support/held-steps.js";
import { until } from "../../support/real-clock.js";
import { NO_TERMINAL, TerminalRun, type TerminalOptions } from "../../support/terminal.js";
import { countColumns } from "../../../src/cli/terminal/text-width.js";

/** Reports, then waits while it is held. */
const STEP = `
echo "$1" >> ledger
printf '%s\\n' '{"type":"progress","fraction":0.5,"message":"half\\u001b[2J\\nforged \\u001b]0;title\\u0007"}' '{"type":"confidence","value":0.8}' >&3
while [ -e "hold-$1" ]; do sleep 0.02; done
printf '{"output": {"by": "%s"}, "confidence": 0.9}' "$1"
`;

const LONG = "a-very-long-name-of-a-step-that-fits-on-no-line-of-any-terminal-that-a-person-would-use";

const WORKFLOW = `
workflow: {name: live}
phases:
  - name: look
    specialists: [{name: first, command: [sh, step.sh, first], effects: none}]
  - name: write
    specialists:
      - {name: slow, command: [sh, step.sh, slow], effects: none}
      - {name: ${LONG}, command: [sh, step.sh, slow], effects: none}
`;

function openLive(workflow = WORKFLOW): CommandPlace {
  const place = openPlace();
  place.write("step.sh", STEP);
  place.write("w.yaml", workflow);
  hold(place, "slow");
  return place;
}

const RUN = ["run", "w.yaml", "--task", "t"];
/** A line of the frame, not of what stays above it. */
const frameOf = (lines: readonly string[]): string[] =>
  lines.slice(lines.findLastIndex((line) => line.startsWith("t · ")));

describe.skipIf(NO_TERMINAL !== undefined)("the live view on a terminal", () => {
  const start = (place: CommandPlace, options?: TerminalOptions, args: readonly string[] = RUN): TerminalRun =>
    new TerminalRun(place, args, options);

  it("shows phases, specialists with progress and confidence, and the last checkpoint, and is gone at the end", async () => {
    const place = openLive();
    const run = start(place);
    const lines = await run.shows(/● slow .*50 %.*confidence 80 %[\s\S]*● a-very.*50 %.*confidence[\s\S]*saved \d/);
    expect(frameOf(lines).map((line) => line.replaceAll(/\d+ s\b/g, "N s"))).toEqual([
      "t · live · N s",
      "  ✓ 1 look · confidence 90 %",
      "  ▸ 2 write",
      expect.stringMatching(/^ {4}● slow {26}█████░░░░░ 50 % · N s · confidence 80 % · half\\u001b\[2J/),
      expect.stringMatching(
        /^ {4}● a-very-long-name-of-a-step-that-fits-on-no-lin… {2}█████░░░░░ 50 % · N s · confidence 80 %/,
      ),
      expect.stringMatching(/^ {2}1 step done · saved N s ago$/),
    ]);
    // What stays does not repeat what the view shows.
    expect(lines.filter((line) => line.includes("starts"))).toEqual([]);
    release(place, "slow");
    expect((await run.done).code).toBe(0);
    const after = await run.lines();
    expect(after.filter((line) => /[▸●]|^t · /.test(line))).toEqual([]);
    expect(after.filter((line) => line.includes("✓ write/slow done in"))).toHaveLength(1);
    expect(after).toContainEqual(expect.stringMatching(/^done {2}t: 3 steps done in /));
  });

  it("has no colours with NO_COLOR, and colours without", async () => {
    const colour = /\u001b\[\d+m/;
    const place = openLive();
    const plain = start(place, { env: { NO_COLOR: "1" } });
    await plain.shows("● slow");
    release(place, "slow");
    await plain.done;
    expect(plain.raw()).not.toMatch(colour);
    expect(plain.raw()).toContain("\u001b[J");
    const coloured = start(place, {}, [...RUN.slice(0, 2), "--task", "t2"]);
    await coloured.done;
    expect(coloured.raw()).toMatch(colour);
  });

  it("keeps to a terminal of 20 columns, long and wide names included", async () => {
    const place = openLive(
      WORKFLOW.replace("name: look", "name: 調査調査調査調査調査調査").replace("first,", "名前名前名前名前,"),
    );
    const run = start(place, { columns: 20, rows: 12 });
    const frame = frameOf(await run.shows(/● slow[\s\S]*● a-very[\s\S]*done/));
    for (const line of frame) expect(countColumns(line), line).toBeLessThan(20);
    expect(frame).toContainEqual("  ✓ 1 調査調査調査…");
    expect(frame).toContainEqual(expect.stringMatching(/^ {4}● slow {2}/));
    expect(frame).toContainEqual(expect.stringMatching(/^ {4}● a-very…/));
    release(place, "slow");
    await run.done;
    expect((await run.lines()).filter((line) => /[▸●]/.test(line))).toEqual([]);
  });

  it("follows a terminal that becomes narrower and lower, and wider again, and leaves nothing behind", async () => {
    const place = openLive();
    const run = start(place);
    const secondsIn = (text: string) => Number(/● slow.* 50 % · (\d+) s · co/.exec(text)?.[1]);
    let lines = await run.shows(/● slow .*confidence 80 %/);
    for (const [columns, rows] of [
      [40, 30],
      [40, 9],
      [120, 30],
    ] as const) {
      const before = secondsIn(lines.join("\n"));
      run.resize(columns, rows);
      // A frame may be on its way to the terminal as it was; the one after it knows what the terminal has become.
      lines = await run.shows((text) => secondsIn(text) > before + 1);
      expect(lines.filter((line) => line.startsWith("t · "))).toHaveLength(1);
      expect(lines.filter((line) => line.includes("● slow"))).toHaveLength(1);
      for (const line of frameOf(lines)) expect(line.length, line).toBeLessThan(columns);
    }
    release(place, "slow");
    await run.done;
    expect((await run.lines()).filter((line) => /[▸●]/.test(line))).toEqual([]);
  });

  it("is out of the way of a question, and what happens meanwhile is told after the answer", async () => {
    const place = openLive(`
workflow: {name: live}
steps:
  - {name: ask, command: [sh, step.sh, slow]}
  - {name: other, command: [sh, step.sh, other], effects: none}
`);
    hold(place, "other");
    await crashAt(place, "slow", RUN);
    const run = start(place, { rows: 40 }, ["resume", "t"]);
    await run.shows("later: leave the question open");
    release(place, "other");
    await until("the other step is done", async () =>
      (await place.run(["events", "t"])).stdout.includes("other done in"),
    );
    const asked = await run.lines();
    expect(asked.filter((line) => /▸|● other|other done/.test(line))).toEqual([]);
    expect(asked.at(-1)).toBe("└");
    run.press("\r");
    expect((await run.done).code).toBe(0);
    const after = await run.lines();
    expect(after.filter((line) => line.includes("✓ other done in"))).toHaveLength(1);
    expect(after.filter((line) => line.includes("✓ ask done in"))).toHaveLength(1);
  });

  it("is plain lines on a dumb terminal and nothing with --quiet", async () => {
    const place = openLive();
    release(place, "slow");
    const dumb = start(place, { env: { TERM: "dumb" } });
    await dumb.done;
    expect(dumb.raw()).not.toContain("\u001b");
    expect(dumb.raw()).toContain("write/slow starts");
    const quiet = start(place, {}, ["--quiet", "run", "w.yaml", "--task", "t2"]);
    await quiet.done;
    expect(await quiet.lines()).toContainEqual(expect.stringMatching(/^done {2}t2: 3 steps done in /));
    expect(quiet.raw()).not.toContain("\u001b[J");
  });
});

describe("progress in a pipe", () => {
  it("is plain lines, and no text of an agent makes one of its own", async () => {
    const place = openLive();
    release(place, "slow");
    const { stderr } = await place.run(RUN);
    expect(stderr).toContain("write/slow starts");
    expect(stderr).toContain("write/slow 50 % half\\u001b[2J forged \\u001b]0;title\\u0007\n");
    expect(stderr).not.toContain("\u001b");
  });
});
