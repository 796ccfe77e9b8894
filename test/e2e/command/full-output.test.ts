/** What each verb says with --json is one document, and no verb is well that could not write what it says. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROGRAM } from "../../support/built-program.js";
import { CommandPlace } from "../../support/command-place.js";

const place = new CommandPlace();
afterAll(() => place.remove());

const FLOW = `workflow: { name: flow }
steps: [ { name: work, command: [echo, '{"zero": -0}'], effects: none } ]
output: { zero: "{{ work.output.zero }}" }
`;
const MODULE = 'export default { workflow: { name: "m" }, steps: [{ name: "a", type: "set", value: 1 }] };';
const ASKING = `workflow: { name: asking }
steps: [ { name: gate, type: human_gate, prompt: "go?", options: [{ label: Yes, value: yes, route: $end }] } ]
`;

/** A command line for each verb that says something; `t` ends well, `gate` waits for an answer, ID is a checkpoint, FRESH a new folder. */
const VERBS: readonly string[] = [
  "run flow.yaml --task t",
  "run flow.yaml --dry-run",
  "run module.mjs --dry-run",
  "resume t",
  "recover",
  "list",
  "show t",
  "show t work",
  "events t",
  "logs t",
  "answer gate yes",
  "checkpoints list t",
  "checkpoints show ID",
  "debug list-checkpoints --task t",
  "keys show",
  "keys verify",
  "validate flow.yaml",
  "validate module.mjs",
  "doctor",
  "config show",
  "audit show",
  "graph flow.yaml",
  "graph module.mjs",
  "metrics",
  "explain STORE_FULL",
  "checkpoints prune --dry-run",
  "fork t --from ID",
  "init FRESH",
  "trust --list",
  "guide gate hello",
  "questions",
  "store copy --from file:outputs --to file:FRESH",
];
/** What these say of a task that nobody runs is an error: one document on stderr. */
const REFUSED = ["pause gate", "stop gate", "checkpoint gate"];
/** What they say is no document of ours: a script, help, a version. */
const TEXTS = ["completion bash", "--help", "--version", "help run"];

let id = "";
beforeAll(async () => {
  place.write("flow.yaml", FLOW);
  place.write("asking.yaml", ASKING);
  place.write("module.mjs", MODULE);
  await place.run(["run", "flow.yaml", "--task", "t"]);
  await place.run(["run", "asking.yaml", "--task", "gate"]);
  const listed = (await place.run(["checkpoints", "list", "t", "--json"])).stdout;
  id = /"checkpoint_id": "([^"]+)"/.exec(listed)?.[1] ?? "";
});

let fresh = 0;
const wordsOf = (line: string): string[] =>
  line.split(" ").map((word) => (word === "ID" ? id : word.replace("FRESH", () => `fresh-${(fresh += 1)}`)));

async function runInto(path: string, args: readonly string[], input = ""): Promise<{ code: unknown; said: string }> {
  const full = openSync(path, "w");
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: place.folder,
    env: { PATH: process.env["PATH"] ?? "", ...place.env },
    stdio: ["pipe", full, "pipe"],
  });
  closeSync(full);
  child.stdin?.end(input);
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
  const [code] = (await once(child, "close")) as [unknown];
  return { code, said };
}

const FAILED = { isWell: false, isTold: true };

async function writeToFullDisk(line: string): Promise<typeof FAILED> {
  if (!existsSync("/dev/full")) return FAILED;
  const { code, said } = await runInto("/dev/full", wordsOf(line));
  // An answer that was given already fails with that.
  return {
    isWell: code === 0,
    isTold: /the output could not be written|QUESTION_CLOSED/.test(said),
  };
}

describe("what a verb says", () => {
  it.each(VERBS)("[public O kin] is one document with --json: %s", async (line) => {
    const result = await place.run([...wordsOf(line), "--json"]);
    expect(result.json()).toBeTypeOf("object");
    expect(result.code).toBe(0);
  });

  it.each(VERBS)("[public N kin] is no success where its text cannot be written: %s", async (line) => {
    expect(await writeToFullDisk(line)).toEqual(FAILED);
  });
  it.each(VERBS)("[public N kin] is no success where its document cannot be written: %s", async (line) => {
    expect(await writeToFullDisk(`${line} --json`)).toEqual(FAILED);
  });
  it.each(TEXTS)("[public N kin] is no success where help or a script cannot be written: %s", async (line) => {
    expect(await writeToFullDisk(line)).toEqual(FAILED);
  });

  it.each(REFUSED)("[public O kin] is one document of an error where nobody runs the task: %s", async (line) => {
    const { code, stdout, stderr } = await place.run([...wordsOf(line), "--json"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "TASK_NOT_RUNNING" },
    });
  });

  it("[public N kin] is no success where an answer of the MCP server cannot be written", async () => {
    if (!existsSync("/dev/full")) return;
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "x", version: "1" },
    };
    const asked = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params,
    });
    const { code, said } = await runInto("/dev/full", ["mcp"], `${asked}\n`);
    expect([code, said]).toEqual([1, expect.stringContaining("the output could not be written")]);
  });

  it("[public O kin] has -0 as it is", async () => {
    expect((await place.run(["show", "t", "--json"])).stdout).toMatch(/"zero": -0\b/);
  });

  it("[public O kin] is one document of an error, on stderr alone", async () => {
    const { code, stdout, stderr } = await place.run(["show", "nobody", "--json"]);
    expect([code, stdout]).toEqual([10, ""]);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "TASK_NOT_FOUND" },
    });
  });
});

describe("an argument", () => {
  it.runIf(process.platform === "linux")("[public M kin] whose bytes are no UTF-8 is refused", async () => {
    const script = `"$0" "$1" run flow.yaml --input "x=$(printf 'caf\\351')"`;
    const result = await place.run(["-c", script, process.execPath, PROGRAM], { program: "sh" });
    expect(result.code).toBe(2);
    expect(result.stderr).toContain("is not UTF-8 text [USAGE_INVALID]");
  });
});
