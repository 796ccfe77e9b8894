/** The types of `defineWorkflow`: what an author's editor accepts, refuses and infers. Checked by tsc, which reads the tests too. */
import { describe, expect, expectTypeOf, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import type { OutputOf } from "../../../src/definition/workflow-types.js";
import type { RunView, Splashdown } from "../../../src/runtime/contract.js";
import { defineWorkflow, type StepFunction, type Workflow } from "../../../src/runtime/define-workflow.js";

type Steps = NonNullable<Workflow["steps"]>;
type StepOf = Steps[number];
type InputOf = NonNullable<Workflow["workflow"]["input"]>[string];

const report = defineWorkflow({
  workflow: { name: "report", input: { topic: { type: "string" }, count: { type: "number", required: false } } },
  tools: [
    {
      name: "look_up",
      function: ({ input, signal }) => {
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        return input["word"];
      },
    },
  ],
  steps: [
    {
      name: "work",
      function: (context) => {
        expectTypeOf(context.inputs.topic).toEqualTypeOf<string>();
        expectTypeOf(context.inputs.count).toEqualTypeOf<number | undefined>();
        return { pages: 3, done: context.signal.aborted };
      },
    },
    {
      name: "ask",
      prompt: "why?",
      depends_on: ["work"],
      output: { reason: { type: "string" }, scores: { type: "array", items: { type: "number" } } },
    },
    {
      name: "each",
      for_each: "{{ [1, 2] }}",
      step: { name: "item", function: (context) => context.inputs.topic.length },
    },
  ],
  output: {
    why: "{{ ask.output.reason }}",
    scores: "{{ ask.output.scores }}",
    pages: "{{ work.output.pages }}",
    all: "{{ ask.output | tojson }}",
    text: "because {{ ask.output.reason }}",
  },
});

describe("the types of defineWorkflow", () => {
  it("keep names, inputs and outputs as they are written", () => {
    expectTypeOf(report.workflow.name).toEqualTypeOf<"report">();
    expectTypeOf(report.steps[1].output.reason.type).toEqualTypeOf<"string">();
    expect(report.steps[1].name).toBe("ask");
  });

  it("[first-use F5] give what the workflow gives, from what its steps declare and its functions return", () => {
    type Output = OutputOf<typeof report>;
    expectTypeOf<Output["why"]>().toEqualTypeOf<string>();
    expectTypeOf<Output["scores"]>().toEqualTypeOf<readonly number[]>();
    expectTypeOf<Output["pages"]>().toEqualTypeOf<number>();
    expectTypeOf<Output["all"]>().toEqualTypeOf<JsonValue>();
    expectTypeOf<Output["text"]>().toEqualTypeOf<string>();
    const plain = defineWorkflow({
      workflow: { name: "p" },
      steps: [{ name: "a", function: () => Promise.resolve(1) }],
    });
    expectTypeOf<OutputOf<typeof plain>>().toEqualTypeOf<{ readonly a?: number }>();
    expectTypeOf<OutputOf<string>>().toEqualTypeOf<JsonValue>();
    expect(plain.steps).toHaveLength(1);
  });

  it("[first-use F5] reach what run answers", () => {
    type Answer = Awaited<ReturnType<typeof run>>;
    const run = (splashdown: Splashdown) => splashdown.run({ workflow: report, inputs: { topic: "birds" } });
    expectTypeOf<NonNullable<Answer["output"]>["pages"]>().toEqualTypeOf<number>();
    const file = (splashdown: Splashdown) => splashdown.run({ workflow: "flow.yaml" });
    expectTypeOf<Awaited<ReturnType<typeof file>>>().toEqualTypeOf<RunView>();
    expect(run).toBeTypeOf("function");
  });

  it("[first-use F5] refuse a key that no workflow has, wherever it stands [public 4 kin]", () => {
    // @ts-expect-error retry is meant
    defineWorkflow({ workflow: { name: "f" }, steps: [{ name: "q", retries: 3, value: 1 }] });
    // @ts-expect-error input is meant
    defineWorkflow({ workflow: { name: "f", inputs: {} }, steps: [{ name: "q", value: 1 }] });
    // @ts-expect-error specialists is meant
    defineWorkflow({ workflow: { name: "f" }, phases: [{ name: "p", specialist: [] }] });
    // @ts-expect-error max_attempts is meant
    defineWorkflow({ workflow: { name: "f" }, steps: [{ name: "q", value: 1, retry: { attempts: 3 } }] });
    // @ts-expect-error steps is meant
    expect(defineWorkflow({ workflow: { name: "f" }, step: [] })).toEqual({ workflow: { name: "f" }, step: [] });
  });

  it("refuse what a file refuses", () => {
    expectTypeOf<"text">().not.toExtend<InputOf["type"]>();
    expectTypeOf<"sometimes">().not.toExtend<NonNullable<StepOf["effects"]>>();
    expectTypeOf<number>().not.toExtend<NonNullable<StepOf["prompt"]>>();
    expectTypeOf<{ readonly steps: [] }>().not.toExtend<Workflow>();
    expectTypeOf<"nonsense">().not.toExtend<keyof StepOf>();
    expectTypeOf<StepFunction<never>>().toExtend<NonNullable<StepOf["function"]>>();
    expect(defineWorkflow({ workflow: { name: "empty" } })).toEqual({ workflow: { name: "empty" } });
  });
});
