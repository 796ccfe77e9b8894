import { describe, expect, it } from "vitest";
import { planResume } from "../../../src/runtime/verbs/plan.js";
import type { StepEntry } from "../../../src/engine/model/state.js";
import type { ReloadedWorkflow } from "../../../src/runtime/tasks/workflow-loading.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { forEach, gate, machine, model, phase, phases, scorer, set, workflow } from "../../support/workflow-builder.js";

const twoPhases = (second: string) =>
  workflow(phases("main", [phase(1, "p", [model("a")]), phase(2, second, [model("b")])]));

describe("the plan of a resume", () => {
  it("runs a failed step again, but not under a name that the file does not have any more", () => {
    const harness = new EngineHarness(twoPhases("q"), {
      perform: ({ name }) => (name === "b" ? failed() : done(name)),
    });
    harness.run();
    const planFor = (second: string, changes: ReloadedWorkflow["changes"]) => {
      const reloaded = {
        workflow: { definition: twoPhases(second) },
        file: "f",
        isChanged: true,
        changes,
        notices: [],
      };
      return planResume(harness.state, reloaded as unknown as ReloadedWorkflow);
    };
    expect(planFor("q", [])).toMatchObject({ to_run: [], to_rerun: [{ step: "main/q/b@1.1" }] });
    for (const changes of [[{ path: "main/q", how: "renamed to main/r" }], [{ path: "main/q/b", how: "removed" }]])
      expect(planFor("r", changes)).toMatchObject({ to_run: ["main/r/b"], to_rerun: [] });
  });

  it("names the evaluation before it, and in every iteration what it scores again and who works again", () => {
    const evaluate = { approve: 90, reject: 50, maxIterations: 5, weights: {}, scorers: [scorer("quality")] };
    const flow = workflow(
      phases("main", [
        phase(1, "p", [model("a"), model("b", { dependsOn: ["a"] })], { evaluate }),
        phase(2, "q", [model("c")]),
      ]),
    );
    const planAt = (stopAt: string) => {
      const perform = ({ name, kind, visit }: StepEntry) => {
        if (`${name}.${visit}` === stopAt) return undefined;
        return kind === "scorer" ? done(60) : done(name, { confidence: 0.95 });
      };
      const harness = new EngineHarness(flow, { perform });
      harness.start();
      while (harness.performOne());
      const now = { workflow: { definition: harness.state.task?.definition }, changes: [] };
      return planResume(harness.state, now as unknown as ReloadedWorkflow);
    };
    const [scored, later] = ["main/p/$evaluate/quality", "main/q/c"];
    const early = planAt("a.1");
    expect(early.to_run).toEqual(["main/p/b", scored, later]);
    const iterated = "iteration 2 of its phase";
    const under = "it was under way and may run twice without harm (effects: none)";
    expect(planAt("a.2")).toMatchObject({
      to_run: [later],
      to_rerun: [
        { step: "main/p/a@1.2", why: under },
        { step: "main/p/b@1.2", why: iterated },
        { step: `${scored}@1.2`, why: iterated },
      ],
    });
    expect(planAt("quality.2").to_rerun.map(({ step }) => step)).toEqual([`${scored}@1.2`]);
  });

  it("tells apart what runs and what only may, and asks again what a person did not answer", () => {
    const hook = (name: string) => ({ step: { ...set(name, { value: 1 }), path: `main/$hooks/${name}` } });
    const flow = workflow(machine("main", [gate("ok", [{ value: "yes", route: "$end" }])]), {
      hooks: { on_complete: hook("on_complete"), on_error: hook("on_error") },
    });
    const harness = new EngineHarness(flow);
    harness.start();
    while (harness.performOne());
    const now = { workflow: { definition: flow }, changes: [] };
    expect(planResume(harness.state, now as unknown as ReloadedWorkflow)).toMatchObject({
      to_run: ["main/$hooks/on_complete"],
      may_run: [{ step: "main/$hooks/on_error", when: "if a failure stops it" }],
      to_rerun: [{ step: "main/ok@1.1", why: "it waits for an answer" }],
    });
  });

  it("names the body of a for_each as long as items are left", () => {
    const each = forEach("each", model("one"), { source: "{{ workflow.input.list }}", maxConcurrent: 1 });
    const flow = workflow(machine("main", [each]));
    const planAfter = (items: number) => {
      const perform = ({ path }: StepEntry) => (Number(/\[(\d)\]/.exec(path)?.[1]) < items ? done(1) : undefined);
      const harness = new EngineHarness(flow, { perform, inputs: { list: [1, 2, 3] } });
      harness.start();
      while (harness.performOne());
      const now = { workflow: { definition: harness.state.task?.definition }, changes: [] };
      return planResume(harness.state, now as unknown as ReloadedWorkflow).to_run;
    };
    expect([1, 2, 3].map(planAfter)).toEqual([["main/each/one"], [], []]);
  });
});
