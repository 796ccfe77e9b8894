/**
 * Workflows as objects of a program: the same keys as in a file, with functions where a file names them.
 *
 * Functions are taken out and stand beside the definition under `@path`, so that the rest is plain JSON.
 */
import { sha256Hex } from "../base/digest.js";
import type { JsonValue } from "../base/json.js";
import { encodeValue } from "../base/json-encoding.js";
import type { ForEachGroup, ParallelGroup, Phase, Step, Tool, WorkflowFile } from "../schema/generated/workflow.js";

/** Code of a step; the runtime exports the type of its context. */
export type StepFunction = (context: never) => unknown;

/** A step of a program: as in a file, or with a function of the program. `F` is what its functions look like. */
export interface StepInput<F = StepFunction> extends Omit<
  Step,
  "function" | "steps" | "agents" | "parallel" | "phases" | "step" | "agent"
> {
  readonly function?: string | F;
  /** What is done for each item. */
  readonly step?: StepInput<F>;
  /** The same as step. */
  readonly agent?: StepInput<F>;
  readonly steps?: readonly StepInput<F>[];
  readonly agents?: readonly StepInput<F>[];
  readonly parallel?: readonly StepInput<F>[];
  readonly phases?: readonly PhaseInput<F>[];
}

export interface PhaseInput<F = StepFunction> extends Omit<Phase, "specialists" | "spawn"> {
  readonly specialists: readonly StepInput<F>[];
  readonly spawn?: StepInput<F>;
}

export interface ForEachInput<F = StepFunction> extends Omit<ForEachGroup, "agent"> {
  readonly agent: StepInput<F>;
}

/** A tool of a program: as in a file, or with a function of the program. `G` is what its functions look like. */
export type ToolInput<G = StepFunction> =
  Extract<Tool, string> | (Omit<Exclude<Tool, string>, "function"> & { readonly function?: string | G });

/** What `defineWorkflow` takes: a workflow file as an object. Keys are those of the file. */
export interface WorkflowInput<F = StepFunction, G = StepFunction> extends Omit<
  WorkflowFile,
  "phases" | "steps" | "agents" | "parallel" | "for_each" | "tools"
> {
  readonly tools?: readonly ToolInput<G>[];
  readonly for_each?: readonly ForEachInput<F>[];
  readonly phases?: readonly PhaseInput<F>[];
  readonly steps?: readonly StepInput<F>[];
  readonly agents?: readonly StepInput<F>[];
  readonly parallel?: readonly ParallelGroup[];
}

/**
 * Marks an object as a workflow and gives it its type; nothing is checked before it is loaded.
 *
 * Shape: the very object it was given.
 */
export function defineWorkflow<const T extends WorkflowInput>(workflow: T): T {
  return workflow;
}

export interface ExtractedWorkflow {
  /** Plain JSON; functions are replaced by their `@path`. */
  readonly value: JsonValue;
  readonly functions: ReadonlyMap<string, StepFunction>;
  /** Digest of each function's code, by `@path`. */
  readonly digests: ReadonlyMap<string, string>;
}

/**
 * Takes the functions out of a workflow object.
 *
 * Errors: VALUE_UNSUPPORTED with the path of anything that is not JSON.
 */
export function extractFunctions(workflow: unknown): ExtractedWorkflow {
  const functions = new Map<string, StepFunction>();
  const digests = new Map<string, string>();
  const take = (call: StepFunction, trail: readonly string[]): string => {
    const base = `@${trail.join("/")}`;
    let path = base;
    for (let count = 2; functions.has(path); count += 1) path = `${base}~${count}`;
    functions.set(path, call);
    digests.set(path, sha256Hex(call.toString()));
    return path;
  };
  const value = encodeValue(replaceFunctions(workflow, [], { take, active: new Set() }));
  return { value, functions, digests };
}

interface Extraction {
  readonly take: (call: StepFunction, trail: readonly string[]) => string;
  readonly active: Set<unknown>;
}

/** Only the key `function` may hold code; code elsewhere is left for `encodeValue` to refuse. */
function replaceFunctions(value: unknown, trail: readonly string[], extraction: Extraction): unknown {
  const { active } = extraction;
  if (typeof value !== "object" || value === null || active.has(value)) return value;
  active.add(value);
  try {
    if (Array.isArray(value)) return value.map((item: unknown) => replaceFunctions(item, trail, extraction));
    return isPlain(value) ? replaceInRecord(value, trail, extraction) : value;
  } finally {
    active.delete(value);
  }
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function replaceInRecord(record: Record<string, unknown>, trail: readonly string[], extraction: Extraction): unknown {
  const { name } = record;
  const inner = typeof name === "string" ? [...trail, name] : trail;
  const replace = (key: string, item: unknown): unknown =>
    key === "function" && typeof item === "function"
      ? extraction.take(item as StepFunction, inner)
      : replaceFunctions(item, inner, extraction);
  return Object.fromEntries(Object.entries(record).map(([key, item]) => [key, replace(key, item)]));
}
