import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../../../src/definition/define-workflow.js";
import { loadWorkflow } from "../../../src/definition/loader.js";
import type { MachineScope, PhaseScope, ScopeDefinition } from "../../../src/definition/model/workflow.js";
import type { ModelStep, StepDefinition } from "../../../src/definition/model/step.js";
import { toMicroUsd } from "../../../src/definition/compile/workflow-builder.js";
import { codeOfAsync, refusalOf } from "../../support/error-code.js";
import { createLoaderDeps, loadText } from "../../support/workflow-files.js";

function childOf(scope: ScopeDefinition, name: string): StepDefinition | ScopeDefinition {
  const child = scope.children.find((one) => one.name === name);
  if (child === undefined) throw new Error(`no child ${name}`);
  return child;
}

async function stepOf(keys: string): Promise<StepDefinition> {
  const { definition } = await loadText(`workflow: {name: t}\nsteps:\n  - {name: a, ${keys}}\n`, {
    files: { "/work/work.mjs": "export function go() {}" },
  });
  return childOf(definition.root, "a") as StepDefinition;
}

async function phaseOf(keys: string): Promise<PhaseScope> {
  const { definition } = await loadText(
    `workflow: {name: t}\nphases:\n  - {name: p, specialists: [{name: a, prompt: x}], ${keys}}\n`,
  );
  return childOf(definition.root, "p") as PhaseScope;
}

describe("loadWorkflow with phases", () => {
  it("loads the code audit as it is shipped", async () => {
    const file = fileURLToPath(new URL("../../../examples/code-audit/workflow.yaml", import.meta.url));
    const deps = { ...createLoaderDeps({}), readText: (path: string) => readFile(path, "utf8") };
    const { definition, folder } = await loadWorkflow({ file }, deps);
    expect(definition.name).toBe("code-audit");
    expect(folder.endsWith("code-audit")).toBe(true);
    const measure = childOf(definition.root, "measure") as PhaseScope;
    expect(measure.number).toBe(1);
    expect(measure.children.map((step) => step.path)).toContain("main/measure/inventory");
    expect(measure.spawn?.path).toBe("main/measure/closer-look");
    expect(measure.evaluate?.scorers.map((scorer) => scorer.path)).toEqual([
      "main/measure/$evaluate/quality",
      "main/measure/$evaluate/evidence",
      "main/measure/$evaluate/confidence",
    ]);
    expect(measure.evaluate?.weights).toEqual({ quality: 0.6, evidence: 0.3, confidence: 0.1 });
  });

  it("fills the defaults of a phase", async () => {
    const phase = await phaseOf("evaluate: {scorers: {quality: {expression: '90'}, security: {command: [lint]}}}");
    expect(phase.confidence).toEqual({
      minimum: 0.75,
      bands: { proceed: 0.85, flag: 0.75, spawnOne: 0.65, spawnSeveral: 0.5 },
      spawnMax: 3,
    });
    expect(phase.restart).toEqual({ maxAttempts: 1, otherwise: "fail" });
    expect(phase.evaluate).toMatchObject({ approve: 90, reject: 50, maxIterations: 5 });
    expect(phase.evaluate?.weights["quality"]).toBeCloseTo(2 / 3);
    expect(phase.evaluate?.weights["security"]).toBeCloseTo(1 / 3);
    expect(phase.evaluate?.scorers.map((scorer) => scorer.effects)).toEqual(["none", "none"]);
  });

  it("takes a number for the minimum, and criteria alone for a rubric", async () => {
    const phase = await phaseOf("confidence: 0.7, evaluate: {criteria: complete}");
    expect(phase.confidence.minimum).toBe(0.7);
    expect(phase.evaluate?.scorers[0]?.scorer).toEqual({ by: "model", provider: "default", rubric: "complete" });
  });
});

