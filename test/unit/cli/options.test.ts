/** Options that mean the same have the same name, the same words and the same place in every verb. */
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../../src/cli/program.js";

const program = createProgram({} as never, "1.0.0");

function listVerbs(command: Command, above = ""): [string, Command][] {
  return command.commands.flatMap((verb) => {
    const name = `${above}${verb.name()}`;
    return verb.commands.length > 0 ? listVerbs(verb, `${name} `) : [[name, verb] as [string, Command]];
  });
}

const verbs = listVerbs(program);
const flagsOf = (verb: Command) => verb.options.map(({ long }) => long ?? "");

describe("options of the verbs", () => {
  it("let a checkpoint be named within a task wherever one is named by itself", () => {
    const naming = verbs.filter(
      ([, verb]) =>
        verb.registeredArguments.some((argument) => argument.name() === "checkpoint") ||
        verb.options.some(
          ({ mandatory, flags }) => mandatory && flags.includes("<checkpoint>") && !flags.includes("--from <"),
        ),
    );
    expect(naming.map(([name]) => name).sort()).toEqual([
      "checkpoints pin",
      "checkpoints show",
      "checkpoints unpin",
      "debug diff-checkpoints",
      "debug replay",
    ]);
    for (const [name, verb] of naming) {
      const optional = verb.options.filter(({ mandatory }) => !mandatory);
      expect([name, optional[0]?.flags, optional[0]?.description]).toEqual([
        name,
        "--task <task>",
        expect.stringMatching(/^the task (?:it belongs|both belong) to, by name, id or workflow name$/),
      ]);
    }
  });

  it("describe a checkpoint in the same words", () => {
    const words = new Set(
      verbs.flatMap(([name, verb]) => [
        ...verb.registeredArguments
          .filter((argument) => argument.name() === "checkpoint")
          .map(({ description }) => description),
        ...verb.options
          .filter(({ flags, mandatory }) => mandatory && flags.includes("<checkpoint>") && name !== "fork")
          .map(({ description }) => description),
      ]),
    );
    expect([...words]).toEqual(["id, beginning of an id, sequence, phaseN, file name, or latest; TASK:… for one task"]);
  });

  it("are --dry-run before --yes wherever something is removed", () => {
    const removing = verbs.map(([, verb]) => flagsOf(verb).filter((flag) => flag === "--dry-run" || flag === "--yes"));
    const both = removing.filter(({ length }) => length === 2);
    expect(both.length).toBeGreaterThan(3);
    expect(new Set(both.map((flags) => flags.join(" ")))).toEqual(new Set(["--dry-run --yes"]));
  });
});
