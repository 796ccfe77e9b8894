/** Gates and wizards as a person meets them: other processes, kills, the background, a closed input. */
import { describe, expect, it } from "vitest";
import type { AnswerView, EventView, RunView, TaskSummaryView, TaskView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { release } from "../../support/held-steps.js";
import { until } from "../../support/real-clock.js";

const mark = (name: string, rest = "effects: external") =>
  `{name: ${name}, command: [sh, -c, "echo ${name} >> ledger"], ${rest}}`;

/** A step, a gate, a step; beside them a step that is held, so that the owner lives as long as the test wants. */
const FLOW = (rest = "") => `workflow: {name: gated}
steps:
  - ${mark("before")}
  - name: review
    type: human_gate
    prompt: "Publish?"
    depends_on: [before]
    ${rest}
    options: [{value: approve, label: Continue}, {value: reject, label: No}]
  - ${mark("after", "effects: external, depends_on: [review]")}
`;
const HELD = `  - {name: slow, command: [sh, -c, "while [ -e hold-slow ]; do sleep 0.02; done"], effects: none}\n`;

const WIZARD = `workflow: {name: asking}
steps:
  - {name: ask, type: questions, questions: [one?, two?, three?]}
  - ${mark("after", "effects: external, depends_on: [ask]")}
output: {answers: "{{ ask.output.answers }}"}
`;

async function waitingAtGate(rest = ""): Promise<CommandPlace> {
  const place = openPlace();
  place.write("wf.yaml", FLOW(rest));
  expect((await place.run(["run", "wf.yaml", "--task", "t"])).code).toBe(20);
  return place;
}

/** The owner is killed while the gate is open. */
async function killedAtGate(): Promise<CommandPlace> {
  const place = openPlace();
  place.write("hold-slow", "");
  place.write("wf.yaml", FLOW() + HELD);
  const running = place.start(["run", "wf.yaml", "--task", "t"]);
  await until("the gate is open", () => running.stderr().includes("? question: Publish?"));
  running.child.kill("SIGKILL");
  await running.done;
  return place;
}

describe("a gate", () => {
  it("FAULTS 6: of eight that answer at once one wins; of eight that resume one goes on, and what follows runs once", async () => {
    const place = await waitingAtGate();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_one, index) =>
        place.run(["answer", "t", index % 2 === 0 ? "approve" : "reject", "--by", `p${index}`, "--json"]),
      ),
    );
    const winners = answers.filter(({ code }) => code === 0);
    expect(winners).toHaveLength(1);
    const won = winners[0]!.json<AnswerView>();
    for (const { code, stderr } of answers.filter((one) => one.code !== 0)) {
      expect(code).toBe(2);
      expect(JSON.parse(stderr)).toMatchObject({
        error: {
          code: "QUESTION_CLOSED",
          message: expect.stringContaining(`by ${won.by} at ${won.at} with ${won.answer}`),
        },
      });
    }
    const resumed = await Promise.all(Array.from({ length: 8 }, () => place.run(["resume", "t", "--quiet"])));
    expect(resumed.filter(({ stdout }) => stdout.startsWith("done  t (resumed)"))).toHaveLength(1);
    for (const { code } of resumed) expect([0, 11]).toContain(code);
    expect(place.ledger()).toEqual(["before", "after"]);
  });

  it("FAULTS 8: after a kill it is listed with the same id and text, answered, and acted on by recover", async () => {
    const place = await killedAtGate();
    const [listed] = (await place.run(["list", "--json"])).json<TaskSummaryView[]>();
    expect(listed).toMatchObject({
      status: "crashed",
      waits_for: { question: "gate:main/review@1.1:1", text: "Publish?" },
    });
    const view = (await place.run(["answer", "t", "review", "approve", "--json"])).json<AnswerView>();
    expect(view).toMatchObject({ owner_alive: false, command: "splashdown resume t" });
    release(place, "slow");
    expect((await place.run(["recover"])).code).toBe(0);
    expect((await place.run(["show", "t", "--json"])).json<TaskView>()).toMatchObject({ status: "done" });
    expect(place.ledger()).toEqual(["before", "after"]);
    const gone = await place.run(["answer", "nothing", "approve"]);
    expect(gone.code).toBe(10);
  });

  it("FAULTS 22: in the background, with an input that ends at once and CI set, it stands open until it is answered", async () => {
    const place = openPlace({ CI: "1" });
    place.write("hold-slow", "");
    place.write("wf.yaml", FLOW() + HELD);
    const started = await place.run(["run", "wf.yaml", "--task", "t", "--detach", "--json"]);
    expect(started.code).toBe(0);
    const open = async () => (await place.run(["show", "t", "--json"])).json<TaskView>().open_questions === 1;
    for (let asked = await open(); !asked;) asked = await open();
    const view = (await place.run(["answer", "t", "approve", "--json"])).json<AnswerView>();
    expect(view.owner_alive).toBe(true);
    await until("what follows has run", () => place.ledger().includes("after"));
    release(place, "slow");
    expect(place.ledger()).toEqual(["before", "after"]);
    await place.run(["events", "t", "--follow"]);
  });

  it("FAULTS 22: an expiry is announced and reminded of, and gives what the workflow says, by nobody's hand", async () => {
    const place = openPlace();
    place.write("wf.yaml", FLOW("timeout: 1s\n    on_timeout: reject"));
    const run = await place.run(["run", "wf.yaml", "--task", "t", "--json"]);
    expect(run.json<RunView>()).toMatchObject({ exit_status: 0 });
    const events = (await place.run(["events", "t", "--json"])).json<EventView[]>();
    const told = events.filter(({ type }) => type.startsWith("question_")).map(({ type, text }) => [type, text]);
    expect(told).toEqual([
      ["question_opened", "question: Publish?"],
      ["question_reminded", "nobody has answered review yet"],
      ["question_answered", "timeout answered review: reject"],
    ]);
    const late = await place.run(["answer", "t", "gate:main/review@1.1:1", "approve"]);
    expect(late.stderr).toContain("was answered by timeout at ");
  });

  it("whose time is over while nobody owns the task is answered by recover, as the workflow says", async () => {
    const place = await waitingAtGate("timeout: 61s\n    on_timeout: reject");
    const [listed] = (await place.run(["list", "--json"])).json<TaskSummaryView[]>();
    expect(listed?.resume_at).toBeDefined();
    const shown = await place.run(["show", "t"]);
    expect(shown.stdout).toMatch(/until .*; then it answers itself: reject/);
    expect((await place.run(["recover"])).stdout).toContain("t");
    expect((await place.run(["show", "t", "--json"])).json<TaskView>().open_questions).toBe(1);
  });
});

