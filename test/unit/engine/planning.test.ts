import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/base/json.js";
import { buildPlannedPhases } from "../../../src/definition/compile/planned-phases.js";
import type { WorkflowDefinition } from "../../../src/definition/model/workflow.js";
import type { StepOutcome } from "../../../src/engine/model/ports.js";
import type { StepEntry } from "../../../src/engine/model/state.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { storyOf } from "../../support/eventful-task.js";
import { checkState } from "../../support/state-check.js";
import { loadText } from "../../support/workflow-files.js";

const FILE = 'workflow: {name: t}\ngoal: "know {{ workflow.input.topic }}"\n';
const PLANNED = [
  {
    name: "research",
    specialists: [
      { name: "a", prompt: "look" },
      { name: "b", prompt: "look", depends_on: ["a"] },
    ],
  },
  { name: "write", specialists: [{ name: "author", prompt: "write" }] },
];
const OTHER = { name: "check", specialists: [{ name: "reader", prompt: "read" }] };

async function load(more = ""): Promise<WorkflowDefinition> {
  const { definition } = await loadText(`${FILE.replace("name: t", "name: t, input: {topic: {type: string}}")}${more}`);
  return definition;
}

/** What the planner's performer would give. */
function planOf(
  definition: WorkflowDefinition,
  phases: readonly JsonValue[],
  before: readonly JsonValue[] = [],
): JsonValue {
  if (definition.root.scope !== "phases" || definition.root.plan?.planner.planner === undefined)
    throw new Error("no goal");
  const checked = buildPlannedPhases(phases, { rule: definition.root.plan.planner.planner, done: before });
  if ("faults" in checked) throw new Error(checked.faults.join("; "));
  return { rationale: "because", phases: [...before, ...phases], built: checked.phases as unknown as JsonValue };
}

type Answer = (step: StepEntry, work: JsonObject) => StepOutcome | undefined;

function open(definition: WorkflowDefinition, plan: Answer): EngineHarness {
  return new EngineHarness(definition, {
    inputs: { topic: "rockets" },
    perform: (step, work) => {
      if (step.name === "$plan") return plan(step, work);
      return done({ result: step.name }, { confidence: 0.9 });
    },
  });
}

describe("a goal", () => {
  it("is planned first; then its phases are done, their results merged, and the merged one is the task's", async () => {
    const definition = await load();
    const harness = open(definition, () => done(planOf(definition, PLANNED)));
    expect(harness.run()).toMatchObject({ end: "done" });
    expect(harness.performed).toEqual(["$plan#1", "a#1", "b#1", "author#1", "$consolidate#1"]);
    expect(harness.output).toEqual({ result: "$consolidate" });
    expect(harness.step("main/$plan").work).toMatchObject({
      inline: { prompt: "know rockets", input: { done: 0, phases: [], feedback: "" } },
    });
    const decision = harness.state.decisions[0];
    expect(decision).toMatchObject({ agent: "atlas", type: "plan", rationale: "because" });
    expect(decision?.description).toBe("2 phases: research (a, b); write (author)");
    expect([...harness.state.phases.values()].map(({ name, number }) => [name, number])).toEqual([
      ["research", 1],
      ["write", 2],
    ]);
  });

  it("hands only results to the one who merges that are sure enough", async () => {
    const definition = await load();
    const harness = open(definition, () => done(planOf(definition, PLANNED)));
    const before = harness.perform;
    harness.perform = (step, work, own) =>
      step.name === "b" ? done({ result: "b" }, { confidence: 0.7 }) : before(step, work, own);
    harness.run();
    expect(harness.step("main/$consolidate").work).toMatchObject({
      inline: { uses: ["main/research/a", "main/write/author"] },
    });
  });

  it("E3: crashed after any event is planned once and comes to the same end", async () => {
    const definition = await load();
    const start = (): EngineHarness => {
      const harness = open(definition, () => done(planOf(definition, PLANNED)));
      harness.start();
      return harness;
    };
    const whole = start();
    whole.finish();
    const wanted = storyOf(whole.state, whole.output);
    for (let count = 1; count < whole.events.length; count += 1) {
      const next = whole.crash(count);
      checkState(next.state);
      next.resume({ byPerson: false, crashed: true });
      next.finish();
      checkState(next.state);
      expect(storyOf(next.state, next.output), `after event ${count}`).toEqual(wanted);
      expect(next.of("plan_settled")).toHaveLength(1);
    }
  });

  it("that nobody can plan fails, and a resume plans it", async () => {
    const definition = await load();
    let isBroken = true;
    const harness = open(definition, () =>
      isBroken ? failed("no answer", { retryable: false }) : done(planOf(definition, PLANNED)),
    );
    expect(harness.run()).toMatchObject({
      end: "failed",
      exitStatus: 4,
      reason: expect.stringContaining("no answer") as string,
    });
    isBroken = false;
    harness.resume({ byPerson: true });
    expect(harness.finish()).toMatchObject({ end: "done" });
  });

  it("is merged by rules where no model merges it, which is a decision, and the task is partial", async () => {
    const definition = await load();
    const harness = open(definition, () => done(planOf(definition, PLANNED)));
    const before = harness.perform;
    harness.perform = (step, work, own) =>
      step.name === "$consolidate" ? failed("silent", { retryable: false }) : before(step, work, own);
    expect(harness.run()).toMatchObject({ end: "partial" });
    expect(harness.state.decisions.at(-1)).toMatchObject({ agent: "atlas", type: "consolidate_by_rules" });
  });
});

