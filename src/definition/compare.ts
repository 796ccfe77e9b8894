/** Compares two definitions of a task: which steps' finished work stays valid when a workflow was edited. */
import { canonicalJson, type JsonObject, type JsonValue } from "../base/json.js";
import type { HooksDefinition } from "./hooks.js";
import type { MachineScope, NodeDefinition, ScopeDefinition, StepDefinition, WorkflowDefinition } from "./workflow.js";

/** Shape: paths in the order of the new definition, those of removed steps in the order of the old one. */
export interface DefinitionComparison {
  /** True when both behave alike; then everything else is empty but `unchanged`. */
  readonly equal: boolean;
  readonly changed: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Steps that do the same under another path; in neither `added` nor `removed`. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  readonly unchanged: readonly string[];
  /** The tree, the order, routes, evaluation or confidence rules differ. */
  readonly structure: boolean;
  /** Name, limits, inputs, final output, failure rules, settings, or the patience or concurrency of steps differ. */
  readonly policy: boolean;
}

const NO_CHANGE: DefinitionComparison = {
  equal: true,
  changed: [],
  added: [],
  removed: [],
  renamed: [],
  unchanged: [],
  structure: false,
  policy: false,
};

/** Compares by path and fingerprint, never by position. */
export function compareDefinitions(old: WorkflowDefinition, next: WorkflowDefinition): DefinitionComparison {
  const [before, after] = [indexSteps(old), indexSteps(next)];
  if (old.fingerprint === next.fingerprint) return { ...NO_CHANGE, unchanged: [...after.keys()] };
  const kept = [...after.keys()].filter((path) => before.has(path));
  const isSame = (path: string): boolean => before.get(path)?.fingerprint === after.get(path)?.fingerprint;
  const gone = [...before.keys()].filter((path) => !after.has(path));
  const fresh = [...after.keys()].filter((path) => !before.has(path));
  const renamed = pairRenamed(pick(before, gone), pick(after, fresh));
  const isRenamed = (path: string): boolean => renamed.some(({ from, to }) => from === path || to === path);
  const newPaths = new Map(renamed.map(({ from, to }) => [from, to]));
  const now: PathNow = (path) => newPaths.get(path) ?? path;
  const scopes = [old, next].map(({ root }) => new Map(listConcurrency(root)));
  const isShared = (path: string): boolean =>
    isRenamed(path) || [[before, after], scopes].some((both) => both.every((known) => known.has(path)));
  return {
    equal: false,
    changed: kept.filter((path) => !isSame(path)),
    added: fresh.filter((path) => !isRenamed(path)),
    removed: gone.filter((path) => !isRenamed(path)),
    renamed,
    unchanged: kept.filter(isSame),
    structure: canonicalJson(structureOf(old.root, now)) !== canonicalJson(structureOf(next.root, AS_IT_IS)),
    policy:
      canonicalJson(policyOf(old, { steps: before, isShared, now })) !==
      canonicalJson(policyOf(next, { steps: after, isShared, now: AS_IT_IS })),
  };
}

/** The path that a node of the old definition has in the new one. */
type PathNow = (path: string) => string;
const AS_IT_IS: PathNow = (path) => path;

type Steps = ReadonlyMap<string, StepDefinition>;

function indexSteps(definition: WorkflowDefinition): Map<string, StepDefinition> {
  const steps = new Map<string, StepDefinition>();
  const visit = (node: NodeDefinition): void => {
    if (node.node === "step") {
      steps.set(node.path, node);
      return;
    }
    for (const child of node.children) visit(child);
    if (node.scope !== "phase") return;
    if (node.spawn !== undefined) steps.set(node.spawn.path, node.spawn);
    for (const scorer of node.evaluate?.scorers ?? []) steps.set(scorer.path, scorer);
  };
  visit(definition.root);
  return steps;
}

function pick(steps: Steps, paths: readonly string[]): Steps {
  return new Map([...steps].filter(([path]) => paths.includes(path)));
}

/** A step counts as renamed when exactly one that is gone and one that is new do the same. */
function pairRenamed(gone: Steps, fresh: Steps): { from: string; to: string }[] {
  return [...fresh].flatMap(([to, { fingerprint }]) => {
    const same = (steps: Steps) => [...steps].filter(([, step]) => step.fingerprint === fingerprint);
    const [from, ...others] = same(gone);
    return from !== undefined && others.length === 0 && same(fresh).length === 1 ? [{ from: from[0], to }] : [];
  });
}

