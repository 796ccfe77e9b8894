/** Every key of Conductor's files with what it takes, what it refuses and what holds without it. Source: CONDUCTOR-YAML 1.2–1.6, 1.9. */
import { describe, expect, it } from "vitest";
import type { MachineScope, NodeDefinition } from "../../../src/definition/model/workflow.js";
import { faultsOf, loadText } from "../../support/workflow-files.js";

const world = { files: { "/work/in.yaml": "workflow: {name: in}\nsteps: [{name: x, value: 1}]\n" } };
const AGENT = "{name: a, prompt: x}";

const header = (keys: string): string => `workflow: {name: w, entry_point: a, ${keys}}\nagents: [${AGENT}]\n`;
const runtime = (keys: string): string => header(`runtime: {${keys}}`);
const agent = (keys: string): string =>
  `workflow: {name: w, entry_point: a}\nagents: [{name: a, prompt: x, ${keys}}]\n`;
const typed =
  (base: string) =>
  (keys: string): string =>
    `workflow: {name: w, entry_point: a}\nagents: [{name: a, ${base}, ${keys}}]\n`;
const script = typed("type: script, command: x");
const set = typed("type: set");
const wait = typed("type: wait");
const gate = typed("type: human_gate, prompt: x");
const wizard = typed("type: questions");
const nested = typed("type: workflow, workflow: in.yaml");
const group = (keys: string): string =>
  `workflow: {name: w, entry_point: g}\nagents: [{name: a, value: 1}, {name: b, value: 1}]\nparallel: [{name: g, ${keys}}]\n`;
const loop = (keys: string): string =>
  `workflow: {name: w, entry_point: b}\nagents: [{name: b, value: [1], routes: [{to: g}]}]\nfor_each: [{name: g, type: for_each, ${keys}}]\n`;
const loopOf = (keys: string): string => loop(`source: b.output, as: x, agent: {name: w, value: 1}, ${keys}`);
const OPTIONS = 'options: [{label: A, value: a, route: "$end"}]';

type Row = readonly [
  key: string,
  around: (keys: string) => string,
  taken: readonly string[],
  refused: readonly string[],
];

