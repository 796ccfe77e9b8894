/** An answer counts for what was asked, and for nothing that stands under the same name later. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../../../src/index.js";
import { openTypist, type Typist } from "../../support/typed-again.js";

/** A gate over an amount that is another one each time. */
function definePayment(ledger: string[], ask: object): object {
  let amount = 100;
  return defineWorkflow({
    workflow: { name: "payment" },
    steps: [
      { name: "a", function: () => ({ amount: (amount += 1) }) },
      { name: "ok", depends_on: ["a"], ...ask },
      {
        name: "pay",
        depends_on: ["ok"],
        input: { amount: "{{ a.output.amount }}" },
        function: (context: { input: { amount: number } }) => {
          ledger.push(`pay ${context.input.amount}`);
          return 1;
        },
      },
    ],
  } as never);
}

const GATE = { type: "human_gate", prompt: "Pay {{ a.output.amount }}?", options: ["yes", "no"] };
const SAME_WORDS = { type: "human_gate", prompt: "Pay?", options: ["yes", "no"] };
const WIZARD = {
  type: "questions",
  questions: [{ id: "q1", text: "Pay {{ a.output.amount }}?", choices: ["yes", "no"] }],
};

const checkpointsOf = ({ folder }: Typist, ...path: string[]): string => join(folder, "outputs/t/checkpoints", ...path);

/** The history as it was right after the start, with nothing outside it that remembers more. */
function cutHistory(typist: Typist): void {
  for (const name of readdirSync(checkpointsOf(typist)))
    if (name.startsWith("checkpoint_")) rmSync(checkpointsOf(typist, name));
  const [segment = ""] = readdirSync(checkpointsOf(typist, "journal")).sort();
  for (const other of readdirSync(checkpointsOf(typist, "journal")))
    if (other !== segment) rmSync(checkpointsOf(typist, "journal", other));
  const lines = readFileSync(checkpointsOf(typist, "journal", segment), "utf8").split("\n");
  writeFileSync(checkpointsOf(typist, "journal", segment), `${lines.slice(0, 2).join("\n")}\n`);
  rmSync(join(typist.folder, "state/anchors"), { recursive: true, force: true });
}

const listAnswers = (typist: Typist): string[] =>
  readdirSync(checkpointsOf(typist, "control")).filter((name) => name.startsWith("answer-"));

describe("an answer to what is asked no more", () => {
  it.each([
    ["[security M4] to a gate whose amount is another one", GATE, "yes"],
    ["[security M4 kin] to a gate of the same words in a history that was cut", SAME_WORDS, "yes"],
    ["[security M4 kin] to a wizard, by its moves", WIZARD, "yes"],
  ])("%s is set aside, and said", async (_title, ask, answer) => {
    const typist = await openTypist("file");
    const { ledger, said, splashdown } = typist;
    const workflow = definePayment(ledger, ask);
    await splashdown.run({ workflow, task: "t" });
    await splashdown.answer({ task: "t", answer });
    cutHistory(typist);
    expect(await splashdown.resume({ task: "t" })).toMatchObject({ status: "waiting", exit_status: 20 });
    expect(ledger).toEqual([]);
    expect(said).toContainEqual(expect.stringContaining("what is asked has changed since"));
    // It is asked anew, and answered anew.
    expect(await splashdown.show("t")).toMatchObject({ open_questions: 1 });
    await splashdown.answer({ task: "t", answer });
    expect(await splashdown.resume({ task: "t" })).toMatchObject({ status: "done" });
    expect(ledger).toEqual(["pay 102"]);
  });

  it("[security M4 kin] still counts where the history that asked is whole", async () => {
    const { ledger, splashdown } = await openTypist("file");
    const workflow = definePayment(ledger, GATE);
    await splashdown.run({ workflow, task: "t" });
    await splashdown.answer({ task: "t", answer: "yes" });
    expect(await splashdown.resume({ task: "t" })).toMatchObject({ status: "done" });
    expect(ledger).toEqual(["pay 101"]);
  });
});

describe("an answer that was removed before an owner took it", () => {
  it.each([
    ["[security L6] of a gate", GATE],
    ["[security L6 kin] of a wizard", WIZARD],
  ])("%s is missed: the trail knows who gave it", async (_title, ask) => {
    const typist = await openTypist("file");
    const { ledger, splashdown } = typist;
    const workflow = definePayment(ledger, ask);
    await splashdown.run({ workflow, task: "t" });
    await splashdown.answer({ task: "t", answer: "yes", by: "grace" });
    for (const name of listAnswers(typist)) rmSync(checkpointsOf(typist, "control", name));
    const missed = expect.stringMatching(
      /^the audit trail says that grace answered .* and that answer is gone/,
    ) as string;
    expect(await splashdown.resume({ task: "t" })).toMatchObject({ status: "waiting", notices: [missed] });
    expect(await splashdown.show("t")).toMatchObject({ open_questions: 1, damage: [missed] });
    expect(ledger).toEqual([]);
  });

  it("[security L6 kin] is told to the same run typed again, too", async () => {
    const typist = await openTypist("file");
    const { ledger, splashdown } = typist;
    const workflow = definePayment(ledger, GATE);
    await splashdown.run({ workflow, task: "t" });
    await splashdown.answer({ task: "t", answer: "no", by: "grace" });
    for (const name of listAnswers(typist)) rmSync(checkpointsOf(typist, "control", name));
    const view = await splashdown.run({ workflow });
    expect(view).toMatchObject({ task: "t", exit_status: 20, how: "finished_before" });
    expect(view.notices).toContainEqual(expect.stringContaining("that answer is gone from the task"));
  });

  it("[security L6 kin] is not said of one that counts, nor of one that was never given", async () => {
    const { ledger, splashdown } = await openTypist("file");
    const workflow = definePayment(ledger, GATE);
    expect((await splashdown.run({ workflow, task: "t" })).notices).toEqual([]);
    await splashdown.answer({ task: "t", answer: "yes" });
    expect((await splashdown.show("t")).damage).toEqual([]);
  });
});
