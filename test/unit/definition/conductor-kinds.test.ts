/** What each kind of step needs and refuses, row by row. Source: CONDUCTOR-YAML 1.4. */
import { describe, expect, it } from "vitest";
import { faultsOf, loadText } from "../../support/workflow-files.js";

const HEAD = "workflow: {name: w, entry_point: a}\ntools: [t]\nagents:\n";
const inner = { files: { "/work/in.yaml": "workflow: {name: in}\nsteps: [{name: x, value: 1}]\n" } };

/** A right step of each kind, key by key. */
const RIGHT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  agent: { prompt: "x" },
  human_gate: { prompt: "x", options: '[{label: A, value: a, route: "$end"}]' },
  questions: { questions: "[why?]" },
  script: { command: "x" },
  set: { value: "1" },
  wait: { duration: "1s" },
  terminate: { status: "success", reason: "done" },
  workflow: { workflow: "in.yaml" },
};

const NEEDS: Readonly<Record<string, readonly string[]>> = {
  human_gate: ["options", "prompt"],
  questions: ["questions"],
  script: ["command"],
  set: ["value"],
  wait: ["duration"],
  terminate: ["status", "reason"],
  workflow: ["workflow"],
};

const WIZARD = ["questions", "source", "allow_back", "allow_skip", "allow_skip_all", "allow_abort", "abort_route"];
const OF_MODELS = ["provider", "model", "tools", "system_prompt", "prompt"];
const OF_ANSWERS = ["dialog", "validator", "sandbox", "reasoning", "context_tier", "skills", "plugins", "session_key"];
const OF_SETS = ["value", "values", "output_type"];
const MORE_OF_MODELS = ["max_session_seconds", "max_agent_iterations", "output_mode"];

const REFUSES: Readonly<Record<string, readonly string[]>> = {
  agent: [
    "input_mapping",
    "max_depth",
    ...OF_SETS,
    "duration",
    "reason",
    ...WIZARD,
    "status",
    "output_template",
    "stdin",
  ],
  human_gate: ["input_mapping", "max_depth", ...OF_ANSWERS, ...OF_SETS, "output_mode", "working_dir", "duration"],
  questions: [
    "options",
    "provider",
    "model",
    "tools",
    "output",
    "input_mapping",
    ...OF_ANSWERS,
    ...OF_SETS,
    "duration",
  ],
  script: [...OF_MODELS, ...OF_ANSWERS, ...OF_SETS, ...MORE_OF_MODELS, "options", "duration", "reason", ...WIZARD],
  set: [
    ...OF_MODELS,
    ...OF_ANSWERS,
    ...MORE_OF_MODELS,
    "options",
    "command",
    "stdin",
    "workflow",
    "input_mapping",
    "duration",
    ...WIZARD,
  ],
  wait: [
    ...OF_MODELS,
    ...OF_ANSWERS,
    ...OF_SETS,
    ...MORE_OF_MODELS,
    "options",
    "command",
    "stdin",
    "workflow",
    "output",
    ...WIZARD,
  ],
  terminate: [
    ...OF_MODELS,
    ...OF_ANSWERS,
    ...OF_SETS,
    ...MORE_OF_MODELS,
    "options",
    "command",
    "duration",
    "output",
    "routes",
    ...WIZARD,
  ],
  workflow: [
    ...OF_MODELS,
    ...OF_ANSWERS,
    ...OF_SETS,
    ...MORE_OF_MODELS,
    "options",
    "command",
    "working_dir",
    "duration",
    "reason",
    ...WIZARD,
  ],
};

/** A value of the right type for each key. */
const VALUES: Readonly<Record<string, string>> = {
  input_mapping: "{x: 1}",
  max_depth: "2",
  value: "1",
  values: "{x: 1}",
  output_type: "string",
  duration: "1s",
  reason: "x",
  questions: "[why?]",
  source: "b.output.list",
  allow_back: "true",
  allow_skip: "true",
  allow_skip_all: "true",
  allow_abort: "true",
  abort_route: '"$end"',
  provider: "openai",
  model: "m",
  tools: "[t]",
  system_prompt: "x",
  prompt: "x",
  dialog: "{trigger_prompt: x}",
  validator: "{criteria: x}",
  sandbox: "{identifier_scope: agent}",
  reasoning: "{effort: low}",
  context_tier: "default",
  skills: "[s]",
  plugins: "[p]",
  session_key: "k",
  output_mode: "envelope",
  working_dir: "x",
  options: '[{label: A, value: a, route: "$end"}]',
  output: "{x: {type: string}}",
  command: "x",
  stdin: "x",
  workflow: "in.yaml",
  max_session_seconds: "5",
  max_agent_iterations: "5",
  status: "success",
  output_template: "{x: 1}",
  routes: '[{to: "$end"}]',
};

function fileOf(kind: string, keys: Readonly<Record<string, string>>): string {
  const lines = Object.entries(keys).map(([key, value]) => `    ${key}: ${value}\n`);
  return `${HEAD}  - name: a\n    type: ${kind}\n${lines.join("")}`;
}

const rowsOf = (table: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(table).flatMap(([kind, keys]) => keys.map((key): [string, string] => [kind, key]));

describe("a step of kind", () => {
  it.each(Object.keys(RIGHT))("%s is right with what it needs", async (kind) => {
    await expect(loadText(fileOf(kind, RIGHT[kind] ?? {}), inner)).resolves.toBeDefined();
  });

  it.each(rowsOf(NEEDS))("%s needs %s", async (kind, key) => {
    const { [key]: _left, ...rest } = RIGHT[kind] ?? {};
    const faults = await faultsOf(fileOf(kind, rest), inner);
    expect(faults.length).toBeGreaterThan(0);
    expect(faults[0]?.line).toBeGreaterThan(3);
  });

  it.each(rowsOf(REFUSES))("%s refuses %s, at its place", async (kind, key) => {
    const right = RIGHT[kind] ?? {};
    const faults = await faultsOf(fileOf(kind, { ...right, [key]: VALUES[key] ?? "?" }), inner);
    const line = 6 + Object.keys(right).filter((own) => own !== key).length;
    expect(faults.map((fault) => [fault.line, fault.path.startsWith(`agents[0].${key}`)])).toContainEqual([line, true]);
  });
});
