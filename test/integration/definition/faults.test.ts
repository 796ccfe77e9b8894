import { beforeAll, describe, expect, it } from "vitest";
import { formatFaults } from "../../../src/definition/faults/fault.js";
import { loadSettingsFile } from "../../../src/definition/settings/settings-sources.js";
import { refusalOf } from "../../support/error-code.js";
import { processorMsOf } from "../../support/real-clock.js";
import { createLoaderDeps, faultsOf, loadText } from "../../support/workflow-files.js";

const ROUTED = "workflow: {name: t, entry_point: a}\nagents:\n";
const DAG = "workflow: {name: t}\nsteps:\n";
const LADDER = ["a: &a [x,x,x,x,x,x,x,x,x,x]"];
for (const [index, name] of "bcdefghij".split("").entries()) {
  LADDER.push(`${name}: &${name} [${Array<string>(10).fill(`*${"abcdefghij"[index]}`).join(",")}]`);
}

/** One fault per file. Source: FAULTS 49. */
const CASES: readonly {
  readonly title: string;
  readonly text: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly suggestion?: string;
}[] = [
  {
    title: "a mistyped key",
    text: `${ROUTED}  - name: a\n    prompt: x\n    route: [{to: $end}]\n`,
    line: 5,
    column: 5,
    message: 'unknown key "route" in agents[0]',
    suggestion: "did you mean routes?",
  },
  {
    title: "if instead of when",
    text: `${DAG}  - name: a\n    value: 1\n    if: x\n`,
    line: 5,
    column: 5,
    message: 'unknown key "if" in steps[0]',
    suggestion: "write when",
  },
  {
    title: "a key one level too deep",
    text: `${DAG}  - name: a\n    value: 1\n    retry:\n      max_attempts: 2\n      depends_on: [b]\n`,
    line: 7,
    column: 7,
    message: 'unknown key "depends_on" in steps[0].retry',
    suggestion: "it belongs one level up, into steps[0]",
  },
  {
    title: "a mistyped limit",
    text: "workflow: {name: t, limits: {max_iteration: 3}}\nsteps: [{name: a, value: 1}]\n",
    line: 1,
    column: 30,
    message: 'unknown key "max_iteration" in workflow.limits',
    suggestion: "did you mean max_iterations?",
  },
  {
    title: "a key that is there twice",
    text: "workflow:\n  name: t\n  name: u\nsteps: [{name: a, value: 1}]\n",
    line: 3,
    column: 3,
    message: 'the key "name" is there twice',
    suggestion: "it stands in line 2 already",
  },
  {
    title: "on as a key",
    text: `${ROUTED}  - name: a\n    prompt: x\n    on: fail\n`,
    line: 5,
    column: 5,
    message: 'unknown key "on" in agents[0]',
    suggestion:
      "write depends_on: [{step: NAME, on: [done, skipped, failed]}]; routes have `when`, failures have `on_error`",
  },
  {
    title: "yes for true",
    text: `${DAG}  - {name: a, value: 1, risky: yes}\n`,
    line: 3,
    column: 32,
    message: 'risky must be true or false, it is the text "yes"',
    suggestion: "write true: yes is a text in YAML 1.2",
  },
  {
    title: "a number with a leading zero",
    text: `workflow: {name: t, limits: {max_iterations: 012}}\nsteps: [{name: a, value: 1}]\n`,
    line: 1,
    column: 46,
    message: "012 has a leading zero",
    suggestion: 'write 12 for the number, or "012" for the text',
  },
  {
    title: "a number in exponent form",
    text: `${DAG}  - {name: a, value: 1e3}\n`,
    line: 3,
    column: 22,
    message: "1e3 is read as the number 1000",
    suggestion: 'write 1000 for the number, or "1e3" for the text',
  },
  {
    title: "a tab as indentation",
    text: "workflow:\n\tname: t\n",
    line: 2,
    column: 1,
    message: "a tab is used for indentation",
    suggestion: "indent with spaces",
  },
  {
    title: "an alias inside its own anchor",
    text: "workflow: {name: t}\nsteps: &s\n  - {name: a, steps: *s}\n",
    line: 3,
    column: 22,
    message: "*s contains itself",
    suggestion: "an alias must not stand inside its own anchor",
  },
  {
    title: "aliases that unfold without end",
    text: `workflow: {name: t}\n${LADDER.join("\n")}\n`,
    line: 2,
    column: 14,
    message: "the file unfolds to more than 200000 values",
  },
  {
    title: "a route to nowhere",
    text: `${ROUTED}  - name: a\n    prompt: x\n    routes: [{to: bb}]\n  - {name: b, prompt: y}\n`,
    line: 5,
    column: 19,
    message: "there is no step bb to go to",
    suggestion: "did you mean b?",
  },
  {
    title: "a number of other versions of YAML",
    text: "workflow: {name: t}\nsteps:\n  - {name: a, value: -1_000}\n",
    line: 3,
    column: 22,
    message: "-1_000 is a number to other readers and a text here",
    suggestion: 'write -1000 for the number, or "-1_000" for the text',
  },
  {
    title: "a binary number",
    text: "workflow: {name: t}\nsteps:\n  - {name: a, value: 0b11}\n",
    line: 3,
    column: 22,
    message: "0b11 is a number to other readers and a text here",
    suggestion: 'write 3 for the number, or "0b11" for the text',
  },
  {
    title: "a reference to what can never have run",
    text: `${ROUTED}  - {name: a, prompt: "{{ b.output.x }}", routes: [{to: b}]}\n  - {name: b, prompt: y}\n`,
    line: 3,
    column: 27,
    message: "b can never have run before a",
    suggestion: "name a step on the way to it",
  },
  {
    title: "a byte order mark and CRLF, which are no faults",
    text: '\uFEFFworkflow: {name: t}\r\nsteps:\r\n  - {name: a, value: "{{ nope }}"}\r\n',
    line: 3,
    column: 26,
    message: "a template names nope, which is no step",
  },
  {
    title: "confidence in percent",
    text: "workflow: {name: t}\nphases:\n  - {name: p, confidence: {minimum: 85}, specialists: [{name: a, prompt: x}]}\n",
    line: 3,
    column: 37,
    message: "minimum is 85, but it is counted from 0 to 1",
    suggestion: "write 0.85",
  },
  {
    title: "dependencies in a circle",
    text: `${DAG}  - {name: a, value: 1, depends_on: [b]}\n  - {name: b, value: 1, depends_on: [a]}\n`,
    line: 3,
    column: 37,
    message: "the dependencies go in a circle: a → b → a",
    suggestion: "remove one of them",
  },
  {
    title: "a reference without a dependency",
    text: `${DAG}  - {name: a, value: 1}\n  - {name: b, value: "{{ a.output }}"}\n`,
    line: 4,
    column: 26,
    message: "b does not wait for a",
    suggestion: "add depends_on: [a] to b",
  },
  {
    title: "a tool server that there is not",
    text: `${ROUTED}  - {name: a, type: mcp, server: s, tool: t}\n`,
    line: 3,
    column: 34,
    message: "there is no tool server s",
    suggestion: "name it under workflow.runtime.mcp_servers",
  },
  {
    title: "two names alike",
    text: `${DAG}  - {name: a, value: 1}\n  - {name: a, value: 2}\n`,
    line: 4,
    column: 12,
    message: "two steps have the name a",
    suggestion: "names are unique among siblings",
  },
  {
    title: "a key of another kind of step",
    text: `${DAG}  - {name: a, command: [x], value: 2}\n`,
    line: 3,
    column: 29,
    message: "value has no meaning for a command step",
    suggestion: "it belongs to: set",
  },
  {
    title: "an input that is not declared",
    text: `${DAG}  - {name: a, value: "{{ workflow.input.x }}"}\n`,
    line: 3,
    column: 26,
    message: "the input x is not declared",
    suggestion: "declare it under workflow.input",
  },
  {
    title: "a secret that the step does not name",
    text: `${DAG}  - {name: a, value: "{{ secrets.TOKEN }}"}\n`,
    line: 3,
    column: 26,
    message: "the secret TOKEN is not named by this step",
    suggestion: "add secrets: [TOKEN] to it",
  },
  {
    title: "a command as one text",
    text: `${DAG}  - {name: a, command: node x.mjs}\n`,
    line: 3,
    column: 24,
    message: "a command is a list: no shell splits it",
    suggestion: "write [node, x.mjs]",
  },
  {
    title: "a file outside the task's folder",
    text: `${DAG}  - {name: a, value: 1, save_as: ../x}\n`,
    line: 3,
    column: 34,
    message: '"../x" is not a file below the task\'s folder: ".." is no name',
    suggestion: "write a relative name such as report.md or final/report.md",
  },
  {
    title: "a name with a dash in a template",
    text: `${DAG}  - {name: a-b, value: 1}\n  - {name: c, value: "{{ a-b.output }}", depends_on: [a-b]}\n`,
    line: 4,
    column: 26,
    message: "a template names a, which is no step",
    suggestion: "a name with a dash cannot stand in a template; call the step a_b",
  },
  {
    title: "a faulty template",
    text: `${DAG}  - {name: a, value: "{% if x %}"}\n`,
    line: 3,
    column: 23,
    message: "template: syntax error: unexpected end of input, expected end of block",
  },
  {
    title: "the key __proto__",
    text: "workflow: {name: t, __proto__: {x: 1}}\nsteps: [{name: a, value: 1}]\n",
    line: 1,
    column: 21,
    message: "the key __proto__ is not allowed",
  },
  {
    title: "a variable that is not set",
    text: "workflow: {name: t}\nsteps: [{name: a, value: '${NOPE}'}]\n",
    line: 2,
    column: 26,
    message: "the environment variable NOPE is not set",
  },
  {
    title: "weights without a scorer",
    text: "workflow: {name: t}\nphases:\n  - name: p\n    specialists: [{name: a, prompt: x}]\n    evaluate: {weights: {qality: 1, quality: 1}, scorers: {quality: {expression: '90'}}}\n",
    line: 5,
    column: 26,
    message: "no scorer has the dimension qality",
    suggestion: "did you mean quality?",
  },
  {
    title: "routes in phases",
    text: "workflow: {name: t}\nphases:\n  - name: p\n    specialists:\n      - {name: a, prompt: x, routes: [{to: $end}]}\n",
    line: 5,
    column: 30,
    message: "routes have a meaning only among agents",
    suggestion: "write depends_on, and when: for what is done on a condition",
  },
];

