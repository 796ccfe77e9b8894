/**
 * Which kind a step is, and what each kind may say.
 *
 * A kind is added here: its row in `KEYS`, its way to be recognised in `SIGNS` or `TYPES`, then its branch in
 * step-builder.ts.
 */
import type { Step } from "../../schema/generated/workflow.js";
import type { FaultList, FaultPath } from "../faults/fault.js";
import { findNearest } from "../faults/nearest.js";
import type { StepKind } from "../model/step.js";

export type GroupKind = "dag" | "machine" | "parallel" | "phases" | "for_each" | "workflow";
export type NodeKind = Exclude<StepKind, "scorer"> | GroupKind;
type StepKey = keyof Step;

const GROUPS: ReadonlySet<string> = new Set<GroupKind>([
  "dag",
  "machine",
  "parallel",
  "phases",
  "for_each",
  "workflow",
]);

/** True for kinds that hold other steps. */
export function isGroupKind(kind: NodeKind): kind is GroupKind {
  return GROUPS.has(kind);
}

/** Keys that only some kinds may have; all other keys of a step are for every kind. */
const KEYS: Readonly<Record<NodeKind, readonly StepKey[]>> = {
  command: ["command", "args", "env", "environment", "working_dir", "folder", "stdin", "probe"],
  script: ["command", "args", "env", "environment", "working_dir", "folder", "stdin", "probe"],
  function: ["function", "probe"],
  model: [
    ...([
      "provider",
      "model",
      "system_prompt",
      "prompt",
      "briefing",
      "tools",
      "output_mode",
      "context_tier",
      "session_key",
      "reasoning",
      "temperature",
      "max_tokens",
      "fallback",
    ] as const),
    ...([
      "skills",
      "plugins",
      "max_session_seconds",
      "max_agent_iterations",
      "working_dir",
      "dialog",
      "validator",
      "sandbox",
    ] as const),
  ],
  cli: [
    ...(["cli", "session", "model", "system_prompt", "prompt", "briefing", "args", "env", "environment"] as const),
    ...(["working_dir", "folder", "probe"] as const),
  ],
  set: ["value", "values", "output_type"],
  wait: ["duration", "reason"],
  human_gate: ["prompt", "options", "default", "on_timeout"],
  questions: [
    ...(["prompt", "questions", "source", "allow_back", "allow_skip", "allow_skip_all", "allow_abort"] as const),
    ...(["abort_route", "on_timeout"] as const),
  ],
  terminate: ["status", "reason", "output_template"],
  http: ["url", "method", "query", "headers", "body", "fail_on_status"],
  mcp: ["server", "tool"],
  dag: ["steps", "failure_mode", "max_concurrent"],
  machine: ["agents", "entry_point"],
  parallel: ["parallel", "failure_mode", "max_concurrent"],
  phases: ["phases"],
  for_each: ["for_each", "source", "as", "key_by", "step", "agent", "failure_mode", "max_concurrent"],
  workflow: ["workflow", "input_mapping", "max_depth"],
};

const OWNED = new Set<string>(Object.values(KEYS).flat());

/** Values of `type`. */
const TYPES: Readonly<Record<string, NodeKind>> = {
  agent: "model",
  model: "model",
  cli: "cli",
  command: "command",
  script: "script",
  function: "function",
  set: "set",
  wait: "wait",
  human_gate: "human_gate",
  questions: "questions",
  terminate: "terminate",
  http: "http",
  mcp: "mcp",
  dag: "dag",
  machine: "machine",
  parallel: "parallel",
  phases: "phases",
  for_each: "for_each",
  workflow: "workflow",
};

/** Without `type`, the first key that is there tells the kind. */
const SIGNS: readonly (readonly [StepKey, NodeKind])[] = [
  ["for_each", "for_each"],
  ["workflow", "workflow"],
  ["steps", "dag"],
  ["agents", "machine"],
  ["parallel", "parallel"],
  ["phases", "phases"],
  ["options", "human_gate"],
  ["questions", "questions"],
  ["url", "http"],
  ["server", "mcp"],
  ["tool", "mcp"],
  ["status", "terminate"],
  ["function", "function"],
  ["command", "command"],
  ["cli", "cli"],
  ["value", "set"],
  ["values", "set"],
  ["duration", "wait"],
  ["prompt", "model"],
  ["system_prompt", "model"],
  ["model", "model"],
  ["provider", "model"],
];

export interface KindQuestion {
  readonly step: Step;
  readonly path: FaultPath;
  /** A step that says nothing is a model step in Conductor's files. */
  readonly isRouted: boolean;
  readonly faults: FaultList;
}

/** The kind of a step; `undefined` with a fault when it has none that runs here. */
export function findKind(question: KindQuestion): NodeKind | undefined {
  const { step } = question;
  const kind = step.type === undefined ? findBySign(question) : findByType(question, step.type);
  if (kind !== undefined) {
    refuseForeignKeys(question, kind);
    refuseOutput(question, kind);
  }
  return kind;
}

function findByType({ path, faults }: KindQuestion, type: string): NodeKind | undefined {
  const kind = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (kind !== undefined) return kind;
  const nearest = findNearest(type, Object.keys(TYPES));
  const suggestion = nearest === undefined ? `known: ${Object.keys(TYPES).join(", ")}` : `did you mean ${nearest}?`;
  faults.add({
    code: "unknown_name",
    path: [...path, "type"],
    message: `there is no type of step ${JSON.stringify(type)}`,
    suggestion,
  });
  return undefined;
}

function findBySign({ step, path, isRouted, faults }: KindQuestion): NodeKind | undefined {
  const sign = SIGNS.find(([key]) => step[key] !== undefined);
  if (sign !== undefined) return sign[1];
  if (isRouted) return "model";
  faults.add({
    code: "missing_key",
    path,
    message: `the step ${step.name ?? ""} says nothing to do`,
    suggestion: "give it a command, function, prompt, value or duration",
  });
  return undefined;
}

/** Kinds whose result has one form. Source: CONDUCTOR-YAML 1.4, 1.9. */
const FORMS: Readonly<Partial<Record<NodeKind, string>>> = {
  wait: "waited_seconds",
  terminate: "nothing, or output_template in place of the workflow's output",
  questions: "answers, items and outcome",
};

function refuseOutput({ step, path, faults }: KindQuestion, kind: NodeKind): void {
  const form = FORMS[kind];
  if (step.output !== undefined && form !== undefined)
    faults.add({
      code: "misplaced_key",
      path: [...path, "output"],
      message: `a ${kind} step declares no output: it gives ${form}`,
      suggestion: "remove it",
      atKey: true,
    });
  if (kind === "model" && step.output_mode === "raw" && step.output !== undefined)
    faults.add({
      code: "conflict",
      path: [...path, "output_mode"],
      message: "output_mode: raw takes the answer as it is, so it has no declared output",
      suggestion: "remove one of them",
      atKey: true,
    });
}

function refuseForeignKeys({ step, path, faults }: KindQuestion, kind: NodeKind): void {
  const own = new Set<string>(KEYS[kind]);
  for (const key of Object.keys(step)) {
    if (!OWNED.has(key) || own.has(key)) continue;
    const kinds = Object.entries(KEYS).filter(([, keys]) => (keys as readonly string[]).includes(key));
    faults.add({
      code: "misplaced_key",
      path: [...path, key],
      message: `${key} has no meaning for a ${kind} step`,
      suggestion: `it belongs to: ${kinds.map(([name]) => name).join(", ")}`,
      atKey: true,
    });
  }
}
