/**
 * Every key of a nested file's `workflow:` block and of its blocks of settings: it holds in its scope, holds for the task, is
 * a fault, or is named as passed over. None is dropped without a word.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import { faultsOf, loadText } from "../../support/workflow-files.js";

type Fate = "holds" | "fault" | "named" | "about the file";
interface Row {
  /** Put into the file's `workflow:` block, or beside it. */
  readonly header?: string;
  readonly beside?: string;
  readonly fate: Fate;
  /** Words of the fault or the note. */
  readonly says?: RegExp;
}

const ABOUT_TASK = /inner says \S+: .*, which is about the whole task, and this file does not/;
const held = (header: string): Row => ({ header, fate: "holds" });
const runtime = (text: string): Row => held(`runtime: {${text}}`);
const named = (text: string, says: RegExp): Row => ({ header: `runtime: {${text}}`, fate: "named", says });
const ofTask = (beside: string): Row => ({ beside, fate: "fault", says: ABOUT_TASK });
const blockOfTask = (block: string): Row => ({ header: `checkpoint: {${block}}`, fate: "fault", says: ABOUT_TASK });

const ROWS: Readonly<Record<string, Row>> = {
  name: { header: "name: other", fate: "holds" },
  description: { header: "description: d", fate: "about the file" },
  version: { header: "version: 2", fate: "about the file" },
  entry_point: { header: "entry_point: a", fate: "about the file" },
  metadata: { header: "metadata: {team: red}", fate: "named", says: /the metadata of inner are not kept here/ },
  input: held("input: {x: {type: string, default: y}}"),
  "context.mode": held("context: {mode: last_only}"),
  "context.max_tokens": held("context: {max_tokens: 50}"),
  "context.trim_strategy": held("context: {max_tokens: 50, trim_strategy: truncate}"),
  "limits.max_iterations": held("limits: {max_iterations: 3}"),
  "limits.timeout_seconds": held("limits: {timeout_seconds: 3}"),
  "limits.max_tokens_total": held("limits: {max_tokens_total: 3}"),
  "limits.max_calls": held("limits: {max_calls: 3}"),
  "limits.budget_usd": held("limits: {budget_usd: 3}"),
  "limits.budget_mode": held("limits: {budget_usd: 3, budget_mode: audit}"),
  "cost.pricing": held("cost: {pricing: {m: {input_per_mtok: 1, output_per_mtok: 2}}}"),
  "cost.show_summary": { header: "cost: {show_summary: false}", fate: "named", says: /the cost is always shown/ },
  "cost.show_per_agent": { header: "cost: {show_per_agent: false}", fate: "named", says: /the cost is always shown/ },
  hooks: held("hooks: {on_start: hi}"),
  instructions: held("instructions: [Be kind.]"),
  on_failure: held("on_failure: continue"),
  on_unknown: held("on_unknown: skip"),
  "checkpoint.enabled": blockOfTask("enabled: false"),
  "checkpoint.storage": blockOfTask("storage: sqlite, path: x.db"),
  "checkpoint.path": blockOfTask("path: elsewhere"),
  "checkpoint.retention": blockOfTask("retention: {max_age_days: 3}"),
  "runtime.provider": runtime("provider: ollama"),
  "runtime.default_model": runtime("default_model: x"),
  "runtime.scripted_answers": runtime("scripted_answers: {a: [{say: hi}]}"),
  "runtime.mcp_servers": runtime("mcp_servers: {s: {command: node}}"),
  "runtime.temperature": runtime("temperature: 1"),
  "runtime.max_tokens": runtime("max_tokens: 5"),
  "runtime.timeout": runtime("timeout: 5"),
  "runtime.max_session_seconds": runtime("max_session_seconds: 5"),
  "runtime.max_agent_iterations": runtime("max_agent_iterations: 5"),
  "runtime.default_reasoning_effort": runtime("default_reasoning_effort: low"),
  "runtime.tool_output": runtime("tool_output: {max_chars: 2000}"),
  "runtime.default_context_tier": named("default_context_tier: default", /default_context_tier: a model's own/),
  "runtime.working_dir": named("working_dir: x", /working_dir: model steps have no folder/),
  "runtime.skills": named("skills: [s]", /skills: model steps have no skills/),
  "runtime.skill_injection": named("skill_injection: {warn_bytes: 5}", /skill_injection: model steps have no skills/),
  "runtime.skill_discovery": named("skill_discovery: {sources: [project]}", /skill_discovery: model steps have no/),
  "runtime.plugin_sources": named("plugin_sources: {p: x}", /plugin_sources: model steps have no skills/),
  "runtime.plugins": named("plugins: [p]", /plugins: model steps have no skills/),
  "runtime.checkpoint": named("checkpoint: {keep_last: 3}", /max_checkpoints: 3, .*the outermost file decides/),
  "runtime.checkpoint, seconds": named("checkpoint: {every_seconds: 3}", /interval_seconds: 3, .*outermost file/),
  store: ofTask("store: file:elsewhere"),
  calibration: ofTask("calibration: true"),
  checkpoint_config: ofTask("checkpoint_config: {retention_days: 3}"),
  recovery_config: ofTask("recovery_config: {auto_recovery: false}"),
  performance_config: ofTask("performance_config: {async_writes: false}"),
};

const SCHEMA = JSON.parse(readFileSync("schemas/workflow.schema.json", "utf8")) as {
  readonly properties: JsonObject;
  readonly $defs: Readonly<
    Record<"workflow_header" | "runtime" | "limits" | "context" | "cost", { properties: JsonObject }>
  >;
};
/** Blocks of settings, which stand beside the `workflow:` block. */
const BESIDE = ["store", "calibration", "checkpoint_config", "recovery_config", "performance_config"];

const inner = ({ header = "", beside = "" }: Partial<Row> = {}): string => {
  const name = header.startsWith("name:") ? "" : "name: inner, ";
  const entry = header.startsWith("entry_point:") ? "" : "entry_point: a, ";
  return `workflow: {${name}${entry}${header}}\nagents: [{name: a, prompt: go, routes: [{to: b}]}, {name: b, type: script, command: x}]\n${beside}\n`;
};
const OUTER = "workflow: {name: outer}\nsteps: [{name: n, workflow: inner.yaml}]\n";
const world = (row?: Row, outer = OUTER) => [outer, { files: { "/work/inner.yaml": inner(row) } }] as const;

async function holdingOf(row?: Row) {
  const { definition, notes } = await loadText(...world(row));
  const text = JSON.stringify(definition, (key, value: unknown) => (/^(?:fingerprint|sources)$/.test(key) ? 0 : value));
  return { text, notes: notes.join("\n") };
}

describe("a key of a nested file", () => {
  it.each(Object.entries(ROWS))("[kinds F1 kin] %s is not dropped without a word", async (_key, row) => {
    if (row.fate === "fault") {
      const [fault] = await faultsOf(...world(row));
      expect(fault).toMatchObject({
        code: "conflict",
        line: 2,
        message: expect.stringMatching(row.says ?? /./) as string,
      });
      return;
    }
    const [plain, changed] = [await holdingOf(), await holdingOf(row)];
    if (row.fate === "holds") expect(changed.text).not.toBe(plain.text);
    if (row.fate === "named") expect(changed.notes).toMatch(row.says ?? /^$/);
  });

  it("[kinds F1 kin] has a row here, whichever it is", () => {
    const { workflow_header: header, ...blocks } = SCHEMA.$defs;
    const keys = Object.keys(header.properties).flatMap((key) =>
      "properties" in (blocks[key as "limits"] ?? {})
        ? Object.keys(blocks[key as "limits"].properties).map((own) => `${key}.${own}`)
        : [key],
    );
    const rows = Object.keys(ROWS);
    expect([...keys, ...BESIDE].filter((key) => !rows.some((row) => row === key || row.startsWith(`${key}.`)))).toEqual(
      [],
    );
    for (const block of BESIDE) expect(SCHEMA.properties[block]).toBeDefined();
  });

  it("[kinds F1 kin] that is about the task is none where the outermost file says the same", async () => {
    const same = "checkpoint_config: {retention_days: 3}\n";
    await expect(loadText(...world({ beside: same, fate: "holds" }, OUTER + same))).resolves.toBeDefined();
  });

  it("[kinds F1 kin] cost.pricing counts for the task, and one model has one price", async () => {
    const price = (dollars: number) => `cost: {pricing: {m: {input_per_mtok: ${dollars}, output_per_mtok: 2}}}`;
    const { definition } = await loadText(...world(held(price(1))));
    expect(definition.settings["pricing"]).toEqual({ m: { input_per_mtok: 1, output_per_mtok: 2 } });
    const outer = OUTER.replace("name: outer", `name: outer, ${price(5)}`);
    const [fault] = await faultsOf(...world(held(price(1)), outer));
    expect(fault?.message).toBe("this file and inner.yaml give the model m different prices");
  });

  it("[kinds F1 kin] on_unknown counts for its own steps, and a step's own word wins", async () => {
    const text = inner({ header: "on_unknown: skip" })
      .replace("command: x}", "command: x}, {name: c, type: script, command: x, on_unknown: fail}")
      .replace("routes: [{to: b}]", "routes: [{to: b, when: 'false'}, {to: c}]");
    const { definition } = await loadText(OUTER, { files: { "/work/inner.yaml": text } });
    const found = [...JSON.stringify(definition.root).matchAll(/"onUnknown":"(\w+)"/g)].map(([, word]) => word);
    expect(new Set(found)).toEqual(new Set(["skip", "fail"]));
  });
});