describe("a faulty file", () => {
  it.each(CASES)(
    "D4: $title is told with its place and the way out",
    async ({ text, line, column, message, suggestion }) => {
      const faults = await faultsOf(text);
      expect(faults.map((fault) => fault.message)).toContain(message);
      const fault = faults.find((one) => one.message === message);
      expect(fault).toMatchObject({ file: "/work/flow.yaml", line, column, ...(suggestion && { suggestion }) });
    },
  );

  it("D4: is told of everything at once, in the order of the file", async () => {
    const error = await refusalOf(() =>
      loadText(
        "workflow: {name: t, limits: {max_iteration: 3}}\nsteps:\n  - {name: a, value: 1, riskyy: true}\n  - {name: a, value: '{{ zzz }}', depends_on: [q]}\n",
      ),
    );
    expect(error.code).toBe("WORKFLOW_INVALID");
    expect(error.message.split("\n")).toEqual([
      '/work/flow.yaml:1:30 workflow.limits.max_iteration: unknown key "max_iteration" in workflow.limits (did you mean max_iterations?)',
      '/work/flow.yaml:3:25 steps[0].riskyy: unknown key "riskyy" in steps[0] (did you mean risky?)',
      "/work/flow.yaml:4:12 steps[1].name: two steps have the name a (names are unique among siblings)",
      "/work/flow.yaml:4:26 steps[1].value: a template names zzz, which is no step",
      "/work/flow.yaml:4:48 steps[1].depends_on[0]: a depends on q, which is not there",
    ]);
    expect(error.details["file"]).toBe("/work/flow.yaml");
  });

  const PHASE = "workflow: {name: t}\nphases:\n  - name: p\n    ";
  const brief: readonly (readonly [string, string])[] = [
    [`${ROUTED}  - {name: a, prompt: x, routes: [{to: $end}, {to: a}]}\n`, "a route without when always matches"],
    [
      "workflow: {name: t, entry_point: bb}\nagents: [{name: b, prompt: x}]\n",
      "the entry point bb does not exist (did you mean b?)",
    ],
    [`${ROUTED}  - {name: a, prompt: x, depends_on: [a]}\n`, "depends_on has no meaning among steps joined by routes"],
    [`${ROUTED}  - {name: a, prompt: x, on_error: gone}\n`, "there is no step gone to go to"],
    [`${ROUTED}  - {name: a, prompt: x, routes: [{to: self}]}\n`, "write a"],
    [
      `${ROUTED}  - {name: a, prompt: x}\nparallel: [{name: g, agents: [aa]}]\n`,
      "there is no agent aa (did you mean a?)",
    ],
    [
      `${ROUTED}  - {name: a, prompt: x, routes: [{to: g}]}\n  - {name: m, prompt: x, routes: [{to: a}]}\nparallel: [{name: g, agents: [m]}]\n`,
      "m is a member of a group and has no routes of its own",
    ],
    [`${ROUTED}  - {name: a, prompt: x, routes: [{to: a, when: "score >"}]}\n`, "template: syntax error"],
    [`${ROUTED}  - {name: a, prompt: x, routes: [{to: a, when: "{{ outptu.x }}"}]}\n`, "did you mean output?"],
    [`${DAG}  - {name: a, value: 1, depends_on: [a]}\n`, "a depends on itself"],
    [`${DAG}  - {name: a, value: 1, on_error: b}\n`, "on_error has a meaning only among agents"],
    [`${DAG}  - {name: a, value: "{{ a.output }}"}\n`, "a has not run yet when it names itself"],
    [
      `${DAG}  - {name: g, parallel: [{name: x, value: 1}, {name: y, value: "{{ x.output }}"}]}\n`,
      "x runs beside y, not before it",
    ],
    [`${DAG}  - {name: g, parallel: [{name: x, value: 1, depends_on: [g]}]}\n`, "members of a group run side by side"],
    [`${DAG}  - {value: 1}\n`, "a step has no name"],
    [`${DAG}  - {name: a}\n`, "the step a says nothing to do"],
    [`${DAG}  - {name: a, type: comand}\n`, "did you mean command?"],
    [`${DAG}  - {name: a, type: zzzzzzzz}\n`, "agent, model, "],
    [`${DAG}  - {name: a, type: command}\n`, "the step a has no command"],
    [`${DAG}  - {name: a, command: [x], stdin: y}\n`, "a command step gets its input as JSON on stdin"],
    [`${DAG}  - {name: a, command: [x], env: {A: b}, environment: {A: c}}\n`, "env and environment mean the same"],
    [`${DAG}  - {name: a, function: work.mjs}\n`, "the step a needs a function as file#name"],
    [`${DAG}  - {name: a, type: model, model: m}\n`, "the step a has no prompt"],
    [`${DAG}  - {name: a, value: 1, values: {b: 1}}\n`, "exactly one of value and values"],
    [`${DAG}  - {name: a, values: {b: 1}, output_type: list}\n`, "output_type goes with value only"],
    [`${DAG}  - {name: a, duration: 25h}\n`, "at most 24h"],
    [`${DAG}  - {name: a, type: wait}\n`, "needs a duration"],
    [`${DAG}  - {name: a, value: 1, timeout: 1, timeout_seconds: 2}\n`, "timeout and timeout_seconds mean the same"],
    [`${DAG}  - {name: a, server: s}\n`, "calls a tool of a server, and names no tool"],
    [`${DAG}  - {name: a, tool: t}\n`, "calls a tool of a server, and names no server"],
    [`${DAG}  - {name: a, server: s, tool: t, input: [b]}\n`, "the input of a tool is a map"],
    [`${DAG}  - {name: a, value: "{{ workflow.inptu.x }}"}\n`, "did you mean workflow.input?"],
    [`${DAG}  - {name: a, value: 5, retry: 3}\n`, "retry must be a map, it is the number 3"],
    [`${DAG}  - {name: a, value: 5, criticality: hihg}\n`, "did you mean high?"],
    [`${DAG}  - {name: 12, value: 5}\n`, 'write "12" in quotes'],
    [`${DAG}  - {name: a/b, value: 5}\n`, "is not a usable name"],
    [`${DAG}  - {name: a, value: 5, secrets: TOKEN}\n`, "begin each item with a dash"],
    ['workflow: {name: t, limits: {max_calls: "3"}}\nsteps: [{name: a, value: 1}]\n', "write 3 without quotes"],
    ["workflow: {name: t, limits: {max_calls: 0}}\nsteps: [{name: a, value: 1}]\n", "max_calls must be at least 1"],
    [
      "workflow: {name: t, input: {x: {type: boolean, default: yes}}}\nsteps: [{name: a, value: 1}]\n",
      "write true: yes is a text",
    ],
    ["workflow: {name: t}\n", "the workflow has nothing to do"],
    ['workflow: {name: t}\ngoal: ""\n', "goal is empty"],
    ["workflow: {name: t}\nsteps: []\n", "steps is empty"],
    [
      "workflow: {name: t, entry_point: a}\nsteps: [{name: a, value: 1}]\n",
      "entry_point has a meaning only for agents",
    ],
    [
      "workflow: {name: t}\nsteps: [{name: a, value: 1}]\nparallel: [{name: g, agents: [a]}]\n",
      "parallel groups agents, and there are none",
    ],
    [
      "workflow: {name: t}\nsteps: [{name: a, value: 1}]\nphases: [{name: p, specialists: [{name: b, value: 1}]}]\n",
      "phases and steps are two forms of one thing",
    ],
    ["workflow: {name: t, notifications: {to: x}}\nsteps: [{name: a, value: 1}]\n", "write hooks: {on_complete"],
    ["workflow: {name: t, defaults: {retry: 1}}\nsteps: [{name: a, value: 1}]\n", "write runtime (provider"],
    ["workflow: {name: t}\nbundle: x\nsteps: [{name: a, value: 1}]\n", "name files by their path"],
    ["workflow: {name: t}\nsteps: [{name: a, value: 1, raises: [x]}]\n", "write on_error: STEP"],
    ["workflow: {name: t, runtime: {providr: x}}\nsteps: [{name: a, value: 1}]\n", "did you mean provider?"],
    [
      "workflow: {name: t, on_failure: pause, checkpoint: {on_failure: continue}}\nsteps: [{name: a, value: 1}]\n",
      "on_failure is pause here and continue in checkpoint",
    ],
    [
      `${PHASE}specialists: [{name: a, value: 1}]\n    spawn: {steps: [{name: b, value: 1}]}\n`,
      "a specialist that is added is one step, not a group",
    ],
    [
      `${PHASE}specialists: [{name: a, value: 1}]\n    spawn: {value: 1, depends_on: [a]}\n`,
      "a specialist that is added depends on nothing",
    ],
    [`${PHASE}specialists: [{name: a, value: 1}]\n    confidence: {bands: {proceed: 0.5}}\n`, "do not descend"],
    [
      `${PHASE}specialists: [{name: a, value: 1}]\n    evaluate: {approve: 40, reject: 60, criteria: x}\n`,
      "reject 60 is above approve 40",
    ],
    [
      `${PHASE}specialists: [{name: a, value: 1}]\n    evaluate: {approve: 90}\n`,
      "an evaluation needs scorers or criteria",
    ],
    [
      `${PHASE}specialists: [{name: a, value: 1}]\n    evaluate: {scorers: [{expression: x}]}\n`,
      "a scorer needs a dimension",
    ],
    [
      `${PHASE}specialists: [{name: a, value: 1}]\n    evaluate: {scorers: [{name: q, expression: "1"}, {name: q, schema: true}]}\n`,
      "two scorers have the dimension q",
    ],
    [
      `${PHASE}specialists: [{name: a, value: 1}]\n    evaluate: {scorers: {q: {expression: "1", rubric: y}}}\n`,
      "exactly one of command, schema, expression and rubric",
    ],
    [
      `${PHASE}specialists: [{name: a, value: 1}]\n    evaluate: {weights: {q: 0}, scorers: {q: {expression: "1"}}}\n`,
      "all weights are zero",
    ],
    [
      `${PHASE}specialists: [{name: a, value: "{{ b.output }}"}]\n  - {name: q, specialists: [{name: b, value: 1}]}\n`,
      "b runs in a later phase",
    ],
    ["workflow: {name: t, x: *gone}\n", "*gone names no anchor above it"],
    ["workflow: {name: t, [a]: 1}\nsteps: [{name: a, value: 1}]\n", "a key must be a text"],
    ["workflow: {name: t}\nsteps: [{name: a, value: .inf}]\n", ".inf is not a JSON number"],
    ["workflow: {name: t}\nsteps: [{name: a, value: 12345678901234567890}]\n", "has more digits than a number keeps"],
    ["workflow: {name: t}\nsteps: [{name: a, value: !odd x}]\n", "Unresolved tag"],
    ["workflow: {name: t}\n---\nworkflow: {name: u}\n", "more than one document"],
    ["workflow: {name: t}\n<<: {a: 1}\nsteps: [{name: a, value: 1}]\n", "merge keys are not part of YAML 1.2"],
  ];
  it.each(brief)("%j is told: %s", async (text, message) => {
    const error = await refusalOf(() => loadText(text));
    expect(error.message).toContain(message);
  });

  it("is shown with its line and a caret", async () => {
    const faults = await faultsOf("workflow: {name: t, limits: {max_iteration: 3}}\nsteps: [{name: a, value: 1}]\n");
    expect(formatFaults(faults)).toBe(
      [
        '/work/flow.yaml:1:30 workflow.limits.max_iteration: unknown key "max_iteration" in workflow.limits',
        "    1 | workflow: {name: t, limits: {max_iteration: 3}}",
        "      |                              ^^^^^^^^^^^^^",
        "      = did you mean max_iterations?",
      ].join("\n"),
    );
  });

  it("tells one fault, not its consequences, for a step of a kind that there is not", async () => {
    const faults = await faultsOf(
      `${ROUTED}  - {name: a, prompt: x, routes: [{to: ask}]}\n  - {name: ask, type: mpc}\n  - {name: c, prompt: "{{ ask.output.answers }}"}\n`,
    );
    expect(faults.map((fault) => fault.message)).toEqual(['there is no type of step "mpc"']);
  });
});

