/** A template that fails at run time is shown in the file it is written in, as a fault of the loader is. */
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/base/limits.js";
import { loadWorkflow } from "../../../src/definition/loader.js";
import { locateTemplate, type WrittenPlace } from "../../../src/definition/templates/template-places.js";
import { renderText, type TemplateLookup } from "../../../src/definition/templates/templates.js";
import { createLoaderDeps, type FileWorld, loadText } from "../../support/workflow-files.js";

/** The place of the first `MARK` of a template. */
async function placeOf(text: string, where: { node: string; template: string } & FileWorld) {
  const { definition } = await loadText(text, where);
  const part = { text: where.template, offset: where.template.indexOf("MARK"), width: 4 };
  return locateTemplate(definition.sources, where.node, part);
}

const place = (path: string, line: number, column: number): Partial<WrittenPlace> => ({ path, line, column });

describe("the place of a template that fails", () => {
  const TWINS = `workflow: {name: t}
steps:
  - {name: a, value: "{{ workflow.MARK }}"}
  - name: g
    depends_on: a
    steps:
      - {name: a, value: "{{ workflow.MARK }}"}
      - name: b
        value: |
          first
          {{ workflow.MARK }}
`.replaceAll("workflow.MARK", "channel.MARK");
  it.each([
    ["a step", "main/a", "{{ channel.MARK }}", place("steps[0].value", 3, 34)],
    [
      "a step of the same name and text in a group",
      "main/g/a",
      "{{ channel.MARK }}",
      place("steps[1].steps[0].value", 7, 38),
    ],
    ["a block text", "main/g/b", "first\n{{ channel.MARK }}\n", place("steps[1].steps[1].value", 11, 22)],
    ["a text of the node that is nowhere", "main/g/b", "made here MARK", place("steps[1].steps[1]", 8, 9)],
  ])("is found for %s", async (_title, node, template, expected) => {
    expect(await placeOf(TWINS, { node, template })).toMatchObject({ file: "flow.yaml", ...expected });
  });

  it.each([
    [
      "a condition of a route, in a for_each of Conductor's form",
      `workflow: {name: t, entry_point: a}
agents: [{name: a, value: [1], routes: [{to: loop, when: "output.MARK > 1"}]}]
for_each: [{name: loop, type: for_each, source: a.output.MARK, as: x, agent: {name: w, value: "{{ x.MARK }}"}}]
`,
      [
        ["main/a", "output.MARK > 1", place("agents[0].routes[0].when", 2, 66)],
        ["main/loop", "{{ a.output.MARK }}", place("for_each[0].source", 3, 58)],
        ["main/loop/w", "{{ x.MARK }}", place("for_each[0].agent.value", 3, 101)],
      ],
    ],
    [
      "a member of a group, the output and a hook",
      `workflow: {name: t, entry_point: g, hooks: {on_start: "hi {{ workflow.MARK }}"}}
agents: [{name: a, prompt: "{{ context.MARK }}"}, {name: b, prompt: "{{ context.MARK }}"}]
parallel: [{name: g, agents: [a, b]}]
output: {x: "{{ g.MARK }}"}
`.replace("workflow.MARK", "channel.MARK"),
      [
        ["main/g/b", "{{ context.MARK }}", place("agents[1].prompt", 2, 81)],
        ["main/$output", "{{ g.MARK }}", place("output.x", 4, 19)],
        ["main/$hooks/on_start", "hi {{ channel.MARK }}", place("workflow.hooks.on_start", 1, 70)],
      ],
    ],
  ] as const)("is found for %s", async (_title, text, rows) => {
    for (const [node, template, expected] of rows)
      expect(await placeOf(text, { node, template })).toMatchObject(expected);
  });

  it("is that of the included file, and of a text with a variable filled in", async () => {
    const world = {
      files: {
        "/work/parts/steps.yaml": "- {name: a, value: !file ask.md}\n",
        "/work/parts/ask.md": "# Ask\n\nSay {{ channel.MARK }}.\n",
      },
      environment: { WHO: "you" },
    };
    const text = "workflow: {name: t}\nsteps: !file parts/steps.yaml\n";
    const template = "# Ask\n\nSay {{ channel.MARK }}.\n";
    expect(await placeOf(text, { ...world, node: "main/a", template })).toEqual({
      path: "steps[0].value",
      file: "ask.md",
      line: 3,
      column: 16,
      excerpt: "Say {{ channel.MARK }}.",
      width: 4,
    });
    const filled = 'workflow: {name: t}\nsteps: [{name: a, value: "${WHO}: {{ channel.MARK }}"}]\n';
    expect(await placeOf(filled, { ...world, node: "main/a", template: "you: {{ channel.MARK }}" })).toMatchObject(
      place("steps[0].value", 2, 46),
    );
  });

  it("is that of the nested file, at every place where it is used", async () => {
    const files = {
      "/work/sub/in.yaml": 'workflow: {name: in}\nsteps: [{name: a, value: "{{ channel.MARK }}"}]\n',
      "/work/sub/mid.yaml": "workflow: {name: mid}\nsteps: [{name: one, workflow: in.yaml}]\n",
    };
    const text = `workflow: {name: t}
steps:
  - {name: x, workflow: sub/in.yaml}
  - {name: y, workflow: sub/mid.yaml}
  - {name: z, value: "{{ channel.MARK }}"}
`;
    const at = (node: string) => placeOf(text, { files, node, template: "{{ channel.MARK }}" });
    expect(await at("main/x/main/a")).toMatchObject({ file: "sub/in.yaml", line: 2, column: 38 });
    expect(await at("main/y/main/one/main/a")).toMatchObject({ file: "sub/in.yaml", line: 2, column: 38 });
    expect(await at("main/z")).toMatchObject({ file: "flow.yaml", line: 5, column: 34 });
  });

  it("is unknown for a program, and for files larger than what is kept", async () => {
    const workflow = { workflow: { name: "p" }, steps: [{ name: "a", value: "{{ channel.x }}" }] };
    const { definition } = await loadWorkflow({ workflow, folder: "/w" }, createLoaderDeps({}));
    expect(definition.sources).toBeUndefined();
    const large = `workflow: {name: t}\n# ${"x".repeat(LIMITS.workflowSourceBytesMax)}\nsteps: [{name: a, value: "MARK"}]\n`;
    expect(await placeOf(large, { node: "main/a", template: "MARK" })).toBeUndefined();
  });

  it("D2: is no part of the fingerprint", async () => {
    const [one, other] = await Promise.all([
      loadText("workflow: {name: t}\nsteps: [{name: a, value: 1}]\n"),
      loadText("# a remark\n\nworkflow: {name: t}\nsteps:\n  - name: a\n    value: 1\n"),
    ]);
    expect(one.definition.sources).not.toEqual(other.definition.sources);
    expect(one.definition.fingerprint).toBe(other.definition.fingerprint);
  });

  it("is shown with its line and a caret in the error", async () => {
    const text = 'workflow: {name: t}\nsteps: [{name: a, value: "so {{ channel.gone.far }}!"}]\n';
    const { definition } = await loadText(text);
    const scope: TemplateLookup = Object.assign(() => undefined, {
      locate: (part: Parameters<NonNullable<TemplateLookup["locate"]>>[0]) =>
        locateTemplate(definition.sources, "main/a", part),
    });
    expect(() => renderText("so {{ channel.gone.far }}!", scope)).toThrow(
      [
        "flow.yaml:2:33 steps[0].value: channel.gone.far is not defined",
        '    2 | steps: [{name: a, value: "so {{ channel.gone.far }}!"}]',
        "      |                                 ^^^^^^^^^^^^^^^^",
      ].join("\n"),
    );
  });
});