describe("loadWorkflow with steps", () => {
  it.each([
    ["command: [node, x.mjs, 8080]", { kind: "command", command: ["node", "x.mjs", "8080"], effects: "external" }],
    [
      "type: script, command: echo, args: [hi], env: {A: 1}",
      { kind: "script", command: ["echo", "hi"], environment: { A: "1" }, effects: "external" },
    ],
    ["function: ./work.mjs#go", { kind: "function", function: "./work.mjs#go", effects: "external" }],
    ["function: ./work.mjs#go, effects: none", { effects: "none" }],
    [
      "prompt: hi, model: m, system_prompt: s",
      { kind: "model", provider: "default", prompt: "hi", model: "m", systemPrompt: "s", effects: "none" },
    ],
    ["value: '{{ 1 }}'", { kind: "set", value: "{{ 1 }}", outputType: "auto", effects: "none" }],
    ["values: {x: 1}", { kind: "set", values: { x: 1 } }],
    ["until: 2026-12-24T18:00:00+01:00", { kind: "sleep_until", until: "2026-12-24T18:00:00+01:00", effects: "none" }],
    ["type: sleep_until, until: 36h, reason: rest", { kind: "sleep_until", until: "36h", reason: "rest" }],
    ["duration: 500ms", { kind: "wait", duration: "500ms", effects: "none" }],
    ["value: 1, timeout: 90", { timeoutMs: 90_000 }],
    ["value: 1, timeout: 1.5m, idle_timeout: 2h", { timeoutMs: 90_000, idleTimeoutMs: 7_200_000 }],
    [
      "value: 1",
      {
        retry: { maxAttempts: 1, backoff: "exponential", delayMs: 2_000, delayMsMax: 300_000, jitter: 0.1 },
        criticality: "standard",
        risky: false,
      },
    ],
    [
      "value: 1, retry: {max_attempts: 3, backoff: fixed, delay_seconds: 0.5, max_delay_seconds: 4, jitter: 0}",
      { retry: { maxAttempts: 3, backoff: "fixed", delayMs: 500, delayMsMax: 4_000, jitter: 0 } },
    ],
    ["value: 1, save_as: final/x.md", { saveAs: { "final/x.md": "" } }],
    ["value: 1, save_as: {a.md: text, b.json: data}", { saveAs: { "a.md": "text", "b.json": "data" } }],
    [
      "command: [x], probe: [check, it], on_unknown: rerun, secrets: [TOKEN]",
      { probe: ["check", "it"], onUnknown: "rerun", secrets: ["TOKEN"] },
    ],
  ])("reads %s", async (keys, expected) => {
    expect(await stepOf(keys)).toMatchObject(expected);
  });

  it("refuses a probe where there is nothing to ask after", async () => {
    expect(await codeOfAsync(() => stepOf("value: 1, probe: [check, it]"))).toBe("WORKFLOW_INVALID");
  });

  it("makes a schema of the declared output", async () => {
    const step = await stepOf(
      "value: 1, output: {n: {type: number, minimum: 1}, list: {type: array, items: {type: string}, required: false}, o: {type: object, nullable: true, properties: {k: {type: string}}}}",
    );
    expect(step.outputSchema).toEqual({
      type: "object",
      properties: {
        n: { type: "number", minimum: 1 },
        list: { type: "array", items: { type: "string" } },
        o: { type: ["object", "null"], properties: { k: { type: "string" } }, required: ["k"] },
      },
      required: ["n", "o"],
    });
  });

  it("nests groups of every form", async () => {
    const { definition } = await loadText(`workflow: {name: t}
steps:
  - name: side
    parallel: [{name: x, value: 1}, {name: y, value: 2}]
    max_concurrent: 1
  - name: loop
    depends_on: side
    agents: [{name: u, value: "{{ x.output }}", routes: [{to: v}]}, {name: v, value: 1}]
  - {name: chain, depends_on: [loop], steps: [{name: w, value: 1}]}
`);
    expect(definition.root).toMatchObject({ scope: "dag", path: "main" });
    expect(childOf(definition.root, "side")).toMatchObject({
      scope: "parallel",
      failureMode: "fail_fast",
      maxConcurrent: 1,
    });
    const loop = childOf(definition.root, "loop") as MachineScope;
    expect(loop).toMatchObject({ scope: "machine", entry: "u", dependsOn: ["side"] });
    expect(childOf(loop, "u").path).toBe("main/loop/u");
    expect(childOf(definition.root, "chain")).toMatchObject({ scope: "dag" });
  });
});

