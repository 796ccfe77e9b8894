/**
 * Workflows as objects of a program: the same keys as in a file, with functions where a file names them.
 *
 * Functions are taken out and stand beside the definition under `@path`, so that the rest is plain JSON.
 */
import { sha256Hex } from "../base/digest.js";
import { encodeValue, isJsonObject, type JsonValue } from "../base/json.js";
import type { ParallelGroup, Phase, Step, WorkflowFile } from "../schema/generated/workflow.js";

/** Code of a step; the runtime exports the type of its context. */
export type StepFunction = (context: never) => unknown;

/** A step of a program: as in a file, or with a function of the program. */
export interface StepInput extends Omit<Step, "function" | "steps" | "agents" | "parallel" | "phases"> {
  readonly function?: string | StepFunction;
  readonly steps?: readonly StepInput[];
  readonly agents?: readonly StepInput[];
  readonly parallel?: readonly StepInput[];
  readonly phases?: readonly PhaseInput[];
}

export interface PhaseInput extends Omit<Phase, "specialists" | "spawn"> {
  readonly specialists: readonly StepInput[];
  readonly spawn?: StepInput;
}

/** What `defineWorkflow` takes: a workflow file as an object. Keys are those of the file. */
export interface WorkflowInput extends Omit<WorkflowFile, "phases" | "steps" | "agents" | "parallel"> {
  readonly phases?: readonly PhaseInput[];
  readonly steps?: readonly StepInput[];
  readonly agents?: readonly StepInput[];
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
  const value = encodeValue(replaceFunctions(workflow, [], take, new Set()));
  return { value, functions, digests };
}

type Take = (call: StepFunction, trail: readonly string[]) => string;

/** Only the key `function` may hold code; code elsewhere is left for `encodeValue` to refuse. */
function replaceFunctions(value: unknown, trail: readonly string[], take: Take, active: Set<unknown>): unknown {
  if (typeof value !== "object" || value === null || active.has(value)) return value;
  active.add(value);
  try {
    if (Array.isArray(value)) return value.map((item: unknown) => replaceFunctions(item, trail, take, active));
    if (
      !isJsonObject(value) ||
      (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null)
    )
      return value;
    const named: unknown = value["name"];
    const inner = typeof named === "string" ? [...trail, named] : trail;
    const entries: [string, unknown][] = Object.entries(value).map(([key, item]: [string, unknown]) => [
      key,
      key === "function" && typeof item === "function"
        ? take(item as StepFunction, inner)
        : replaceFunctions(item, inner, take, active),
    ]);
    return Object.fromEntries(entries);
  } finally {
    active.delete(value);
  }
}