describe("a plan that a person agrees to", () => {
  const APPROVE = "plan: {approve: true}\n";

  it("waits, is planned anew with what the person says, and is followed when agreed to", async () => {
    const definition = await load(APPROVE);
    const harness = open(definition, (step) => done(planOf(definition, step.visit === 1 ? PLANNED : [OTHER])));
    expect(harness.run()).toMatchObject({ end: "waiting", exitStatus: 20 });
    const [first] = harness.openQuestions;
    expect(first).toMatchObject({
      kind: "plan",
      text: "the plan has 2 phases: research (a, b); write (author)\nbecause",
    });
    harness.resume({ byPerson: true });
    harness.answer(first!, "revise", { change: "shorter" });
    harness.finish();
    expect(harness.step("main/$plan", 2).work).toMatchObject({
      inline: { input: { feedback: "shorter", phases: [] } },
    });
    harness.resume({ byPerson: true });
    harness.answer(harness.openQuestions[0]!, "follow");
    expect(harness.finish()).toMatchObject({ end: "done" });
    expect(harness.performed.filter((name) => !name.startsWith("$"))).toEqual(["reader#1"]);
  });

  it("is not followed when it is stopped", async () => {
    const definition = await load(APPROVE);
    const harness = open(definition, () => done(planOf(definition, PLANNED)));
    harness.run();
    harness.resume({ byPerson: true });
    harness.answer(harness.openQuestions[0]!, "stop");
    expect(harness.finish()).toMatchObject({ end: "stopped" });
    expect(harness.performed).toEqual(["$plan#1"]);
  });
});

describe("a plan that is looked at again", () => {
  const REPLAN = "plan: {replan: true}\n";

  it("may change what is left: what is done stays, and the change is a decision", async () => {
    const definition = await load(REPLAN);
    const harness = open(definition, (step, work) => {
      const { done: count, phases } = work["input"] as { done: number; phases: JsonValue[] };
      if (count === 0) return done(planOf(definition, PLANNED));
      return step.visit === 2
        ? done(planOf(definition, [OTHER], phases.slice(0, count)))
        : done({ rationale: "fine", keep: true });
    });
    expect(harness.run()).toMatchObject({ end: "done" });
    expect(harness.performed).toEqual(["$plan#1", "a#1", "b#1", "$plan#1", "reader#1", "$consolidate#1"]);
    expect(harness.state.decisions.filter(({ subject }) => subject === "main/$plan").map(({ type }) => type)).toEqual([
      "plan",
      "replan",
    ]);
  });

  it.each<[string, StepOutcome]>([
    ["keeps it", done({ rationale: "fine", keep: true })],
    ["says nothing of use", failed("silent", { retryable: false })],
  ])("stays as it is where the planner %s", async (_how, answer) => {
    const definition = await load(REPLAN);
    const harness = open(definition, (step) => (step.visit === 1 ? done(planOf(definition, PLANNED)) : answer));
    expect(harness.run()).toMatchObject({ end: "done" });
    expect(harness.performed).toEqual(["$plan#1", "a#1", "b#1", "$plan#1", "author#1", "$consolidate#1"]);
    expect(harness.state.decisions.find(({ type }) => type === "keep_plan")).toMatchObject({ agent: "atlas" });
  });
});