/** `?` stands for the value. */
const TABLE: readonly Row[] = [
  ["description: ?", header, ["x"], ["[x]", "5"]],
  ["version: ?", header, ['"1"', "2", "1.5"], ["[1]"]],
  ["context: {mode: ?}", header, ["accumulate", "last_only", "explicit"], ["snapshot", "5"]],
  ["context: {max_tokens: ?}", header, ["1", "100000"], ["0", "x"]],
  ["context: {trim_strategy: ?}", header, ["summarize", "truncate", "drop_oldest"], ["newest"]],
  ["limits: {max_iterations: ?}", header, ["1", "500"], ["0", "1.5", '"5"']],
  ["limits: {timeout_seconds: ?}", header, ["1", "3600"], ["soon", "[1]"]],
  ["limits: {budget_usd: ?}", header, ["0.01", "100"], ["0", "-1", '"5"']],
  ["limits: {budget_mode: ?}", header, ["audit", "enforce"], ["warn"]],
  ["cost: {show_per_agent: ?}", header, ["true", "false"], ['"yes"', "1"]],
  ["cost: {pricing: {m: {input_per_mtok: ?, output_per_mtok: 1}}}", header, ["0", "2.5"], ["-1", "x"]],
  ["metadata: ?", header, ["{a: 1}", "{}"], ["[a]", "x"]],
  ["instructions: ?", header, ["[a, b]", "[]"], ["[1]"]],
  ["input: {i: {type: ?}}", header, ["string", "number", "boolean", "array", "object"], ["text", "5"]],
  ["input: {i: {type: boolean, default: ?}}", header, ["true", "false"], ["1", '"x"']],
  ["input: {i: {type: number, default: ?}}", header, ["1", "1.5"], ["true", '"x"']],
  ["hooks: {on_start: ?}", header, ['"hi {{ workflow.name }}"'], ["5", "[x]"]],
  ["provider: ?", runtime, ["copilot", "{name: openai}"], ["5", "{nam: x}"]],
  ["default_model: ?", runtime, ["m"], ["5"]],
  ["temperature: ?", runtime, ["0", "2", "0.7"], ["-0.1", "2.1", "x"]],
  ["max_tokens: ?", runtime, ["1", "200000"], ["0", "200001", "1.5"]],
  ["timeout: ?", runtime, ["1", "60"], ["0", "x"]],
  ["max_session_seconds: ?", runtime, ["1", "900"], ["0"]],
  ["max_agent_iterations: ?", runtime, ["1", "500"], ["0", "501"]],
  ["default_reasoning_effort: ?", runtime, ["low", "medium", "high", "xhigh", "max"], ["huge"]],
  ["default_context_tier: ?", runtime, ["default", "long_context"], ["short"]],
  ["checkpoint: {every_agent: ?}", runtime, ["true", "false"], ["1"]],
  ["checkpoint: {keep_last: ?}", runtime, ["1", "100"], ["0", "101"]],
  ["tool_output: {max_chars: ?}", runtime, ["1000", "50000"], ["999", "x"]],
  ["skill_injection: {warn_bytes: ?}", runtime, ["65536"], ["x"]],
  [
    "mcp_servers: {s: ?}",
    runtime,
    ["{command: x}", "{type: http, url: 'https://x.invalid'}"],
    ["{type: http}", "{}", "x"],
  ],
  ["tools: ?", agent, ["[]"], ["x", "[unknown]"]],
  ["output_mode: ?", agent, ["raw", "envelope"], ["text"]],
  ["output: {f: {type: ?}}", agent, ["string", "number", "boolean", "array", "object"], ["date"]],
  ["retry: {max_attempts: ?}", agent, ["1", "10"], ["0", "1.5"]],
  ["retry: {backoff: ?}", agent, ["exponential", "fixed"], ["linear"]],
  ["retry: {delay_seconds: ?}", agent, ["0", "300"], ["-1", "x"]],
  ["retry: {retry_on: ?}", agent, ["[provider_error, timeout]", "[]"], ["[always]"]],
  ["retry: {max_parse_recovery_attempts: ?}", agent, ["0", "10"], ["-1", "11"]],
  ["timeout_seconds: ?", agent, ["1", "60"], ["soon"]],
  ["reasoning: {effort: ?}", agent, ["low", "max"], ["huge"]],
  ["session_key: ?", agent, ["k"], ['""', "5"]],
  ["dialog: {trigger_prompt: ?}", agent, ["x"], ["5"]],
  ["validator: {criteria: x, max_retries: ?}", agent, ["0", "1"], ["2", "-1"]],
  ["on_error: ?", agent, ["a"], ["nowhere", "5"]],
  ["on_failure: ?", header, ["pause", "continue", "rollback"], ["retry", "5"]],
  ["on_unknown: ?", agent, ["ask", "rerun", "skip", "fail"], ["guess"]],
  ["routes: [{to: ?}]", agent, ["a", '"$end"'], ["nowhere", "self", "5"]],
  ["routes: [{to: $end, when: ?}]", agent, ['"{{ output.x }}"', '"x == 1"', "true"], ['"{{ 1 + }}"', '""', "[x]"]],
  ["routes: [{to: $end, output: ?}]", agent, ['{x: "{{ output }}"}'], ["x", "[x]"]],
  ["args: ?", script, ["[a, b]", "[]"], ["{a: 1}"]],
  ["env: ?", script, ["{A: b}"], ["[A]", "{A: [1]}"]],
  ["working_dir: ?", script, ["sub"], ["5"]],
  ["stdin: ?", script, ['"{{ workflow.name }}"'], ["[x]"]],
  ["timeout: ?", script, ["1", "60"], ["soon", "[1]"]],
  ["effects: ?", script, ["none", "idempotent", "external"], ["some"]],
  ["value: ?", set, ["1", "x", "[1]", "{a: 1}", '"{{ workflow.name }}"', "false"], ['"{{ nobody }}"']],
  ["values: ?", set, ["{a: 1, b: x}"], ["[a]", "x"]],
  ["value: 1, output_type: ?", set, ["auto", "string", "number", "integer", "boolean", "list", "dict"], ["text"]],
  ["duration: ?", wait, ["1", "0.5", "500ms", "30s", "5m", "24h", '"{{ 1 + 1 }}"'], ["0", "-1", "25h", "soon", "[1]"]],
  ["duration: 1s, reason: ?", wait, ["x", '"{{ workflow.name }}"'], ["5"]],
  [
    "options: ?",
    gate,
    ['[{label: A, value: a, route: "$end"}]'],
    ["[]", "[{label: A}]", "x", "[{label: A, value: a, route: gone}]"],
  ],
  [`${OPTIONS}, timeout: 1h, on_timeout: ?`, gate, ["a"], ["b", "5"]],
  [`${OPTIONS}, default: ?`, gate, ["a"], ["b"]],
  ["questions: ?", wizard, ["[why?]", "[{text: why, choices: [a, b]}]"], ["[]", "x", "[{hint: x}]"]],
  [
    "questions: [{text: x, ?}]",
    wizard,
    ["required: true", "multiline: false", "default: y", "hint: h", "id: q"],
    ["allow_free_text: false", "requird: true"],
  ],
  ["questions: [x], allow_back: ?", wizard, ["true", "false"], ["1"]],
  ["questions: [x], allow_abort: true, abort_route: ?", wizard, ['"$end"', "a"], ["gone"]],
  ["max_depth: ?", nested, ["1", "10"], ["0", "11", "x"]],
  ["input_mapping: ?", nested, ["{}"], ["[x]", "{unknown: 1}"]],
  ["agents: ?", group, ["[a, b]"], ["[a, nobody]", "a"]],
  ["agents: [a, b], failure_mode: ?", group, ["fail_fast", "continue_on_error", "all_or_nothing"], ["never"]],
  ["source: ?, as: x, agent: {name: w, value: 1}", loop, ["b.output", '"{{ b.output }}"'], ["nobody.output", "5"]],
  [
    "source: b.output, as: ?, agent: {name: w, value: 1}",
    loop,
    ["x", "_item"],
    ["workflow", "output", "_index", "a-b"],
  ],
  ["max_concurrent: ?", loopOf, ["1", "100"], ["0", "x"]],
  ["failure_mode: ?", loopOf, ["fail_fast", "continue_on_error", "all_or_nothing"], ["never"]],
  ["key_by: ?", loopOf, ["id", "meta.id"], ["5", "[id]"]],
];

