/** Workflows within workflows: circles, depth, inputs and files, told when the outermost one is read. */
import { describe, expect, it } from "vitest";
import type { ForEachScope, WorkflowScope } from "../../../src/definition/model/workflow.js";
import { faultsOf, loadText } from "../../support/workflow-files.js";

const nest = (file: string, more = ""): string => `workflow: {name: t}\nsteps: [{name: n, workflow: ${file}${more}}]\n`;
const LEAF =
  "workflow: {name: leaf, input: {topic: {type: string}, size: {type: number, required: false}}}\nsteps: [{name: x, value: 1}]\n";

/** `/work/w1.yaml` names w2 and so on; the last is a leaf. */
function chainOf(count: number): Record<string, string> {
  const entries = Array.from({ length: count }, (_item, index) => [
    `/work/w${index + 1}.yaml`,
    nest(`w${index + 2}.yaml`),
  ]);
  return {
    ...Object.fromEntries(entries),
    [`/work/w${count + 1}.yaml`]: "workflow: {name: l}\nsteps: [{name: x, value: 1}]\n",
  };
}

describe("a nested workflow", () => {
  it("D8: is refused in a circle, with the chain", async () => {
    const files = { "/work/b.yaml": nest("flow.yaml") };
    const [fault] = await faultsOf(nest("b.yaml"), { files });
    expect(fault).toMatchObject({
      code: "nesting",
      file: "/work/b.yaml",
      line: 2,
      column: 29,
      message: "workflows are part of each other: /work/flow.yaml → /work/b.yaml → /work/flow.yaml",
    });
  });

  it("D8: is refused below ten others, and taken at ten", async () => {
    await expect(loadText(nest("w1.yaml"), { files: chainOf(9) })).resolves.toBeDefined();
    const [fault] = await faultsOf(nest("w1.yaml"), { files: chainOf(11) });
    expect(fault).toMatchObject({ code: "nesting" });
    expect(fault?.message).toMatch(/^workflows are nested deeper than 10: \/work\/flow\.yaml → \/work\/w1\.yaml → /);
  });

  it("is refused when it goes deeper than its step allows", async () => {
    const [fault] = await faultsOf(nest("w1.yaml", ", max_depth: 1"), { files: chainOf(1) });
    expect(fault).toMatchObject({
      line: 2,
      message: "workflows are nested 2 deep below this step, more than its max_depth of 1",
      suggestion: "raise max_depth",
    });
  });

  it.each([
    [", input_mapping: {topics: x}", "leaf has no input topics", "did you mean topic?"],
    [", input_mapping: {size: 1}", "n gives leaf no topic", "add topic"],
  ])("is refused with a wrong mapping: %s", async (more, message, suggestion) => {
    const faults = await faultsOf(nest("leaf.yaml", more), { files: { "/work/leaf.yaml": LEAF } });
    expect(faults).toContainEqual(expect.objectContaining({ message, suggestion, line: 2 }));
  });

  it.each([
    ["gone.yaml", /cannot be read \(ENOENT\)/],
    ['"{{ x }}.yaml"', /it is no template/],
  ])("is refused when its file is %s", async (file, message) => {
    const [fault] = await faultsOf(nest(file));
    expect(fault?.message).toMatch(message);
  });

  it("has its faults at their own places, below a for_each too", async () => {
    const text = "workflow: {name: t}\nsteps: [{name: f, for_each: [1], step: {name: n, workflow: bad.yaml}}]\n";
    const faults = await faultsOf(text, {
      files: { "/work/bad.yaml": "workflow: {name: b}\nsteps: [{name: x, valu: 1}]\n" },
    });
    expect(faults[0]).toMatchObject({ file: "/work/bad.yaml", line: 2, column: 19, suggestion: "did you mean value?" });
  });

  it("stands where its step stands, with its own inputs, in a for_each too", async () => {
    const text =
      "workflow: {name: t}\nsteps: [{name: f, for_each: [1], as: one, step: {name: n, workflow: leaf.yaml, input_mapping: {topic: '{{ one }}'}}}]\n";
    const { definition } = await loadText(text, { files: { "/work/leaf.yaml": LEAF } });
    const loop = (definition.root.children as readonly ForEachScope[])[0];
    const inner = loop?.children[0] as WorkflowScope | undefined;
    expect(loop).toMatchObject({ scope: "for_each", as: "one", source: [1] });
    expect(inner).toMatchObject({
      scope: "workflow",
      workflow: "leaf",
      path: "main/f/n",
      inputMapping: { topic: "{{ one }}" },
    });
    expect(Object.keys(inner?.inputs ?? {})).toEqual(["topic", "size"]);
    expect(inner?.children[0].path).toBe("main/f/n/main");
  });
});
