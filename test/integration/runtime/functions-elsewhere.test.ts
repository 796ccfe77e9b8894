/** Tasks whose functions are in a program: without them nothing of a task is changed, and the program is named. */
import { describe, expect, it } from "vitest";
import type { RunView, Splashdown } from "../../../src/index.js";
import { defineWorkflow } from "../../../src/index.js";
import { silentLog } from "../../../src/base/log.js";
import { requireFunctionsHere } from "../../../src/runtime/session/required-functions.js";
import { describeNext } from "../../../src/mcp/task-status.js";
import { openTalk } from "../../support/mcp-talk.js";
import { definePaying, openTypist, type Typist } from "../../support/typed-again.js";
import { machine, nested, undeclared, workflow } from "../../support/workflow-builder.js";
import { expectView } from "../../support/view-schemas.js";

const PROGRAM = "run the program again that defined the workflow paying";
const HINT = "run the program again (paying)";
const REFUSED = {
  code: "FUNCTIONS_ELSEWHERE",
  exitStatus: 2,
  hint: HINT,
  message: expect.stringContaining("nothing was changed") as string,
};

/** A task that waits at its gate, made by a program that has ended, and a process without its functions. */
async function openWaiting(store: string): Promise<Typist & { readonly other: Splashdown; readonly view: RunView }> {
  const typist = await openTypist(store);
  const view = await typist.type(definePaying(typist.ledger, { gate: true }), { task: "letters" });
  await typist.splashdown.close();
  return { ...typist, view, other: await typist.open() };
}

async function recordsOf(splashdown: Splashdown): Promise<number> {
  let records = 0;
  for await (const event of splashdown.events("letters")) records = event.n;
  return records;
}

const failureOf = async (act: Promise<unknown>): Promise<unknown> => act.then(undefined, (error: unknown) => error);