describe("loadWorkflow with agents", () => {
  const text = `workflow:
  name: loop
  entry_point: draft
  version: "2"
  runtime: {provider: scripted, default_model: small, scripted_answers: ./answers.yaml, unknown_here: tolerated}
  limits: {max_iterations: 20, timeout_seconds: 60, budget_usd: 0.9, max_calls: 5, max_tokens_total: 100}
  on_failure: continue
agents:
  - {name: draft, prompt: "Write \${WHO:-someone}", model: null, routes: [{to: both}]}
  - {name: one, prompt: a}
  - {name: two, type: set, value: 1}
  - {name: judge, prompt: "{{ both.outputs.one }}", routes: [{to: draft, when: score < 7}, {to: $end, output: {x: "{{ output.score }}"}}]}
parallel:
  - {name: both, agents: [one, two], failure_mode: continue_on_error, routes: [{to: judge}]}
output: {text: "{{ judge.output }}"}
`;
  const world = { files: { "/work/answers.yaml": "draft: [{say: hi}]\n" }, environment: { WHO: "Ada" } };

  it("takes members into their group and joins the rest by routes", async () => {
    const { definition } = await loadText(text, world);
    const root = definition.root as MachineScope;
    expect(root.entry).toBe("draft");
    expect(root.children.map((child) => child.name)).toEqual(["draft", "judge", "both"]);
    const both = childOf(root, "both") as ScopeDefinition;
    expect(both).toMatchObject({ scope: "parallel", failureMode: "continue_on_error", routes: [{ to: "judge" }] });
    expect(both.children.map((child) => child.path)).toEqual(["main/both/one", "main/both/two"]);
    const judge = childOf(root, "judge");
    expect(judge.routes).toEqual([
      { to: "draft", when: "score < 7" },
      { to: "$end", output: { x: "{{ output.score }}" } },
    ]);
  });

  it("fills provider, model, variables, limits and scripted answers", async () => {
    const { definition } = await loadText(text, world);
    expect(childOf(definition.root, "draft")).toMatchObject({
      provider: "scripted",
      model: "small",
      prompt: "Write Ada",
    } satisfies Partial<ModelStep>);
    expect(definition.limits).toEqual({
      maxIterations: 20,
      timeoutMs: 60_000,
      tokensMax: 100,
      callsMax: 5,
      costMicroUsdMax: 900_000,
    });
    expect(definition.scriptedAnswers).toEqual({ draft: [{ say: "hi" }] });
    expect(definition.onFailure).toBe("continue");
    expect(definition.output).toEqual({ text: "{{ judge.output }}" });
  });

  it("only reports a budget that is to be audited", async () => {
    const { definition } = await loadText(
      text.replace("budget_usd: 0.9", "budget_usd: 0.9, budget_mode: audit"),
      world,
    );
    expect(definition.limits.costMicroUsdMax).toBeUndefined();
  });

  it("names scripted answers that cannot be read", async () => {
    const error = await refusalOf(() => loadText(text, { environment: world.environment }));
    expect(error.message).toContain("./answers.yaml cannot be read (ENOENT)");
  });

  it("takes inputs that Conductor's files use without declaring them for texts that must be given", async () => {
    const { definition } = await loadText(
      "workflow: {name: t, entry_point: a}\nagents: [{name: a, prompt: '{{ workflow.input.topic }}'}]\n",
    );
    expect(definition.inputs).toEqual({ topic: { type: "string", required: true } });
  });
});

