/** Groups among the specialists of a phase: lists, dags, machines, parallel groups and nested workflows count as one. */
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/base/json.js";
import type { PhaseScope } from "../../../src/definition/model/workflow.js";
import { done, EngineHarness, failed, type HarnessOptions } from "../../support/engine-harness.js";
import { checkState } from "../../support/state-check.js";
import {
  dag,
  forEach,
  machine,
  model,
  nested,
  parallel,
  phase,
  phases,
  scorer,
  set,
  workflow,
} from "../../support/workflow-builder.js";

const EACH = { source: "{{ ['a', 'b', 'c'] }}" };

/** A phase with a list, and one after it that reads what came of it. */
function listed(options: Partial<PhaseScope>, given: HarnessOptions = {}, each: Parameters<typeof forEach>[2] = EACH) {
  const work = phase(1, "p", [forEach("each", model("w"), each), model("alone")], options);
  const read = phase(2, "q", [set("all", { value: "{{ each.outputs | length }}" })]);
  return new EngineHarness(workflow(phases("main", [work, read])), given);
}

const outputsOf = (harness: EngineHarness, path: string): JsonObject => {
  const value = harness.state.outputs.get(path)?.value;
  return value !== undefined && "inline" in value ? ((value.inline as JsonObject)["outputs"] as JsonObject) : {};
};

