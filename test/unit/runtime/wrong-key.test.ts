/** Tasks of another key, in the verbs that go over all of them: one word for status and reason, each sentence once. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createProgram } from "../../../src/cli/program.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { shareProblems } from "../../../src/base/shared-problems.js";
import { openPlace } from "../../support/command-place.js";

const WORKFLOW = `workflow: {name: seven}
steps:
  - {name: a, type: set, value: 7}
`;
const GATED = `${WORKFLOW}  - {name: ok, type: human_gate, prompt: Go, options: [yes], depends_on: [a]}
`;
const NAMES = ["one", "two", "three", "four"];

interface Tried {
  readonly type: (...words: string[]) => Promise<string>;
}

/** Tasks that were made with one key, and a command line with `variables` instead. */
async function openTried(store: string, variables: Readonly<Record<string, string>>): Promise<Tried> {
  const place = openPlace();
  const open = async (more: Readonly<Record<string, string>>, address = store) => {
    const environment = createEnvironment({ ...place.env, ...more }, place.folder);
    const opened = await openSplashdown({ store: address, environment });
    onTestFinished(() => opened.close());
    return opened;
  };
  const before = await open({});
  for (const task of NAMES.slice(0, 3)) await before.run({ workflow: place.write("seven.yaml", WORKFLOW), task });
  await before.run({ workflow: place.write("gated.yaml", GATED), task: "four" });
  await before.close();
  const type = async (...words: string[]): Promise<string> => {
    let out = "";
    const deps = {
      streams: { out: (text: string) => void (out += text), error: () => undefined, interactive: false, colour: false },
      open: () => open(variables),
      signal: new AbortController().signal,
      exit: () => undefined,
    };
    await createProgram(deps, "0").parseAsync(words, { from: "user" });
    return out;
  };
  return { type };
}

const OTHER = { SPLASHDOWN_KEY: Buffer.alloc(32, 8).toString("base64") };
const count = (text: string, part: string): number => text.split(part).length - 1;

describe("tasks of another key", () => {
  it.each(["file:outputs", "sqlite:outputs/tasks.db"])(
    "[first-use F15] list says key_wrong for status and reason, and the sentence once (%s)",
    async (store) => {
      const { type } = await openTried(store, OTHER);
      const text = await type("list");
      expect(count(text, "needs env ")).toBe(1);
      expect(count(text, "key_wrong")).toBe(NAMES.length + 1);
      expect(text).not.toMatch(/key_missing|KEY_WRONG/);
      for (const line of text.split("\n").filter((row) => row.startsWith("one "))) expect(line.length).toBeLessThan(80);
      const listed = JSON.parse(await type("list", "--json")) as { status: string; problem: { code: string } }[];
      expect(new Set(listed.map(({ status, problem }) => `${status} ${problem.code}`))).toEqual(
        new Set(["key_wrong KEY_WRONG"]),
      );
    },
  );

  it("[first-use F15 kin] doctor names them together", async () => {
    const { type } = await openTried("file:outputs", OTHER);
    const line = (await type("doctor")).split("\n").find((row) => row.includes("key_wrong")) ?? "";
    expect(line).toContain("key_wrong, 4 tasks (four, one, three, two): the keyring file");
    expect(count(line, "needs env ")).toBe(1);
  });

  it("[first-use F15 kin] recover says the sentence for what is under way alone, once", async () => {
    const { type } = await openTried("file:outputs", OTHER);
    const text = await type("recover");
    expect(count(text, "needs env ")).toBeLessThan(2);
    expect(text).toContain("· one: it cannot be read (key_wrong), and nothing of it is under way");
  });

  it("[first-use F15 kin] without any key the word is key_missing, with a key that is none key_source_invalid", async () => {
    const none = await openTried("file:outputs", { SPLASHDOWN_KEY: "short" });
    const text = await none.type("list");
    expect(count(text, "key_source_invalid")).toBe(NAMES.length + 1);
    expect(count(text, "does not hold a key")).toBe(1);
  });
});

describe("the same sentence about several tasks", () => {
  const problem = (task: string, message: string) => ({ task, code: "KEY_WRONG", message, hint: `show ${task}` });

  it("[first-use F15 kin] differs in names alone; fingerprints of passphrases are left out", () => {
    const wrong = (task: string, print: string) =>
      problem(task, `task ${task}: the keyring file /o/${task}/k.json needs passphrase ${print} (default)`);
    expect(shareProblems([wrong("a", "0011aabb"), wrong("b", "0011aabb")])).toMatchObject([
      { sentence: "the keyring file /o/TASK/k.json needs passphrase 0011aabb (default)", tasks: ["a", "b"] },
    ]);
    expect(shareProblems([wrong("a", "0011aabb"), wrong("b", "2233ccdd")])).toMatchObject([
      { sentence: "the keyring file /o/TASK/k.json needs passphrase … (default)", tasks: ["a", "b"], hint: "show a" },
    ]);
  });

  it("is another where it says something else, and stays as it is where it stands alone", () => {
    const shared = shareProblems([problem("a", "task a: a key of a"), problem("b", "torn"), problem("c", "torn")]);
    expect(shared.map(({ sentence, tasks }) => [sentence, tasks])).toEqual([
      ["a key of a", ["a"]],
      ["torn", ["b", "c"]],
    ]);
  });
});
