/** Steps that a step adds while the task runs: once, whatever ends the process, and never more than may be. */
import { describe, expect, it } from "vitest";
import { openFunctionContext, type FunctionContext } from "../../../../src/agents/functions/function-context.js";
import type { JsonValue } from "../../../../src/base/json.js";
import { LIMITS } from "../../../../src/base/limits.js";
import type { ScopeDefinition } from "../../../../src/definition/model/workflow.js";
import type { StepOutcome } from "../../../../src/engine/model/ports.js";
import { describeEvent } from "../../../../src/runtime/views/event-text.js";
import type { PerformRule } from "../../../support/hand-performer.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import {
  dag,
  forEach,
  machine,
  model,
  parallel,
  phase,
  phases,
  undeclared,
  workflow,
} from "../../../support/workflow-builder.js";

type Run = (context: FunctionContext) => JsonValue | Promise<JsonValue>;
const step = (name: string, input = {}) => undeclared(name, { effects: "idempotent", input } as never);

const performed =
  (run: Run): PerformRule =>
  async ({ work, sink, signal }): Promise<StepOutcome> => ({
    status: "completed",
    output: await run(openFunctionContext(work, sink, signal).context),
  });

async function started(root: ScopeDefinition, run: Run): Promise<RunnerRoom> {
  const room = new RunnerRoom(workflow(root), { perform: performed(run) });
  await room.start();
  return room;
}

/** A walk over links: every page adds those that it leads to, by name. */
const LINKS: Readonly<Record<string, readonly string[]>> = { start: ["a", "b"], a: ["b", "c"], b: ["a"], c: [] };
const walk: Run = ({ input, spawn }) => {
  const page = typeof input["page"] === "string" ? input["page"] : "start";
  for (const to of LINKS[page] ?? []) spawn({ name: to, like: "start", input: { page: to } });
  return page;
};
const startsOf = (room: RunnerRoom) => room.of("step_intended").map(({ step: id }) => id);

