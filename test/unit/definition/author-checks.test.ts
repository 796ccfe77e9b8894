/** What an author is told before anything runs: static checks, words for what other documentation says, and places. */
import { describe, expect, it } from "vitest";
import { faultsOf, loadText } from "../../support/workflow-files.js";

const ROUTED = "workflow: {name: w, entry_point: a, input: {goal: {type: string}}}\nagents:\n";
const EXPLICIT =
  "workflow: {name: w, entry_point: a, context: {mode: explicit}, input: {goal: {type: string}}}\nagents:\n";

interface Case {
  readonly title: string;
  readonly text: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly suggestion: string;
}

const CASES: readonly Case[] = [
  {
    title: "a reference to no step",
    text: `${ROUTED}  - {name: a, prompt: x, input: [b.output], routes: [{to: bb}]}\n  - {name: bb, prompt: x}\n`,
    line: 3,
    column: 34,
    message: "a reference names b, which is no step",
    suggestion: "did you mean a?",
  },
  {
    title: "a mistyped reference",
    text: `${ROUTED}  - {name: a, prompt: x, routes: [{to: review}]}\n  - {name: review, prompt: x, input: [reveiw.output?]}\n`,
    line: 4,
    column: 39,
    message: "a reference names reveiw, which is no step",
    suggestion: "did you mean review?",
  },
  {
    title: "a prompt that names what explicit mode hides",
    text: `${EXPLICIT}  - {name: a, prompt: x, routes: [{to: b}]}\n  - name: b\n    prompt: |\n      Look at this:\n        {{ a.output.text }}\n`,
    line: 7,
    column: 12,
    message: "context.mode is explicit, and input does not name a.output",
    suggestion: "add a.output to input",
  },
  {
    title: "an input that explicit mode hides",
    text: `${EXPLICIT}  - {name: a, prompt: "Do {{ workflow.input.goal }}"}\n`,
    line: 3,
    column: 30,
    message: "context.mode is explicit, and input does not name workflow.input.goal",
    suggestion: "add workflow.input.goal to input",
  },
  {
    title: "a tool that the file does not list",
    text: `tools: [search]\n${ROUTED}  - {name: a, prompt: x, tools: [serach]}\n`,
    line: 4,
    column: 34,
    message: "there is no tool serach in the tools of the workflow",
    suggestion: "did you mean search?",
  },
  {
    title: "an output of a wait",
    text: `${ROUTED}  - {name: a, type: wait, duration: 1s, output: {x: {type: string}}}\n`,
    line: 3,
    column: 41,
    message: "a wait step declares no output: it gives waited_seconds",
    suggestion: "remove it",
  },
  {
    title: "a raw answer with fields",
    text: `${ROUTED}  - {name: a, prompt: x, output_mode: raw, output: {x: {type: string}}}\n`,
    line: 3,
    column: 26,
    message: "output_mode: raw takes the answer as it is, so it has no declared output",
    suggestion: "remove one of them",
  },
  {
    title: "an empty session key",
    text: `${ROUTED}  - {name: a, prompt: x, session_key: " "}\n`,
    line: 3,
    column: 39,
    message: 'session_key " " does not fit',
    suggestion: "Steps of one key continue one conversation.",
  },
  // FAULTS 49: a misplaced key that is ignored, so that the gate never happens.
  {
    title: "a gate's options at the place of its neighbours",
    text: `${ROUTED}  - name: a\n    type: human_gate\n    prompt: x\n    options: [{value: ok, route: $end}]\noptions: [{value: ok}]\n`,
    line: 7,
    column: 1,
    message: 'unknown key "options" in the file',
    suggestion: "it belongs one level down, into an item of agents",
  },
  // What Conductor's documentation says and its schema refuses (CONDUCTOR-YAML 1.11).
  {
    title: "context_mode",
    text: "workflow: {name: w, entry_point: a, context_mode: accumulate}\nagents: [{name: a, prompt: x}]\n",
    line: 1,
    column: 37,
    message: 'unknown key "context_mode" in workflow',
    suggestion: "write context: {mode: accumulate} in workflow: every output so far is seen",
  },
  {
    title: "context_mode: snapshot",
    text: "workflow: {name: w, entry_point: a, context_mode: snapshot}\nagents: [{name: a, prompt: x}]\n",
    line: 1,
    column: 37,
    message: 'unknown key "context_mode" in workflow',
    suggestion: "write context: {mode: accumulate} in workflow: every output so far is seen",
  },
  {
    title: "context_mode: minimal",
    text: "workflow: {name: w, entry_point: a, context_mode: minimal}\nagents: [{name: a, prompt: x}]\n",
    line: 1,
    column: 37,
    message: 'unknown key "context_mode" in workflow',
    suggestion: "write context: {mode: explicit} in workflow, and input: [STEP.output] in each step for what it sees",
  },
  {
    title: "context: {mode: minimal}",
    text: "workflow: {name: w, entry_point: a, context: {mode: minimal}}\nagents: [{name: a, prompt: x}]\n",
    line: 1,
    column: 53,
    message: 'mode must be one of accumulate, last_only, explicit, it is the text "minimal"',
    suggestion: "write context: {mode: explicit} in workflow, and input: [STEP.output] in each step for what it sees",
  },
  {
    title: "a gate's option with a description",
    text: `${ROUTED}  - {name: a, type: human_gate, prompt: x, options: [{label: Yes, value: "yes", description: go, route: $end}]}\n`,
    line: 3,
    column: 81,
    message: 'unknown key "description" in agents[0].options[0]',
    suggestion: "write it into label",
  },
  {
    title: "an input map with from",
    text: `${ROUTED}  - {name: a, prompt: x, input: {text: {from: b.output}}}\n`,
    line: 3,
    column: 41,
    message: "an input is a template, not a map with from",
    suggestion: 'write text: "{{ b.output }}", or input: [b.output]',
  },
  {
    title: "a gate's option with a name",
    text: `${ROUTED}  - {name: a, type: human_gate, prompt: x, options: [{name: Yes, value: "yes", route: $end}]}\n`,
    line: 3,
    column: 55,
    message: 'unknown key "name" in agents[0].options[0]',
    suggestion: "write value, and label for what a person reads",
  },
  {
    title: "inputs at the top of the file",
    text: "workflow: {name: w, entry_point: a}\ninput: {x: {type: string}}\nagents: [{name: a, prompt: x}]\n",
    line: 2,
    column: 1,
    message: 'unknown key "input" in the file',
    suggestion: "it belongs one level down, into workflow",
  },
  {
    title: "agents twice",
    text: "workflow: {name: w, entry_point: a}\nagents: [{name: a, prompt: x}]\nagents: [{name: b, prompt: x}]\n",
    line: 3,
    column: 1,
    message: 'the key "agents" is there twice',
    suggestion: "it stands in line 2 already: write all agents into one list",
  },
  {
    title: "a route to self",
    text: `${ROUTED}  - {name: a, prompt: x, routes: [{to: self, when: "{{ output.again }}"}, {to: $end}]}\n`,
    line: 3,
    column: 40,
    message: "there is no step self to go to",
    suggestion: "write a",
  },
  {
    title: "workflow.execution_time",
    text: `${ROUTED}  - {name: a, prompt: "took {{ workflow.execution_time }}"}\n`,
    line: 3,
    column: 32,
    message: "workflow.execution_time does not exist",
    suggestion: "templates know no times; splashdown show TASK tells how long it took",
  },
];