describe("a wizard", () => {
  it("killed in the middle goes on with the next item, and what was said is not asked again", async () => {
    const place = openPlace();
    place.write("hold-slow", "");
    place.write("wf.yaml", WIZARD.replace("output:", `${HELD}output:`));
    const running = place.start(["run", "wf.yaml", "--task", "t"]);
    await until("the wizard is open", () => running.stderr().includes("? question: "));
    await place.run(["answer", "t", "ask", "q1", "first"]);
    await until("the owner has taken it", () => running.stderr().includes("answer q1"));
    running.child.kill("SIGKILL");
    await running.done;
    await place.run(["answer", "t", "second"]);
    const shown = (await place.run(["show", "t", "--json"])).json<TaskView>();
    expect(shown.questions[0]).toMatchObject({
      at: "q3",
      items: [{ answer: "first" }, { answer: "second" }, { status: "open" }],
    });
    release(place, "slow");
    expect((await place.run(["resume", "t", "--answer", "third"])).code).toBe(0);
    expect((await place.run(["show", "t", "--json"])).json<TaskView>().output).toEqual({
      answers: { q1: "first", q2: "second", q3: "third" },
    });
    expect(place.ledger()).toEqual(["after"]);
  });

  it("FAULTS 6: of eight that answer one item at once one wins for each, and nothing is settled twice", async () => {
    const place = openPlace();
    place.write("wf.yaml", WIZARD);
    await place.run(["run", "wf.yaml", "--task", "t"]);
    const given = await Promise.all(
      Array.from({ length: 8 }, (_one, index) =>
        place.run(["answer", "t", "ask", `q${(index % 2) + 1}`, `by ${index}`]),
      ),
    );
    expect(given.filter(({ code }) => code === 0)).toHaveLength(2);
    for (const { stderr } of given.filter(({ code }) => code !== 0)) expect(stderr).toContain("QUESTION_CLOSED");
    const { questions } = (await place.run(["show", "t", "--json"])).json<TaskView>();
    expect(questions[0]).toMatchObject({ at: "q3", items: [{ status: "answered" }, { status: "answered" }, {}] });
  });
});
