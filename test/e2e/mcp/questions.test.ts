/** Questions of a task, answered by people at a command line and by agents over MCP, whoever is first. */
import { describe, expect, it } from "vitest";
import type { AnswerView, EventView, QuestionView, TaskView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { release } from "../../support/held-steps.js";
import { openAgent, type McpAgent } from "../../support/mcp-agent.js";
import { until } from "../../support/real-clock.js";

const ALLOWED = { args: ["--allow-answers"] };

const mark = (name: string, needs: string) =>
  `{name: ${name}, command: [sh, -c, "echo ${name} >> ledger"], effects: external, depends_on: [${needs}]}`;
const gate = (name: string, needs: string) => `
  - name: ${name}
    type: human_gate
    prompt: "${name}?"
    depends_on: [${needs}]
    options: [{value: approve, label: Continue}, {value: reject, label: No}]
`;

/** Step, gate, step, gate, step; beside them one that is held, so that the owner lives as long as the test wants. */
const TWO_GATES = `workflow: {name: gated}
steps:
  - ${mark("before", "")}${gate("first", "before")}  - ${mark("between", "first")}${gate("second", "between")}  - ${mark("after", "second")}
  - {name: slow, command: [sh, -c, "while [ -e hold-slow ]; do sleep 0.02; done"], effects: none}
`;

interface Asking {
  readonly task: string;
  readonly questions: readonly QuestionView[];
}

async function askedOf(agent: McpAgent, task: string): Promise<readonly QuestionView[]> {
  const { result } = await agent.call("list_questions", { task });
  return (result as unknown as readonly Asking[])[0]?.questions ?? [];
}

const showOf = async (place: CommandPlace, task: string) =>
  (await place.run(["show", task, "--json"])).json<TaskView>();

describe("gates of a task that an agent started", () => {
  it("FAULTS 8: one is answered at the command line, one over MCP after a kill: the task goes on by itself to its end", async () => {
    const place = openPlace();
    place.write("hold-slow", "");
    place.write("wf.yaml", TWO_GATES);
    const agent = await openAgent(place, ALLOWED);
    await agent.call("run_workflow", { file: "wf.yaml", task: "t" });
    await until("the first gate is open", async () =>
      (await askedOf(agent, "t")).some(({ text }) => text === "first?"),
    );
    expect((await agent.wait("t", 1)).result).toMatchObject({ status: "running", waits_for: { text: "first?" } });
    const byPerson = await place.run(["answer", "t", "first", "approve", "--json"]);
    expect(byPerson.json<AnswerView>()).toMatchObject({ owner_alive: true, by: "tester" });
    const isAsked = async () => (await askedOf(agent, "t")).some(({ text }) => text === "second?");
    await until("the second gate is open", isAsked);
    const [asked] = await askedOf(agent, "t");
    const { owner } = await showOf(place, "t");
    process.kill(Number(owner?.["pid"]), "SIGKILL");
    await agent.close();

    const other = await openAgent(place, ALLOWED);
    await until(
      "the owner is gone",
      async () => (await other.call("show_task", { task: "t" })).result["status"] === "crashed",
    );
    expect(await askedOf(other, "t")).toEqual([asked]);
    release(place, "slow");
    const answered = await other.call("answer_question", { task: "t", question: "second", answer: "approve" });
    expect(answered.result).toMatchObject({ owner_alive: false, by: "tester through an-agent" });
    expect(answered.next).toMatch(/^recorded, and nobody ran it, so it was resumed/);
    expect((await other.wait("t", 20)).result).toMatchObject({ status: "done" });
    expect(place.ledger()).toEqual(["before", "between", "after"]);

    expect((await place.run(["store", "remove", "t", "--yes"])).code).toBe(0);
    const lost = await other.call("answer_question", { task: "t", question: "second", answer: "approve" });
    expect(lost).toMatchObject({ isError: true, error: { code: "TASK_NOT_FOUND" } });
    expect(lost.text).toContain("task t is in the trash");
  });

  it("FAULTS 6: of eight at the command line and over MCP at once one wins; what follows runs once", async () => {
    const place = openPlace();
    place.write("wf.yaml", `workflow: {name: gated}\nsteps:${gate("review", "")}  - ${mark("after", "review")}\n`);
    expect((await place.run(["run", "wf.yaml", "--task", "t"])).code).toBe(20);
    const agent = await openAgent(place, ALLOWED);
    const words = ["approve", "reject", "approve", "reject"];
    const people = words.map(async (answer) => {
      const { code, stderr } = await place.run(["answer", "t", "review", answer, "--by", `p-${answer}`, "--json"]);
      const { error } = code === 0 ? {} : (JSON.parse(stderr) as { error: { code: string; message: string } });
      return { error, answer };
    });
    const byAgents = words.map(async (answer) => {
      const { isError, error } = await agent.call("answer_question", { task: "t", question: "review", answer });
      return { error: isError ? error : undefined, answer };
    });
    const told = await Promise.all([...people, ...byAgents]);
    const winners = told.filter(({ error }) => error === undefined);
    expect(winners).toHaveLength(1);
    const standing = await agent.wait("t", 20);
    if (standing.result["status"] === "waiting") await agent.call("resume_task", { task: "t" });
    expect((await agent.wait("t", 20)).result).toMatchObject({ status: "done" });
    const { questions } = await showOf(place, "t");
    const [{ answer, answered_by: by = "" } = {}] = questions;
    expect(answer).toBe(winners[0]?.answer);
    for (const { error } of told.filter((each) => each.error !== undefined)) {
      expect(error?.code).toBe("QUESTION_CLOSED");
      expect(error?.message).toContain(`by ${by}`);
    }
    const events = (await place.run(["events", "t", "--json"])).json<EventView[]>();
    expect(events.filter(({ type }) => type === "question_answered")).toHaveLength(1);
    expect(place.ledger()).toEqual(["after"]);
  });
});
