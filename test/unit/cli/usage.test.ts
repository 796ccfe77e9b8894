import { Command, CommanderError } from "commander";
import { describe, expect, it } from "vitest";
import { SplashdownError } from "../../../src/base/errors.js";
import { collectPairs, parseJsonFlag, parseOnUnknown } from "../../../src/cli/command/flags.js";
import { findVerb, toUsageError, withVerb } from "../../../src/cli/command/usage.js";

function createSample(): Command {
  const program = new Command("splashdown");
  program.command("run");
  program.command("debug").command("replay");
  return program;
}

describe("findVerb", () => {
  it.each([
    [["run", "x.yaml"], "run"],
    [["--json", "debug", "replay", "--checkpoint=x"], "debug replay"],
    [["debug"], "debug"],
    [["rnu"], ""],
    [[], ""],
  ])("of %j is %j", (args, verb) => {
    expect(findVerb(createSample(), args)).toBe(verb);
  });
});

describe("toUsageError", () => {
  it("is one sentence with the suggestion, and hints at the help of the verb", () => {
    const given = new CommanderError(1, "commander.unknownOption", "error: unknown option '--x'\n(Did you mean --y?)");
    const error = toUsageError(given, "run", createSample());
    expect(error).toMatchObject({ code: "USAGE_INVALID", exitStatus: 2, hint: "splashdown run --help" });
    expect(error.message).toBe("unknown option '--x'; did you mean --y?");
    expect(toUsageError(given, "", createSample()).hint).toBe("splashdown --help");
  });

  it.each([
    ["command", "templates", "splashdown init writes a sample workflow"],
    ["command", "replay", "write splashdown debug replay"],
    ["command", "models", "splashdown doctor --models asks every provider"],
    ["command", "interrupt", "write splashdown pause TASK, or splashdown guide TASK TEXT"],
    ["option", "-V", "write --verbose"],
    ["option", "--web-bg", "there is no dashboard"],
    ["option", "--input.topic=x", "write --input topic=VALUE"],
  ])("says what is written here instead of Conductor's %s %s", (kind, word, wanted) => {
    const message = `error: unknown ${kind} '${word}'\n(Did you mean --debug?)`;
    const error = toUsageError(new CommanderError(1, "commander.unknown", message), "run", createSample());
    expect(error.message.startsWith(`unknown ${kind} '${word}'; ${wanted}`)).toBe(true);
    expect(error.message).not.toContain("--debug?");
  });
});

describe("a verb without its group", () => {
  it("is named with the groups that have it", () => {
    const program = createSample();
    for (const group of ["checkpoints", "store"]) program.command(group).command("purge");
    const given = new CommanderError(1, "commander.unknown", "error: unknown command 'purge'\n(Did you mean run?)");
    expect(toUsageError(given, "", program).message).toBe(
      "unknown command 'purge'; write splashdown checkpoints purge or splashdown store purge",
    );
  });
});

describe("withVerb", () => {
  it("names the verb of a usage error that names none, and leaves other errors alone", () => {
    const usage = new SplashdownError("USAGE_INVALID", "no", { details: { flag: "--x" } });
    expect(withVerb(usage, "run")).toMatchObject({
      hint: "splashdown run --help",
      details: { flag: "--x", verb: "run" },
    });
    expect(withVerb(withVerb(usage, "run"), "list").hint).toBe("splashdown run --help");
    const other = new SplashdownError("TASK_NOT_FOUND", "no");
    expect(withVerb(other, "run")).toBe(other);
  });
});

describe("flags", () => {
  it("collects pairs, the later one wins, and the value may hold an equals sign", () => {
    expect(collectPairs("b=x=y", collectPairs("a=1"))).toEqual({ a: "1", b: "x=y" });
    expect(collectPairs("a=", { a: "1" })).toEqual({ a: "" });
    for (const wrong of ["a", "=1", ""])
      expect(() => collectPairs(wrong)).toThrow(expect.objectContaining({ code: "USAGE_INVALID" }) as Error);
  });

  it("takes the four policies and no other word", () => {
    expect(["ask", "rerun", "skip", "fail"].map(parseOnUnknown)).toEqual(["ask", "rerun", "skip", "fail"]);
    expect(() => parseOnUnknown("done")).toThrow("--on-unknown takes ask, rerun, skip or fail");
  });

  it("reads JSON values and says which flag is none", () => {
    expect(parseJsonFlag("--output", '{"a":[1]}')).toEqual({ a: [1] });
    expect(() => parseJsonFlag("--output", "{")).toThrow("--output is not JSON");
  });
});
