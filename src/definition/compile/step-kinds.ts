/**
 * Which kind of node a step of a file is, and which keys it may have. Kinds of steps say so themselves (kinds/kind.ts);
 * those that hold other steps stand here.
 */
import type { Step } from "../../schema/generated/workflow.js";
import type { FaultList, FaultPath } from "../faults/fault.js";
import { findNearest } from "../faults/nearest.js";
import type { FileKind, StepKey } from "../kinds/kind.js";
import { FILE_KINDS, type LeafKind } from "../kinds/table.js";

export type GroupKind = "dag" | "machine" | "parallel" | "phases" | "for_each" | "workflow";
export type NodeKind = LeafKind | GroupKind;

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
const KEYS: Readonly<Record<string, readonly StepKey[]>> = {
  ...Object.fromEntries(Object.entries(FILE_KINDS).map(([kind, { keys }]) => [kind, keys])),
  dag: ["steps", "failure_mode", "max_concurrent"],
  machine: ["agents", "entry_point"],
  parallel: ["parallel", "failure_mode", "max_concurrent"],
  phases: ["phases"],
  for_each: ["for_each", "source", "as", "key_by", "step", "agent", "failure_mode", "max_concurrent"],
  workflow: ["workflow", "input_mapping", "max_depth"],
};

const OWNED = new Set<string>(Object.values(KEYS).flat());

const LEAVES = Object.entries(FILE_KINDS) as [LeafKind, FileKind][];

/** Values of `type`. */
const TYPES: Readonly<Record<string, NodeKind>> = Object.fromEntries([
  ...LEAVES.flatMap(([kind, { types }]) => types.map((type) => [type, kind])),
  ...[...GROUPS].map((kind) => [kind, kind]),
]) as Record<string, NodeKind>;

/** Without `type`, the first key that is there tells the kind. */
const SIGNS: readonly (readonly [StepKey, NodeKind])[] = [
  ["for_each", "for_each"],
  ["workflow", "workflow"],
  ["steps", "dag"],
  ["agents", "machine"],
  ["parallel", "parallel"],
  ["phases", "phases"],
  ...LEAVES.flatMap(([kind, { signs }]) => signs.map((sign): [StepKey, NodeKind] => [sign, kind])),
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

function refuseOutput({ step, path, faults }: KindQuestion, kind: NodeKind): void {
  const form = isGroupKind(kind) ? undefined : (FILE_KINDS[kind] as FileKind).resultForm;
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
