/** The one writer of commands: any shell takes its words back, and it writes nothing that the command line does not accept. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { fillHint, SHOWN_VERBS, writeCommand, type ShownVerb } from "../../../src/base/command-text.js";
import { createProgram } from "../../../src/cli/program.js";

/** What people call options, folders and answers. */
export const HOSTILE = [
  "yes please",
  "it's",
  'say "no"',
  "y; touch pwned",
  "$(touch pwned)`touch pwned`",
  "a\\b\\n%s%d",
  "-y",
  "--all",
  "",
  " ",
  "*",
  "~root",
  "=ls",
  "#none",
  "a&b|c>d<e",
  "!!",
  "näh → 日本 🌊",
  "two\nlines",
  "ends in one\n",
  "\ttab\t",
  "\u001b[2Jx\u202ey\u009b",
  "splashdown run x",
];
const SHELLS = ["sh", "bash"];

const program = createProgram({} as never, "1.0.0");

function findVerb(words: string): Command | undefined {
  return words
    .split(" ")
    .reduce<Command | undefined>((at, word) => at?.commands.find((command) => command.name() === word), program);
}

describe("a command", () => {
  it.each(SHELLS)("[kinds F5] comes back from %s as the words that it was made of", (shell) => {
    for (const word of HOSTILE) {
      const command = writeCommand("answer", ["t", "gate:main/g@1.1:1", word]);
      const script = `splashdown() { shift; [ "$1" = -- ] && shift; for word in "$@"; do printf '%s\\0' "$word"; done; }; ${command}`;
      const said = execFileSync(shell, ["-c", script], { env: { LC_ALL: "C.UTF-8", PATH: "/bin:/usr/bin" } });
      expect(said.toString().split("\0").slice(0, -1), command).toEqual(["t", "gate:main/g@1.1:1", word]);
    }
  });

  it("[kinds F5 kin] keeps a word that begins with a dash from being a flag, and the value of a flag too", () => {
    expect(writeCommand("resume", ["-y"], { "--accept-loss": true })).toBe("splashdown resume --accept-loss -- -y");
    expect(writeCommand("fork", ["t"], { "--from": "-1" })).toBe("splashdown fork t --from=-1");
    expect(writeCommand("show", ["t"], { "--store": "file:my place" })).toBe(
      "splashdown --store 'file:my place' show t",
    );
  });

  it.each([
    ["[public T]", "-y"],
    ["[public T kin]", "--all"],
    ["[public T kin]", "-"],
    ["[public T kin]", "--task=x"],
  ])("%s names a task that is called %s, and not a flag", (_tag, task) => {
    expect(writeCommand("resume", [task])).toBe(`splashdown resume -- ${task}`);
  });

  it("stands on one line, but for newlines at its very end", () => {
    for (const word of HOSTILE.filter((text) => !text.endsWith("\n")))
      expect(writeCommand("show", [word])).not.toMatch(/[\n\t\u001b\u202e\u009b]/);
  });

  it.each(Object.keys(SHOWN_VERBS) as ShownVerb[])("%s is a verb that takes as many words and these flags", (name) => {
    const verb = findVerb(name);
    expect(verb?.commands).toEqual([]);
    const [min, max] = SHOWN_VERBS[name].words;
    const taken = verb?.registeredArguments ?? [];
    expect(min).toBeGreaterThanOrEqual(taken.filter(({ required }) => required).length);
    if (taken.at(-1)?.variadic !== true) expect(max).toBeLessThanOrEqual(taken.length);
    for (const flag of SHOWN_VERBS[name].flags) expect(verb?.options.map(({ long }) => long)).toContain(flag);
  });
});

describe("a hint of the error table", () => {
  it("[kinds F5 kin] has the file and the task in quotes, and a sentence before it without", () => {
    const details = { file: "my dir's/w f.yaml", folder: "/a b", task: "-t", room: "on /a b" };
    expect(fillHint("splashdown run {file} --task {task}", details)).toBe(
      "splashdown run 'my dir'\\''s/w f.yaml' --task=-t",
    );
    expect(fillHint("look at {file}, then: splashdown trust {folder}", details)).toBe(
      "look at my dir's/w f.yaml, then: splashdown trust '/a b'",
    );
    expect(fillHint("free some space {room?}, then: splashdown resume {task}", details)).toBe(
      "free some space on /a b, then: splashdown resume -- -t",
    );
    expect(fillHint("splashdown debug validate-checkpoint --file={file}", details)).toBe(
      "splashdown debug validate-checkpoint --file='my dir'\\''s/w f.yaml'",
    );
  });

  it("leaves out what may be left out, and a blank where a detail is missing", () => {
    expect(fillHint("splashdown checkpoints prune {task?} --history", {})).toBe(
      "splashdown checkpoints prune --history",
    );
    expect(fillHint("splashdown resume {task} --from CHECKPOINT", {})).toBe("splashdown resume TASK --from CHECKPOINT");
    expect(fillHint("splashdown {verb?} --help", { verb: "keys shred" })).toBe("splashdown keys shred --help");
    expect(fillHint("splashdown {verb?} --help", {})).toBe("splashdown --help");
  });
});

const SOURCES = join(import.meta.dirname, "..", "..", "..", "src");

function listSources(): { readonly file: string; readonly text: string }[] {
  return readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.includes("generated"))
    .map((file) => ({ file, text: readFileSync(join(SOURCES, file), "utf8") }));
}

/** A command with a value put into it by hand. */
const BY_HAND = /splashdown (?<verb>[a-z]+) (?:[a-z-]+ )*(?:--?[a-z-]+[= ])?\$\{/g;
/** A command that stands in a text as a whole. */
const WHOLE = /splashdown (?<words>[a-z]+(?: [a-z-]+)*)(?<flags>(?: --[a-z-]+)+)/g;
/** Writes what a shell completes, and the hint of a word that is no verb but one of a group. */
const OTHERWISE = ["cli/verbs/completion.ts", "cli/command/usage.ts"];

describe("the sources", () => {
  it("[kinds F5 kin] put no value into a command by hand", () => {
    const found = listSources()
      .filter(({ file }) => !OTHERWISE.includes(file))
      .flatMap(({ file, text }) =>
        [...text.matchAll(BY_HAND)]
          .filter(({ groups }) => findVerb(groups?.["verb"] ?? "") !== undefined)
          .map(([command]) => `${file}: ${command}`),
      );
    expect(found).toEqual([]);
    expect(listSources().length).toBeGreaterThan(400);
    expect("`splashdown resume ${name} --plan`").toMatch(BY_HAND);
    expect("`splashdown keys init --key-file ${path}`").toMatch(BY_HAND);
  });

  it("name no flag that the verb of a written command does not have", () => {
    const commands = listSources().flatMap(({ text }) => [...text.matchAll(WHOLE)]);
    expect(commands.length).toBeGreaterThan(10);
    const unknown = commands.filter(({ groups }) => {
      const [first = "", second = ""] = groups?.["words"]?.split(" ") ?? [];
      const verb = findVerb(`${first} ${second}`.trim()) ?? findVerb(first);
      const known = [...(verb?.options ?? []), ...program.options].map(({ long }) => long);
      return !(groups?.["flags"] ?? "")
        .trim()
        .split(" ")
        .every((flag) => flag === "--help" || known.includes(flag));
    });
    expect(unknown.map(([command]) => command)).toEqual([]);
  });
});
