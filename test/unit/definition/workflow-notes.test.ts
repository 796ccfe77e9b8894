import { describe, expect, it } from "vitest";
import { loadText } from "../../support/workflow-files.js";

const STEP = "steps: [{name: a, command: [x]}]\n";
const AGENT = "agents: [{name: a, prompt: x}]\n";

async function notesOf(text: string): Promise<readonly string[]> {
  return (await loadText(text)).notes;
}

/** Keys before the first colon that is not within brackets. */
async function keysOf(text: string): Promise<string[]> {
  return (await notesOf(text)).map((note) => note.split(": ")[0] ?? "");
}

describe("notes on a workflow", () => {
  it("are none where everything in the file works", async () => {
    const text = `
workflow:
  name: t
  context: {mode: accumulate}
  limits: {max_iterations: 5, budget_usd: 1}
  metadata: {owner: me}
  runtime:
    provider: scripted
    scripted_answers: {b: [{say: x}]}
    mcp_servers: {git: {command: git-mcp}}
    tool_output: {enabled: true, max_chars: 1000}
  hooks: {}
  instructions: []
tools: [log]
checkpoint_config: {max_checkpoints: 5}
phases:
  - name: p
    specialists:
      - {name: a, command: [x], working_dir: /tmp, criticality: high, retry: {max_attempts: 2}}
      - {name: b, prompt: x, tools: [], plugins: [], output_mode: raw}
      - {name: d, cli: claude, prompt: x, working_dir: /tmp}
    spawn: {name: c, command: [x], criticality: low}
`;
    expect(await notesOf(text)).toEqual([]);
  });

  it("D7: name the key, what it does not do, and what to do instead", async () => {
    expect(await notesOf(`workflow: {name: t, cost: {show_summary: false}}\n${STEP}`)).toEqual([
      "workflow.cost.show_summary: the cost is always shown, with the task and with each step that has one",
    ]);
  });

  it.each([
    ["context: {trim_strategy: summarize}", "workflow.context.trim_strategy"],
    ["cost: {show_per_agent: false}", "workflow.cost.show_per_agent"],
    ["limits: {budget_usd: 1, budget_mode: audit}", "workflow.limits.budget_mode"],
    ["runtime: {default_context_tier: default}", "workflow.runtime.default_context_tier"],
    ["runtime: {working_dir: /tmp}", "workflow.runtime.working_dir"],
    ["runtime: {skills: [a]}", "workflow.runtime.skills"],
    ["runtime: {skill_injection: {max_bytes: 5}}", "workflow.runtime.skill_injection"],
    ["runtime: {skill_discovery: {sources: [project]}}", "workflow.runtime.skill_discovery"],
    ["runtime: {plugin_sources: {a: b}}", "workflow.runtime.plugin_sources"],
    ["runtime: {plugins: [a]}", "workflow.runtime.plugins"],
    ["runtime: {tool_output: {spill_dir: out}}", "workflow.runtime.tool_output"],
    ["runtime: {checkpoint: {every_agent: true}}", "workflow.runtime.checkpoint.every_agent"],
    ["runtime: {provider: {name: hermes, hermes_home: /tmp}}", "workflow.runtime.provider"],
  ])("D7: tell of %s in the header", async (keys, key) => {
    expect(await keysOf(`workflow: {name: t, ${keys}}\n${STEP}`)).toEqual([key]);
  });

  it.each([
    ["tools: [search]", "tools"],
    ["checkpoint_config: {retention_days: 5}", "checkpoint_config.retention_days"],
    ["performance_config: {memory_mapped_threshold_mb: 5}", "performance_config.memory_mapped_threshold_mb"],
  ])("D7: tell of %s beside the header", async (line, key) => {
    expect(await keysOf(`workflow: {name: t}\n${line}\n${STEP}`)).toEqual([key]);
  });

  it("say nothing of a setting that does what it says", async () => {
    const file = `workflow: {name: t}\ncheckpoint_config: {keep_successful: true, cleanup_interval_minutes: 5}\n${STEP}`;
    expect(await keysOf(file)).toEqual([]);
  });

  it.each([
    "store: 'file:elsewhere'",
    "checkpoint_config: {storage_path: elsewhere}",
    "checkpoint_config: {encryption: true}",
    "recovery_config: {auto_recovery: false}",
  ])("say nothing of %s, which takes effect", async (line) => {
    expect(await keysOf(`workflow: {name: t, checkpoint: {storage: file}}\n${line}\n${STEP}`)).toEqual([]);
  });

  it("[security L9] say of encryption that is switched off what becomes of the files, once", async () => {
    const notes = await notesOf(`workflow: {name: t}\ncheckpoint_config: {encryption: false}\n${STEP}`);
    expect(notes).toEqual([expect.stringContaining("everything is written unencrypted")]);
  });

  it("[security L9 kin] say nothing of encryption that is switched on", async () => {
    expect(await notesOf(`workflow: {name: t}\ncheckpoint_config: {encryption: true}\n${STEP}`)).toEqual([]);
  });

  it("[security L9 kin] refuse a workflow that welcomes itself to a machine that never ran it", async () => {
    const file = `workflow: {name: t}\nrecovery_config: {new_here: resume}\n${STEP}`;
    await expect(notesOf(file)).rejects.toThrow("write it into splashdown.config.yaml");
  });

  it("[security L9 kin] still say of other settings what they do", async () => {
    const notes = await notesOf(`workflow: {name: t}\ncheckpoint_config: {encryption: false, enabled: false}\n${STEP}`);
    expect(notes).toEqual([
      expect.stringContaining("no snapshot files are written"),
      expect.stringContaining("everything is written unencrypted"),
    ]);
  });

  it.each([
    ["output_mode: envelope", "output_mode"],
    ["context_tier: long_context", "context_tier"],
    ["session_key: a", "session_key"],
    ["skills: [a]", "skills"],
    ["dialog: {trigger_prompt: x}", "dialog"],
    ["validator: {criteria: x}", "validator"],
    ["sandbox: {working_dir: x}", "sandbox"],
    ["plugins: [a]", "plugins"],
    ["working_dir: /tmp", "working_dir"],
    ["criticality: high", "criticality"],
  ])("D7: tell of %s at a step", async (keys, key) => {
    expect(await keysOf(`workflow: {name: t}\nsteps: [{name: a, prompt: x, ${keys}}]\n`)).toEqual([`steps[0].${key}`]);
  });

  it("D7: tell of a list of references, and of criteria that nobody judges by", async () => {
    const listed = "agents:\n  - {name: a, prompt: x, input: [workflow.input.q], routes: [{to: $end}]}\n";
    expect(await keysOf(`workflow: {name: t, input: {q: {type: string}}}\n${listed}`)).toEqual(["agents[0].input"]);
    const header = "workflow: {name: t, context: {mode: explicit}, input: {q: {type: string}}}";
    expect(await keysOf(`${header}\n${listed}`)).toEqual([]);
    const judgedBy = (evaluate: string) =>
      keysOf(
        `workflow: {name: t}\nphases: [{name: p, specialists: [{name: a, command: [x]}], evaluate: ${evaluate}}]\n`,
      );
    expect(await judgedBy("{criteria: good}")).toEqual([]);
    expect(await judgedBy("{criteria: good, scorers: {quality: {expression: '90'}}}")).toEqual([
      "phases[0].evaluate.criteria",
    ]);
  });

  it("tell of a key once, with the number of steps that have it, however deep they are", async () => {
    const text = `
workflow: {name: t}
steps:
  - {name: a, command: [x]}
  - name: group
    phases:
      - name: p
        specialists: [{name: b, prompt: x, skills: [search]}, {name: c, prompt: x, skills: [search]}]
        spawn: {name: d, prompt: x, skills: [search]}
`;
    expect(await keysOf(text)).toEqual(["steps[1].phases[0].specialists[0].skills (and 2 more)"]);
  });

  it("tell of keys that Conductor tolerates and nobody knows", async () => {
    const header =
      "workflow: {name: t, entry_point: a, runtime: {colour: red}, input: {q: {type: string, shape: round}}}\n";
    expect(await notesOf(`${header}${AGENT}`)).toEqual([
      "workflow.runtime.colour: unknown key, it has no effect; remove it",
      "workflow.input.q.shape: unknown key, it has no effect; an input has type, required, default, description",
    ]);
  });
});
