/** Kills the built program when the journal of its task has come to a number of records: a point that a seed can name. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandResult, RunningCommand } from "./built-program.js";
import type { CommandPlace } from "./command-place.js";
import { until } from "./real-clock.js";

/** Lines of all segments of the task's journal. */
export function countRecords(place: CommandPlace, task: string): number {
  const folder = join(place.folder, "outputs", task, "checkpoints", "journal");
  if (!existsSync(folder)) return 0;
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
  return texts.reduce((sum, text) => sum + text.split("\n").length - 1, 0);
}

/** SIGKILL as soon as there are that many records. Shape: the signal is null where the program ended before. */
export async function killAtRecord(
  running: RunningCommand,
  { place, task, point }: { readonly place: CommandPlace; readonly task: string; readonly point: number },
): Promise<CommandResult> {
  let isOver = false;
  running.child.once("exit", () => (isOver = true));
  await until(`${point} records`, () => isOver || countRecords(place, task) >= point, 60_000);
  running.child.kill("SIGKILL");
  return running.done;
}
