/** A template that fails while a task runs is shown in its file, at its line and column; nested files too. */
import { describe, expect, it } from "vitest";
import { openPlace } from "../../support/command-place.js";

describe("a template that fails", () => {
  it("is shown where it is written, by run and by show", async () => {
    const place = openPlace();
    place.write("ask.md", "# Ask\n\nSay {{ workflow.input.who.name }}.\n");
    place.write(
      "inner.yaml",
      "workflow: {name: inner, input: {who: {type: number}}}\nsteps: [{name: s, value: !file ask.md}]\n",
    );
    const file = place.write(
      "flow.yaml",
      "workflow: {name: outer}\nsteps: [{name: sub, workflow: inner.yaml, input_mapping: {who: 5}}]\n",
    );
    const { stdout, stderr, code } = await place.run(["run", file]);
    expect(code).toBe(4);
    const lines = [
      "sub/main/s failed: ask.md:3:8 steps[0].value: workflow.input.who.name is not defined [TEMPLATE_FAILED]",
      "    3 | Say {{ workflow.input.who.name }}.",
      "      |        ^^^^^^^^^^^^^^^^^^^^^^^",
    ];
    expect(stdout + stderr).toContain(lines.join("\n"));
    const shown = await place.run(["show", "outer"]);
    expect(shown.stdout).toContain(lines.join("\n"));
  });

  it("names the condition of a route", async () => {
    const place = openPlace();
    const file = place.write(
      "flow.yaml",
      "workflow: {name: way, entry_point: a}\nagents:\n  - {name: a, value: {x: 1}, routes: [{to: $end, when: 'y > 2'}]}\n",
    );
    const { stdout, stderr, code } = await place.run(["run", file]);
    expect(code).toBe(4);
    expect(stdout + stderr).toContain("flow.yaml:3:57 agents[0].routes[0].when: y is not defined");
  });

  it("is shown by what it gave that cannot be used: a duration, items", async () => {
    const place = openPlace();
    const cases = [
      ["    - {name: s, type: wait, duration: \"{{ 'x' }}\"}", 40, 'not a duration: "x"'],
      ['    - {name: s, for_each: "{{ workflow.name }}", step: {value: 1}}', 28, "the source of s ("],
    ] as const;
    for (const [index, [line, column, message]] of cases.entries()) {
      const file = place.write(`flow-${index}.yaml`, `workflow: {name: flow-${index}}\nsteps:\n${line}\n`);
      const { stdout, stderr, code } = await place.run(["run", file]);
      expect(code).toBe(4);
      expect(stdout + stderr).toContain(`flow-${index}.yaml:3:${column} `);
      expect(stdout + stderr).toContain(`: ${message}`);
    }
  });

  it("in a probe is told with its place, and the probe does not know", async () => {
    const place = openPlace();
    const text = `workflow: {name: asked}
steps:
  - name: act
    command: [sh, -c, 'kill -9 $PPID']
    effects: external
    probe: [sh, -c, "test {{ input.n.nothing }}"]
    input: {n: {x: 1}}
`;
    const file = place.write("flow.yaml", text);
    await place.run(["run", file]);
    const { stderr, code } = await place.run(["run", file]);
    expect(code).toBe(22);
    expect(stderr).toContain("flow.yaml:6:30 steps[0].probe[2]: input.n.nothing is not defined");
  });
});
