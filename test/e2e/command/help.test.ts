/** What a stranger learns by asking: version, help, and what a mistyped line answers. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openPlace } from "../../support/command-place.js";

interface Coverage {
  readonly result: readonly { readonly url: string }[];
}

/** Every verb, with a sentence that its help must teach. */
const VERBS: readonly (readonly [verb: string, teaches: string])[] = [
  ["run", "a crashed task of the same file and inputs goes on by itself"],
  ["resume", "prints the plan"],
  ["recover", "take up every crashed one"],
  ["list", "all tasks with their status"],
  ["show", "one task"],
  ["events", "--follow"],
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
];

describe("splashdown without a task", () => {
  it("prints its version on stdout and nothing else", async () => {
    const { code, stdout, stderr } = await openPlace().run(["--version"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("explains itself, its streams and its statuses with --help", async () => {
    const { code, stdout, stderr } = await openPlace().run(["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const [verb] of VERBS) expect(stdout).toContain(verb.split(" ")[0]);
    expect(stdout).toContain("Begin with:\n  splashdown run workflow.yaml");
    for (const status of [1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 20, 21, 22, 75, 129, 130, 143])
      expect(stdout).toMatch(new RegExp(`Exit status: [\\s\\S]*\\b${status}\\b`));
  });

  it("prints its help on stderr and ends with 2 when it is asked nothing", async () => {
    const { code, stdout, stderr } = await openPlace().run([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Begin with:");
    expect(stderr).not.toContain("USAGE_INVALID");
  });

  it("loads nothing for --help but commander and its own verbs, so that it starts as fast as it can", async () => {
    const place = openPlace();
    const coverage = join(place.folder, "coverage");
    await place.run(["--help"], { env: { NODE_V8_COVERAGE: coverage } });
    const loaded = readdirSync(coverage)
      .flatMap((file) => (JSON.parse(readFileSync(join(coverage, file), "utf8")) as Coverage).result)
      .map(({ url }) => url)
      .filter((url) => url.startsWith("file:"));
    expect(loaded.some((url) => url.endsWith("/dist/cli/main.js"))).toBe(true);
    const others = loaded.filter(
      (url) => !/\/node_modules\/commander\/|\/dist\/(?:cli|base|runtime\/(?:environment|system-clock)\.js)/.test(url),
    );
    expect(others).toEqual([]);
  });
});

describe("the help of a verb", () => {
  it.each(VERBS)("%s teaches and ends with its statuses", async (verb, teaches) => {
    const { code, stdout } = await openPlace().run([...verb.split(" "), "--help"]);
    expect(code).toBe(0);
    expect(stdout.replace(/\s+/g, " ")).toContain(teaches);
    const [, statuses] = stdout.split("\nExit status:\n");
    expect(statuses).toMatch(/^ {4}0 {2}\S/);
    expect(
      (statuses ?? "")
        .trim()
        .split("\n")
        .every((line) => /^\s+\d+ {2}\S|^\d+ {2}\S/.test(line)),
    ).toBe(true);
  });
});

describe("a mistyped command line", () => {
  it.each([
    [["rnu"], "unknown command 'rnu'; did you mean run?", "splashdown --help"],
    [["run", "x.yaml", "--inptu", "a=1"], "unknown option '--inptu'; did you mean --input?", "splashdown run --help"],
    [["list", "--jsn"], "unknown option '--jsn'; did you mean --json?", "splashdown list --help"],
    [["run"], "give a workflow file or --goal TEXT, one of the two", "splashdown run --help"],
    [["list", "extra"], "too many arguments for 'list'. Expected 0 arguments but got 1.", "splashdown list --help"],
    [
      ["debug", "replay"],
      "required option '--checkpoint <checkpoint>' not specified",
      "splashdown debug replay --help",
    ],
    [
      ["events", "t", "--from", "x"],
      '--from takes the number of an event, from 1, not "x"',
      "splashdown events --help",
    ],
  ])("%j ends with 2, one line, and the help to ask for", async (args, message, hint) => {
    const { code, stdout, stderr } = await openPlace().run(args);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: "",
      stderr: `splashdown: ${message} [USAGE_INVALID]\n  → ${hint}\n`,
    });
  });

  it("is one JSON line on stderr with --json", async () => {
    const { code, stdout, stderr } = await openPlace().run(["show", "--json"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: "USAGE_INVALID",
        message: "missing required argument 'task'",
        hint: "splashdown show --help",
        retryable: false,
        details: { verb: "show" },
      },
    });
  });
});
