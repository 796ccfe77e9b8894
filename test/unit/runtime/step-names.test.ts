/** Steps whose names mean something else in templates: read as steps, or refused when the file is read. */
import { describe, expect, it } from "vitest";
import { faultsOf } from "../../support/workflow-files.js";
import { openSplashdownInMemory } from "../../support/library-place.js";

const two = (name: string, template: string) => ({
  workflow: { name: "named" },
  steps: [
    { name, values: { v: 7 } },
    { name: "reader", depends_on: [name], value: template },
  ],
  output: { read: "{{ reader.output }}" },
});

async function readOf(workflow: object): Promise<unknown> {
  const splashdown = await openSplashdownInMemory();
  const view = await splashdown.run({ workflow: workflow });
  return view.status === "done" ? view.output : view;
}

describe("a step whose name the template language has, too", () => {
  it.each(["feedback", "channel", "phase", "outputs", "loop", "range", "dict", "int", "float", "str", "caller"])(
    "[kinds F9] %s is the step where a template names it",
    async (name) => {
      expect(await readOf(two(name, `{{ ${name}.output.v + 1 }}`))).toEqual({ read: 8 });
    },
  );

  it("[kinds F9 kin] varargs, namespace and joiner are", async () => {
    for (const name of ["varargs", "kwargs", "namespace", "joiner", "rand", "randint"])
      expect(await readOf(two(name, `{{ ${name}.output.v }}`))).toEqual({ read: 7 });
  });

  it("[kinds F9 kin] secrets is for a step that names no secret", async () => {
    expect(await readOf(two("secrets", "{{ secrets.output.v }}"))).toEqual({ read: 7 });
  });

  it("[kinds F9 kin] loop is the step outside of a for, and the loop inside", async () => {
    const template = "{% for x in [1, 2] %}{{ loop.index }}{% endfor %}{{ loop.output.v }}";
    expect(await readOf(two("loop", template))).toEqual({ read: 127 });
  });

  it("[public K] range is the item of a for_each that is called so", async () => {
    const workflow = {
      workflow: { name: "items" },
      steps: [{ name: "g", for_each: ["x", "y"], as: "range", step: { name: "o", values: { a: "{{ range }}" } } }],
      output: { read: "{{ g.outputs }}" },
    };
    expect(await readOf(workflow)).toEqual({ read: [{ a: "x" }, { a: "y" }] });
  });

  it("[public K kin] a function stays a function where it is called", async () => {
    expect(await readOf(two("range", "{{ range(3) | list | length }}{{ range.output.v }}"))).toEqual({ read: 37 });
  });

  it("[public K kin] a function that nothing hides is still there to be asked for", async () => {
    expect(await readOf(two("one", "{{ range is defined and joiner is defined }}"))).toEqual({ read: true });
  });

  it.each(["context", "workflow", "self", "true", "None", "null", "and", "or", "not", "in", "is", "if", "else"])(
    "[public K kin] %s is refused when the file is read",
    async (name) => {
      const faults = await faultsOf(`workflow: {name: w}\nsteps:\n  - {name: "${name}", value: 1}\n`);
      expect(faults.map(({ message }) => message)).toContainEqual(
        expect.stringContaining(`no template could read a step called ${name}: the name means something else there`),
      );
    },
  );
});

describe("an inline if without else", () => {
  const ended = (template: string) =>
    readOf({ workflow: { name: "inline" }, steps: [{ name: "s", value: "1" }], output: { read: template } });

  it("[kinds F11] is empty as a whole value of the final output", async () => {
    expect(await ended("{{ 'x' if [1] | length > 20 }}")).toEqual({ read: "" });
  });

  it("[kinds F11 kin] is empty in a set step", async () => {
    expect(await readOf(two("s", "{{ 'x' if s.output.v > 20 }}"))).toEqual({ read: "" });
  });

  it("[kinds F11 kin] is empty in an input of a function step and in a list", async () => {
    const workflow = {
      workflow: { name: "inputs" },
      steps: [
        {
          name: "f",
          effects: "none",
          input: { a: "{{ 1 if false }}", b: ["{{ 2 if false }}"] },
          function: (ctx: { input: unknown }) => ctx.input,
        },
      ],
      output: { read: "{{ f.output }}" },
    };
    expect(await readOf(workflow)).toEqual({ read: { a: "", b: [""] } });
  });

  it("[kinds F11 kin] does not hide a name that is not defined", async () => {
    expect(await ended("{{ s.output.there if true }}")).toMatchObject({ status: "failed" });
  });
});
