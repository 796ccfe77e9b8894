import { describe, expect, it } from "vitest";
import { parseReference } from "../../../src/definition/compile/references.js";
import { faultsOf, loadText } from "../../support/workflow-files.js";

describe("references of an input list", () => {
  const TABLE: readonly (readonly [string, unknown])[] = [
    ["research.output", { root: "research", path: ["output"], isOptional: false }],
    ["research.output.a.b?", { root: "research", path: ["output", "a", "b"], isOptional: true }],
    ["research.findings", { root: "research", path: ["output", "findings"], isOptional: false }],
    ["group.outputs", { root: "group", path: ["outputs"], isOptional: false }],
    ["group.outputs.member.field", { root: "group", path: ["outputs", "member", "field"], isOptional: false }],
    ["group.errors.member?", { root: "group", path: ["errors", "member"], isOptional: true }],
    ["group.count", { root: "group", path: ["count"], isOptional: false }],
    ["workflow.input.goal", { root: "workflow", path: ["input", "goal"], isOptional: false }],
    ["workflow.input.goal?", { root: "workflow", path: ["input", "goal"], isOptional: true }],
    ["workflow.input", undefined],
    ["workflow.name", undefined],
    ["research", undefined],
    ["{{ research.output }}", undefined],
    ["research.", undefined],
    ["research..output", undefined],
    ["", undefined],
  ];
  it.each(TABLE)("%s is read", (text, expected) => expect(parseReference(text)).toEqual(expected));

  it("are data on the step, and absent without a list", async () => {
    const { definition } =
      await loadText(`workflow: {name: w, entry_point: a, context: {mode: explicit, max_tokens: 50}}
agents:
  - {name: a, prompt: one, routes: [{to: b}]}
  - {name: b, prompt: two, input: [a.result, workflow.input.goal?]}`);
    const [a, b] = definition.root.children;
    expect(a).not.toHaveProperty("references");
    expect(b).toMatchObject({
      references: [
        { root: "a", path: ["output", "result"], isOptional: false },
        { root: "workflow", path: ["input", "goal"], isOptional: true },
      ],
    });
    expect(definition.context).toEqual({ mode: "explicit", tokensMax: 50, trim: "drop_oldest" });
  });

  it.each([
    ["goal", '"goal" is no reference', "write goal.output, or workflow.input.goal"],
    ["'{{ a.output }}'", '"{{ a.output }}" is no reference', "write a.output, without braces"],
  ])("that are none are faults: %s", async (text, message, suggestion) => {
    const [fault] = await faultsOf(
      `workflow: {name: w, entry_point: a}\nagents:\n  - {name: a, prompt: one, input: [${text}]}`,
    );
    expect(fault).toMatchObject({ message, suggestion, line: 3, column: 36 });
  });
});
