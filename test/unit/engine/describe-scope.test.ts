import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import type { BlobRef } from "../../../src/engine/model/value-ref.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import {
  command,
  machine,
  model,
  parallel,
  phase,
  phases,
  scorer,
  set,
  workflow,
} from "../../support/workflow-builder.js";

/** What a last step's template gives after a small workflow. */
function seen(template: JsonValue, options: { readonly secrets?: readonly string[] } = {}): JsonValue | undefined {
  const pair = parallel("pair", [model("l"), model("r")], {
    failureMode: "continue_on_error",
    routes: [{ to: "inner" }],
  });
  const inner = machine("inner", [model("deep")], { routes: [{ to: "last" }] });
  const last = set("last", { value: template, secrets: options.secrets ?? [] });
  const flow = workflow(machine("main", [model("a", { routes: [{ to: "pair" }] }), pair, inner, last]));
  const harness = new EngineHarness(flow, {
    inputs: { who: "you" },
    perform: (step, work) => {
      if (step.name === "r") return failed("r is down");
      return done(step.name === "last" ? (work["value"] ?? null) : { from: step.name });
    },
  });
  harness.start();
  harness.changeChannel({ op: "append", key: "log", value: "x" });
  harness.finish();
  return harness.state.outputs.get("main/last")?.value === undefined
    ? undefined
    : (harness.step("main/last").output as { inline: JsonValue }).inline;
}

describe("what templates see", () => {
  it.each<[string, JsonValue]>([
    ["{{ workflow.input.who }}", "you"],
    ["{{ workflow.name }}", "test"],
    ["{{ workflow.dir }}", "/work/flow"],
    ["{{ context.history }}", ["a", "pair", "deep"]],
    ["{{ context.iteration }}", 3],
    ["{{ channel.log }}", ["x"]],
    ["{{ a.output.from }}", "a"],
    ["{{ pair.outputs.l.from }}", "l"],
    ["{{ pair.errors.r.message }}", "r is down"],
    ["{{ inner.output.from }}", "deep"],
    ["{{ deep.output.from }}", "deep"],
    ["{{ feedback | length }}", 0],
    ["{{ nobody is defined }}", false],
    ["{{ outputs is defined }}", false],
  ])("%s", (template, value) => {
    expect(seen(template)).toEqual(value);
  });

  it("keeps a secret as a placeholder that is filled at the moment of use", () => {
    expect(seen("token {{ secrets.API_KEY }}", { secrets: ["API_KEY"] })).toBe("token {{ secrets.API_KEY }}");
  });

  it("gives scorers the outputs of their phase and its claimed confidence", () => {
    const works: JsonValue[] = [];
    const evaluate = {
      approve: 90,
      reject: 50,
      maxIterations: 5,
      weights: { x: 1 },
      scorers: [
        scorer("x", {
          scorer: { by: "expression", expression: "{{ outputs.a.n + phase.confidence * 10 + phase.iteration }}" },
        }),
      ],
    };
    const harness = new EngineHarness(workflow(phases("main", [phase(1, "p", [model("a")], { evaluate })])), {
      perform: (step, work) => {
        works.push(work);
        return step.kind === "scorer" ? done(work["score"] ?? null) : done({ n: 80 }, { confidence: 0.9 });
      },
    });
    harness.run();
    expect(works.at(-1)).toMatchObject({ dimension: "x", score: 90, uses: ["main/p/a"] });
  });
});

describe("large values", () => {
  it("are asked for before the choice is made, and only where a template names them", () => {
    const ref: BlobRef = { key: "k1", sizeBytes: 300_000, digest: "d1" };
    const flow = workflow(
      machine("main", [
        model("a", { routes: [{ to: "b" }] }),
        model("b", { routes: [{ to: "c", when: "{{ a.output.big == 'x' }}" }] }),
        command("c", { command: ["echo", "{{ a.output.big }}"] }),
      ]),
    );
    const harness = new EngineHarness(flow, { perform: () => done("ok") });
    harness.blobs.set("k1", { big: "x" });
    harness.start();
    const loads: number[] = [];
    const submit = (name: string) => {
      const step = harness.step(`main/${name}`);
      const output = name === "a" ? { output: { blob: ref } } : {};
      harness.submit({
        kind: "outcome",
        step: step.id,
        attempt: 1,
        outcome: done("ok"),
        ...output,
        durationMs: 1,
      });
      loads.push(harness.loads);
    };
    submit("a");
    expect(harness.step("main/a").output).toEqual({ blob: ref });
    submit("b");
    expect(loads).toEqual([1, 1]);
    expect(harness.step("main/c").work).toMatchObject({ inline: { command: ["echo", "x"] } });
  });

  it("count in the input hash of a step that uses them by their digest", () => {
    const flow = workflow(phases("main", [phase(1, "p", [model("a"), command("b", { dependsOn: ["a"] })])]));
    const hashes = ["d1", "d2", "d1"].map((digest) => {
      const harness = new EngineHarness(flow);
      harness.start();
      const step = harness.step("main/p/a");
      const output = { blob: { key: "k", sizeBytes: 1, digest } };
      harness.submit({
        kind: "outcome",
        step: step.id,
        attempt: 1,
        outcome: done(null),
        output,
        durationMs: 1,
      });
      return harness.step("main/p/b").inputHash;
    });
    expect(hashes[0]).toBe(hashes[2]);
    expect(hashes[0]).not.toBe(hashes[1]);
  });
});
