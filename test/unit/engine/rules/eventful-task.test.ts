/** One task in which every rule acts, undisturbed and crashed after each of its events. */
import { describe, expect, it } from "vitest";
import type { EngineEventType } from "../../../../src/engine/model/events.js";
import { done, EngineHarness } from "../../../support/engine-harness.js";
import {
  createEventfulWorkflow,
  performEventfully,
  settleEventfully,
  storyOf,
} from "../../../support/eventful-task.js";
import { checkState } from "../../../support/state-check.js";

function start(): EngineHarness {
  const harness = new EngineHarness(createEventfulWorkflow(), { perform: performEventfully });
  harness.start();
  return harness;
}
const story = (harness: EngineHarness) => storyOf(harness.state, harness.output);

describe("a task in which every rule acts", () => {
  const whole = settleEventfully(start());

  it("makes every kind of choice, each with time, agent, type, description, rationale and alternatives", () => {
    const chosen = new Set(whole.state.decisions.map(({ agent, type }) => `${agent.split(":")[0]} ${type}`));
    for (const wanted of [
      "atlas proceed",
      "atlas proceed_flagged",
      "atlas spawn_specialist",
      "atlas spawn_specialists",
      "atlas halt",
      "atlas restart_specialist",
      "atlas go_on_without",
      "atlas roll_back",
      "apollo iterate",
      "apollo keep_best",
      "apollo approve",
      "person answer",
    ])
      expect(chosen).toContain(wanted);
    for (const decision of whole.state.decisions) {
      expect(decision.atMs).toBeGreaterThan(0);
      expect(decision.description).not.toBe("");
      expect(decision.rationale).not.toBe("");
      expect(decision.alternativesConsidered.length, decision.type).toBeGreaterThan(0);
      expect(decision.alternativesConsidered).not.toContain(decision.type);
    }
  });

  it("comes to the end the rules say", () => {
    expect(whole.closed).toMatchObject({ end: "partial", exitStatus: 3 });
    expect(whole.state.round).toBe(2);
    const confidences = Object.fromEntries(story(whole).confidences.map((row) => [(row as unknown[])[0], row]));
    expect(confidences).toMatchObject({
      improve: ["improve", 0.635, 0],
      polish: ["polish", 0.9, 0],
      deliver: ["deliver", 0.88, 1],
      doubt: ["doubt", 0.3, 0],
      narrow: ["narrow", 0.8, 0],
    });
    expect(whole.state.deliverables.get("phases/phase2/draft.md")?.content).toEqual({ inline: "draft 2" });
    expect(whole.step("main/polish/author").work).toMatchObject({ inline: { input: { draft: 2 } } });
  });

  it("lowers and flags claims that the score does not bear out, in words and in numbers", () => {
    const decision = whole.state.decisions.find(
      ({ agent, subject, type }) => agent === "atlas" && subject === "main/improve" && type === "proceed_flagged",
    );
    expect(decision?.facts?.["calibrations"]).toEqual([
      { specialist: "draft", claimed: 0.95, measured: 0.85, counted: 0.76, quality: 75 },
      { specialist: "boast", claimed: 0.6, measured: 0.85, counted: 0.6, gap: 0.25 },
    ]);
    expect(decision?.rationale).toContain("draft claimed 0.95 with a quality of 75: counted as 0.76");
    expect(decision?.rationale).toContain("boast claimed 0.6, measured 0.85: a gap of 0.25");
  });

  it("E3: crashed after any of its events makes the same decisions, checkpoints, scores and files", () => {
    const wanted = story(whole);
    const kinds = new Set<EngineEventType>();
    for (let count = 1; count < whole.events.length; count += 1) {
      const event = whole.events[count - 1];
      if (event === undefined) continue;
      const next = whole.crash(count);
      if (next.closed !== undefined && next.closed.end !== "waiting") continue;
      checkState(next.state);
      next.resume({ byPerson: false, crashed: true });
      settleEventfully(next);
      checkState(next.state);
      expect(story(next), `after event ${count}, ${event.type}`).toEqual(wanted);
      kinds.add(event.type);
    }
    for (const kind of [
      "step_intended",
      "step_spawned",
      "step_completed",
      "step_failed",
      "decision_made",
      "question_opened",
      "score_recorded",
      "evaluation_completed",
      "iteration_started",
      "rolled_back",
      "scope_left",
      "checkpoint_recorded",
    ] as const)
      expect(kinds).toContain(kind);
  });

  it("rescores only what is missing after a crash between two scorers, with the rubric and the weights it had", () => {
    const first = whole.events.findIndex(
      (event) => event.type === "step_completed" && event.step === "main/improve/$evaluate/quality@1.1",
    );
    const next = whole.crash(first + 1);
    const asked: string[] = [];
    next.perform = (step) => {
      asked.push(step.name);
      return step.kind === "scorer" && step.visit === 1 ? done(60) : performEventfully(step);
    };
    next.resume({ byPerson: false, crashed: true });
    while (next.performOne() && !next.events.some((event) => event.type === "evaluation_completed"));
    expect(asked[0]).toBe("speed");
    expect(asked).not.toContain("quality");
    expect(next.of("evaluation_completed")[0]).toMatchObject({ score: 60, verdict: "iterate" });
  });
});
