import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { formatCompletion } from "../../../src/cli/verbs/completion.js";
import type { CliDeps } from "../../../src/cli/terminal/deps.js";
import { createProgram } from "../../../src/cli/program.js";

const deps: CliDeps = {
  streams: { out: () => undefined, error: () => undefined, interactive: false, colour: false },
  open: () => Promise.reject(new Error("nothing is opened")),
  signal: new AbortController().signal,
  exit: () => undefined,
};
const program = createProgram(deps, "0.0.0");

/** What bash offers at the end of the words. */
function complete(...words: string[]): string[] {
  const script = `${formatCompletion(program, "bash")}
COMP_WORDS=(splashdown ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}
_splashdown; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["--norc", "-c", script], { encoding: "utf8" }).split("\n").filter(Boolean);
}

describe("formatCompletion for bash", () => {
  it("offers every verb of the program, and the verbs of a group behind it", () => {
    const verbs = complete("").filter((word) => !word.startsWith("--"));
    expect(verbs).toEqual(program.commands.map((command) => command.name()));
    expect(complete("debug", "re")).toEqual(["replay"]);
  });

  it("offers the flags of the verb and the global ones, wherever global ones stand before it", () => {
    expect(complete("--json", "run", "w.yaml", "--de")).toEqual(["--detach", "--debug"]);
    expect(complete("debug", "diff-checkpoints", "--fr")).toEqual(["--from"]);
  });

  it("offers no hidden flag and no word where none fits, so that file names are completed", () => {
    expect(complete("run", "--detached")).toEqual([]);
    expect(complete("run", "work")).toEqual([]);
  });
});

describe("formatCompletion for zsh and fish", () => {
  it("describes every verb of the program", () => {
    const zsh = formatCompletion(program, "zsh");
    const fish = formatCompletion(program, "fish");
    for (const command of program.commands) {
      const quoted = (text: string): string => text.replaceAll("'", `'\\''`);
      expect(zsh).toContain(`'${command.name()}:${quoted(command.description())}'`);
      expect(fish).toContain(`-n '__splashdown_at' -a ${command.name()} -d `);
    }
    expect(fish).toContain("-n '__splashdown_at run' -l task -r -d ");
    expect(zsh.startsWith("#compdef splashdown\n")).toBe(true);
  });
});
