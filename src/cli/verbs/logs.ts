/** `splashdown logs`: what happened in a task and what its steps printed, in order. Changes nothing. */
import type { Command } from "commander";
import type { EventView } from "../../runtime/contract.js";
import { chooseFormat, printStream } from "../command/stream-output.js";
import { statusOfSignal, type CliDeps } from "../terminal/deps.js";
import { isOfStep, LogText, readLogEntry, type LogEntry } from "../text/log-text.js";
import { coloursOf } from "../terminal/output.js";
import { describeStatuses, READING_STATUSES, withSplashdown } from "../command/verb.js";

export function registerLogs(program: Command, deps: CliDeps): void {
  program
    .command("logs")
    .description("what happened in a task and what its steps printed, in order, with local times")
    .argument("<task>", "task name, id or workflow name")
    .argument("[step]", "only this step, by name, path or identity")
    .option(
      "-f, --follow",
      "keep following until the task ends or its process leaves; with --json one document per line",
    )
    .addHelpText("after", describeStatuses(READING_STATUSES))
    .action(async (...given: [string, string | undefined, { follow?: boolean }, Command]) => {
      const [task, step, flags, command] = given;
      await withSplashdown({ command, deps }, async ({ splashdown, options }) => {
        const text = new LogText(coloursOf(deps.streams));
        const events = splashdown.events(task, { ...flags, signal: deps.signal });
        const format = chooseFormat(options.json, flags.follow);
        const toText = (entry: LogEntry) => text.format(entry);
        // A list that turns out to be of no step at all is none: it is refused before it is begun.
        if (step !== undefined && flags.follow !== true) await splashdown.showStep(task, step);
        await printStream(selectEntries(events, step), { format, out: deps.streams.out, toText });
        if (deps.signal.aborted) deps.exit(statusOfSignal(deps.signal));
      });
    });
}

async function* selectEntries(events: AsyncIterable<EventView>, step: string | undefined): AsyncIterable<LogEntry> {
  for await (const view of events) {
    const entry = readLogEntry(view);
    if (entry !== undefined && (step === undefined || isOfStep(entry, step))) yield entry;
  }
}
