/** The library as a program uses it: what the command gives, with functions and typed events, and nothing global. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  defineWorkflow,
  errorCodeOf,
  openSplashdown,
  type FunctionContext,
  type OpenOptions,
  type PlanView,
  type RunView,
  type Splashdown,
} from "../../../src/index.js";
import { createOwnEnvironment } from "../../support/own-environment.js";

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-library-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(folder: string, options: OpenOptions = {}): Promise<Splashdown> {
  const splashdown = await openSplashdown({
    store: "memory:",
    environment: createOwnEnvironment(folder),
    ...options,
  });
  onTestFinished(() => splashdown.close());
  return splashdown;
}

/** Two steps; the second fails as long as `isBroken` says so. */
function defineOrder(calls: string[], isBroken: () => boolean) {
  return defineWorkflow({
    workflow: { name: "order", input: { amount: { type: "number" } } },
    steps: [
      {
        name: "reserve",
        function: async (context) => {
          const held = await context.step("hold", () => {
            calls.push(`hold ${context.idempotencyKey.length > 0}`);
            return context.inputs["amount"] * 2;
          });
          context.channel.set("held", held);
          return { held };
        },
      },
      {
        name: "charge",
        depends_on: ["reserve"],
        input: { held: "{{ reserve.output.held }}" },
        function: (context) => {
          calls.push(`charge ${JSON.stringify(context.input["held"])}`);
          if (isBroken()) throw new Error("the bank is closed");
          return { charged: context.input["held"], seen: context.channel.get("held") };
        },
      },
    ],
    output: { charged: "{{ charge.output.charged }}", seen: "{{ charge.output.seen }}" },
  });
}

const requireRun = (view: RunView | PlanView): RunView => {
  if ("exit_status" in view) return view;
  throw new Error("a plan came where a run was expected");
};

describe("openSplashdown", () => {
  it("runs a workflow with functions of the program in memory", async () => {
    const calls: string[] = [];
    const splashdown = await open(makeFolder());
    const view = await splashdown.run({ workflow: defineOrder(calls, () => false), inputs: { amount: 21 } });
    expect(view).toMatchObject({ status: "done", exit_status: 0, output: { charged: 42, seen: 42 } });
    expect(calls).toEqual(["hold true", "charge 42"]);
    expect(await splashdown.list()).toMatchObject([{ task: view.task, status: "done", workflow: "order" }]);
  });

  it("tells typed events in the order they became durable, and survives a listener that throws", async () => {
    const splashdown = await open(makeFolder());
    const told: string[] = [];
    splashdown.on("step_started", ({ step, attempt }) => told.push(`start ${step} ${attempt}`));
    splashdown.on("step_finished", ({ step, status }) => told.push(`end ${step} ${status}`));
    const saved: { checkpoint_id: string; timestamp: string }[] = [];
    splashdown.on("checkpoint_saved", ({ checkpoint_id, timestamp }) => saved.push({ checkpoint_id, timestamp }));
    splashdown.on("event", () => {
      throw new Error("a bad listener");
    });
    const view = await splashdown.run({ workflow: defineOrder([], () => false), inputs: { amount: 1 } });
    expect(view.status).toBe("done");
    expect(told).toEqual([
      "start main/reserve@1.1 1",
      "end main/reserve@1.1 completed",
      "start main/charge@1.1 1",
      "end main/charge@1.1 completed",
    ]);
    const listed = await splashdown.checkpoints.list(view.task);
    expect(saved).toEqual(
      listed
        .filter(({ file }) => file !== undefined)
        .map(({ checkpoint_id }) => ({
          checkpoint_id,
          timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        })),
    );
    expect(saved.length).toBeGreaterThan(0);
  });

  it("stops telling a listener that was taken off", async () => {
    const splashdown = await open(makeFolder());
    let count = 0;
    const off = splashdown.on("step_started", () => (count += 1));
    off();
    await splashdown.run({ workflow: defineOrder([], () => false), inputs: { amount: 1 } });
    expect(count).toBe(0);
  });

  it("two instances in one process share nothing", async () => {
    const [first, second] = [await open(makeFolder()), await open(makeFolder())];
    let heard = 0;
    second.on("event", () => (heard += 1));
    const view = await first.run({ workflow: defineOrder([], () => false), inputs: { amount: 1 }, task: "same" });
    expect(heard).toBe(0);
    expect(await second.list()).toEqual([]);
    const other = await second.run({ workflow: defineOrder([], () => false), inputs: { amount: 2 }, task: "same" });
    expect(heard).toBeGreaterThan(0);
    expect([view.output, other.output]).toEqual([
      { charged: 2, seen: 2 },
      { charged: 4, seen: 4 },
    ]);
    expect(other.workflow_id).not.toBe(view.workflow_id);
  });

  it("recovers nothing unasked", async () => {
    const folder = makeFolder();
    const calls: string[] = [];
    const broken = await open(folder, { store: "file:outputs" });
    await broken.run({ workflow: defineOrder(calls, () => true), inputs: { amount: 1 }, task: "t" });
    await broken.close();
    const next = await open(folder, { store: "file:outputs" });
    await next.list();
    expect(calls).toEqual(["hold true", "charge 2"]);
  });
});