describe("a waiting task whose functions are in a program", () => {
  it.each(["file", "sqlite"])(
    "[first-use F4] resume and recover change nothing, end with 2, and name the program, which goes on with it (%s)",
    async (store) => {
      const { view, other, ledger, open } = await openWaiting(store);
      const [question] = view.questions;
      expect(question?.command).toMatch(/^splashdown answer letters \S+ send {2}# then run the program again that/);
      expect(await failureOf(other.resume({ task: "letters" }))).toMatchObject(REFUSED);
      const answered = await other.answer({ task: "letters", answer: "send" });
      expect(answered.command).toBe(PROGRAM);
      const records = await recordsOf(other);
      expect(await failureOf(other.resume({ task: "letters" }))).toMatchObject(REFUSED);
      expect(await other.recover()).toMatchObject({
        exit_status: 2,
        tasks: [{ task: "letters", action: "failed", code: "FUNCTIONS_ELSEWHERE", hint: HINT }],
      });
      expect([await recordsOf(other), (await other.show("letters")).status]).toEqual([records, "waiting"]);
      await other.close();
      const again = await open();
      expect(await again.run({ workflow: definePaying(ledger, { gate: true }), task: "letters" })).toMatchObject({
        status: "done",
        how: "resumed",
      });
      expect(ledger).toEqual(["draft", "mail"]);
    },
  );

  it("[first-use F4 kin] an answer that comes with resume is not recorded", async () => {
    const { other } = await openWaiting("file");
    for (const said of [{ answer: "send" }, { answers: { ok: "send" } }, { acceptLoss: true }, { here: true }])
      expect(await failureOf(other.resume({ task: "letters", ...said }))).toMatchObject(REFUSED);
    expect(await other.show("letters")).toMatchObject({ open_questions: 1, questions: [{ status: "open" }] });
    const checkpoint = (await other.checkpoints.list("letters")).at(-1)?.checkpoint_id ?? "";
    expect(await failureOf(other.resumeFromCheckpoint(checkpoint))).toMatchObject(REFUSED);
    expect(await failureOf(other.resume({ task: "letters", from: "1" }))).toMatchObject(REFUSED);
  });

  it("[first-use F4 kin] show and list say so, before the answer and after it, and the views keep their schemas", async () => {
    const { other, view } = await openWaiting("file");
    expectView("run", view);
    expect(view).toMatchObject({ status: "waiting" });
    expect(await other.list()).toMatchObject([{ status: "waiting", by_program: PROGRAM }]);
    await other.answer({ task: "letters", answer: "send" });
    const shown = await other.show("letters");
    expect(shown).toMatchObject({ next: PROGRAM, by_program: PROGRAM });
    expectView("show", shown);
    expectView("list", await other.list());
  });

  it("[first-use F4 kin] the plan of a resume can be seen all the same, and a fork names the program", async () => {
    const { other } = await openWaiting("file");
    expect(await other.resume({ task: "letters", planOnly: true })).toMatchObject({ done: ["main/draft@1.1"] });
    const fork = await other.fork("letters", { from: "latest", task: "copy" });
    expect(fork.next).toBe(PROGRAM);
    expect(await failureOf(other.resume({ task: "copy" }))).toMatchObject(REFUSED);
    expect(await failureOf(other.debug.replay("letters:1", { live: true }))).toMatchObject(REFUSED);
    expect((await other.list()).map(({ task }) => task)).toEqual(["copy", "letters"]);
  });

  it("[first-use F4 kin] an agent is told to have a person run the program, and starts nothing", async () => {
    const { other, folder } = await openWaiting("file");
    const begun: unknown[] = [];
    const background = { start: (words: readonly string[]) => Promise.reject(new Error(String(begun.push(words)))) };
    const talk = await openTalk(folder, { splashdown: other, background, mayAnswer: true });
    await talk.greet();
    const { body } = await talk.call("answer_question", { task: "letters", answer: "send" });
    expect(body["next"]).toBe(`recorded; its functions are in a program: tell a person to ${PROGRAM}`);
    const standing = (await other.list())[0];
    expect(describeNext(standing as NonNullable<typeof standing>, { mayAnswer: true })).toContain(PROGRAM);
    expect(begun).toEqual([]);
  });
});

describe("a failed task whose functions are elsewhere", () => {
  it("[first-use F4 kin] stays failed with its reason, and its program tries again", async () => {
    const typist = await openTypist("file");
    let isBroken = true;
    const paying = definePaying(typist.ledger, { isBroken: () => isBroken });
    const failed = await typist.type(paying, { task: "letters" });
    expect(failed).toMatchObject({ status: "failed", next: PROGRAM });
    const other = await typist.open();
    expect(await failureOf(other.resume({ task: "letters" }))).toMatchObject(REFUSED);
    expect(await other.show("letters")).toMatchObject({ status: "failed", reason: failed.reason });
    isBroken = false;
    expect(await typist.type(paying, { task: "letters" })).toMatchObject({ status: "done" });
    expect(typist.ledger).toEqual(["draft", "mail"]);
  });

  it.each([
    ["its module is gone, or gives none now", "@main/mail", "/w/letters.mjs", "FUNCTION_NOT_FOUND", "/w/letters.mjs"],
    ["a file of functions is gone", "f.mjs#mail", undefined, "FUNCTION_NOT_FOUND", "f.mjs cannot be loaded"],
    ["a nested workflow names a program's", "@main/mail", undefined, "FUNCTIONS_ELSEWHERE", "which is in the program"],
  ])("[first-use F4 kin] is refused unchanged where %s", async (_title, reference, file, code, text) => {
    const step = undeclared("mail", { path: "main/sub/mail", function: reference });
    const definition = workflow(machine("main", [nested("sub", machine("in", [step]), { folder: "/nowhere" })]));
    const origin = { definition, ...(file === undefined ? {} : { definitionFile: file }) };
    const loaded = { definition, folder: "/nowhere", functions: new Map(), notes: [] };
    const refused = requireFunctionsHere({ log: silentLog } as never, { name: "letters", origin }, loaded);
    expect(await failureOf(refused)).toMatchObject({ code, message: expect.stringContaining(text) as string });
  });

  it("a workflow of a program without functions goes on anywhere", async () => {
    const { type, open } = await openTypist("file");
    const gate = { name: "ok", type: "human_gate", prompt: "Send?", options: ["send"] };
    const plain = defineWorkflow({ workflow: { name: "plain" }, steps: [gate] } as never);
    expect((await type(plain, { task: "letters" })).questions[0]?.command).not.toContain("#");
    expect(await (await open()).resume({ task: "letters", answer: "send" })).toMatchObject({ status: "done" });
  });
});