interface NodeStructure extends JsonObject {
  readonly name: string;
}

/** Siblings are named as they are called now, so that a new name alone changes nothing. */
function structureOf(node: NodeDefinition, now: PathNow): NodeStructure {
  const above = node.path.slice(0, node.path.lastIndexOf("/") + 1);
  const rename = (name: string): string => {
    const path = now(above + name);
    return path.startsWith(above) ? path.slice(above.length) : path;
  };
  const own = {
    name: rename(node.name),
    dependsOn: node.dependsOn.map(rename).sort(),
    routes: node.routes.map((route) => ({ ...route, to: rename(route.to) })) as unknown as JsonValue,
    onError: node.onError === undefined ? null : rename(node.onError),
  };
  return node.node === "step" ? own : { ...own, ...scopeStructureOf(node, now) };
}

function scopeStructureOf(scope: ScopeDefinition, now: PathNow): JsonObject {
  const children = scope.children.map((child) => structureOf(child, now));
  switch (scope.scope) {
    case "machine":
      return { scope: scope.scope, entry: entryOf(scope, now), children: byName(children) };
    case "phases":
      return { scope: scope.scope, children };
    case "phase": {
      const { evaluate, spawn } = scope;
      const rules =
        evaluate === undefined
          ? null
          : ({ ...evaluate, scorers: evaluate.scorers.map((one) => one.name) } as unknown as JsonObject);
      return {
        scope: scope.scope,
        children: byName(children),
        confidence: scope.confidence as unknown as JsonObject,
        evaluate: rules,
        spawn: spawn?.name ?? null,
        restart: scope.restart,
      };
    }
    case "for_each": {
      const { source, as, keyBy = null, failureMode } = scope;
      return { scope: scope.scope, source, as, keyBy, failureMode, children };
    }
    case "workflow": {
      const { inputMapping = null, inputs, output } = scope;
      return { scope: scope.scope, inputMapping, inputs: inputs as unknown as JsonObject, output, children };
    }
    default:
      return { scope: scope.scope, failureMode: scope.failureMode, children: byName(children) };
  }
}

function entryOf({ path, entry }: MachineScope, now: PathNow): string {
  return now(`${path}/${entry}`).slice(path.length + 1);
}

/** The order in which siblings are written means nothing but among phases. */
function byName(children: readonly NodeStructure[]): NodeStructure[] {
  return [...children].sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** How many children of each scope run at a time. */
function listConcurrency(node: NodeDefinition): (readonly [string, number])[] {
  if (node.node === "step") return [];
  const inner = node.children.flatMap(listConcurrency);
  return "maxConcurrent" in node ? [[node.path, node.maxConcurrent], ...inner] : inner;
}

/** Hooks of nested workflows, by path. */
function listHooks(node: NodeDefinition): Record<string, HooksDefinition> {
  if (node.node === "step") return {};
  const inner = Object.assign({}, ...node.children.map(listHooks)) as Record<string, HooksDefinition>;
  return node.scope === "workflow" && node.hooks !== undefined ? { ...inner, [node.path]: node.hooks } : inner;
}

interface Compared {
  readonly steps: Steps;
  /** In both definitions, under one name or another; what was added or removed is told as such. */
  readonly isShared: (path: string) => boolean;
  readonly now: PathNow;
}

function policyOf(definition: WorkflowDefinition, { steps, isShared, now }: Compared): JsonObject {
  const { name, limits, output, onFailure, onUnknown, settings, scriptedAnswers, atlas } = definition;
  const inputs = Object.entries(definition.inputs).map(([key, { description: _said, ...input }]) => [key, input]);
  const patience = [...steps].flatMap(([path, step]) => {
    if (!isShared(path)) return [];
    const { effects, onUnknown: ofStep, probe, retry, timeoutMs, idleTimeoutMs, criticality, risky } = step;
    const own = { effects, onUnknown: ofStep, probe, retry, timeoutMs, idleTimeoutMs, criticality, risky };
    return [[now(path), own] as const];
  });
  return {
    name,
    limits,
    inputs: Object.fromEntries(inputs) as JsonObject,
    concurrency: Object.fromEntries(listConcurrency(definition.root).filter(([path]) => isShared(path))),
    output,
    onFailure,
    onUnknown,
    settings,
    scriptedAnswers,
    atlas,
    hooks: { task: definition.hooks, ...listHooks(definition.root) },
    patience: Object.fromEntries(patience),
  } as unknown as JsonObject;
}