describe("steps added while the task runs", () => {
  it("run in the group of the step that adds them, each name once, and are among its outputs", async () => {
    const room = await started(dag("main", [step("start")]), walk);
    expect(startsOf(room)).toEqual(["main/start@1.1", "main/a@1.1", "main/b@1.1", "main/c@1.1"]);
    expect(room.output).toEqual({ start: "start", a: "a", b: "b", c: "c" });
    expect(room.of("step_completed").map((event) => describeEvent(event))[0]).toContain(", adds a, b");
  });

  it.each([
    ["a parallel group", () => parallel("main", [step("start")])],
    ["a group in a machine", () => machine("main", [dag("walk", [step("start")])])],
    ["a phase", () => phases("main", [phase(1, "walk", [step("start")])])],
    ["a group in the item of a list", () => forEach("main", dag("walk", [step("start")]), { source: "{{ [1] }}" })],
  ])("stand in %s [public 2 kin]", async (_name, root) => {
    const room = await started(root(), walk);
    expect(startsOf(room)).toHaveLength(4);
    expect(room.closed.end).toBe("done");
    expect(JSON.stringify(room.output)).toContain('"a":"a","b":"b","c":"c"');
  });

  it("are added once after a crash behind every record", async () => {
    const root = () => machine("main", [dag("walk", [step("start")])]);
    const whole = await started(root(), walk);
    for (let at = 1; at < whole.log.durableEvents.length; at += 1) {
      let room = new RunnerRoom(whole.definition, { perform: performed(walk) });
      room.log.crashAt = at;
      await room.start();
      room = room.crash();
      await room.resume();
      expect([at, room.output]).toEqual([at, whole.output]);
      expect(new Set(startsOf(room))).toEqual(new Set(startsOf(whole)));
      expect(room.of("step_completed")).toHaveLength(4);
    }
  });

  it("count with the completion: an attempt that fails adds nothing", async () => {
    const retry = { maxAttempts: 2, backoff: "fixed", delayMs: 1, delayMsMax: 1, jitter: 0 } as const;
    const room = await started(
      dag("main", [undeclared("start", { effects: "idempotent", retry } as never)]),
      ({ attempt, path, spawn }) => {
        if (!path.endsWith("start")) return path;
        spawn({ name: `of-${attempt}`, like: "start" });
        if (attempt === 1) throw new Error("not yet");
        return null;
      },
    );
    await room.drive();
    expect(startsOf(room)).toEqual(["main/start@1.1", "main/start@1.1", "main/of-2@1.1"]);
  });

  it("take their texts as they are: what a program found out is no template", async () => {
    const inputs: unknown[] = [];
    const room = await started(dag("main", [step("start")]), ({ path, input, spawn }) => {
      inputs.push(input);
      if (!path.endsWith("start")) return null;
      spawn({ name: "like", like: "start", input: { text: "{{ secrets.KEY }}" } });
      spawn({ name: "whole", function: "f.mjs#x", effects: "none", input: { text: "{{ broken" } });
      spawn({ name: "asked", provider: "scripted", prompt: "{% if %} {{ workflow.input }}" });
      return null;
    });
    expect(inputs.slice(1)).toEqual([{ text: "{{ secrets.KEY }}" }, { text: "{{ broken" }, {}]);
    expect(room.of("step_intended").at(-1)?.work).toMatchObject({
      inline: { prompt: "{% if %} {{ workflow.input }}" },
    });
  });

  it.each([
    ["no name", { like: "start" }, "it has no name"],
    ["a name that is none", { name: "a/b", like: "start" }, "name"],
    ["nothing to do", { name: "a" }, "says nothing to do"],
    ["a key that is mistyped", { name: "a", comand: ["x"] }, "did you mean command?"],
    [
      "what stands in a file only",
      { name: "a", value: 1, depends_on: ["start"] },
      "depends_on has a meaning in a file only",
    ],
    ["a group", { name: "a", steps: [{ name: "b", value: 1 }] }, "a dag step cannot be added while the task runs"],
    ["a question", { name: "a", prompt: "?", options: ["y", "n"] }, "a human_gate step cannot be added"],
    ["a model without a provider", { name: "a", prompt: "?" }, "it names no provider"],
    ["more beside like", { name: "a", like: "start", retry: 2 }, "retry has no meaning beside like"],
    ["one like nobody", { name: "a", like: "strat" }, "no step of its group is called so; did you mean start?"],
  ])("are refused with what is wrong: %s [public 5 kin]", async (_name, wanted, message) => {
    const room = await started(dag("main", [step("start")]), ({ spawn }) => {
      spawn(wanted as never);
      return null;
    });
    expect(room.of("step_failed")[0]?.error.code).toBe("STEP_FAILED");
    expect(room.of("step_failed")[0]?.error.message).toContain(message);
  });

  it.each([
    ["a step among routes", machine("main", [step("start")]), "a step among routes"],
    ["the body of a list", forEach("main", step("start"), { source: "{{ [1] }}" }), "the body of a for_each"],
  ])("cannot be added by %s, and the way out is said", async (_name, root, message) => {
    const room = await started(root, ({ spawn }) => {
      spawn({ name: "a", like: "start" });
      return null;
    });
    expect(room.of("step_failed")[0]?.error.message).toContain(message);
    expect(room.of("step_failed")[0]?.error.message).toContain("make it a step of a group (steps: […])");
  });

  it("are bounded: a group takes so many and no more", async () => {
    const room = await started(dag("main", [step("start"), model("other")]), ({ path, spawn }) => {
      if (path.endsWith("start"))
        for (let at = 0; at <= LIMITS.addedStepsMax; at += 1) spawn({ name: `n${at}`, like: "start" });
      return null;
    });
    expect(room.of("step_failed")[0]?.error.message).toContain("1001 added steps in main, and 1000 are allowed");
    expect(startsOf(room)).not.toContain("main/n0@1.1");
  });
});
