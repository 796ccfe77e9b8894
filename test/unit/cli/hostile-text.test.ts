/** What agents write, shown on every face of the command: no byte of it moves the cursor or turns the text around. */
import { beforeAll, describe, expect, it } from "vitest";
import { createProgram } from "../../../src/cli/program.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { ExploredPlace, type Bodies, type WorkflowOf } from "../../simulation/verbs/explored-place.js";
import { openVerbRoom } from "../../simulation/verbs/verb-room.js";

/** Clears the screen, colours, rings, renames the window, hides, and turns the reading direction around; also as C1. */
const HOSTILE = "\u001b[2J\u009b31mRED\u202eevil\u2066\u0007\u001b]0;pwn\u0007\u001b[8m";
/** Control characters but tab and line feed, C1, and what changes the direction. */
const RAW = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const asking: WorkflowOf = (call) => ({
  workflow: { name: "hostile" },
  phases: [
    {
      name: "one",
      specialists: [{ name: "a", function: call("a"), effects: "none", save_as: { "a.txt": "text" } }],
      confidence: { minimum: 0.9 },
    },
  ],
});
const gated: WorkflowOf = (call) => ({
  workflow: { name: "gated" },
  steps: [
    { name: "a", function: call("a"), effects: "none" },
    {
      name: "ok",
      type: "human_gate",
      depends_on: ["a"],
      prompt: "Continue? {{ a.output.text }}",
      options: [{ label: HOSTILE, value: "yes" }],
    },
  ],
});
const failing: WorkflowOf = (call) => ({
  workflow: { name: "failing" },
  steps: [{ name: "a", function: call("fail"), effects: "none" }],
});
const bodies: Bodies = {
  a: (context) => {
    context.checkpoint({ note: HOSTILE });
    return {
      output: { text: HOSTILE, [HOSTILE]: 1, list: [HOSTILE] },
      confidence: 0.4,
      uncertainties: [HOSTILE],
      blockers: [HOSTILE],
      assumptions: [HOSTILE],
    };
  },
  fail: () => Promise.reject(new Error(HOSTILE)),
};

const disk = new FaultyFileSystem();
let count = 0;

beforeAll(async () => {
  for (const [task, workflow] of [
    ["asking", asking],
    ["gated", gated],
    ["failing", failing],
  ] as const) {
    const options = { fileSystem: disk, now: () => disk.operationCount, seed: task };
    const place = await ExploredPlace.open(options, { workflow, bodies });
    await place.run(task);
    await place.verbs.close();
  }
});

/** All that one command writes, to either stream. */
async function runCommand(args: readonly string[]): Promise<string> {
  count += 1;
  const written: string[] = [];
  const write = (text: string): void => void written.push(text);
  const program = createProgram(
    {
      streams: { out: write, error: write, interactive: false, colour: false },
      open: () => openVerbRoom({ fileSystem: disk, seed: `command ${count}` }),
      signal: new AbortController().signal,
      exit: () => undefined,
    },
    "0.0.0",
  );
  program.exitOverride().configureOutput({ writeOut: write, writeErr: write });
  await program.parseAsync([...args], { from: "user" });
  return written.join("");
}

const TASKS = ["asking", "gated", "failing"];
/** `TASK` stands for each of them. */
const OF_A_TASK = [
  "show TASK",
  "show TASK --timeline",
  "show TASK --confidence",
  "events TASK",
  "checkpoints list TASK",
  "resume TASK --plan",
  "audit show TASK",
];

describe("hostile text", () => {
  it.each(OF_A_TASK)("is shown in words by %s", async (command) => {
    for (const task of TASKS) {
      const args = command.replace("TASK", task).split(" ");
      for (const text of [await runCommand(args), await runCommand([...args, "--json"])]) {
        expect(text).not.toMatch(RAW);
        expect(text.length).toBeGreaterThan(10);
      }
    }
  });

  it.each([
    "checkpoints show asking:latest",
    "debug replay --checkpoint=asking:latest",
    "debug diff-checkpoints --from=asking:1 --to=asking:latest --all",
    "fork asking --from 1",
    "list",
    "metrics",
  ])("is shown in words by %s", async (command) => {
    const args = command.split(" ");
    for (const text of [await runCommand(args), await runCommand([...args, "--json"])]) expect(text).not.toMatch(RAW);
  });

  it("is what these tasks are full of", async () => {
    const shown = [await runCommand(["show", "gated"]), await runCommand(["events", "failing"])].join("");
    expect(shown).toContain("\\u001b[2J\\u009b31mRED\\u202eevil");
  });
});
