import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { repeatFlags, repeatFlagsIn, VERBS } from "../../../src/cli/command/next-command.js";
import { createProgram } from "../../../src/cli/program.js";
import { openSplashdown } from "../../../src/index.js";
import { createOwnEnvironment } from "../../support/own-environment.js";

describe("the command to type next", () => {
  it("names the store and the settings that this one was given, wherever it stands in a text", () => {
    const options = { store: "file:kept here", config: "other.yaml" };
    const flags = "--store 'file:kept here' --config other.yaml";
    expect(repeatFlags("splashdown show t\nexport X=1\nsplashdown resume t", options)).toBe(
      `splashdown ${flags} show t\nexport X=1\nsplashdown ${flags} resume t`,
    );
    expect(repeatFlags("copy it, then: splashdown keys ack", options)).toBe(
      `copy it, then: splashdown ${flags} keys ack`,
    );
    expect(repeatFlags("splashdown show t", {})).toBe("splashdown show t");
  });

  it("[kinds F5 kin] leaves what a quoted word of a command says, and completes the command after it", () => {
    const text =
      "it's: splashdown answer t 'splashdown run x' or splashdown answer t 'it'\\''s splashdown run x'\nann's";
    expect(repeatFlags(text, { store: "file:x" })).toBe(
      text.replaceAll("splashdown answer", "splashdown --store file:x answer"),
    );
  });

  it("leaves help, other stores, what is done elsewhere and words about the program, and shows no password", () => {
    for (const text of [
      "splashdown fork --help",
      "splashdown checkpoints list --help",
      "splashdown checkpoints import t.zip",
      "splashdown --store sqlite:a.db show t",
      "this version of splashdown does not know it",
      "the splashdown runs on",
      "./splashdown run x",
    ])
      expect(repeatFlags(text, { store: "file:x" })).toBe(text);
    expect(repeatFlags("splashdown list", { store: "postgres://ada:secret@h/d" })).toBe("splashdown list");
  });

  it("is found in a view at any depth, and not in what a task gave", () => {
    const show = "splashdown show t";
    const view = {
      next: show,
      output: { next: show },
      questions: [{ text: show, command: show }],
      checks: [{ ok: true, text: `see ${show}` }],
    };
    const whole = "splashdown --store file:x show t";
    expect(repeatFlagsIn(view, { store: "file:x" })).toEqual({
      next: whole,
      output: { next: show },
      questions: [{ text: show, command: whole }],
      checks: [{ ok: true, text: `see ${whole}` }],
    });
    expect(repeatFlagsIn(view, {})).toBe(view);
    expect(repeatFlagsIn(undefined, { store: "file:x" })).toBeUndefined();
  });
});

/** The program in this process, in a folder of its own. */
function openPlace(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-hints-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const environment = createOwnEnvironment(folder, { USER: "ann" });
  const told: string[] = [];
  const run = async (words: readonly string[]): Promise<{ readonly status: number; readonly text: string }> => {
    const written: string[] = [];
    const say = (text: string): void => void written.push(text);
    let status = 0;
    const deps = {
      streams: { out: say, error: say, interactive: false, colour: false },
      open: (options: object) => openSplashdown({ ...options, environment }),
      signal: new AbortController().signal,
      exit: (end: number) => void (status = end),
    };
    await createProgram(deps, "0.0.0").parseAsync([...words], { from: "user" });
    told.push(...written);
    return { status, text: written.join("") };
  };
  return { folder, run, told };
}

const FLOW = `workflow: {name: asks, entry_point: ok}
agents:
  - {name: ok, type: human_gate, prompt: "Type splashdown run x?", options: [{label: Yes, value: "yes", route: last}]}
  - {name: last, type: set, value: "splashdown show t"}
`;

describe("every command that a run shows", () => {
  it("VERBS are those of the program", () => {
    const refuse = () => Promise.reject(new Error("nothing is opened here"));
    const streams = { out: () => undefined, error: () => undefined, interactive: false, colour: false };
    const deps = { streams, open: refuse, signal: new AbortController().signal, exit: () => undefined };
    const verbs = createProgram(deps, "0.0.0").commands.map((command) => command.name());
    expect([...VERBS].sort()).toEqual(verbs.filter((verb) => verb !== "help").sort());
  });

  it("names the store that was given, and works when it is typed as it stands", async () => {
    const { folder, run, told } = openPlace({ "flow.yaml": FLOW });
    const store = `file:${join(folder, "kept")}`;
    const flow = join(folder, "flow.yaml");
    const first = await run(["--store", store, "run", flow, "--task", "t"]);
    expect(first.status).toBe(20);
    for (const words of [
      ["list"],
      ["show", "t"],
      ["show", "t", "--json"],
      ["checkpoints", "show", "t:latest"],
      ["doctor"],
    ])
      await run(["--store", store, ...words]);
    // Whatever was shown but what the workflow itself says.
    const lines = told.join("").split("\n");
    const commands = lines.flatMap((line) => /splashdown (?:--store \S+ )?[a-z]+ .*$/.exec(line)?.[0] ?? []);
    const own = commands.filter((command) => !command.includes("run x?"));
    expect(own.length).toBeGreaterThan(5);
    expect(own.filter((command) => !command.startsWith(`splashdown --store ${store} `))).toEqual([]);
    const type = (text: string, before: RegExp) => run((before.exec(text)?.[1] ?? "").split(" "));
    const answered = await type(first.text, /answer with: splashdown (.*)/);
    const ended = await type(answered.text, /continue with: splashdown (.*)/);
    expect(ended).toMatchObject({ status: 0, text: expect.stringContaining("  splashdown show t\n") as string });
  });
});
