/** `--task NAME` stands for the argument in every verb that takes a task first. */
import { describe, expect, it } from "vitest";
import { moveTaskFlag } from "../../../src/cli/command/task-flag.js";
import { createProgram } from "../../../src/cli/program.js";
import { openKeyboard } from "../../support/typed-command.js";

const program = createProgram(
  {
    streams: { out: () => undefined, error: () => undefined, interactive: false, colour: false },
    open: () => Promise.reject(new Error("nothing is opened here")),
    signal: new AbortController().signal,
    exit: () => undefined,
  },
  "0.0.0",
);

describe("--task", () => {
  it.each([
    [
      ["show", "--task", "t"],
      ["show", "t"],
    ],
    [
      ["show", "step", "--task=t"],
      ["show", "t", "step"],
    ],
    [
      ["answer", "--task", "t", "send"],
      ["answer", "t", "send"],
    ],
    [
      ["answer", "send", "--task", "t", "--by", "me"],
      ["answer", "t", "send", "--by", "me"],
    ],
    [
      ["--json", "--task", "t", "show"],
      ["--json", "show", "t"],
    ],
    [
      ["keys", "verify", "--task", "t"],
      ["keys", "verify", "t"],
    ],
    [
      ["run", "w.yaml", "--task", "t"],
      ["run", "w.yaml", "--task", "t"],
    ],
    [
      ["checkpoints", "show", "3", "--task", "t"],
      ["checkpoints", "show", "3", "--task", "t"],
    ],
    [
      ["guide", "t", "--", "--task", "x"],
      ["guide", "t", "--", "--task", "x"],
    ],
    [
      ["show", "--task"],
      ["show", "--task"],
    ],
  ])("of %j is read as %j", (typed, read) => {
    expect(moveTaskFlag(program, typed)).toEqual(read);
  });

  it("is declared by every verb that takes a task, so that help and completion know it", () => {
    const taking = program.commands.filter(({ registeredArguments: [first] }) => first?.name() === "task");
    expect(taking.length).toBeGreaterThan(8);
    for (const command of taking) expect(command.helpInformation(), command.name()).toMatch(/--task <\w+>/);
  });

  it("shows the same task as the argument does", async () => {
    const { type, write } = await openKeyboard();
    await type([
      "run",
      write("w.yaml", "workflow: {name: s}\nsteps: [{name: a, type: set, value: 1}]\n"),
      "--task",
      "t",
    ]);
    expect((await type(["show", "--task", "t"])).out).toBe((await type(["show", "t"])).out);
    expect((await type(["show", "a", "--task", "t"])).out).toContain("main/a@1.1  completed");
    expect((await type(["completion", "tasks"])).out).toBe("t\n");
  });
});

describe("the help", () => {
  it("has groups, and the global flags in each verb's", () => {
    const help = program.helpInformation();
    const titles = ["Run and resume:", "Look:", "Speak to a task:", "The past:", "Set up and learn:"];
    expect(titles.map((title) => help.indexOf(`\n${title}\n`))).toEqual(
      titles.map((title) => help.indexOf(`\n${title}\n`)).toSorted((a, b) => a - b),
    );
    expect(help).not.toContain("\nCommands:\n  run");
    for (const command of program.commands.filter(({ commands }) => commands.length === 0))
      expect(command.helpInformation(), command.name()).toMatch(/Global Options:[\s\S]*--json/);
  });
});
