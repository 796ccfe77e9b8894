/**
 * Every command that the program prints does what it says when it is typed as it stands: taken out of what real runs say,
 * it goes through `sh -c`, with tasks, folders, options and answers of hostile names.
 */
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TaskView } from "../../../src/runtime/contract.js";
import { PROGRAM, type CommandResult } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

/** A folder that a shell, an unquoted word and a flag would each read otherwise. */
const FOLDER = `-my dir's $(touch pwned) "é"`;

interface Shell {
  readonly place: CommandPlace;
  /** Types a line in the folder; nothing in it ran that was only quoted. */
  readonly type: (line: string) => Promise<CommandResult>;
  readonly write: (name: string, text: string) => void;
}

function openShell(): Shell {
  const place = openPlace();
  const bin = join(place.folder, "bin");
  const folder = join(place.folder, FOLDER);
  mkdirSync(folder, { recursive: true });
  chmodSync(place.write("bin/splashdown", `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`), 0o755);
  const env = { ...place.env, PATH: [bin, process.env["PATH"]].join(delimiter) };
  const type = async (line: string): Promise<CommandResult> => {
    const result = await place.run(["-c", line], { program: "sh", cwd: folder, env });
    expect(existsSync(join(folder, "pwned"))).toBe(false);
    return result;
  };
  return { place, type, write: (name, text) => void place.write(join(FOLDER, name), text) };
}

/** The command after these words, to the end of its line. */
function commandAfter(said: string, words: string): string {
  const at = said.indexOf(words);
  expect(at, `${words} in: ${said}`).toBeGreaterThanOrEqual(0);
  const [line = ""] = said.slice(at + words.length).split(/\n(?!'$)/m);
  expect(line).toMatch(/^splashdown /);
  return line.trimEnd();
}

const said = ({ stdout, stderr }: CommandResult): string => `${stdout}\n${stderr}`;

const gate = (options: readonly string[]): string =>
  JSON.stringify({
    workflow: { name: "asks", entry_point: "g" },
    agents: [
      {
        name: "g",
        type: "human_gate",
        prompt: "Which?",
        options: options.map((value) => ({ label: `"${value}"`, value, route: "last" })),
      },
      { name: "last", type: "set", value: "{{ g.output.selected }}", routes: [{ to: "$end" }] },
    ],
    output: { chosen: "{{ g.output.selected }}" },
  });

describe("the answer to a gate, as it is printed", () => {
  it.each(["yes please", "y; touch pwned", "$(touch pwned)", "it's", "-y", "--all", "näh → 🌊", 'say "no"', "a\\nb%s"])(
    "[kinds F5 kin] is %s, and the command after it goes on",
    async (value) => {
      const { type, write } = openShell();
      write("w f.json", gate([value, "other"]));
      const run = await type("splashdown run 'w f.json' --task=-t");
      expect(run.code).toBe(20);
      const answered = await type(commandAfter(said(run), "answer with: "));
      expect(answered).toMatchObject({ code: 0, stderr: "" });
      const ended = await type(commandAfter(said(answered), "continue with: "));
      expect(ended.code).toBe(0);
      const shown = (await type("splashdown show --json -- -t")).json<TaskView>();
      expect(shown).toMatchObject({ status: "done", output: { chosen: value } });
    },
  );

  it("[kinds F5 kin] is the same over --json, with the store and the settings of this command", async () => {
    const { type, write } = openShell();
    write("w.json", gate(["splashdown run x", "other"]));
    write("my settings.yaml", "{}\n");
    const flags = `--store 'file:kept $here' --config 'my settings.yaml'`;
    const run = await type(`splashdown ${flags} run w.json --task t --json`);
    const [question] = run.json<TaskView>().questions;
    expect(await type(question?.command ?? "")).toMatchObject({ code: 0 });
    const shown = (await type(`splashdown ${flags} show t --json`)).json<TaskView>();
    expect(shown.questions).toMatchObject([{ answer: "splashdown run x" }]);
    const ended = await type(shown.next ?? "");
    expect(ended.code).toBe(0);
    expect(existsSync(join(ended.stdout, "kept $here"))).toBe(false);
  });
});

describe("what other questions print", () => {
  it("[kinds F5 kin] a limit is extended by as much again", async () => {
    const { type, write } = openShell();
    const step = { name: "a", type: "set", value: "{{ 1 }}", routes: [{ to: "b" }] };
    const workflow = { name: "l", entry_point: "a", limits: { max_iterations: 1 } };
    write("w.json", JSON.stringify({ workflow, agents: [step, { ...step, name: "b", routes: [{ to: "$end" }] }] }));
    const run = await type("splashdown run w.json --task t");
    expect(run.code).toBe(21);
    const answered = await type(commandAfter(said(run), "answer with: "));
    expect((await type(commandAfter(said(answered), "continue with: "))).code).toBe(0);
  });

  it("[kinds F5 kin] a wizard's choice is taken, and a blank is not taken for an answer at any door", async () => {
    const { type, write } = openShell();
    const questions = [
      { id: "q1", text: "Which?", choices: ["it's me", "b"] },
      { id: "q2", text: "Why?" },
    ];
    write(
      "w.json",
      JSON.stringify({
        workflow: { name: "w", entry_point: "q" },
        agents: [{ name: "q", type: "questions", questions, routes: [{ to: "$end" }] }],
      }),
    );
    const run = await type("splashdown run w.json --task t");
    expect(run, said(run)).toMatchObject({ code: 20 });
    const first = await type(commandAfter(said(run), "answer with: "));
    expect(first, said(first)).toMatchObject({ code: 0 });
    const blank = commandAfter(said(first), "answer with: ");
    expect(blank).toMatch(/ q2 ANSWER$/);
    const refused = await type(blank);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('"ANSWER" only stands for the answer')]);
    const resumed = await type("splashdown resume t --answer q=ANSWER");
    expect([resumed.code, resumed.stderr]).toEqual([2, expect.stringContaining('"ANSWER" only stands for the answer')]);
    expect((await type(blank.replace(/ANSWER$/, "because"))).code).toBe(0);
  });
});

