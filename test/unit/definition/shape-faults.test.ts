import { describe, expect, it } from "vitest";
import { faultsOf } from "../../support/workflow-files.js";

/** One fault per file: keys, types and values that the schema refuses, and what may be written instead. */
const CASES: readonly {
  readonly title: string;
  readonly text: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly suggestion?: string;
}[] = [
  {
    title: "no round at all",
    text: "workflow: {name: t, limits: {max_iterations: 0}}\nsteps: [{name: a, value: 1}]\n",
    line: 1,
    column: 46,
    message: "max_iterations must be at least 1, it is the number 0",
  },
  {
    title: "a time in words",
    text: "workflow: {name: t, limits: {timeout_seconds: 5 minutes}}\nsteps: [{name: a, value: 1}]\n",
    line: 1,
    column: 47,
    message: 'timeout_seconds "5 minutes" does not fit',
    suggestion: "write 5m",
  },
  {
    title: "a time in milliseconds",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, timeout: 20 msec}]\n",
    line: 2,
    column: 38,
    message: 'timeout "20 msec" does not fit',
    suggestion: "write 20ms",
  },
  {
    title: "a time that is none",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, timeout: soon}]\n",
    line: 2,
    column: 38,
    message: 'timeout "soon" does not fit',
    suggestion: "Seconds as a number, or a text with ms, s, m or h.",
  },
  {
    title: "a key without its unit",
    text: "workflow: {name: t, limits: {timeout: 5}}\nsteps: [{name: a, value: 1}]\n",
    line: 1,
    column: 30,
    message: 'unknown key "timeout" in workflow.limits',
    suggestion: "did you mean timeout_seconds?",
  },
  {
    title: "a model that chooses where there are no phases",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1}]\natlas: {mode: model}\n",
    line: 3,
    column: 1,
    message: "atlas chooses what follows from a phase, and there are no phases",
    suggestion: "remove it, or write phases or a goal",
  },
  {
    title: "a model for the rules",
    text: "workflow: {name: t}\nphases: [{name: p, specialists: [{name: a, value: 1}]}]\natlas: {model: m}\n",
    line: 3,
    column: 9,
    message: "atlas.model has no meaning where rules choose",
    suggestion: "add mode: model",
  },
  {
    title: "a number where a map belongs",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, retry: 3}]\n",
    line: 2,
    column: 36,
    message: "retry must be a map, it is the number 3",
    suggestion: "write {max_attempts: …}",
  },
  {
    title: "an empty name",
    text: "workflow: {name: ''}\nsteps: [{name: a, value: 1}]\n",
    line: 1,
    column: 18,
    message: "name is empty",
  },
  {
    title: "a phase without specialists",
    text: "workflow: {name: t}\nphases: [{name: p, specialists: []}]\n",
    line: 2,
    column: 33,
    message: "specialists is empty",
    suggestion: "add at least one",
  },
  {
    title: "a list for a text",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, description: [x]}]\n",
    line: 2,
    column: 42,
    message: "description must be a text, it is a list",
  },
  {
    title: "a map for a truth value",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, risky: {x: 1}}]\n",
    line: 2,
    column: 36,
    message: "risky must be true or false, it is a map",
  },
  {
    title: "a number for a truth value",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, risky: 1}]\n",
    line: 2,
    column: 36,
    message: "risky must be true or false, it is the number 1",
  },
  {
    title: "a text for a list",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, secrets: TOKEN}]\n",
    line: 2,
    column: 38,
    message: 'secrets must be a list, it is the text "TOKEN"',
    suggestion: "begin each item with a dash",
  },
  {
    title: "a number for a list",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, secrets: 5}]\n",
    line: 2,
    column: 38,
    message: "secrets must be a list, it is the number 5",
    suggestion: "begin each item with a dash",
  },
  {
    title: "an empty value where a list belongs",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, secrets: }]\n",
    line: 2,
    column: 38,
    message: "secrets must be a list, it is empty",
  },
  {
    title: "a key two levels too deep",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, retry: {depends_on: [b]}}]\n",
    line: 2,
    column: 37,
    message: 'unknown key "depends_on" in steps[0].retry',
    suggestion: "it belongs one level up, into steps[0]",
  },
  {
    title: "a key of the file in a part of a step",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, retry: {atlas: {mode: rules}}}]\n",
    line: 2,
    column: 37,
    message: 'unknown key "atlas" in steps[0].retry',
    suggestion: "it belongs further up, into the file itself",
  },
  {
    title: "a key that belongs into an item",
    text: "workflow: {name: t}\nspecialists: []\nphases: [{name: p, specialists: [{name: a, value: 1}]}]\n",
    line: 2,
    column: 1,
    message: 'unknown key "specialists" in the file',
    suggestion: "it belongs one level down, into an item of phases",
  },
  {
    title: "a choice of a kind that is none",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, criticality: 5}]\n",
    line: 2,
    column: 42,
    message: "criticality must be one of critical, high, standard, low, it is the number 5",
  },
  {
    title: "a wrong item of a list",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, secrets: [A, 5, B]}]\n",
    line: 2,
    column: 42,
    message: "secrets[1] must be a text, it is the number 5",
    suggestion: 'write "5" in quotes',
  },
  {
    title: "no header",
    text: "steps: [{name: a, value: 1}]\n",
    line: 1,
    column: 1,
    message: "the file has no workflow",
    suggestion: "add workflow",
  },
  {
    title: "a route without a target",
    text: "workflow: {name: t}\nagents: [{name: a, value: 1, routes: [{when: x}]}]\n",
    line: 2,
    column: 39,
    message: "routes[0] has no to",
    suggestion: "add to",
  },
  {
    title: "a member of a group that nothing resembles",
    text: "workflow: {name: t}\nagents: [{name: a, value: 1}]\nparallel: [{name: g, agents: [zzzzzz]}]\n",
    line: 3,
    column: 31,
    message: "there is no agent zzzzzz",
  },
  {
    title: "a comment of a template without an end",
    text: "workflow: {name: t}\nsteps: [{name: a, value: 1, description: x}, {name: b, value: '{{ 1 }}{# open'}]\n",
    line: 2,
    column: 71,
    message: "template: a comment {# has no end #}",
  },
  {
    title: "a raw block without an end",
    text: "workflow: {name: t}\nsteps: [{name: b, value: '{% raw %}x'}]\n",
    line: 2,
    column: 27,
    message: "template: a block {% raw %} has no {% endraw %}",
  },
  {
    title: "two stores",
    text: "workflow: {name: t, checkpoint: {storage: memory}}\nstore: file:x\nsteps: [{name: a, value: 1}]\n",
    line: 2,
    column: 1,
    message: "the store is file:x here and memory: in workflow.checkpoint",
    suggestion: "keep one",
  },
  {
    title: "a default of another type",
    text: "workflow: {name: t, input: {q: {type: boolean, default: off}}}\nsteps: [{name: a, value: 1}]\n",
    line: 1,
    column: 57,
    message: 'the default of q must be a boolean, it is "off"',
    suggestion: "write false: off is a text in YAML 1.2",
  },
  {
    title: "a default of a list that is none",
    text: "workflow: {name: t, input: {q: {type: array, default: x}}}\nsteps: [{name: a, value: 1}]\n",
    line: 1,
    column: 55,
    message: 'the default of q must be an array, it is "x"',
  },
  {
    title: "weights for nothing known",
    text: "workflow: {name: t}\nphases: [{name: p, specialists: [{name: a, value: 1}], evaluate: {scorers: {q: {expression: '1'}}, weights: {zzzz: 1}}}]\n",
    line: 2,
    column: 110,
    message: "no scorer has the dimension zzzz",
    suggestion: "dimensions: q",
  },
];

describe("a file of the wrong shape", () => {
  it.each(CASES)(
    "D4: $title is told with its place and the way out",
    async ({ text, line, column, message, suggestion }) => {
      const fault = (await faultsOf(text)).find((one) => one.message === message);
      expect(fault).toMatchObject({ file: "/work/flow.yaml", line, column });
      expect(fault?.suggestion).toBe(suggestion);
    },
  );
});