describe("an author is told", () => {
  it.each(CASES)("of $title, at its line and column", async ({ text, line, column, message, suggestion }) => {
    const faults = await faultsOf(text);
    expect(faults[0]).toMatchObject({ message, suggestion, line, column });
    expect(faults).toHaveLength(1);
  });

  it("in a warning, of what goes wrong on some ways only: Conductor runs such a file", async () => {
    const { notes } = await loadText(
      `${ROUTED}  - {name: a, prompt: x, routes: [{to: b, when: "{{ output.x }}"}, {to: c}]}\n  - {name: b, prompt: y, routes: [{to: c}]}\n  - {name: c, prompt: "{{ b.output.x }}"}\n`,
    );
    expect(notes).toEqual([
      "/work/flow.yaml:5:27 agents[2].prompt: b may not have run before c: there is a way past it (write {{ b.output | default('') }} or ask {% if b is defined %})",
    ]);
  });

  it("in a warning, of a hook in Conductor's files that cannot be rendered: there it stops nothing", async () => {
    const { notes } = await loadText(
      'workflow:\n  name: w\n  entry_point: a\n  hooks:\n    on_start: "{{ result }}"\n    on_complete: "took {{ workflow.execution_time }}, {{ result.x }}"\n    on_error: "{{ error.message"\nagents: [{name: a, prompt: x}]\n',
    );
    expect(notes).toEqual([
      "/work/flow.yaml:5:19 workflow.hooks.on_start: a template names result, which is no step",
      "/work/flow.yaml:6:27 workflow.hooks.on_complete: workflow.execution_time does not exist (templates know no times; splashdown show TASK tells how long it took)",
      "/work/flow.yaml:7:16 workflow.hooks.on_error: template: a tag has no end }}",
    ]);
  });

  it("of a hook of our own files that cannot be rendered, and of what its step names", async () => {
    const hooks = 'hooks: {on_start: "{{ nobody }}", on_error: {command: [x, "{{ error.message }}", "{{ result }}"]}}';
    const faults = await faultsOf(`workflow:\n  name: w\n  ${hooks}\nsteps: [{name: a, value: 1}]\n`);
    expect(faults.map(({ path, message }) => [path, message])).toEqual([
      ["workflow.hooks.on_start", "a template names nobody, which is no step"],
      ["workflow.hooks.on_error.command[2]", "a template names result, which is no step"],
    ]);
  });

  it("nothing of a for_each agent without a name", async () => {
    const text = `${ROUTED}  - {name: a, value: [1], routes: [{to: g}]}\nfor_each: [{name: g, type: for_each, source: a.output, as: x, agent: {prompt: "{{ x }}"}}]\n`;
    const { definition } = await loadText(text);
    expect(definition.root.children.map((node) => node.name)).toEqual(["a", "g"]);
  });

  it("of what a probe names: what it is told of the attempt, and no step that there is not", async () => {
    const probe = (name: string) =>
      `workflow: {name: w}\nsteps: [{name: a, command: [x], input: {n: 1}, probe: [look, "{{ ${name} }}"]}]\n`;
    for (const name of ["step.idempotency_key", "input.n"]) await expect(loadText(probe(name))).resolves.toBeDefined();
    expect(await faultsOf(probe("nobody"))).toMatchObject([{ line: 2, column: 66, path: "steps[0].probe[1]" }]);
  });

  it("in a warning, of a system prompt that asks nothing", async () => {
    const { notes } = await loadText(`${ROUTED}  - {name: a, system_prompt: "Be kind."}\n`);
    expect(notes).toEqual([
      "/work/flow.yaml:3:15 agents[0].system_prompt: a system prompt without a prompt asks nothing (write prompt)",
    ]);
  });
});

