import { describe, expect, it } from "vitest";
import type { NodeDefinition, WorkflowScope } from "../../../src/definition/model/workflow.js";
import type { ModelStep } from "../../../src/definition/model/step.js";
import { loadText } from "../../support/workflow-files.js";

function find(node: NodeDefinition, path: string): NodeDefinition {
  if (node.path === path) return node;
  const children: readonly NodeDefinition[] = node.node === "scope" ? node.children : [];
  const next = children.find((child) => path === child.path || path.startsWith(`${child.path}/`));
  if (next === undefined) throw new Error(`no ${path} below ${node.path}`);
  return find(next, path);
}

const OUTER = `workflow: {name: outer, entry_point: each, instructions: [Outer.], input: {list: {type: array}}}
agents: []
for_each:
  - {name: each, type: for_each, source: workflow.input.list, as: it, agent: {name: sub, type: workflow, workflow: middle.yaml}}
`;
const MIDDLE = `workflow:
  name: middle
  entry_point: say
  instructions: [!file rules.md, Middle.]
agents:
  - {name: say, prompt: Say., routes: [{to: deep}]}
  - {name: deep, type: workflow, workflow: inner.yaml}
`;
const INNER = `workflow:
  name: inner
  entry_point: tell
  hooks: {on_start: "{{ workflow.name }} begins", on_error: {command: [sh, mend.sh]}}
agents:
  - {name: tell, prompt: Tell.}
`;
const files = { "/work/middle.yaml": MIDDLE, "/work/inner.yaml": INNER, "/work/rules.md": "Be kind." };

describe("a nested workflow", () => {
  it("puts the instructions of all workflows around it before its prompts, the outermost first", async () => {
    const { definition } = await loadText(OUTER, { files });
    const say = find(definition.root, "main/each/sub/main/say") as ModelStep;
    expect(say.instructions).toBe("Outer.\n\nBe kind.\n\nMiddle.");
    const tell = find(definition.root, "main/each/sub/main/deep/main/tell") as ModelStep;
    expect(tell.instructions).toBe(say.instructions);
    const alone = await loadText(INNER, { files });
    expect((find(alone.definition.root, "main/tell") as ModelStep).instructions).toBeUndefined();
  });

  it("is another step when the instructions around it change", async () => {
    const fingerprintOf = async (text: string) => {
      const { definition } = await loadText(text, { files });
      return (find(definition.root, "main/each/sub/main/deep/main/tell") as ModelStep).fingerprint;
    };
    expect(await fingerprintOf(OUTER.replace("Outer.", "Other."))).not.toBe(await fingerprintOf(OUTER));
  });

  it("has hooks of its own, in its place", async () => {
    const { definition } = await loadText(OUTER, { files });
    const { hooks } = find(definition.root, "main/each/sub/main/deep") as WorkflowScope;
    expect(hooks?.on_start).toEqual({ text: "{{ workflow.name }} begins" });
    expect(hooks?.on_error).toMatchObject({
      step: { path: "main/each/sub/main/deep/main/$hooks/on_error", command: ["sh", "mend.sh"], onUnknown: "skip" },
    });
    expect(definition.hooks).toBeUndefined();
    const without = await loadText(OUTER, {
      files: { ...files, "/work/inner.yaml": INNER.replace(/ {2}hooks.*/, "") },
    });
    expect(without.definition.fingerprint).not.toBe(definition.fingerprint);
  });
});
