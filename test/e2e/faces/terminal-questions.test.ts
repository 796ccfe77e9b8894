/** Gates, wizards and limits answered on a real terminal, with the keys of a person; and left there. */
import { describe, expect, it } from "vitest";
import type { TaskSummaryView, TaskView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { runKilledAt } from "../../support/killed-run.js";
import { until } from "../../support/real-clock.js";
import { NO_TERMINAL, TerminalRun } from "../../support/terminal.js";

const [ENTER, DOWN, CTRL_C] = ["\r", "\u001b[B", "\u0003"];
const RUN = ["run", "wf.yaml", "--task", "t"];

const mark = (name: string, rest: string) =>
  `{name: ${name}, command: [sh, -c, "echo ${name} >> ledger"], effects: external${rest}}`;

const gate = (rest = "") => `workflow: {name: gated, entry_point: review}
agents:
  - name: review
    type: human_gate
    prompt: "Publish [/b] it?"
    ${rest}
    options:
      - {label: Continue, value: approve, route: after}
      - {label: Change it, value: change, route: change, prompt_for: wish}
      - {label: No, value: reject, route: $end}
  - ${mark("after", ", routes: [{to: $end}]")}
  - {name: change, type: set, value: "{{ review.output.additional_input.wish }}", routes: [{to: $end}]}
output: {said: "{{ review.output.selected }}", wish: "{{ review.output.additional_input }}"}
`;

const WIZARD = `workflow: {name: asking, entry_point: ask}
agents:
  - name: ask
    type: questions
    allow_back: true
    allow_abort: true
    questions:
      - {text: Which store?, choices: [disk, memory], allow_free_text: true}
      - {text: How often?, default: daily}
      - {text: Why?}
output: {answers: "{{ ask.output.answers }}", outcome: "{{ ask.output.outcome }}"}
`;

const LIMITED = `workflow: {name: limited, entry_point: a, limits: {max_iterations: 1}}
agents:
  - ${mark("a", ", routes: [{to: b}]")}
  - ${mark("b", ", routes: [{to: $end}]")}
`;

function onTerminal(text: string): { place: CommandPlace; run: TerminalRun } {
  const place = openPlace();
  place.write("wf.yaml", text);
  return { place, run: new TerminalRun(place, RUN, { rows: 40 }) };
}

async function show(place: CommandPlace): Promise<TaskView> {
  return (await place.run(["show", "t", "--json"])).json<TaskView>();
}

/** Waits for a text, then presses the keys one after the other. */
async function answer(run: TerminalRun, shown: string | RegExp, ...keys: readonly string[]): Promise<void> {
  await run.shows(shown);
  for (const key of keys) run.press(key);
}

describe.skipIf(NO_TERMINAL !== undefined)("a gate on a terminal", () => {
  it("takes the option under the cursor, and shows its text as text", async () => {
    const { place, run } = onTerminal(gate());
    await answer(run, /Publish \[\/b\] it\?[\s\S]*later: leave/, ENTER);
    expect((await run.done).code).toBe(0);
    expect((await show(place)).output).toMatchObject({ said: "approve" });
    expect(place.ledger()).toEqual(["after"]);
  });

  it("asks for the text that goes with a choice", async () => {
    const { place, run } = onTerminal(gate());
    await answer(run, "later: leave", DOWN, ENTER);
    await answer(run, /◆ {2}wish/, "be kinder", ENTER);
    expect((await run.done).code).toBe(0);
    expect((await show(place)).output).toEqual({ said: "change", wish: { wish: "be kinder" } });
    expect(place.ledger()).toEqual([]);
  });

  it.each([
    ["Ctrl+C", [CTRL_C]],
    ["the last entry", [DOWN, DOWN, DOWN, ENTER]],
  ])("left with %s stands open, durable, for another process", async (_how, keys) => {
    const { place, run } = onTerminal(gate());
    await answer(run, "later: leave", ...keys);
    expect((await run.done).code).toBe(20);
    const [listed] = (await place.run(["list", "--json"])).json<TaskSummaryView[]>();
    expect(listed).toMatchObject({ status: "waiting", waits_for: { text: "Publish [/b] it?" } });
    expect((await place.run(["answer", "t", "approve"])).code).toBe(0);
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect(place.ledger()).toEqual(["after"]);
  });

  it("left while its text is asked for stands open too, and is asked again by a resume", async () => {
    const { place, run } = onTerminal(gate());
    await answer(run, "later: leave", DOWN, ENTER);
    await answer(run, /◆ {2}wish/, "half a th", CTRL_C);
    expect((await run.done).code).toBe(20);
    expect((await show(place)).open_questions).toBe(1);
    const again = new TerminalRun(place, ["resume", "t"], { rows: 40 });
    await answer(again, "later: leave", ENTER);
    expect((await again.done).code).toBe(0);
    expect(place.ledger()).toEqual(["after"]);
  });

  it("is taken down when somebody else answers, whose answer counts", async () => {
    const { place, run } = onTerminal(gate());
    await run.shows("later: leave");
    expect((await place.run(["answer", "t", "reject", "--by", "ada"])).code).toBe(0);
    expect((await run.done).code).toBe(0);
    expect((await show(place)).output).toMatchObject({ said: "reject" });
    expect(place.ledger()).toEqual([]);
  });
});

describe.skipIf(NO_TERMINAL !== undefined)("a wizard on a terminal", () => {
  it("takes a choice, a text, its default, goes back, and skips", async () => {
    const { place, run } = onTerminal(WIZARD);
    await answer(run, /1\/3 Which store\?[\s\S]*later: leave/, DOWN, ENTER);
    // The second: its entries are a text, skip, skip_all, back, abort.
    await answer(run, /2\/3 How often\?[\s\S]*later: leave/, DOWN, DOWN, DOWN, ENTER);
    await answer(run, /1\/3 Which store\?[\s\S]*1\/3 Which store\?[\s\S]*later: leave/, DOWN, DOWN, ENTER);
    await answer(run, /◆ {2}Which store\?/, "tape", ENTER, ENTER);
    await answer(run, /2\/3 How often\?[\s\S]*2\/3 How often\?[\s\S]*later: leave/, ENTER);
    await answer(run, /◆ {2}How often\? \(several lines; Enter twice ends it\)[\s\S]*daily/, ENTER, ENTER);
    await answer(run, /3\/3 Why\?[\s\S]*later: leave/, DOWN, ENTER);
    expect((await run.done).code).toBe(0);
    expect((await show(place)).output).toEqual({
      answers: { q1: "tape", q2: "daily", q3: null },
      outcome: "completed",
    });
  });

  it("left in the middle keeps what was answered, and goes on with the next", async () => {
    const { place, run } = onTerminal(WIZARD);
    await answer(run, /1\/3[\s\S]*later: leave/, ENTER);
    await answer(run, /2\/3[\s\S]*later: leave/, CTRL_C);
    expect((await run.done).code).toBe(20);
    const [question] = (await show(place)).questions;
    expect(question).toMatchObject({ status: "open", at: "q2", items: [{ answer: "disk" }, {}, {}] });
    const again = new TerminalRun(place, ["resume", "t"], { rows: 40 });
    await answer(again, /2\/3[\s\S]*later: leave/, DOWN, DOWN, ENTER);
    expect((await again.done).code).toBe(0);
    expect((await show(place)).output).toEqual({
      answers: { q1: "disk", q2: null, q3: null },
      outcome: "skipped_remaining",
    });
  });

  it("is aborted", async () => {
    const { place, run } = onTerminal(WIZARD);
    // Its entries: two choices, a text, skip, skip_all, back, abort.
    await answer(run, /1\/3[\s\S]*later: leave/, ...Array<string>(6).fill(DOWN), ENTER);
    expect((await run.done).code).toBe(0);
    expect((await show(place)).output).toMatchObject({ outcome: "aborted" });
  });
});

describe.skipIf(NO_TERMINAL !== undefined)("a limit on a terminal", () => {
  it("takes a plain amount; what is no amount is said, and asked again", async () => {
    const { place, run } = onTerminal(LIMITED);
    await answer(run, /the limit of 1 iterations is reached[\s\S]*later: leave/, ENTER);
    await answer(run, /amount: raise the limit, e\.g\. max_iterations=10/, "some", ENTER);
    await answer(run, /takes a number above 0[\s\S]*the limit of 1 iterations[\s\S]*later: leave/, ENTER);
    await answer(run, /takes a number above 0[\s\S]*◆ {2}amount/, "max_iterations=2", ENTER);
    expect((await run.done).code).toBe(0);
    expect(place.ledger()).toEqual(["a", "b"]);
  });

  it("is extended in words from another process, with and without the name of the limit", async () => {
    for (const amount of ["5", "max_iterations=5"]) {
      const place = openPlace();
      place.write("wf.yaml", LIMITED);
      const run = await place.run(RUN);
      expect(run.code).toBe(21);
      expect(run.stdout).toContain("extend [amount]: raise the limit, e.g. max_iterations=10");
      expect(run.stdout).toContain("answer with: splashdown answer t limit:task:1 extend max_iterations=1");
      const wrong = await place.run(["answer", "t", "extend", "max_iteration=5"]);
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("did you mean max_iterations?")]);
      expect((await place.run(["answer", "t", "extend", amount])).code).toBe(0);
      expect((await place.run(["resume", "t"])).code).toBe(0);
      expect(place.ledger()).toEqual(["a", "b"]);
    }
  });
});

