/** FAULTS 38: long work behind short calls. The task belongs to no call, no client and no server. */
import { describe, expect, it } from "vitest";
import type { TaskView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { hold, release, writeHeldSteps } from "../../support/held-steps.js";
import { openAgent, type McpAgent, type Told } from "../../support/mcp-agent.js";
import { until } from "../../support/real-clock.js";

/** What every client of these tests allows a call. */
const LIMIT = { limitMs: 2_000 };

const nameOf = ({ result }: Told): string => String(result["task"]);

/** Starts it and waits until its step is held. */
async function startHeld(place: CommandPlace, agent: McpAgent, input: object, step: string): Promise<string> {
  hold(place, step);
  const task = nameOf(await agent.call("run_workflow", input));
  await until(`${step} runs`, () => place.ledger().includes(step));
  return task;
}

describe("FAULTS 38: a workflow that takes longer than any call", () => {
  it("is started at once and once, waited for in short calls, and its result is there for a new client", async () => {
    const place = openPlace();
    const input = { file: writeHeldSteps(place, ["s1", "s2"]), key: "monday", inputs: { n: 4 } };
    const [agent, rival] = await Promise.all([openAgent(place, LIMIT), openAgent(place, LIMIT)]);
    hold(place, "s1");
    const starts = await Promise.all([agent, agent, rival, rival].map((one) => one.call("run_workflow", input)));
    await until("the step runs", () => place.ledger().length === 1);
    const again = await agent.call("run_workflow", input);
    const task = nameOf(again);
    for (const start of starts) expect(nameOf(start)).toBe(task);
    expect(again.result).toMatchObject({ status: "running", workflow: "steps" });
    const waited = await agent.call("wait_for_task", { task, seconds: 1 });
    expect(waited.result).toMatchObject({ status: "running", steps_done: 0 });
    expect(waited.next).toBe("it is running: wait_for_task waits for news");

    const waiting = agent.client
      .callTool({ name: "wait_for_task", arguments: { task } })
      .catch((error: unknown) => error);
    process.kill(agent.pid, "SIGKILL");
    expect(await waiting).toBeInstanceOf(Error);
    const other = await openAgent(place, LIMIT);
    const id = String(again.result["workflow_id"]);
    release(place, "s1");
    expect((await other.wait(id)).result).toMatchObject({ task, status: "done", steps_done: 2 });
    expect((await other.call("task_result", { task: id })).result).toMatchObject({
      workflow_id: id,
      status: "done",
      output: { last: "s2", n: 4 },
    });
    expect(nameOf(await other.call("run_workflow", input))).toBe(task);
    expect((await other.call("list_tasks")).result).toHaveLength(1);
    expect(place.ledger()).toEqual(["s1", "s2"]);
  });

  it("goes on when a waiting is cancelled, is paused with a checkpoint when it is stopped, and then goes on", async () => {
    const place = openPlace();
    const agent = await openAgent(place, LIMIT);
    const file = writeHeldSteps(place, ["s1", "s2"], { effects: "none" });
    const task = await startHeld(place, agent, { file }, "s2");
    const cancel = new AbortController();
    const told: string[] = [];
    const waiting = agent
      .call("wait_for_task", { task }, { signal: cancel.signal })
      .catch(() => told.push("cancelled"));
    cancel.abort();
    await waiting;
    expect(told).toEqual(["cancelled"]);
    expect((await agent.call("wait_for_task", { task, seconds: 0 })).result).toMatchObject({ status: "running" });

    await agent.call("stop_task", { task, note: "enough" });
    const stopped = await agent.wait(task);
    expect(stopped.result).toMatchObject({ status: "stopped", steps_done: 1 });
    expect(stopped.next).toBe("nobody runs it: resume_task continues where it stopped");
    expect((await agent.call("list_checkpoints", { task, limit: 1 })).result).toMatchObject([
      { status: "paused", file: expect.stringMatching(/^checkpoint_/) },
    ]);
    release(place, "s2");
    await agent.call("resume_task", { task });
    const progress: (string | undefined)[] = [];
    const tell = { onprogress: ({ message }: { readonly message?: string }) => progress.push(message) };
    await agent.call("wait_for_task", { task, seconds: 1 }, tell);
    expect((await agent.wait(task)).result).toMatchObject({ status: "done" });
    expect(place.ledger()).toEqual(["s1", "s2", "s2"]);
    const shown = (await place.run(["show", task, "--json"])).json<TaskView>();
    expect((await agent.call("show_task", { task })).result).toEqual(JSON.parse(JSON.stringify(shown)));
  });
});
