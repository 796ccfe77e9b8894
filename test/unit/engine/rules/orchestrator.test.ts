/** The orchestrator in model mode: a model chooses among what is allowed, and the rules where it does not. */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../../src/base/json.js";
import type { StepOutcome } from "../../../../src/engine/model/ports.js";
import { textOf } from "../../../../src/engine/reports/confidence-text.js";
import { done, EngineHarness, failed } from "../../../support/engine-harness.js";
import { storyOf } from "../../../support/eventful-task.js";
import { checkState } from "../../../support/state-check.js";
import { loadText } from "../../../support/workflow-files.js";

const FILE = `workflow: {name: t, runtime: {provider: local}}
atlas: {mode: model, model: chooser}
phases:
  - {name: look, confidence: {minimum: 0.75, spawn_max: 1}, specialists: [{name: a, prompt: look}, {name: b, prompt: look}]}
  - {name: tell, specialists: [{name: c, prompt: tell}]}
`;
const say = (choice: string, rationale = "it is enough"): StepOutcome => done({ choice, rationale });

async function open(
  choose: (visit: number, prompt: JsonValue | undefined, path: string) => StepOutcome,
): Promise<EngineHarness> {
  const { definition } = await loadText(FILE);
  return new EngineHarness(definition, {
    perform: (step, work) => {
      if (step.name === "$atlas") return choose(step.visit, work["prompt"], step.path);
      const confidence = step.name === "a" ? 0.6 : step.name.startsWith("a-") ? 0.9 : 0.8;
      return done({ result: step.name }, { confidence, uncertainties: step.name === "a" ? ["the year"] : [] });
    },
  });
}

describe("a model that chooses for the orchestrator", () => {
  it("is told the figures, what is uncertain, what is allowed and what the rules would choose", async () => {
    const prompts: JsonValue[] = [];
    const harness = await open((_visit, prompt) => (prompts.push(prompt ?? null), say("proceed")));
    harness.run();
    const [first] = prompts;
    expect(first).toContain("Phase look: confidence 0.68 (mean 0.7 after 0.02 for 1 uncertainties), minimum 0.75");
    expect(first).toContain("Least sure: a.");
    expect(first).toContain("- a: the year");
    expect(first).toContain("The rules would choose spawn_specialist.");
    expect(first).toContain("proceed, proceed_flagged, spawn_specialist, spawn_specialists, halt");
    expect(harness.step("main/look/$atlas").work).toMatchObject({ inline: { provider: "local", model: "chooser" } });
  });

  it("is followed, with its reason, and going on below the minimum leaves the task partial", async () => {
    const harness = await open(() => say("proceed"));
    expect(harness.run()).toMatchObject({ end: "partial" });
    expect(harness.performed).toEqual(["a#1", "b#1", "$atlas#1", "c#1", "$atlas#1"]);
    const [decision] = harness.state.decisions;
    expect(decision).toMatchObject({
      agent: "atlas",
      type: "proceed",
      orchestrator: "main/look/$atlas@1.1",
    });
    expect(decision?.rationale).toMatch(/^chosen by a model: it is enough; confidence 0\.68/);
  });

  it("is asked anew for the next choice, and no longer offered what is used up", async () => {
    const prompts: JsonValue[] = [];
    const harness = await open((visit, prompt, path) => {
      prompts.push(prompt ?? null);
      return say(path.includes("look") && visit === 1 ? "spawn_specialist" : "proceed");
    });
    expect(harness.run()).toMatchObject({ end: "done" });
    expect(harness.performed.slice(0, 5)).toEqual(["a#1", "b#1", "$atlas#1", "a-more#1", "$atlas#1"]);
    expect(prompts[1]).toContain("Choose what follows: proceed, proceed_flagged, halt.");
  });

  it.each<[string, StepOutcome, string]>([
    [
      "chooses what there is not",
      say("celebrate"),
      'the model chose "celebrate", which is not allowed, so the rules do',
    ],
    ["is silent", failed("no answer", { retryable: false }), "the model did not choose (no answer), so the rules do"],
    ["breaks", failed("overloaded"), "the model did not choose (overloaded), so the rules do"],
  ])("that %s leaves the choice to the rules, and the decision says so", async (_how, answer, words) => {
    const harness = await open(() => answer);
    expect(harness.run()).toMatchObject({ end: "done" });
    const [decision] = harness.state.decisions;
    expect(decision).toMatchObject({ type: "spawn_specialist" });
    expect(decision?.rationale).toContain(words);
  });

  it("may halt where the rules would not, and a person is asked", async () => {
    const harness = await open((_visit, _prompt, path) =>
      path.includes("look") ? say("halt", "I doubt it") : say("proceed"),
    );
    expect(harness.run()).toMatchObject({ end: "waiting", exitStatus: 20 });
    harness.resume({ byPerson: true });
    harness.answer(harness.openQuestions[0]!, "proceed");
    expect(harness.finish()).toMatchObject({ end: "done" });
  });

  it("E3: crashed after any event is asked once for each choice, and comes to the same end", async () => {
    const choose = (visit: number, _prompt: JsonValue | undefined, path: string) =>
      say(path.includes("look") && visit === 1 ? "spawn_specialist" : "proceed_flagged");
    const whole = await open(choose);
    whole.start();
    whole.finish();
    const wanted = storyOf(whole.state, whole.output);
    for (let count = 1; count < whole.events.length; count += 1) {
      const next = whole.crash(count);
      next.resume({ byPerson: false, crashed: true });
      next.finish();
      expect(storyOf(next.state, next.output), `after event ${count}`).toEqual(wanted);
    }
  });
});

