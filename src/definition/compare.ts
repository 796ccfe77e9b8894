/** Compares two definitions of a task: which steps' finished work stays valid when a workflow was edited. */
import { canonicalJson, type JsonObject, type JsonValue } from "../base/json.js";
import type { HooksDefinition } from "./hooks.js";
import type { NodeDefinition, ScopeDefinition, StepDefinition, WorkflowDefinition } from "./workflow.js";

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
  return {
    equal: false,
    changed: kept.filter((path) => !isSame(path)),
    added: fresh.filter((path) => !isRenamed(path)),
    removed: gone.filter((path) => !isRenamed(path)),
    renamed,
    unchanged: kept.filter(isSame),
    structure: canonicalJson(structureOf(old.root)) !== canonicalJson(structureOf(next.root)),
    policy: canonicalJson(policyOf(old, before)) !== canonicalJson(policyOf(next, after)),
  };
}

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

function structureOf(node: NodeDefinition): NodeStructure {
  const own = {
    name: node.name,
    dependsOn: [...node.dependsOn].sort(),
    routes: node.routes as unknown as JsonValue,
    onError: node.onError ?? null,
  };
  return node.node === "step" ? own : { ...own, ...scopeStructureOf(node) };
}

function scopeStructureOf(scope: ScopeDefinition): JsonObject {
  const children = scope.children.map(structureOf);
  switch (scope.scope) {
    case "machine":
      return { scope: scope.scope, entry: scope.entry, children: byName(children) };
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

function policyOf(definition: WorkflowDefinition, steps: Steps): JsonObject {
  const { name, limits, output, onFailure, onUnknown, settings, scriptedAnswers, atlas } = definition;
  const inputs = Object.entries(definition.inputs).map(([key, { description: _said, ...input }]) => [key, input]);
  const patience = [...steps].map(([path, step]) => {
    const { effects, onUnknown: own, probe, retry, timeoutMs, idleTimeoutMs, criticality, risky } = step;
    return [path, { effects, onUnknown: own, probe, retry, timeoutMs, idleTimeoutMs, criticality, risky }] as const;
  });
  return {
    name,
    limits,
    inputs: Object.fromEntries(inputs) as JsonObject,
    concurrency: Object.fromEntries(listConcurrency(definition.root)),
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
