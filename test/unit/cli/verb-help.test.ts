/** The help of each verb teaches what it is for, and ends with the statuses it ends with. */
import { describe, expect, it } from "vitest";
import { createProgram } from "../../../src/cli/program.js";

/** Every verb, with a sentence that its help must teach. */
const VERBS: readonly (readonly [verb: string, teaches: string])[] = [
  ["run", "an unfinished task of the same file and inputs continues"],
  ["resume", "prints the plan"],
  ["recover", "resume every crashed one"],
  ["list", "all tasks with their status"],
  ["show", "one task"],
  ["events", "--follow"],
  ["attach", "leaves it running"],
  ["logs", "what its steps printed"],
  ["answer", "the first answer wins"],
  ["checkpoint", "ask a running task to save a checkpoint now"],
  ["pause", "ask a running task to finish the steps under way"],
  ["stop", "ask a running task to end the steps under way"],
  ["checkpoints list", "the checkpoints of a task"],
  ["checkpoints show", "one checkpoint"],
  ["debug list-checkpoints", "all checkpoints of a task"],
  ["debug validate-checkpoint", "without a key"],
  ["debug replay", "runs nothing"],
  ["debug diff-checkpoints", "first difference first"],
  ["keys init", "back it up"],
  ["keys show", "fingerprints only"],
  ["keys ack", "backed up"],
  ["keys verify", "try every slot"],
  ["validate", "every fault with line and column"],
  ["doctor", "check this place"],
  ["config show", "where it comes from"],
  ["mcp", '{"mcpServers": {"splashdown": {"command": "splashdown", "args": ["mcp", "--root",'],
];

async function showHelp(verb: string): Promise<string> {
  const written: string[] = [];
  const streams = {
    out: (text: string): void => void written.push(text),
    error: (text: string): void => expect.unreachable(text),
    interactive: false,
    colour: false,
  };
  const program = createProgram(
    {
      streams,
      open: () => Promise.reject(new Error("nothing is opened here")),
      signal: new AbortController().signal,
      exit: () => undefined,
    },
    "0.0.0",
  );
  const asked = program.parseAsync([...verb.split(" "), "--help"], { from: "user" });
  await expect(asked).rejects.toMatchObject({ code: "commander.helpDisplayed", exitCode: 0 });
  return written.join("");
}

describe("the help of a verb", () => {
  it.each(VERBS)("%s teaches and ends with its statuses", async (verb, teaches) => {
    const help = await showHelp(verb);
    expect(help.replace(/\s+/g, " ")).toContain(teaches);
    const [, statuses = ""] = help.split("\nExit status:\n");
    expect(statuses).toMatch(/^ {4}0 {2}\S/);
    const lines = statuses.trim().split("\n");
    expect(lines.filter((line) => !/^\s+\d+ {2}\S|^\d+ {2}\S/.test(line))).toEqual([]);
  });
});
