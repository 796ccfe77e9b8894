/** An answer is bound to what was asked wherever a person is asked, not only at gates; in files and in a database. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../../../src/index.js";
import { openContent, removeBelow, type ContentKind, type TaskContent } from "../../support/task-content.js";
import { openTypist, type Typist } from "../../support/typed-again.js";

const STORES = ["file", "sqlite"] as const;
const FIRST = "journal/00000001-0000.jsonl";

/** What stands in the place of the task `t`. */
const contentOf = ({ folder }: Typist, store: ContentKind): TaskContent =>
  openContent(store, store === "file" ? folder : join(folder, "outputs"), "t");

/** The history ends before its first record of a kind, and nothing outside of it remembers more. */
async function cutBefore(typist: Typist, store: ContentKind, kind: string): Promise<void> {
  const content = contentOf(typist, store);
  await removeBelow(content, "checkpoint_");
  const segments = [...(await content.files())].filter(([path]) => path.startsWith("journal/"));
  const lines =
    segments
      .find(([path]) => path === FIRST)?.[1]
      .toString("latin1")
      .split("\n") ?? [];
  const end = lines.findIndex((line) => line.includes(`"k":"${kind}"`));
  const left = Buffer.from(`${(end < 0 ? lines.slice(0, -1) : lines.slice(0, end)).join("\n")}\n`, "latin1");
  await content.change(segments.map(([path]) => [path, path === FIRST ? left : undefined] as const));
  rmSync(join(typist.folder, "state/anchors"), { recursive: true, force: true });
}

interface Asked {
  readonly workflow: (ledger: string[]) => object;
  /** How the history comes to the question. */
  readonly ask: (typist: Typist, store: ContentKind) => Promise<void>;
  /** The kind of record that the history lacks when it is asked anew. */
  readonly lacks: string;
  readonly answer: string;
  readonly more?: string;
  /** What acted when it was asked anew, and in the end. */
  readonly acted: readonly string[];
  readonly inTheEnd: readonly string[];
}

const act = (ledger: string[], name: string) => (): string => {
  ledger.push(name);
  return name;
};

const LIMIT: Asked = {
  workflow: (ledger) =>
    defineWorkflow({
      workflow: { name: "limited", limits: { max_iterations: 1 } },
      steps: [
        { name: "a", function: act(ledger, "a") },
        { name: "b", depends_on: ["a"], function: act(ledger, "b") },
      ],
    } as never),
  ask: async () => undefined,
  lacks: "question",
  answer: "extend",
  more: "max_iterations=5",
  acted: ["a"],
  inTheEnd: ["a", "b"],
};

/** The machine stops while it pays. */
const UNKNOWN: Asked = {
  workflow: (ledger) =>
    defineWorkflow({
      workflow: { name: "paying" },
      steps: [{ name: "pay", function: act(ledger, "pay"), effects: "external" }],
    } as never),
  ask: async (typist, store) => {
    await cutBefore(typist, store, "completion");
    expect(await typist.splashdown.resume({ task: "t" })).toMatchObject({ exit_status: 22 });
  },
  lacks: "completion",
  answer: "rerun",
  acted: ["pay"],
  inTheEnd: ["pay", "pay"],
};

const APPROVAL: Asked = {
  workflow: (ledger) =>
    defineWorkflow({
      workflow: {
        name: "buying",
        runtime: {
          provider: "scripted",
          scripted_answers: { buy: [{ calls: [{ tool: "charge", input: { amount: 5 } }] }, { say: "bought" }] },
        },
      },
      tools: [
        {
          name: "charge",
          function: act(ledger, "charge"),
          input: { amount: { type: "number" } },
          effects: "external",
          approve: "always",
        },
      ],
      steps: [{ name: "buy", prompt: "Buy it.", tools: ["charge"] }],
    } as never),
  ask: async () => undefined,
  lacks: "question",
  answer: "approve",
  acted: [],
  inTheEnd: ["charge"],
};

describe.each(STORES)("an answer to what was asked before (%s)", (store) => {
  it.each([
    ["[security M4 kin] about a limit", LIMIT],
    ["[security M4 kin] about an outcome that nobody knows", UNKNOWN],
    ["[security M4 kin] about a call of a tool that must be approved", APPROVAL],
  ])("%s is set aside, said, and asked anew", async (_title, asked) => {
    const typist = await openTypist(store);
    const { ledger, said, splashdown } = typist;
    await splashdown.run({ workflow: asked.workflow(ledger), task: "t" });
    await asked.ask(typist, store);
    const given = { task: "t", answer: asked.answer, ...(asked.more !== undefined && { more: asked.more }) };
    await splashdown.answer(given);
    typist.wait(1000);
    await cutBefore(typist, store, asked.lacks);
    expect(await splashdown.resume({ task: "t" })).toMatchObject({
      status: "waiting",
      questions: [{ status: "open" }],
    });
    expect(said).toContainEqual(expect.stringContaining("what is asked has changed since"));
    expect(ledger).toEqual(asked.acted);
    await splashdown.answer(given);
    expect(await splashdown.resume({ task: "t" })).toMatchObject({ status: "done" });
    expect(ledger).toEqual(asked.inTheEnd);
  });

  it.each([
    ["about a limit", LIMIT],
    ["about an outcome that nobody knows", UNKNOWN],
    ["about a call of a tool that must be approved", APPROVAL],
  ])("%s counts where nothing was cut", async (_title, asked) => {
    const typist = await openTypist(store);
    const { ledger, splashdown } = typist;
    await splashdown.run({ workflow: asked.workflow(ledger), task: "t" });
    await asked.ask(typist, store);
    await splashdown.answer({ task: "t", answer: asked.answer, ...(asked.more !== undefined && { more: asked.more }) });
    expect(await splashdown.resume({ task: "t" })).toMatchObject({ status: "done" });
    expect(ledger).toEqual(asked.inTheEnd);
  });
});