describe("loadWorkflow and files", () => {
  it("reads JSON", async () => {
    const deps = createLoaderDeps({
      files: { "/w/a.json": '{"workflow": {"name": "j"}, "steps": [{"name": "a", "value": 1}]}' },
    });
    expect((await loadWorkflow({ file: "/w/a.json" }, deps)).definition.name).toBe("j");
  });

  it("puts included files in, nested and as text, with the place of their faults", async () => {
    const files = {
      "/work/parts/steps.yaml": "- {name: a, value: !file text.md}\n- {name: b, vale: 1}\n",
      "/work/parts/text.md": "hello {{ workflow.name }}",
    };
    const error = await refusalOf(() => loadText("workflow: {name: t}\nsteps: !file parts/steps.yaml\n", { files }));
    expect(error.message).toContain("parts/steps.yaml:2:13 steps[1].vale");
    const fixed = { ...files, "/work/parts/steps.yaml": "- {name: a, value: !file text.md}\n" };
    const { definition } = await loadText("workflow: {name: t}\nsteps: !file parts/steps.yaml\n", { files: fixed });
    expect(childOf(definition.root, "a")).toMatchObject({ value: "hello {{ workflow.name }}" });
  });

  it.each([
    ["a file that includes itself", { "/work/x.yaml": "a: !file x.yaml\n" }, "includes itself"],
    ["a file that is not there", {}, "!file x.yaml cannot be read (ENOENT)"],
  ])("refuses %s", async (_title, files, message) => {
    const error = await refusalOf(() =>
      loadText("workflow: {name: t, metadata: !file x.yaml}\nsteps: [{name: a, value: 1}]\n", { files }),
    );
    expect(error.message).toContain(message);
  });

  it.each([
    ["/w/none.yaml", "WORKFLOW_NOT_FOUND"],
    ["/w/none.mjs", "WORKFLOW_NOT_FOUND"],
    ["/w/empty.mjs", "WORKFLOW_INVALID"],
    ["/w/flow.txt", "WORKFLOW_INVALID"],
  ])("refuses %s with %s", async (file, code) => {
    const deps = createLoaderDeps({ modules: { "/w/empty.mjs": { default: 3 } } });
    expect(await codeOfAsync(() => loadWorkflow({ file }, deps))).toBe(code);
  });

  it("names a function's file that is not there", async () => {
    const error = await refusalOf(() =>
      loadText("workflow: {name: t}\nsteps: [{name: a, function: './gone.mjs#x'}]\n"),
    );
    expect(error.message).toContain("the file of the function ./gone.mjs#x cannot be read (ENOENT)");
  });

  it("keeps settings blocks, the short checkpoint block and Conductor's among them", async () => {
    const { definition } = await loadText(`workflow:
  name: t
  checkpoint: {enabled: true, storage: sqlite, path: x.db, on_failure: rollback, retention: {max_checkpoints: 7, max_age_days: 3, keep_successful: false}}
  runtime: {checkpoint: {every_seconds: 30, keep_last: 4}}
checkpoint_config: {encryption: false}
steps: [{name: a, value: 1}]
`);
    expect(definition.settings).toEqual({
      store: "sqlite:x.db",
      checkpoint_config: {
        enabled: true,
        encryption: false,
        interval_seconds: 30,
        max_checkpoints: 7,
        retention_days: 3,
        keep_successful: false,
      },
    });
    expect(definition.onFailure).toBe("rollback");
  });
});

describe("the short checkpoint block", () => {
  it.each([
    ["{storage: memory}", { store: "memory:" }],
    ["{storage: sqlite}", { store: "sqlite:.splashdown/checkpoints.db" }],
    ["{storage: postgres}", { store: "postgres:" }],
    ["{storage: postgres, path: 'postgres://h/d'}", { store: "postgres://h/d" }],
    ["{storage: file, path: kept}", { checkpoint_config: { storage_path: "kept" } }],
    ["{path: kept}", { checkpoint_config: { storage_path: "kept" } }],
    ["{retention: {max_checkpoints: 1}}", { checkpoint_config: { max_checkpoints: 2 } }],
  ])("names with %s a store or settings", async (block, settings) => {
    const { definition } = await loadText(`workflow: {name: t, checkpoint: ${block}}\nsteps: [{name: a, value: 1}]\n`);
    expect(definition.settings).toEqual(settings);
  });

  it("may name the same store as the file", async () => {
    const text = "workflow: {name: t, checkpoint: {storage: memory}}\nstore: 'memory:'\nsteps: [{name: a, value: 1}]\n";
    expect((await loadText(text)).definition.settings).toEqual({ store: "memory:" });
  });
});

