/** Names that begin alike, and places that lie inside each other: each is itself and nothing else. */
import { describe, expect, it } from "vitest";
import { createBudget } from "../../../src/engine/rules/steps/start.js";
import { createChoice } from "../../../src/engine/model/choice.js";
import { evolve } from "../../../src/engine/fold/evolve.js";
import { findPhase, ownPhaseNumber } from "../../../src/engine/model/lookup.js";
import { askOrchestrator } from "../../../src/engine/rules/phases/orchestrator.js";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { machine, model, parallel, phase, phases, workflow } from "../../support/workflow-builder.js";
import { loadText } from "../../support/workflow-files.js";

describe("members of a group whose names begin alike", () => {
  it("[reliability E09] do not see each other's outputs", () => {
    const second = model("second", { prompt: "{{ before is defined }} {{ other is defined }}" });
    const members = [machine("ab", [model("other")]), machine("a", [second])];
    const flow = workflow(
      machine("main", [model("before", { routes: [{ to: "all" }] }), parallel("all", members, { maxConcurrent: 1 })]),
      { context: { mode: "last_only", trim: "drop_oldest" } },
    );
    const harness = new EngineHarness(flow, { perform: ({ name }) => done(name) });
    harness.run();
    expect(harness.performed).toEqual(["before#1", "other#1", "second#1"]);
    // The newest that it sees is what came before the group, though its sibling was done since.
    const work = harness.step("main/all/a/second").work as { readonly inline: { readonly prompt: string } };
    expect(work.inline.prompt).toBe("True False");
  });
});

describe("a scope inside a phase", () => {
  it("[reliability E03] is not the phase: only the phase itself tells its number", () => {
    const inner = parallel("pair", [model("l"), model("r")]);
    const flow = workflow(phases("main", [phase(1, "look", [inner])]));
    const harness = new EngineHarness(flow, { perform: () => undefined });
    harness.start();
    expect(ownPhaseNumber(harness.state, "main/look")).toBe(1);
    expect(ownPhaseNumber(harness.state, "main/look/pair")).toBeUndefined();
    expect(ownPhaseNumber(harness.state, "main")).toBeUndefined();
  });
});

describe("a model that chooses for the orchestrator and is killed meanwhile", () => {
  const FILE = `workflow: {name: t, runtime: {provider: local}}
atlas: {mode: model, model: chooser}
phases:
  - {name: look, confidence: {minimum: 0.75, spawn_max: 1}, specialists: [{name: a, prompt: look}, {name: b, prompt: look}]}
  - {name: tell, specialists: [{name: c, prompt: tell}]}
`;

  it("[reliability E04] is asked again, and is not taken for one that said nothing", async () => {
    const { definition } = await loadText(FILE);
    const rate = { confidence: 0.6, uncertainties: ["the year"] };
    const harness = new EngineHarness(definition, {
      perform: ({ name }) => (name === "$atlas" ? undefined : done({ result: name }, rate)),
    });
    harness.start();
    while (harness.performOne());
    expect(harness.running.map(({ name }) => name)).toEqual(["$atlas"]);
    const next = harness.crash(undefined, {
      perform: ({ name }) =>
        done(name === "$atlas" ? { choice: "proceed", rationale: "enough" } : { result: name }, rate),
    });
    next.resume();
    expect(next.running.map(({ name, attempt }) => `${name}#${attempt}`)).toEqual(["$atlas#2"]);
    next.finish();
    const [decision] = next.state.decisions.filter(({ agent }) => agent === "atlas");
    expect(decision?.rationale).toMatch(/^chosen by a model: enough/);
  });
});

describe("the call of an orchestrator that was cut off", () => {
  it("[reliability E04] is made again where the choice is asked for, and is no silent model", async () => {
    const { definition } = await loadText(`workflow: {name: t, runtime: {provider: local}}
atlas: {mode: model, model: chooser}
phases: [{name: look, confidence: {minimum: 0.75, spawn_max: 1}, specialists: [{name: a, prompt: look}, {name: b, prompt: look}]}]
`);
    const harness = new EngineHarness(definition, {
      perform: ({ name }) => (name === "$atlas" ? undefined : done(name, { confidence: 0.6 })),
    });
    harness.start();
    while (harness.performOne());
    const { id } = harness.running[0]!;
    const { state, nowMs } = harness;
    evolve(state, { type: "step_cancelled", atMs: nowMs, step: id, attempt: 1, reason: "effects_none" });
    const choice = createChoice(state, harness.context());
    const { node } = findPhase(state, "main/look")!;
    const open = { scope: state.scopes.get("main/look")!, node, budget: createBudget() } as never;
    const asked = askOrchestrator(choice, open, { text: "go?", allowed: ["proceed", "halt"] });
    expect(asked).toMatchObject({ events: [{ type: "step_intended", step: id, attempt: 2 }] });
  });
});

describe("a specialist that may be added", () => {
  it.each(["{{ nosuch.output }}", "{{ workflow.input.nosuch }}", "{{ broken"])(
    "[reliability D03] has its templates checked as any other: %s",
    async (prompt) => {
      const file = `workflow: {name: t, runtime: {provider: local}}
phases:
  - name: look
    confidence: {minimum: 0.75, spawn_max: 1}
    specialists: [{name: a, prompt: look}]
    spawn: {name: more, prompt: "${prompt}"}
`;
      const fault = await loadText(file).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(fault).toMatchObject({ code: "WORKFLOW_INVALID" });
      expect(JSON.stringify(fault)).toContain("spawn");
    },
  );
});
