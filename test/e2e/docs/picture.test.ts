/**
 * The picture of the README: its workflow is run on a terminal, killed, and run again by the same command.
 *
 * What is kept shows what comes today; with SPLASHDOWN_PAGES=write it is drawn anew.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PROJECT_FOLDER } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { findBlocks, readPage } from "../../support/document-pages.js";
import { drawFrames, readLastScreen, type Frame } from "../../support/moving-picture.js";
import { mask } from "../../support/page-place.js";
import { NO_TERMINAL, TerminalRun } from "../../support/terminal.js";

const PICTURE = join(PROJECT_FOLDER, "docs/pictures/kill-and-resume.svg");
const SIZE = { columns: 102, rows: 31, restMs: 5_000 };
/** Wide enough for the paths of a place, which the picture shows shorter. */
const TERMINAL = { columns: 130, rows: 40 };
const COMMAND = "$ splashdown run report.yaml";
const TYPED_MS = 900;
const KILLED_AFTER_MS = 1_200;

/** Screens of a run from its start until it has ended, or is killed a while after it shows that. */
async function record(place: CommandPlace, killAt?: string): Promise<Frame[]> {
  const run = new TerminalRun(place, ["run", "report.yaml"], TERMINAL);
  const frames: Frame[] = [];
  const startedAt = performance.now();
  let shownAt: number | undefined;
  const state = { isOver: false };
  void run.done.then(() => {
    state.isOver = true;
  });
  do {
    // Frames of a film: screens are looked at while they change, and nothing waits for them.
    await new Promise((resolve) => setTimeout(resolve, 40));
    const lines = await run.lines();
    const atMs = Math.round(performance.now() - startedAt);
    frames.push({ atMs, lines: lines.map((line) => line.replaceAll(place.folder, "/home/you/project")) });
    if (killAt === undefined || state.isOver) continue;
    if (shownAt === undefined && lines.join("\n").includes(killAt)) shownAt = atMs;
    else if (shownAt !== undefined && atMs - shownAt > KILLED_AFTER_MS) {
      run.kill();
      killAt = undefined;
    }
  } while (!state.isOver);
  await run.done;
  return frames;
}

/** Later screens stand below what is there, after a pause in which the command is typed. */
function follow(before: readonly Frame[], typed: readonly string[], after: readonly Frame[]): Frame[] {
  const last = before.at(-1) ?? { atMs: 0, lines: [] };
  const lines = [...last.lines, ...typed];
  const startMs = last.atMs + TYPED_MS;
  const moved = after.map((frame) => ({ atMs: startMs + TYPED_MS + frame.atMs, lines: [...lines, ...frame.lines] }));
  return [...before, { atMs: startMs, lines }, ...moved];
}

describe.skipIf(NO_TERMINAL !== undefined)("the picture of the README", () => {
  it("shows a run that is killed, and the same command that goes on where it stopped", async () => {
    const place = openPlace();
    const workflow = findBlocks(readPage("README.md")).find(({ about }) => about === "report.yaml");
    place.write("report.yaml", workflow?.text ?? "");
    const killed = await record(place, "author");
    const resumed = await record(place);
    const frames = follow(follow([], [COMMAND], killed), ["Killed", COMMAND], resumed);
    const picture = drawFrames(frames, SIZE);
    const screen = readLastScreen(picture);
    expect(screen.filter((line) => line === COMMAND)).toHaveLength(2);
    expect(screen.indexOf("Killed")).toBeGreaterThan(0);
    expect(screen.filter((line) => line.startsWith("done "))).toHaveLength(1);
    if (process.env["SPLASHDOWN_PAGES"] === "write") writeFileSync(PICTURE, picture);
    const answerOf = (lines: readonly string[]): string =>
      mask(lines.slice(lines.findIndex((line) => line.startsWith("done "))).join("\n"));
    expect(answerOf(readLastScreen(readFileSync(PICTURE, "utf8")))).toEqual(answerOf(screen));
  });
});