const cases = (at: 2 | 3) =>
  TABLE.flatMap((row) => row[at].map((value) => [row[0].replace("?", value), row[1]] as const));

describe("Conductor's key", () => {
  it.each(cases(2))("%s is taken", async (keys, around) => {
    await expect(loadText(around(keys), world)).resolves.toBeDefined();
  });

  it.each(cases(3))("%s is refused with its place", async (keys, around) => {
    const [fault] = await faultsOf(around(keys), world);
    expect(fault).toMatchObject({ line: expect.any(Number) as number, column: expect.any(Number) as number });
  });
});

describe("without a key", () => {
  const childOf = async (text: string): Promise<NodeDefinition> => {
    const { definition } = await loadText(text, world);
    return (definition.root as MachineScope).children.at(-1) as NodeDefinition;
  };

  it("a workflow has these", async () => {
    const { definition } = await loadText(
      `workflow: {name: w, entry_point: a, input: {i: {type: string}}}\nagents: [${AGENT}]\n`,
    );
    expect(definition).toMatchObject({
      context: { mode: "accumulate", trim: "drop_oldest" },
      limits: { maxIterations: 10 },
      metadata: {},
      output: {},
      onFailure: "pause",
      inputs: { i: { type: "string", required: true } },
    });
  });

  it.each([
    [
      "an agent",
      agent("tools: []"),
      {
        kind: "model",
        provider: "copilot",
        prompt: "x",
        effects: "none",
        routes: [],
        retry: { maxAttempts: 3, backoff: "exponential", delayMs: 2_000 },
      },
    ],
    ["a script", script("args: []"), { kind: "script", environment: {}, effects: "external" }],
    ["a set step", set("value: 1"), { kind: "set", outputType: "auto", effects: "none" }],
    [
      "a gate",
      gate(OPTIONS),
      { kind: "human_gate", options: [{ label: "A", value: "a", route: "$end", multiline: false }] },
    ],
    [
      "a wizard",
      wizard("questions: [why?]"),
      {
        kind: "questions",
        items: [{ id: "q1", text: "why?", choices: [], allowFreeText: true, required: false, multiline: true }],
        allow: { back: true, skip: true, skipAll: true, abort: false },
      },
    ],
    ["a group", group("agents: [a, b]"), { scope: "parallel", failureMode: "fail_fast" }],
    ["a for_each", loopOf("routes: []"), { scope: "for_each", as: "x", maxConcurrent: 10, failureMode: "fail_fast" }],
  ])("%s has these", async (_title, text, expected) => {
    expect(await childOf(text)).toMatchObject(expected);
  });
});