describe("the place of a fault inside a text", () => {
  const within = (value: string): string => `workflow: {name: w}\nsteps:\n  - name: a\n    value: ${value}\n`;
  const TABLE: readonly (readonly [string, string, number, number])[] = [
    ["a plain text", "x {{ nobody }} y", 4, 17],
    ["double quotes", '"x {{ nobody }}"', 4, 18],
    ["single quotes", "'x {{ nobody }}'", 4, 18],
    ["a block text", "|\n      one\n        {{ nobody }}\n", 6, 12],
    ["a block text without its last line end", "|-\n      one\n\n      two {{ nobody }}\n", 7, 14],
    ["a folded text", ">\n      one\n      two {{ nobody }}\n", 6, 14],
    ["a second use of one word", "|\n      {# nobody #}\n      {{ nobody }}\n", 6, 10],
  ];
  it.each(TABLE)("is found in %s", async (_title, value, line, column) => {
    const [fault] = await faultsOf(within(value));
    expect(fault).toMatchObject({ message: "a template names nobody, which is no step", line, column, width: 6 });
  });

  it("is that of faulty syntax", async () => {
    const [fault] = await faultsOf(within("|\n      fine {{ workflow.name }}\n      bad {{ 1 +* 2 }}\n"));
    expect(fault).toMatchObject({ line: 6, column: 11 });
    expect(fault?.message).toMatch(/^template: .*line 2 of the text/);
  });

  it.each([
    ['"{{ workflow.name }} and {{ 1 + }}"', 37, 9, "syntax error: unexpected end of variable block"],
    [
      '"{{ workflow.name }} and {{ workflow.name | }}"',
      37,
      21,
      "syntax error: unexpected end of variable block, expected identifier",
    ],
    ['"{% if 1 %}x{% endif %} and {% frob %}"', 40, 10, "syntax error: unknown statement frob"],
  ])("is that of the faulty tag among others in %s", async (value, column, width, message) => {
    const [fault] = await faultsOf(within(value));
    expect(fault).toMatchObject({ line: 4, column, message: `template: ${message}` });
    expect(fault?.width).toBeGreaterThanOrEqual(width);
  });

  it.each([
    ["x === 1", 43, "template: write == instead of ==="],
    ["x |frob", 44, "template: there is no filter frob"],
  ])("is that of the condition without braces %s", async (when, column, message) => {
    const [fault] = await faultsOf(`${ROUTED}  - {name: a, prompt: x, routes: [{when: "${when}", to: $end}]}\n`);
    expect(fault).toMatchObject({ line: 3, column: column + 2, message });
  });

  it("is that of the file a text comes from", async () => {
    const [fault] = await faultsOf(within("!file ask.md"), {
      files: { "/work/ask.md": "# Ask\n\nSay {{ nobody }}.\n" },
    });
    expect(fault).toMatchObject({
      file: "ask.md",
      line: 3,
      column: 8,
      message: "a template names nobody, which is no step",
    });
  });

  it("is the whole value where it is written otherwise", async () => {
    const [fault] = await faultsOf(within('"{{ nob\\u006fdy }}"'));
    expect(fault).toMatchObject({ line: 4, column: 12 });
  });
});

describe("a template that names an input without its place", () => {
  const suggestionOf = async (name: string, inputs: string): Promise<string | undefined> => {
    const [fault] = await faultsOf(
      `workflow: {name: w${inputs}}\nsteps: [{name: a, type: set, value: "{{ ${name} }}"}]\n`,
    );
    return fault?.suggestion;
  };
  it.each([
    [
      "[source 17] changes",
      "changes",
      "",
      "if it is an input, declare it under workflow.input and write workflow.input.changes",
    ],
    [
      "[source 17 kin] changes, declared",
      "changes",
      ", input: {changes: {type: string}}",
      "write workflow.input.changes",
    ],
    [
      "[source 17 kin] chnges, of a declared one",
      "chnges",
      ", input: {changes: {type: string}}",
      "did you mean workflow.input.changes?",
    ],
    ["[source 17 kin] chanel, which is a name of ours but for a letter", "chanel", "", "did you mean channel?"],
  ])("%s", async (_title, name, inputs, suggestion) => {
    expect(await suggestionOf(name, inputs)).toBe(suggestion);
  });
});