describe("resume in a program", () => {
  it("resumeFromCheckpoint goes on with the task of a checkpoint, by its id, and finished steps stay", async () => {
    const calls: string[] = [];
    let isBroken = true;
    const splashdown = await open(makeFolder());
    const failed = await splashdown.run({ workflow: defineOrder(calls, () => isBroken), inputs: { amount: 5 } });
    expect(failed).toMatchObject({
      status: "failed",
      exit_status: 4,
      next: "run the program again that defined the workflow order",
    });
    isBroken = false;
    const [checkpoint] = await splashdown.checkpoints.list(failed.task);
    const view = requireRun(await splashdown.resumeFromCheckpoint(checkpoint?.checkpoint_id ?? ""));
    expect(view).toMatchObject({
      task: failed.task,
      status: "done",
      how: "resumed",
      output: { charged: 10, seen: 10 },
    });
    expect(calls).toEqual(["hold true", "charge 10", "charge 10"]);
  });

  it("takes the functions from the workflow it is given when another program started the task", async () => {
    const folder = makeFolder();
    const first = await open(folder, { store: "file:outputs" });
    await first.run({ workflow: defineOrder([], () => true), inputs: { amount: 5 }, task: "t" });
    await first.close();

    const second = await open(folder, { store: "file:outputs" });
    await expect(second.resume({ task: "t" })).rejects.toMatchObject({ code: "FUNCTIONS_ELSEWHERE" });
    const calls: string[] = [];
    const workflow = defineOrder(calls, () => true);
    const changed = requireRun(await second.resume({ task: "t", workflow: { ...workflow, output: {} } }));
    expect(changed).toMatchObject({ status: "waiting", exit_status: 20 });
    expect(calls).toEqual([]);
  });

  it("tells the plan before anything runs", async () => {
    const calls: string[] = [];
    let isBroken = true;
    const splashdown = await open(makeFolder());
    await splashdown.run({ workflow: defineOrder(calls, () => isBroken), inputs: { amount: 5 }, task: "t" });
    isBroken = false;
    const plans: (PlanView & { ranBefore: number })[] = [];
    await splashdown.resume({ task: "t", onPlan: (plan) => plans.push({ ...plan, ranBefore: calls.length }) });
    expect(plans).toMatchObject([{ done: ["main/reserve@1.1"], ranBefore: 2 }]);
    expect(calls).toHaveLength(3);
  });
});

describe("failures in a program", () => {
  it("come as errors with a code, a hint and details", async () => {
    const splashdown = await open(makeFolder());
    const error: unknown = await splashdown.show("none").catch((reason: unknown) => reason);
    expect(errorCodeOf(error)).toBe("TASK_NOT_FOUND");
    expect(error).toMatchObject({ hint: "splashdown list", exitStatus: 10, details: { task: "none" } });
  });

  it("an abort of the caller ends the run in order, and the task goes on later", async () => {
    const controller = new AbortController();
    const splashdown = await open(makeFolder());
    let isHeld = true;
    const hold = async (context: FunctionContext): Promise<{ ok: boolean }> => {
      if (!isHeld) return { ok: true };
      controller.abort();
      return new Promise((_resolve, reject) =>
        context.signal.addEventListener("abort", () => reject(context.signal.reason as Error)),
      );
    };
    const workflow = defineWorkflow({
      workflow: { name: "held" },
      steps: [{ name: "hold", effects: "none", function: hold }],
    });
    const stopped = await splashdown.run({ workflow, task: "t", signal: controller.signal });
    expect(stopped).toMatchObject({ status: "stopped", exit_status: 130, resumable: true });
    isHeld = false;
    expect(await splashdown.run({ workflow, task: "t" })).toMatchObject({ status: "done", how: "resumed" });
  });
});

describe("a person who is asked", () => {
  const limited = () =>
    defineWorkflow({
      workflow: { name: "limited", entry_point: "a", limits: { max_iterations: 1 } },
      agents: [
        { name: "a", function: () => 1, routes: [{ to: "b" }] },
        { name: "b", function: () => 2, routes: [{ to: "$end" }] },
      ],
      output: { b: "{{ b.output }}" },
    });

  it("answers while the task runs, and the answer is taken once", async () => {
    const asked: string[] = [];
    const splashdown = await open(makeFolder(), {
      ask: async ({ kind, text }) => {
        asked.push(`${kind}: ${text}`);
        return { answer: "extend", value: { iterations: 5 } };
      },
    });
    const view = await splashdown.run({ workflow: limited(), task: "t" });
    expect(view).toMatchObject({ status: "done", output: { b: 2 } });
    expect(asked).toEqual(["limit: the limit of 1 iterations is reached (1 used); extend it or stop?"]);
    const types: string[] = [];
    for await (const event of splashdown.events("t")) types.push(event.type);
    expect(types.filter((type) => type === "question_answered")).toHaveLength(1);
    expect(types).not.toContain("noted");
  });

  it("may leave the question open: the task waits with its status", async () => {
    const splashdown = await open(makeFolder(), { ask: async () => undefined });
    const view = await splashdown.run({ workflow: limited(), task: "t" });
    expect(view).toMatchObject({ status: "waiting", exit_status: 21, questions: [{ kind: "limit", status: "open" }] });
  });
});
