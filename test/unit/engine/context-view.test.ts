import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { parseReference } from "../../../src/definition/compile/references.js";
import type { StepDefinition } from "../../../src/definition/model/step.js";
import type { ContextRule, StepReference } from "../../../src/definition/model/values.js";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { command, machine, model, parallel, set, workflow } from "../../support/workflow-builder.js";

const OUTPUTS: Readonly<Record<string, JsonValue>> = {
  a: { text: "A".repeat(100), kind: "first" },
  b: { text: "B".repeat(60), list: [1] },
  l: { from: "l" },
  r: { from: "r" },
};

interface Case {
  readonly context: Partial<ContextRule>;
  readonly references?: readonly string[];
  readonly prompt: string;
  readonly last?: (prompt: string, references?: readonly StepReference[]) => StepDefinition;
}

function asModel(prompt: string, references?: readonly StepReference[]): StepDefinition {
  return model("last", { prompt, ...(references === undefined ? {} : { references }) });
}

/** Runs a → b → [l, r] → last, and gives what `last` was to do, or why it could not. */
function workOf({ context, references, prompt, last = asModel }: Case) {
  const listed = references?.map((text) => parseReference(text) as StepReference);
  const flow = workflow(
    machine("main", [
      model("a", { routes: [{ to: "b" }] }),
      model("b", { routes: [{ to: "pair" }] }),
      parallel("pair", [model("l"), model("r")], { routes: [{ to: "last" }] }),
      last(prompt, listed),
    ]),
    { context: { mode: "accumulate", trim: "drop_oldest", ...context } },
  );
  const harness = new EngineHarness(flow, {
    inputs: { goal: "go", other: "no" },
    perform: (step) => done(OUTPUTS[step.name] ?? "done"),
  });
  harness.start();
  harness.finish();
  const { work, error } = harness.step("main/last");
  return { harness, work: (work as { inline: Record<string, JsonValue> }).inline, error };
}

const promptOf = (one: Case): JsonValue | undefined => workOf(one).work["prompt"];
const SEEN = "{{ a is defined }} {{ b is defined }} {{ pair is defined }}";

describe("the context of a step", () => {
  it("holds every output in accumulate mode", () => {
    expect(promptOf({ context: {}, prompt: SEEN })).toBe("True True True");
  });

  it("holds only the newest in last_only mode, a group being one", () => {
    const context = { mode: "last_only" } as const;
    expect(promptOf({ context, prompt: SEEN })).toBe("False False True");
    expect(promptOf({ context, prompt: "{{ pair.outputs.r.from }} {{ workflow.input.goal }}" })).toBe("r go");
  });

  it("says why a name is hidden", () => {
    expect(workOf({ context: { mode: "last_only" }, prompt: "{{ a.output.kind }}" }).error?.message).toMatch(
      /a\.output\.kind is not defined; a is hidden: context\.mode is last_only$/,
    );
    expect(
      workOf({ context: { mode: "explicit" }, references: [], prompt: "{{ a.output.kind }}" }).error?.message,
    ).toMatch(/a is hidden: context\.mode is explicit and input does not name it$/);
  });

  it("holds only what is named in explicit mode", () => {
    const context = { mode: "explicit" } as const;
    expect(promptOf({ context, references: ["b.output"], prompt: SEEN })).toBe("False True False");
    expect(promptOf({ context, references: ["a.kind", "pair.outputs.l"], prompt: "{{ a }} {{ pair }}" })).toBe(
      "{'output': {'kind': 'first'}} {'outputs': {'l': {'from': 'l'}}}",
    );
    expect(
      promptOf({
        context,
        references: ["a.output", "a.output.kind"],
        prompt: "{{ a.output.text | length }} {{ a.output.kind }}",
      }),
    ).toBe("100 first");
  });

  it("keeps a model from inputs that it does not name; an optional one that is missing is null", () => {
    const context = { mode: "explicit" } as const;
    const prompt = "{{ workflow.input }} {{ workflow.name }}";
    expect(promptOf({ context, references: ["workflow.input.goal"], prompt })).toBe("{'goal': 'go'} test");
    expect(promptOf({ context, references: ["workflow.input.none?"], prompt })).toBe("{'none': None} test");
    expect(promptOf({ context, prompt })).toBe("{} test");
  });

  it("shows all inputs to steps that call no model", () => {
    const last = (): StepDefinition => set("last", { value: "{{ workflow.input }}" });
    expect(workOf({ context: { mode: "explicit" }, prompt: "", last }).work["value"]).toEqual({
      goal: "go",
      other: "no",
    });
  });

  it("takes what a map of inputs names as named", () => {
    const last = (): StepDefinition =>
      command("last", { command: ["{{ a is defined }}{{ b is defined }}"], input: { kind: "{{ a.output.kind }}" } });
    const { work } = workOf({ context: { mode: "explicit" }, prompt: "", last });
    expect(work).toMatchObject({ command: ["TrueFalse"], input: { kind: "first" } });
  });

  it("fails a step whose reference is missing, unless it is optional", () => {
    const context = { mode: "explicit" } as const;
    expect(workOf({ context, references: ["a.output.nothing"], prompt: "x" }).error).toMatchObject({
      code: "TEMPLATE_FAILED",
      message: "the input a.output.nothing is not there; write a.output.nothing? if it may be missing",
    });
    expect(workOf({ context, references: ["a.output.nothing?", "nobody.output?"], prompt: "x" }).error).toBeUndefined();
  });
});

describe("a context that is too large", () => {
  it("loses its oldest outputs, and nothing is lost from the state", () => {
    const { work, harness } = workOf({ context: { tokensMax: 60 }, prompt: SEEN });
    expect(work["prompt"]).toBe("False True True");
    expect(harness.state.outputs.get("main/a")?.value).toEqual({ inline: OUTPUTS["a"] });
  });

  it("keeps the newest output however large it is", () => {
    expect(promptOf({ context: { tokensMax: 1 }, prompt: SEEN })).toBe("False False True");
  });

  it("says that an output was dropped", () => {
    expect(workOf({ context: { tokensMax: 60 }, prompt: "{{ a.output.kind }}" }).error?.message).toContain(
      "a is hidden: dropped to keep to context.max_tokens",
    );
  });

  it.each(["truncate", "summarize"] as const)("has its longest texts cut by %s, the others stay whole", (trim) => {
    const context = { tokensMax: 72, trim };
    const { work, harness } = workOf({
      context,
      prompt: "{{ a.output.text }}|{{ a.output.kind }}|{{ b.output.text | length }}",
    });
    const [text = "", kind, second] = (work["prompt"] as string).split("|");
    expect(text).toMatch(/^A+… \(cut\)$/);
    expect(text.length).toBeGreaterThan(55);
    expect(text.length).toBeLessThan(100);
    expect([kind, second]).toEqual(["first", "60"]);
    expect(harness.state.outputs.get("main/a")?.value).toEqual({ inline: OUTPUTS["a"] });
  });

  it("is left alone when it fits", () => {
    expect(promptOf({ context: { tokensMax: 1000, trim: "truncate" }, prompt: "{{ a.output.text | length }}" })).toBe(
      "100",
    );
  });
});
