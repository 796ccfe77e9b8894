/**
 * Says what a workflow file asks for that has no effect here, and what to do instead.
 *
 * Owns: the list of such keys. A key that nobody knows is a fault (structure.ts); a kind of step that does not run here is
 * a fault too (step-kinds.ts); what is left, a file may carry along without harm, but never without a word.
 * D7: a key that can do nothing is explained, never silently ignored.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { type FaultPath, formatPath, valueAt } from "../faults/fault.js";
import { explainSettings } from "../settings/settings-notes.js";
import { settingsOfWorkflow } from "../settings/settings-sources.js";
import { mergeSettings } from "../settings/settings.js";
import type { WorkflowDefinition } from "../model/workflow.js";

interface NoteRule {
  readonly path: readonly string[];
  readonly text: string;
  /** Which values ask for something; by default all but empty ones. */
  readonly asks?: (value: JsonValue) => boolean;
}

const NO_SKILLS =
  "model steps have no skills or plugins in this version; write what they should know into system_prompt";
const NO_TIER = "a model's own context is used: current models have their long context without being asked for it";

/** Keys of the file, in its usual order. */
const FILE_RULES: readonly NoteRule[] = [
  {
    path: ["workflow", "context", "trim_strategy"],
    asks: (value) => value === "summarize",
    text: "no model is asked for a summary; the longest texts are cut, as with truncate",
  },
  {
    path: ["workflow", "limits", "budget_mode"],
    asks: (value) => value === "audit",
    text: "budget_usd is told when it is reached and stops nothing; write enforce to stop there",
  },
  ...(["show_per_agent", "show_summary"] as const).map((key) => ({
    path: ["workflow", "cost", key],
    asks: (value: JsonValue) => value === false,
    text: "the cost is always shown, with the task and with each step that has one",
  })),
];

/** Keys of `workflow.runtime` that do something, wholly or in part. */
const RUNTIME_WORKS = new Set([
  "provider",
  "default_model",
  "scripted_answers",
  "checkpoint",
  "temperature",
  "max_tokens",
  "timeout",
  "default_reasoning_effort",
  "max_agent_iterations",
  "mcp_servers",
  "tool_output",
  "max_session_seconds",
]);
/** Keys of a provider that do something. */
const PROVIDER_WORKS = new Set("name type wire_api base_url api_key bearer_token auth_token headers azure".split(" "));
/** What the others would do. */
const RUNTIME_TEXTS: Readonly<Record<string, string>> = {
  default_context_tier: NO_TIER,
  working_dir: "model steps have no folder in this version; command and script steps take working_dir",
  skills: NO_SKILLS,
  skill_injection: NO_SKILLS,
  skill_discovery: NO_SKILLS,
  plugin_sources: NO_SKILLS,
  plugins: NO_SKILLS,
};

/** Keys of steps, wherever they stand. */
const STEP_RULES: readonly NoteRule[] = [
  {
    path: ["output_mode"],
    asks: (value) => value === "envelope",
    text: "the answer is taken as it is in this version; declare output to have its fields checked",
  },
  { path: ["context_tier"], text: NO_TIER },
  { path: ["session_key"], text: "every model step is a conversation of its own in this version" },
  {
    path: ["dialog"],
    text: "no conversation is held about the answer, which is taken as it is; put a step of type questions after this one",
  },
  {
    path: ["validator"],
    text: "no second model looks at the answer; put a model step after this one, with a route back",
  },
  {
    path: ["sandbox"],
    text: "there are no pools of sandboxes here; run a command specialist in a container of your own",
  },
  { path: ["skills"], text: NO_SKILLS },
  { path: ["plugins"], text: NO_SKILLS },
];

/**
 * What has no effect, one sentence each.
 *
 * Shape: `workflow.cost: prices are not known in this version; …`: dotted key, what it does not do, what to do instead.
 * Keys of the file first, then steps in the order of the file, each key of steps once with the number of places.
 */
export function explainWorkflow(file: JsonObject, definition: Pick<WorkflowDefinition, "name" | "settings">): string[] {
  const merged = mergeSettings([settingsOfWorkflow(definition)]);
  return [
    ...FILE_RULES.filter(({ path, asks = isAsking }) => holds(valueAt(file, path), asks)).map(
      ({ path, text }) => `${formatPath(path)}: ${text}`,
    ),
    ...explainRuntime(valueAt(file, ["workflow", "runtime"])),
    ...explainTools(file),
    ...explainInputs(valueAt(file, ["workflow", "input"])),
    ...explainSteps(file),
    ...explainSettings(merged).map(({ key, text }) => `${key}: ${text}`),
  ];
}

/** Nothing is asked for by null, false and what is empty. */
function isAsking(value: JsonValue): boolean {
  if (value === null || value === false) return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isJsonObject(value) || Object.keys(value).length > 0;
}

function holds(value: JsonValue | undefined, asks: (value: JsonValue) => boolean): boolean {
  return value !== undefined && asks(value);
}