describe("a gate whose time runs out while nobody owns the task", () => {
  const expired = async (): Promise<CommandPlace> => {
    const place = openPlace();
    place.write("wf.yaml", gate("timeout: 1s\n    on_timeout: reject"));
    // Killed as it opens, however short its time is on a slow machine.
    expect((await runKilledAt(place, "question:1", ["run", "wf.yaml", "t"])).signal).toBe("SIGKILL");
    const [question] = (await show(place)).questions;
    expect(question).toMatchObject({ status: "open", on_expire: "reject" });
    const endMs = Date.parse(question?.expires_at ?? "");
    await until("its time is over", () => Date.now() > endMs);
    return place;
  };

  it.each([["recover"], ["resume", "t"], [...RUN]])(
    "FAULTS 22: is answered as the workflow says when the next process comes: %s",
    async (...verb) => {
      const place = await expired();
      expect((await place.run(verb)).code).toBe(0);
      const { status, output, questions } = await show(place);
      expect({ status, output }).toMatchObject({ status: "done", output: { said: "reject" } });
      expect(questions).toMatchObject([{ answer: "reject", answered_by: "timeout" }]);
      expect(place.ledger()).toEqual([]);
    },
  );

  it("FAULTS 22: an answer that comes too late for the time, but before anybody acted, counts", async () => {
    const place = await expired();
    expect((await place.run(["answer", "t", "approve"])).code).toBe(0);
    expect((await place.run(["recover"])).code).toBe(0);
    expect(place.ledger()).toEqual(["after"]);
  });
});

const TOOL = `workflow:
  name: tooled
  runtime: {provider: scripted, scripted_answers: {work: [{calls: [{tool: charge, input: {amount: 5}}]}, {say: end}]}}
tools: [{name: charge, function: ./tools.mjs#charge, input: {amount: {type: number}}, approve: always}]
steps: [{name: work, prompt: go}]
`;

describe.skipIf(NO_TERMINAL !== undefined)("a call of a tool that must be approved, on a terminal", () => {
  it.each([
    ["is made when it is allowed", [ENTER], ["charged 5"]],
    ["is not made when it is denied", [DOWN, ENTER], []],
  ])("%s", async (_what, keys, ledger) => {
    const { place, run } = onTerminal(TOOL);
    const write = 'import { appendFileSync } from "node:fs";';
    place.write(
      "tools.mjs",
      `${write}\nexport const charge = ({ input }) => appendFileSync("ledger", \`charged \${input.amount}\\n\`);\n`,
    );
    await answer(run, /wants to call the tool charge[\s\S]*later: leave/, ...keys);
    if (ledger.length === 0) await answer(run, "reason", "too dear", ENTER);
    expect((await run.done).code).toBe(0);
    expect(place.ledger()).toEqual(ledger);
  });
});
