/** The types of `defineWorkflow`: what an author's editor accepts, refuses and infers. Checked by tsc, which reads the tests too. */
import { describe, expect, expectTypeOf, it } from "vitest";
import { defineWorkflow, type StepFunction, type Workflow } from "../../../src/runtime/define-workflow.js";

type Steps = NonNullable<Workflow["steps"]>;
type StepOf = Steps[number];
type InputOf = NonNullable<Workflow["workflow"]["input"]>[string];

describe("the types of defineWorkflow", () => {
  it("keep names, inputs and outputs as they are written", () => {
    const flow = defineWorkflow({
      workflow: { name: "typed", input: { topic: { type: "string" }, count: { type: "number", required: false } } },
      steps: [
        { name: "work", function: (context) => ({ done: context.signal.aborted }) },
        { name: "ask", prompt: "why?", depends_on: ["work"], output: { reason: { type: "string" } } },
      ],
      output: { why: "{{ ask.output.reason }}" },
    });
    expectTypeOf(flow.workflow.name).toEqualTypeOf<"typed">();
    expectTypeOf(flow.workflow.input.topic.type).toEqualTypeOf<"string">();
    expectTypeOf(flow.output.why).toEqualTypeOf<"{{ ask.output.reason }}">();
    expectTypeOf(flow.steps[1].output.reason.type).toEqualTypeOf<"string">();
    expectTypeOf(flow).toExtend<Workflow>();
    expect(flow.steps[1].name).toBe("ask");
  });

  it("refuse what a file refuses", () => {
    expectTypeOf<"text">().not.toExtend<InputOf["type"]>();
    expectTypeOf<"sometimes">().not.toExtend<NonNullable<StepOf["effects"]>>();
    expectTypeOf<number>().not.toExtend<NonNullable<StepOf["prompt"]>>();
    expectTypeOf<{ readonly steps: [] }>().not.toExtend<Workflow>();
    expectTypeOf<"nonsense">().not.toExtend<keyof StepOf>();
    expectTypeOf<StepFunction>().toExtend<NonNullable<StepOf["function"]>>();
    expect(defineWorkflow({ workflow: { name: "empty" } })).toEqual({ workflow: { name: "empty" } });
  });
});