describe("groups among the specialists of a phase", () => {
  it("[first-use F3.2] run as one specialist each, and later phases read what they gave", () => {
    const seen: JsonValue[] = [];
    const groups = [
      forEach("each", model("w"), EACH),
      dag("sides", [model("left"), model("right", { dependsOn: ["left"] })], { dependsOn: ["each"] }),
      parallel("both", [model("one"), model("two")]),
      machine("ways", [model("first", { routes: [{ to: "second" }] }), model("second")]),
      nested("inner", machine("main", [model("deep")])),
    ];
    const read = model("read", {
      input: { each: "{{ each.outputs }}", right: "{{ sides.outputs.right }}", deep: "{{ inner.output }}" },
    });
    const harness = new EngineHarness(workflow(phases("main", [phase(1, "p", groups), phase(2, "q", [read])])), {
      perform: (step, work) => (step.name === "read" ? (seen.push(work["input"] ?? null), done(1)) : done(step.name)),
    });
    expect(harness.run().exitStatus).toBe(0);
    expect(seen).toEqual([{ each: ["w", "w", "w"], right: "right", deep: "deep" }]);
    expect(Object.keys(outputsOf(harness, "main/p"))).toEqual(["each", "sides", "both", "ways", "inner"]);
    checkState(harness.state);
  });

  it("count in the confidence of the phase by the steps in them", () => {
    const claims: Readonly<Record<string, number>> = { "0": 0.9, "1": 0.8, "2": 0.7 };
    const harness = listed(
      {},
      {
        perform: ({ name, path }) => done(name, { confidence: name === "w" ? (claims[path.slice(-2, -1)] ?? 1) : 1 }),
      },
    );
    expect(harness.run().exitStatus).toBe(0);
    // The list counts as its mean, 0.8, the other as 1.
    expect(harness.state.phases.get("main/p")?.confidence).toBeCloseTo(0.9, 5);
  });

  it("are never done once more for a low confidence: another specialist is, or a person is asked", () => {
    const alone = new EngineHarness(workflow(phases("main", [phase(1, "p", [forEach("each", model("w"), EACH)])])), {
      perform: ({ name }) => done(name, { confidence: 0.7 }),
    });
    // Between the bands: nobody can be added, so it goes on below its minimum.
    expect(alone.run().exitStatus).toBe(3);
    expect(alone.performed).toHaveLength(3);
    const beside = listed({}, { perform: ({ name }) => done(name, { confidence: name === "w" ? 0.5 : 0.9 }) });
    beside.run();
    expect(beside.performed).toContain("alone-more#1");
  });

  it("stop the task at what failed in them; a resume does that alone again", () => {
    const harness = listed({}, { perform: ({ path, name }) => (path.endsWith("[1]") ? failed() : done(name)) });
    expect(harness.run().exitStatus).toBe(4);
    const next = harness.crash(undefined, { perform: ({ name }) => done(name) });
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
    // The third was ended with the second.
    expect(next.performed.filter((name) => name.startsWith("w"))).toEqual(["w#2", "w#2"]);
    expect(outputsOf(next, "main/p/each")).toEqual(["w", "w", "w"]);
  });

  it("are gone on without where that is configured, with half the certainty", () => {
    const restart = { maxAttempts: 0, otherwise: "continue" as const };
    const harness = listed(
      { restart },
      { perform: ({ name }) => (name === "w" ? failed("gone") : done(name, { confidence: 0.98 })) },
    );
    expect(harness.run().exitStatus).toBe(3);
    expect(harness.state.phases.get("main/p")?.confidence).toBe(0.74);
    expect(harness.state.outputs.get("main/p")?.value).toMatchObject({
      inline: { errors: { each: { message: "gone" } } },
    });
  });

  it("fail the phase, and stay open for a resume, where nothing else was done", () => {
    const restart = { maxAttempts: 0, otherwise: "continue" as const };
    const flow = workflow(phases("main", [phase(1, "p", [forEach("each", model("w"), EACH)], { restart })]));
    const harness = new EngineHarness(flow, { perform: () => failed() });
    expect(harness.run().exitStatus).toBe(4);
    const next = harness.crash(undefined, { perform: ({ name }) => done(name) });
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
  });

  it("start over with their phase where that is configured", () => {
    let broken = 1;
    const harness = listed(
      { restart: { maxAttempts: 1, otherwise: "rollback" } },
      { perform: ({ path, name }) => (path.endsWith("[2]") && broken-- > 0 ? failed() : done(name)) },
    );
    expect(harness.run().exitStatus).toBe(0);
    expect(harness.state.round).toBe(2);
    expect(outputsOf(harness, "main/p/each")).toEqual(["w", "w", "w"]);
  });

  it("are tried again by a resume after a model gave the phase up", () => {
    const orchestrator = { ...model("$atlas"), path: "main/p/$atlas" };
    const flow = workflow(
      phases("main", [
        phase(1, "p", [forEach("each", model("w"), EACH), model("alone")], {
          restart: { maxAttempts: 0, otherwise: "continue" },
          orchestrator,
        }),
      ]),
    );
    const harness = new EngineHarness(flow, {
      perform: ({ name }) =>
        name === "$atlas" ? done({ choice: "give_up", rationale: "no" }) : name === "w" ? failed() : done(name),
    });
    expect(harness.run().exitStatus).toBe(4);
    const next = harness.crash(undefined, { perform: ({ name }) => done(name) });
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed.filter((name) => name.startsWith("w"))).toHaveLength(3);
  });

  it("are kept as they were in the best iteration, with what is in them", () => {
    const scores = [70, 60, 55];
    let iteration = 0;
    const evaluate = {
      approve: 90,
      reject: 50,
      maxIterations: 3,
      weights: { quality: 1 },
      scorers: [scorer("quality")],
    };
    const harness = listed(
      { evaluate },
      {
        perform: ({ name, kind, visit }) => {
          if (kind !== "scorer") return done(`${name}${visit}`, { confidence: visit === 1 ? 0.9 : 0.6 });
          iteration += 1;
          return done({ score: scores[iteration - 1] ?? 0 });
        },
      },
    );
    expect(harness.run().exitStatus).toBe(3);
    expect(outputsOf(harness, "main/p/each")).toEqual(["w1", "w1", "w1"]);
    const inner = harness.state.outputs.get("main/p/each/w[2]")?.value;
    expect(inner).toEqual({ inline: "w1" });
    // What was claimed then, less what the score of 70 makes of it.
    expect(harness.state.phases.get("main/p")?.confidence).toBe(0.72);
  });

  it("give the same whatever the event after which the owner is killed", () => {
    const perform: HarnessOptions["perform"] = ({ name, kind, visit }) =>
      kind === "scorer" ? done({ score: visit === 1 ? 70 : 95 }) : done(`${name}${visit}`, { confidence: 0.9 });
    const evaluate = {
      approve: 90,
      reject: 50,
      maxIterations: 3,
      weights: { quality: 1 },
      scorers: [scorer("quality")],
    };
    const whole = listed({ evaluate }, { perform });
    expect(whole.run().exitStatus).toBe(0);
    for (let count = 1; count < whole.events.length; count += 1) {
      const next = whole.crash(count, { perform });
      if (next.closed === undefined) next.resume({ crashed: true, byPerson: false });
      expect([count, next.finish().exitStatus, outputsOf(next, "main/p/each")]).toEqual([count, 0, ["w2", "w2", "w2"]]);
      checkState(next.state);
    }
  });
});