function explainRuntime(runtime: JsonValue | undefined): string[] {
  if (!isJsonObject(runtime)) return [];
  const { provider, checkpoint, tool_output: output } = runtime;
  const notes = Object.entries(runtime)
    .filter(([key, value]) => !RUNTIME_WORKS.has(key) && holds(value, isAsking))
    .map(([key]) => {
      const text = Object.hasOwn(RUNTIME_TEXTS, key) ? RUNTIME_TEXTS[key] : undefined;
      return `${formatPath(["workflow", "runtime", key])}: ${text ?? "unknown key, it has no effect; remove it"}`;
    });
  const more = isJsonObject(provider) ? Object.keys(provider).filter((key) => !PROVIDER_WORKS.has(key)) : [];
  if (more.length > 0)
    notes.push(
      `workflow.runtime.provider: its name, wire form, address, key and headers count, not ${more.join(", ")}`,
    );
  if (isJsonObject(output) && (output["spill_dir"] !== undefined || output["spill_to_file"] === true))
    notes.push("workflow.runtime.tool_output: no file is written; the whole result is kept sealed in the history");
  if (isJsonObject(checkpoint) && checkpoint["every_agent"] === true)
    notes.push(
      "workflow.runtime.checkpoint.every_agent: every step is in the journal and survives a crash; for a snapshot file before a step write risky: true",
    );
  return notes;
}

/** Tools that are only named are those of servers. */
function explainTools(file: JsonObject): string[] {
  const tools = valueAt(file, ["tools"]);
  const servers = valueAt(file, ["workflow", "runtime", "mcp_servers"]);
  const isNamed = (tool: JsonValue): boolean => !isJsonObject(tool) || tool["function"] === undefined;
  if (!Array.isArray(tools) || !tools.some(isNamed) || (isJsonObject(servers) && isAsking(servers))) return [];
  return [
    "tools: no server has them; name servers under workflow.runtime.mcp_servers, or give functions: {name, function, input, effects}",
  ];
}

const INPUT_KEYS: readonly string[] = ["type", "required", "default", "description"];

/** Conductor tolerates unknown keys here. */
function explainInputs(inputs: JsonValue | undefined): string[] {
  if (!isJsonObject(inputs)) return [];
  return Object.entries(inputs).flatMap(([name, input]) => {
    const extra = Object.keys(isJsonObject(input) ? input : {}).filter((key) => !INPUT_KEYS.includes(key));
    return extra.map((key) => {
      const path = formatPath(["workflow", "input", name, key]);
      return `${path}: unknown key, it has no effect; an input has ${INPUT_KEYS.join(", ")}`;
    });
  });
}

interface StepPlace {
  readonly step: JsonObject;
  readonly path: FaultPath;
}

/** Keys below which steps, phases and groups stand. */
const HOLDERS = ["phases", "specialists", "spawn", "steps", "agents", "parallel"];

function listSteps(value: JsonObject, path: FaultPath): StepPlace[] {
  return HOLDERS.flatMap((key) => {
    const held = value[key];
    const items = Array.isArray(held) ? (held as readonly JsonValue[]) : [];
    const places = isJsonObject(held)
      ? [{ step: held, path: [...path, key] }]
      : items.flatMap((item, index) => (isJsonObject(item) ? [{ step: item, path: [...path, key, index] }] : []));
    return places.flatMap((place) => [place, ...listSteps(place.step, place.path)]);
  });
}

function explainSteps(file: JsonObject): string[] {
  const places = listSteps(file, []);
  const rules: readonly StepRule[] = [
    ...STEP_RULES.map(({ path, text, asks = isAsking }): StepRule => ({
      path,
      text,
      matches: ({ step }) => holds(valueAt(step, path), asks),
    })),
    ...SPECIAL_RULES,
    ...(valueAt(file, ["workflow", "context", "mode"]) === "explicit" ? [] : [REFERENCES_RULE]),
  ];
  return rules.flatMap((rule) => {
    const [first, ...others] = places.filter(rule.matches);
    if (first === undefined) return [];
    const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
    return [`${formatPath([...first.path, ...rule.path])}${more}: ${rule.text}`];
  });
}

interface StepRule {
  readonly path: readonly string[];
  readonly text: string;
  readonly matches: (place: StepPlace) => boolean;
}

/** Rules that look at more than the key. */
const SPECIAL_RULES: readonly StepRule[] = [
  {
    path: ["working_dir"],
    text: "a model step has no folder in this version; command, script and cli steps take working_dir",
    matches: ({ step }) =>
      step["working_dir"] !== undefined && ["command", "cli"].every((key) => step[key] === undefined),
  },
  {
    path: ["evaluate", "criteria"],
    text: "kept for people, as the scorers judge; write it as the rubric of one",
    matches: ({ step }) => ["criteria", "scorers"].every((key) => holds(valueAt(step, ["evaluate", key]), isAsking)),
  },
  {
    path: ["criticality"],
    text: "it weighs only among the specialists of a phase",
    matches: ({ step, path }) =>
      step["criticality"] !== undefined && !path.includes("specialists") && !path.includes("spawn"),
  },
];

const REFERENCES_RULE: StepRule = {
  path: ["input"],
  text: "a list of references hides nothing unless workflow.context.mode is explicit; a command gets input: {name: template}",
  matches: ({ step }) => Array.isArray(step["input"]) && step["input"].length > 0,
};