const MIB = 1024 * 1024;

/** Each of the anchors holds the one before it ten times. */
function bombOf(levels: number): string {
  const lines = Array.from({ length: levels }, (_item, level) => {
    const inner = level === 0 ? "x" : `*a${level - 1}`;
    return `k${level}: &a${level} [${Array.from({ length: 10 }, () => inner).join(", ")}]`;
  });
  return `${lines.join("\n")}\n`;
}

/** An honest file of a good half MiB. */
const HONEST = `workflow: {name: t}\nsteps:\n${Array.from({ length: 6_000 }, (_item, index) => `  - {name: s${index}, value: "{{ workflow.name }}", depends_on: [${index === 0 ? "" : `s${index - 1}`}]}`).join("\n")}\n`;

describe("a hostile file", () => {
  let secondMs = 1_000;

  // A second; on a slow machine what an honest file takes there, and half as much again.
  beforeAll(async () => {
    secondMs = Math.max(secondMs, 1.5 * (await processorMsOf(() => loadText(HONEST))));
  });

  const texts: readonly (readonly [string, string, string])[] = [
    [
      "is too large",
      `a: ${"x".repeat(10 * MIB)}`,
      "larger than 1 MiB; put long texts into files of their own, with !file",
    ],
    ["has too many parts", "- x\n".repeat(200_000), "more than 300000 parts"],
    ["is nested too deep in brackets", `a: ${"[".repeat(100_000)}`, "nested deeper than 100 levels"],
    [
      "is nested too deep by indentation",
      Array.from({ length: 1_000 }, (_item, depth) => `${" ".repeat(depth)}a:`).join("\n"),
      "nested deeper than 100 levels",
    ],
    ["is nested too deep in dashes", `${"- ".repeat(20_000)}a`, "nested deeper than 100 levels"],
    ["has endless quotes", 'a: "\n'.repeat(50_000), "Missing closing"],
    ["has bytes of zero", "\0".repeat(1_000_000), "a workflow is a map"],
    ["is a bomb of aliases", bombOf(12), "unfolds to more than 200000 values"],
    ["has an alias within its anchor", "workflow: {name: t}\nmetadata: &m {again: *m}\n", "*m contains itself"],
    ["has __proto__ as a key", "workflow: {name: t, __proto__: {x: 1}}\n", "the key __proto__ is not allowed"],
    ["is indented with tabs", "workflow:\n\tname: t\n", "a tab is used for indentation"],
    ["has a key twice", "\uFEFFworkflow: {name: t}\r\nworkflow: {name: u}\r\n", 'the key "workflow" is there twice'],
    ["has keys without end", `a: {${"k: 1, ".repeat(30_000)}}`, 'the key "k" is there twice'],
    ["has quotes only", "'".repeat(MIB - 10), "a workflow is a map"],
    ["is one folded text", `a: >\n${"  x y z\n\n".repeat(MIB / 10)}`, 'unknown key "a"'],
    ["is one text of escapes", `a: "${"\\n".repeat(MIB / 2 - 10)}"`, 'unknown key "a"'],
    ["has one key of 1 MiB", `${"k".repeat(MIB - 10)}: 1`, "at most 1024 chars"],
    ["has endless dashes", "- ".repeat(MIB / 2), "more than 300000 parts"],
    ["has endless documents", "---\n".repeat(MIB / 4), "parts"],
    [
      "has a template of too many tags",
      `workflow: {name: t}\nsteps: [{name: a, value: '${"{{ x }}".repeat(100_000)}'}]\n`,
      "a template has more than 10000 tags",
    ],
    [
      "has a template of brackets",
      `workflow: {name: t}\nsteps: [{name: a, value: '{{ ${"(".repeat(100_000)} }}'}]\n`,
      "template",
    ],
    [
      "has a template of ten thousand names that are not there",
      `workflow: {name: t}\nsteps: [{name: a, value: '${Array.from({ length: 10_000 }, (_item, index) => `{{ x${index} }}`).join("")}'}]\n`,
      "a template names x0, which is no step",
    ],
    [
      "has thousands of ways past what its templates name",
      `workflow: {name: t, entry_point: s0}\nagents:\n${Array.from({ length: 2_000 }, (_item, index) => `  - {name: s${index}, value: "{% if 1 %}{{ s${Math.floor(index / 2)}.output }}{% endif %}", routes: [{to: s${(index * 7) % 2_000}, when: "x"}, {to: s${(index + 1) % 2_000}}]}`).join("\n")}\noutput: {x: "{{ nobody }}"}\n`,
      "a template names nobody",
    ],
    ["includes itself", "workflow: !file flow.yaml\n", "includes itself"],
  ];
  it.each(texts)("D5: that %s is refused within a second", async (_title, text, message) => {
    const takenMs = await processorMsOf(async () => {
      const faults = await faultsOf(text);
      expect(faults.map((fault) => fault.message).join("\n")).toContain(message);
    });
    expect(takenMs).toBeLessThan(secondMs);
  });

  it.each(texts.filter(([title, text]) => text.length < 10 * MIB && !/template|escapes|folded/.test(title)))(
    "D5: that %s is refused as fast as an included, a nested and a settings file",
    async (_title, text) => {
      const takenMs = await processorMsOf(async () => {
        const included = await faultsOf(
          "workflow: {name: t, metadata: !file part.yaml}\nsteps: [{name: a, value: 1}]\n",
          {
            files: { "/work/part.yaml": text },
          },
        );
        const nested = await faultsOf("workflow: {name: t}\nsteps: [{name: a, workflow: part.yaml}]\n", {
          files: { "/work/part.yaml": text },
        });
        const deps = createLoaderDeps({ files: { "/w/splashdown.config.yaml": text } });
        const settings = await refusalOf(() => loadSettingsFile("/w/splashdown.config.yaml", deps));
        expect([included.length > 0, nested.length > 0, settings.code]).toEqual([true, true, "SETTING_INVALID"]);
      });
      expect(takenMs).toBeLessThan(3 * secondMs);
    },
  );
});
