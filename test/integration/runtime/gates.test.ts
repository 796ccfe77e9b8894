/** Gates and wizards on every way a task goes on, through the library: answers, flags, resume, going back, forks, replay. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { QuestionView, RunView, Splashdown, TaskView } from "../../../src/runtime/contract.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openSplashdown } from "../../../src/runtime/open.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import type { AskPerson } from "../../../src/runtime/services/ask-person.js";

const mark = (name: string, routes: string) =>
  `  - {name: ${name}, type: script, command: sh, args: ["-c", "echo ${name} >> ledger"], effects: none, routes: ${routes}}\n`;

const GATE = `workflow: {name: gated, entry_point: draft, limits: {max_iterations: 100}}
agents:
${mark("draft", "[{to: review}]")}  - name: review
    type: human_gate
    prompt: "Publish?"
    DEFAULT
    options:
      - {label: Continue, value: approve, route: publish}
      - {label: Again, value: revise, route: draft, prompt_for: feedback}
      - {label: No, value: reject, route: $end}
${mark("publish", "[{to: $end}]")}output: {chosen: "{{ review.output.selected }}", said: "{{ review.output.additional_input }}"}
`;

const WIZARD = `workflow: {name: asking, entry_point: ask}
agents:
  - name: ask
    type: questions
    prompt: Some questions
    questions:
      - who is it for?
      - {id: size, text: how large?, choices: [small, large], allow_free_text: false}
      - {id: must, text: and this?, required: true}
    routes: [{to: after}]
${mark("after", "[{to: $end}]")}output: {answers: "{{ ask.output.answers }}", outcome: "{{ ask.output.outcome }}"}
`;

interface Desk {
  readonly place: CommandPlace;
  readonly splashdown: Splashdown;
  readonly workflow: string;
}

async function openDesk(text: string, ask?: AskPerson): Promise<Desk> {
  const place = openPlace();
  const workflow = place.write("wf.yaml", text.replace(/ *DEFAULT\n/, ""));
  const splashdown = await openIn(place, ask);
  return { place, splashdown, workflow };
}

async function openIn(place: CommandPlace, ask?: AskPerson): Promise<Splashdown> {
  const environment = createEnvironment({ PATH: process.env["PATH"] ?? "", ...place.env }, place.folder);
  const splashdown = await openSplashdown({
    store: "file:outputs",
    environment,
    ...(ask === undefined ? {} : { ask }),
  });
  onTestFinished(() => splashdown.close());
  return splashdown;
}

const withDefault = (value: string) => GATE.replace("DEFAULT", `default: ${value}`);
const asked = (view: { readonly questions: readonly QuestionView[] }) => view.questions.map(({ id }) => id);
const openOf = ({ questions }: TaskView) => questions.filter(({ status }) => status === "open").map(({ id }) => id);

describe("a gate, unattended", () => {
  it("ends with 20, its question and the exact command; the answer goes on, and what follows runs once", async () => {
    const { place, splashdown, workflow } = await openDesk(GATE);
    const view = await splashdown.run({ workflow, task: "t" });
    expect(view).toMatchObject({ status: "waiting", exit_status: 20, reason: "Publish?" });
    expect(view.questions).toMatchObject([
      {
        id: "gate:main/review@1.1:1",
        kind: "gate",
        options: [
          { value: "approve", label: "Continue", takes_value: false },
          { value: "revise", label: "Again", takes_value: false, prompt_for: "feedback" },
          { value: "reject", label: "No", takes_value: false },
        ],
        command: "splashdown answer t gate:main/review@1.1:1 approve",
      },
    ]);
    expect(await splashdown.list()).toMatchObject([
      { open_questions: 1, waits_for: { question: "gate:main/review@1.1:1", text: "Publish?" } },
    ]);
    await splashdown.answer({ task: "t", question: "review", answer: "revise", more: "shorter", by: "ann" });
    const again = (await splashdown.resume({ task: "t" })) as RunView;
    expect([again.exit_status, asked(again)]).toEqual([20, ["gate:main/review@1.2:1"]]);
    await splashdown.answer({ task: "t", answer: "approve" });
    expect(await splashdown.resume({ task: "t" })).toMatchObject({ exit_status: 0, output: { chosen: "approve" } });
    expect(place.ledger()).toEqual(["draft", "draft", "publish"]);
  });

  it("FAULTS 8: an answer that came after the owner left is acted on by run and by recover, not only by resume", async () => {
    for (const verb of ["run", "recover"] as const) {
      const { place, splashdown, workflow } = await openDesk(GATE);
      await splashdown.run({ workflow, task: "t" });
      expect((await splashdown.recover()).tasks).toMatchObject([{ action: "left", why: "it waits for a person" }]);
      await splashdown.answer({ task: "t", answer: "approve" });
      if (verb === "run") {
        expect(await splashdown.run({ workflow })).toMatchObject({ task: "t", how: "resumed", exit_status: 0 });
      } else {
        const { tasks } = await splashdown.recover();
        expect(tasks).toMatchObject([
          { action: "taken_up", why: "its question was answered", result: { status: "done" } },
        ]);
      }
      expect(place.ledger()).toEqual(["draft", "publish"]);
    }
  });

  it("FAULTS 6: of several answers the first counts, and the others are told whose it was", async () => {
    const { splashdown, workflow } = await openDesk(GATE);
    await splashdown.run({ workflow, task: "t" });
    const given = await Promise.allSettled(
      ["approve", "reject", "approve", "reject"].map((answer, index) =>
        splashdown.answer({ task: "t", question: "gate:main/review@1.1:1", answer, by: `p${index}` }),
      ),
    );
    const won = given.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(won).toHaveLength(1);
    for (const one of given) {
      if (one.status === "fulfilled") continue;
      expect(one.reason).toMatchObject({
        code: "QUESTION_CLOSED",
        message: expect.stringContaining(`by ${won[0]?.by}`),
      });
    }
  });
});

describe("answers given ahead", () => {
  it("answer a gate by name, with the text that goes with the choice", async () => {
    const { splashdown, workflow } = await openDesk(GATE.replace("route: draft", "route: $end"));
    const view = await splashdown.run({ workflow, task: "t", answers: { review: "revise:make it short" } });
    expect(view).toMatchObject({
      exit_status: 0,
      output: { chosen: "revise", said: { feedback: "make it short" } },
    });
  });

  it("are refused before anything runs where there is no such gate or option", async () => {
    const { place, splashdown, workflow } = await openDesk(GATE);
    const refused = (answers: Record<string, string>) =>
      splashdown.run({ workflow, answers }).then(
        () => "ran",
        (error: unknown) => (error as Error).message,
      );
    expect(await refused({ reviw: "approve" })).toContain("no such gate or questions; did you mean review?");
    expect(await refused({ review: "aprove" })).toContain("aprove is no option of the gate; did you mean approve?");
    expect(place.ledger()).toEqual([]);
  });

  it("--skip-gates never picks in silence: without a default the gate stays open", async () => {
    const open = await openDesk(GATE);
    expect(await open.splashdown.run({ workflow: open.workflow, skipGates: true })).toMatchObject({ exit_status: 20 });
    const closed = await openDesk(withDefault("reject"));
    expect(await closed.splashdown.run({ workflow: closed.workflow, skipGates: true })).toMatchObject({
      exit_status: 0,
      output: { chosen: "reject" },
    });
    expect(closed.place.ledger()).toEqual(["draft"]);
  });

  it("count for a gate that is open already when the task is resumed", async () => {
    const { splashdown, workflow } = await openDesk(withDefault("reject"));
    await splashdown.run({ workflow, task: "a" });
    await splashdown.run({ workflow, task: "b", fresh: true });
    expect(await splashdown.resume({ task: "a", answers: { review: "approve" } })).toMatchObject({ exit_status: 0 });
    expect(await splashdown.resume({ task: "b", skipGates: true })).toMatchObject({ output: { chosen: "reject" } });
  });

  it("answer a wizard with a map; --skip-gates takes defaults and skips, but not what is required", async () => {
    const { splashdown, workflow } = await openDesk(WIZARD);
    const answers = { ask: '{"q1": "me", "size": "large", "must": "yes"}' };
    expect(await splashdown.run({ workflow, task: "a", answers })).toMatchObject({
      output: { answers: { q1: "me", size: "large", must: "yes" }, outcome: "completed" },
    });
    expect(await splashdown.run({ workflow, task: "b", fresh: true, skipGates: true })).toMatchObject({
      exit_status: 20,
    });
  });
});

describe("a person at the terminal", () => {
  it("answers the gate at once, and the items of a wizard one by one, with going back", async () => {
    const said: string[] = [];
    const script: Record<string, { answer: string; value?: string }[]> = {
      q1: [{ answer: "them" }, { answer: "us" }],
      size: [{ answer: "back" }, { answer: "small" }],
      must: [{ answer: "yes" }],
    };
    const ask: AskPerson = async (question) => {
      said.push(question.at ?? question.id);
      const given = script[question.at ?? ""]?.shift();
      return given === undefined ? { answer: "approve" } : given;
    };
    const { splashdown, workflow } = await openDesk(WIZARD, ask);
    expect(await splashdown.run({ workflow })).toMatchObject({
      output: { answers: { q1: "us", size: "small", must: "yes" } },
    });
    expect(said).toEqual(["q1", "size", "q1", "size", "must"]);
    const gate = await openDesk(GATE, ask);
    expect(await gate.splashdown.run({ workflow: gate.workflow })).toMatchObject({ exit_status: 0 });
  });

  it("that is answered elsewhere meanwhile: the prompt is taken down, and the other's answer counts", async () => {
    const { place, splashdown, workflow } = await openDesk(GATE, async (question, signal) => {
      await other.answer({ task: "t", question: question.id, answer: "reject", by: "bob" });
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve());
      });
      return undefined;
    });
    const other = await openIn(place);
    expect(await splashdown.run({ workflow, task: "t" })).toMatchObject({
      exit_status: 0,
      output: { chosen: "reject" },
    });
    expect((await splashdown.show("t")).questions).toMatchObject([{ answered_by: "bob", status: "consumed" }]);
  });

  it("that leaves it: no answer, and the question stays open", async () => {
    const { splashdown, workflow } = await openDesk(GATE, async () => undefined);
    expect(await splashdown.run({ workflow, task: "t" })).toMatchObject({ exit_status: 20 });
    expect(openOf(await splashdown.show("t"))).toEqual(["gate:main/review@1.1:1"]);
  });
});

describe("a wizard answered from outside", () => {
  it("takes one item or a map, keeps each answer, goes on with the next item, and says who settled what", async () => {
    const { splashdown, workflow } = await openDesk(WIZARD);
    const view = await splashdown.run({ workflow, task: "t" });
    expect(view.questions).toMatchObject([
      { kind: "questions", at: "q1", items: [{ id: "q1" }, { id: "size" }, { id: "must", required: true }] },
    ]);
    const first = await splashdown.answer({ task: "t", answer: "everybody", by: "ann" });
    expect(first.question_open).toMatchObject({
      at: "size",
      items: [{ id: "q1", status: "answered", answer: "everybody" }, { status: "open" }, { status: "open" }],
    });
    expect(openOf(await splashdown.show("t"))).toHaveLength(1);
    await expect(splashdown.answer({ task: "t", answer: "q1", more: "me", question: "ask" })).rejects.toMatchObject({
      code: "QUESTION_CLOSED",
      message: expect.stringMatching(/^q1 of questions:main\/ask@1\.1:1 was answered by ann at /),
    });
    await expect(splashdown.answer({ task: "t", answer: "huge" })).rejects.toMatchObject({ code: "ANSWER_INVALID" });
    await splashdown.answer({ task: "t", answer: "skip" });
    expect((await splashdown.resume({ task: "t" })) as RunView).toMatchObject({ exit_status: 20 });
    const last = await splashdown.answer({ task: "t", question: "ask", answer: '{"must": "yes"}' });
    expect(last).toMatchObject({ answer: "answer", command: "splashdown resume t" });
    expect(await splashdown.list()).toMatchObject([{ open_questions: 0 }]);
    expect(await splashdown.recover()).toMatchObject({ tasks: [{ action: "taken_up", result: { exit_status: 0 } }] });
    expect((await splashdown.show("t")).output).toMatchObject({
      answers: { q1: "everybody", size: null, must: "yes" },
      outcome: "completed",
    });
  });
});

describe("a gate holds", () => {
  it("on resume with every flag that settles other questions", async () => {
    const { splashdown, workflow } = await openDesk(GATE);
    await splashdown.run({ workflow, task: "t" });
    for (const onUnknown of ["rerun", "skip", "fail"] as const)
      expect(await splashdown.resume({ task: "t", onUnknown })).toMatchObject({ exit_status: 20 });
    expect(openOf(await splashdown.show("t"))).toEqual(["gate:main/review@1.1:1"]);
  });

  it("after going back to before it: the answer of before does not count, it asks anew", async () => {
    const { place, splashdown, workflow } = await openDesk(GATE);
    await splashdown.run({ workflow, task: "t" });
    await splashdown.answer({ task: "t", answer: "approve" });
    await splashdown.resume({ task: "t" });
    const checkpoints = await splashdown.checkpoints.list("t");
    const before = checkpoints.find(({ trigger }) => trigger === "specialist_finished")?.seq ?? 0;
    const at = checkpoints.find(({ trigger }) => trigger === "question_opened")?.seq ?? 0;
    const ran = place.ledger().length;
    for (const seq of [before, at]) {
      const view = (await splashdown.resume({ task: "t", from: `${seq}`, onUnknown: "rerun" })) as RunView;
      expect([seq, view.exit_status, view.questions.length]).toEqual([seq, 20, 1]);
      expect(asked(view)[0]).toMatch(/^gate:main\/review@[23]\.1:1$/);
    }
    await splashdown.answer({ task: "t", answer: "reject" });
    expect(await splashdown.resume({ task: "t" })).toMatchObject({ output: { chosen: "reject" } });
    expect(place.ledger()).toHaveLength(ran);
  });

  it("in a fork from before it, which asks for itself; one from after it does not ask", async () => {
    const { splashdown, workflow } = await openDesk(GATE);
    await splashdown.run({ workflow, task: "t" });
    await splashdown.answer({ task: "t", answer: "approve" });
    await splashdown.resume({ task: "t" });
    const checkpoints = await splashdown.checkpoints.list("t");
    const at = checkpoints.find(({ trigger }) => trigger === "question_opened")?.seq ?? 0;
    const last = checkpoints.findLast(({ trigger }) => trigger === "specialist_finished")?.seq ?? 0;
    await splashdown.fork("t", { from: `${at}`, task: "early" });
    await splashdown.fork("t", { from: `${last}`, task: "late" });
    const early = (await splashdown.resume({ task: "early" })) as RunView;
    expect([early.exit_status, early.questions.length]).toEqual([20, 1]);
    await splashdown.answer({ task: "early", answer: "reject" });
    expect(await splashdown.resume({ task: "early" })).toMatchObject({ output: { chosen: "reject" } });
    expect(await splashdown.resume({ task: "late" })).toMatchObject({ exit_status: 0, output: { chosen: "approve" } });
    expect((await splashdown.show("t")).output).toMatchObject({ chosen: "approve" });
  });

  it("in replay: the recorded answer is told, nothing is asked and nothing runs", async () => {
    const asks: string[] = [];
    const { place, splashdown, workflow } = await openDesk(GATE, async (question) => {
      asks.push(question.id);
      return { answer: "approve" };
    });
    await splashdown.run({ workflow, task: "t" });
    const ran = place.ledger();
    const { seq } = (await splashdown.checkpoints.list("t")).at(-1)!;
    const replay = await splashdown.debug.replay(`t:${seq}`);
    expect(replay.differences).toEqual([]);
    expect(replay.story.map(({ type }) => type)).toContain("question_answered");
    expect([place.ledger(), asks]).toEqual([ran, ["gate:main/review@1.1:1"]]);
  });
});