const RESTARTS = `workflow: {name: t, runtime: {provider: local}}
atlas: {mode: model}
phases:
  - {name: look, restart: {max_attempts: 1, otherwise: OTHERWISE}, specialists: [{name: a, prompt: look}, {name: b, prompt: look}]}
  - {name: tell, specialists: [{name: c, prompt: tell}]}
`;

/** `a` fails until the phase starts over; the model chooses of failures what is given, and proceeds elsewhere. */
async function openFailing(
  otherwise: string,
  choose: (prompt: string) => StepOutcome,
  prompts: string[] = [],
): Promise<EngineHarness> {
  const { definition } = await loadText(RESTARTS.replace("OTHERWISE", otherwise));
  return new EngineHarness(definition, {
    perform: (step, work) => {
      if (step.name === "a") return step.round === 1 ? failed("no data") : done("a", { confidence: 0.9 });
      if (step.name !== "$atlas") return done(step.name, { confidence: 0.9 });
      const prompt = textOf(work["prompt"] ?? "");
      prompts.push(prompt);
      return prompt.includes("go_on_without") ? choose(prompt) : say("proceed_flagged");
    },
  });
}
const choices = ({ state }: EngineHarness) => state.decisions.map(({ type }) => type);

describe("a model that chooses what follows failed specialists", () => {
  it("is asked once restarts are used up, told the failure, what may follow and what the rules would choose", async () => {
    const prompts: string[] = [];
    const harness = await openFailing("continue", () => say("give_up"), prompts);
    harness.run();
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toContain("Phase look (a, b): a failed after 1 restart: STEP_FAILED: no data.");
    expect(prompts[0]).toContain("The rules would choose go_on_without.");
    expect(prompts[0]).toContain("Choose what follows: go_on_without, roll_back, give_up.");
    expect(harness.performed).toEqual(["a#1", "b#1", "a#2", "$atlas#1"]);
  });

  it.each([
    ["go_on_without", "fail", 3, ["restart_specialist", "go_on_without", "proceed_flagged", "proceed_flagged"]],
    ["roll_back", "fail", 0, ["restart_specialist", "roll_back", "proceed_flagged", "proceed_flagged"]],
    ["give_up", "continue", 4, ["restart_specialist", "give_up"]],
    ["give_up", "rollback", 4, ["restart_specialist", "give_up"]],
  ])("and chooses %s where the rules would %s ends the task with %d", async (way, otherwise, exitStatus, types) => {
    const harness = await openFailing(otherwise, () => say(way, "because"));
    expect(harness.run().exitStatus).toBe(exitStatus);
    expect(choices(harness)).toEqual(types);
    expect(harness.state.decisions[1]).toMatchObject({ type: way, orchestrator: "main/look/$atlas@1.1" });
    expect(harness.state.decisions[1]?.rationale).toContain("chosen by a model: because; ");
    expect(harness.state.blocked.size).toBe(way === "give_up" ? 1 : 0);
    checkState(harness.state);
  });

  it.each([
    ["go_on_without", "continue", "go_on_without"],
    ["fail", "fail", "give_up"],
    ["rollback", "rollback", "roll_back"],
  ])("and chooses nothing of use leaves it to the rules: %s", async (_name, otherwise, way) => {
    for (const answer of [say("celebrate"), failed("overloaded")]) {
      const harness = await openFailing(otherwise, () => answer);
      harness.run();
      expect(choices(harness)[1]).toBe(way);
      expect(harness.state.decisions[1]?.rationale).toContain("so the rules do; ");
    }
  });

  it("is not asked where there is but one way to go", async () => {
    const { definition } = await loadText(
      RESTARTS.replace("OTHERWISE", "fail").replace(", {name: b, prompt: look}", ""),
    );
    const nested = new EngineHarness(definition, {
      perform: (step) => (step.name === "a" ? failed() : say("roll_back")),
    });
    expect(nested.run().exitStatus).toBe(4);
    // Rolled back as often as is allowed, the phase can only give up.
    expect(choices(nested)).toEqual(["restart_specialist", "roll_back", "restart_specialist", "give_up"]);
    expect(nested.performed.filter((name) => name.startsWith("$atlas"))).toHaveLength(1);
  });

  it("is asked anew when a person went on with what was given up, and it failed again", async () => {
    const harness = await openFailing("fail", () => say("give_up"));
    expect(harness.run().exitStatus).toBe(4);
    harness.resume({ byPerson: true });
    expect(harness.finish().exitStatus).toBe(4);
    expect(harness.performed.filter((name) => name.startsWith("$atlas"))).toHaveLength(2);
  });

  it.each(["go_on_without", "roll_back", "give_up"])(
    "E3: crashed after any event is asked once, and comes to the same end: %s",
    async (way) => {
      const whole = await openFailing("fail", () => say(way));
      whole.start();
      whole.finish();
      const wanted = storyOf(whole.state, whole.output);
      for (let count = 1; count < whole.events.length; count += 1) {
        const next = whole.crash(count);
        next.resume({ byPerson: false, crashed: true });
        next.finish();
        expect(storyOf(next.state, next.output), `after event ${count}`).toEqual(wanted);
      }
    },
  );
});
