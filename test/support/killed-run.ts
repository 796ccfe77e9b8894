/** Kills tasks at a point that a seed can name: when their journal has come to a number of records, or at a point of their own. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM, PROJECT_FOLDER, type CommandResult, type RunningCommand } from "./built-program.js";
import type { CommandPlace } from "./command-place.js";
import { until } from "./real-clock.js";

export const KILL_CHILD = join(PROJECT_FOLDER, "proof/kill-loop/kill-child.mjs");

/** Lines of all segments of the task's journal. */
export function countRecords(place: CommandPlace, task: string): number {
  const folder = join("outputs", task, "checkpoints", "journal");
  if (!existsSync(join(place.folder, folder))) return 0;
  const texts = readdirSync(join(place.folder, folder)).map((name) => place.read(join(folder, name)));
  return texts.reduce((sum, text) => sum + text.split("\n").length - 1, 0);
}

/**
 * Runs or resumes a task in a process that kills itself at a named point of kill-child.mjs, as `["run", FILE, TASK]` or
 * `["resume", TASK]`: nobody has to be quick enough to meet it.
 */
export function runKilledAt(place: CommandPlace, point: string, words: readonly string[]): Promise<CommandResult> {
  return place.run([KILL_CHILD, PROGRAM, point, ...words], { program: process.execPath });
}

/** SIGKILL as soon as there are that many records. Shape: the signal is null where the program was faster than its killer. */
export async function killAtRecord(
  running: RunningCommand,
  { place, task, point }: { readonly place: CommandPlace; readonly task: string; readonly point: number },
): Promise<CommandResult> {
  let isOver = false;
  running.child.once("exit", () => (isOver = true));
  await until(`${point} records`, () => isOver || countRecords(place, task) >= point);
  running.child.kill("SIGKILL");
  return running.done;
}