describe("what a file may say in several ways", () => {
  it("builds groups with what groups have", async () => {
    const { definition } = await loadText(`workflow: {name: t, on_unknown: fail}
agents:
  - {name: a, value: 1, routes: [{to: g}]}
  - {name: b, prompt: x, description: second}
  - {name: c, prompt: y}
parallel:
  - {name: g, description: both, agents: [b, c], failure_mode: continue_on_error, max_concurrent: 1, on_error: a}
`);
    expect(definition.onUnknown).toBe("fail");
    expect(childOf(definition.root, "g")).toMatchObject({
      description: "both",
      failureMode: "continue_on_error",
      maxConcurrent: 1,
      onError: "a",
      children: [{ name: "b", description: "second" }, { name: "c" }],
    });
  });

  it("turns declared fields into a schema with their bounds", async () => {
    const step = await stepOf(
      "prompt: x, output: {kind: {type: string, enum: [a, b], nullable: true, description: which}, list: {type: array, items: {type: integer, minimum: 1}}, map: {type: object, properties: {in: {type: boolean, required: false}}}}",
    );
    expect(step.outputSchema).toEqual({
      type: "object",
      properties: {
        kind: { type: ["string", "null"], enum: ["a", "b", null], description: "which" },
        list: { type: "array", items: { type: "integer", minimum: 1 } },
        map: { type: "object", properties: { in: { type: "boolean" } }, required: [] },
      },
      required: ["kind", "list", "map"],
    });
  });

  it("takes a scorer's description, weight and booleans of JSON Schema", async () => {
    const phase = await phaseOf(
      "evaluate: {scorers: {yes: {schema: true, weight: 3, description: all}, no: {schema: false, weight: 1, on_unknown: skip}}}",
    );
    expect(phase.evaluate?.scorers).toMatchObject([
      { dimension: "yes", description: "all", scorer: { by: "schema", schema: {} } },
      { dimension: "no", onUnknown: "skip", scorer: { by: "schema", schema: { not: {} } } },
    ]);
    expect(phase.evaluate?.weights).toEqual({ yes: 0.75, no: 0.25 });
  });
});

describe("loadWorkflow with a program's object", () => {
  const workflow = defineWorkflow({
    workflow: { name: "program" },
    phases: [
      {
        name: "p",
        specialists: [
          { name: "a", function: () => 1 },
          { name: "b", function: "./f.mjs#x" },
        ],
      },
    ],
  });
  const deps = createLoaderDeps({
    files: { "/w/f.mjs": "export const x = 1;" },
    modules: { "/w/flow.mjs": { default: workflow } },
  });

  it("keeps its functions beside the definition, by path", async () => {
    const { definition, functions, file, folder } = await loadWorkflow({ workflow, folder: "/w" }, deps);
    expect([...functions.keys()]).toEqual(["@program/p/a"].map((path) => path.replace("program/", "")));
    expect(
      (childOf(definition.root, "p") as PhaseScope).children.map((step) =>
        step.node === "step" && step.kind === "function" ? step.function : "",
      ),
    ).toEqual(["@p/a", "./f.mjs#x"]);
    expect([file, folder]).toEqual([undefined, "/w"]);
  });

  it("comes from a module as well, with equal fingerprints", async () => {
    const [fromModule, fromObject] = [
      await loadWorkflow({ file: "/w/flow.mjs" }, deps),
      await loadWorkflow({ workflow, folder: "/w" }, deps),
    ];
    expect(fromModule.definition).toEqual(fromObject.definition);
    expect(fromModule.file).toBe("/w/flow.mjs");
  });

  it("takes texts as they are and refuses what is not JSON with its path", async () => {
    const odd = { workflow: { name: "${X}" }, steps: [{ name: "a", value: () => 1 }] };
    const error = await refusalOf(() => loadWorkflow({ workflow: odd, folder: "/w" }, deps));
    expect([error.code, error.details["path"]]).toEqual(["VALUE_UNSUPPORTED", "$.steps[0].value"]);
    const plain = await loadWorkflow(
      { workflow: { ...odd, steps: [{ name: "a", value: "${Y}" }] }, folder: "/w" },
      deps,
    );
    expect(plain.definition.name).toBe("${X}");
  });

  it("D4: tells its faults by path", async () => {
    const broken = { workflow: { name: "t" }, steps: [{ name: "a", valeu: 1 }] };
    const error = await refusalOf(() => loadWorkflow({ workflow: broken, folder: "/w" }, deps));
    expect(error.message).toBe('steps[0].valeu: unknown key "valeu" in steps[0] (did you mean value?)');
  });
});

describe("toMicroUsd", () => {
  it.each([
    [0.9, 900_000],
    [0.1 + 0.2, 300_000],
    [0.000001, 1],
    [1e-7, 0],
    [12.345678, 12_345_678],
  ])("counts %d dollars as %d", (dollars, expected) => {
    expect(toMicroUsd(dollars)).toBe(expected);
  });
});