describe("the remedies of errors", () => {
  it("[kinds F5 kin] start another task of a file in a folder with spaces, where the name is taken", async () => {
    const { type, write } = openShell();
    write("a b/w f.json", gate(["yes", "no"]));
    write("other.json", gate(["left", "right"]));
    await type("splashdown run 'a b/w f.json' --task t");
    const taken = await type("splashdown run other.json --task t");
    expect(taken.code).toBe(2);
    expect((await type(commandAfter(said(taken), "→ "))).code).toBe(20);
    const tasks = (await type("splashdown list --json")).json<readonly { readonly workflow: string }[]>();
    expect(tasks.map(({ workflow }) => workflow)).toEqual(["asks", "asks"]);
  });

  it("[kinds F5 kin] check a file, a control file and a folder by their names, whatever those are", async () => {
    const { type, write } = openShell();
    write("w f.json", JSON.stringify({ workflow: { name: "w" }, steps: [{ name: "a", tipe: 1 }] }));
    const wrong = await type("splashdown run 'w f.json'");
    const told = await type(commandAfter(said(wrong), "→ "));
    expect([told.code, said(told)]).toEqual([2, expect.stringContaining("tipe")]);
    const missing = await type("splashdown show 'no such task; touch pwned'");
    expect(missing.code).toBe(10);
    expect((await type(commandAfter(said(missing), "→ "))).code).toBe(0);
  });

  it("[kinds F5 kin] name the task that was given, also where the error does not know it", async () => {
    const { type, write } = openShell();
    write("w.json", gate(["yes", "no"]));
    await type("splashdown run w.json --task=-t");
    const wrong = await type("splashdown answer -- -t nothing");
    expect(wrong.code).toBe(2);
    expect((await type(commandAfter(said(wrong), "→ "))).stdout).toContain("? Which?");
  });
});

describe("what reading verbs print", () => {
  it("[kinds F5 kin] goes on from a checkpoint, shows everything, brings back, imports and copies", async () => {
    const { type, write } = openShell();
    write("w.json", gate(["yes", "no"]));
    await type("splashdown run w.json --task=-t --answer g=yes");
    const checkpoint = await type("splashdown checkpoints show --task=-t latest");
    const shown = said(checkpoint.code === 0 ? checkpoint : await type("splashdown checkpoints show -- -t:latest"));
    expect((await type(commandAfter(shown, "everything: "))).code).toBe(0);
    const forked = await type(commandAfter(shown, "continue from here: "));
    expect(forked, said(forked)).toMatchObject({ code: 0 });

    const listed = await type("splashdown show -- -t");
    expect((await type(commandAfter(said(listed), "checkpoints: "))).code).toBe(0);

    const exported = await type("splashdown checkpoints export --to 'my bundle'\\''s.zip' -- -t");
    expect(exported, said(exported)).toMatchObject({ code: 0 });
    const imported = await type(`${commandAfter(said(exported), "next: ")} --task again`);
    expect([imported.code, said(imported)]).toEqual([
      2,
      expect.stringContaining("splashdown fork --from latest -- -t"),
    ]);

    const copied = await type("splashdown store copy --from file:outputs --to 'file:other $place' -- -t");
    expect(copied, said(copied)).toMatchObject({ code: 0 });
    expect((await type(/splashdown --store .*/.exec(said(copied))?.[0] ?? "exit 9")).code).toBe(0);

    expect((await type("splashdown store remove --yes -- -t")).code).toBe(0);
    const gone = await type("splashdown show -- -t");
    expect((await type(commandAfter(said(gone), "bring it back with: ").replace(/ \[.*/, ""))).code).toBe(0);
    expect((await type("splashdown show -- -t")).code).toBe(0);
  });

  it("[kinds F5 kin] of a task in the background: what happens, how it stands, and its end", async () => {
    const { type, write } = openShell();
    write(
      "w.json",
      JSON.stringify({ workflow: { name: "w" }, steps: [{ name: "a", command: ["sleep", "60"], effects: "none" }] }),
    );
    const started = await type("splashdown run w.json --task=-t --detach");
    expect(started, said(started)).toMatchObject({ code: 0 });
    expect((await type(commandAfter(said(started), "how it stands:    "))).code).toBe(0);
    const ended = await type(commandAfter(said(started), "end it, saved:    "));
    expect(ended, said(ended)).toMatchObject({ code: 0 });
    expect((await type(commandAfter(said(started), "what happens:     "))).code).toBe(0);
  });
});
