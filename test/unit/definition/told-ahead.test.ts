/** What would fail only after work was paid for, or be read otherwise than it is meant: told when the file is read. */
import { describe, expect, it } from "vitest";
import { faultsOf, loadText } from "../../support/workflow-files.js";

const FAN = 'workflow: {name: w}\nsteps:\n  - {name: fan, for_each: [1], as: i, step: {name: o, value: "{{ i }}"}}\n';
const GROUP =
  "workflow: {name: w, entry_point: g}\nagents: [{name: a, prompt: x}, {name: b, prompt: y}]\nparallel: [{name: g, agents: [a, b]}]\n";
const reading = (template: string) => `${FAN}  - {name: z, depends_on: [fan], value: "${template}"}\n`;

describe("a part that a group or a step has not", () => {
  it("[public W] the output of a for_each is told, with what to write", async () => {
    expect(await faultsOf(reading("{{ fan.output }}"))).toEqual([
      expect.objectContaining({
        line: 4,
        column: 45,
        message: "fan is a group: it has no output",
        suggestion: "write fan.outputs",
      }),
    ]);
  });

  it("[public W kin] so is that of a parallel group in the output of the workflow", async () => {
    const [fault] = await faultsOf(`${GROUP}output: {o: "{{ g.output.a }}"}\n`);
    expect(fault).toMatchObject({ line: 4, message: "g is a group: it has no output" });
  });

  it.each(["outputs", "errors", "count"])("[public W kin] so are the %s of a step", async (part) => {
    const text = `workflow: {name: w}\nsteps:\n  - {name: a, value: 1}\n  - {name: z, depends_on: [a], value: "{{ a.${part} }}"}\n`;
    const [fault] = await faultsOf(text);
    expect(fault).toMatchObject({ message: `a is no group: it has no ${part}`, suggestion: "write a.output" });
  });

  it("[public W kin] what is there, or may be missing, is read", async () => {
    for (const template of ["{{ fan.outputs }}", "{{ fan.count }}", "{{ fan.output | default('d') }}"])
      await expect(loadText(reading(template))).resolves.toBeDefined();
  });
});

describe("variables of a script", () => {
  const script = (kind: string, value: string) =>
    `workflow: {name: w, entry_point: a}\nagents: [{name: a, ${kind}, env: {V: "${value}"}}]\n`;
  const notesOf = async (text: string) => (await loadText(text)).notes.join("\n");
  const WORDS = "env of a script is no template: V is handed over as it is written";

  it("[public U] that look like templates are told to be none", async () => {
    expect(await notesOf(script("type: script, command: x", "{{ workflow.name }}"))).toContain(WORDS);
  });

  it.each([
    ["[public U kin]", "type: script, command: x", "{{ a", true],
    ["[public U kin]", "type: script, command: x", "{ a }", false],
    ["[public U kin]", "type: command, command: [x]", "{{ workflow.name }}", false],
  ])("%s %s, %s: told is %s", async (_tag, kind, value, isTold) => {
    expect((await notesOf(script(kind, value))).includes(WORDS)).toBe(isTold);
  });
});

describe("a merge key", () => {
  it.each([
    ["[public R]", "workflow: {name: w}\nsteps:\n  - &a {name: a, value: 1}\n  - {<<: *a, name: b}\n"],
    ["[public R kin]", "workflow: {name: w}\nsteps:\n  - {name: a, <<: {value: 1}}\n"],
    ["[public R kin]", "workflow:\n  <<: {name: w}\n  name: v\nsteps: [{name: a, value: 1}]\n"],
    ["[public R kin]", "workflow: {name: w, limits: {<<: {max_iterations: 3}}}\nsteps: [{name: a, value: 1}]\n"],
  ])("%s is a fault that says what to do: %j", async (_tag, text) => {
    const faults = await faultsOf(text);
    expect(faults.map(({ suggestion }) => suggestion)).toContain(
      "merge keys are not part of YAML 1.2; write the keys out or use one alias",
    );
  });
});
