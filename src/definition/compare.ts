/** Compares two definitions of a task: which steps' finished work stays valid when a workflow was edited. */
import type { JsonObject, JsonValue } from "../base/json.js";
import { canonicalJson } from "../base/json-encoding.js";
import type { HooksDefinition } from "./model/hooks.js";
import type { MachineScope, NodeDefinition, ScopeDefinition, WorkflowDefinition } from "./model/workflow.js";
import type { StepDefinition } from "./model/step.js";

/** Shape: paths in the order of the new definition, those of removed steps in the order of the old one. */
export interface DefinitionComparison {
  /** True when both behave alike; then everything else is empty but `unchanged`. */
  readonly equal: boolean;
  readonly changed: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Steps and scopes that do the same under another path, without what only comes with its scope; in neither `added` nor `removed`. */
  readonly renamed: readonly Renaming[];
  readonly unchanged: readonly string[];
  /** Scopes that came and went, the outermost; their steps are in `added` and `removed`. */
  readonly scopes: { readonly added: readonly string[]; readonly removed: readonly string[] };
  /** The tree, the order, routes, evaluation or confidence rules differ. */
  readonly structure: boolean;
  /** Name, limits, inputs, final output, failure rules, settings, or the patience or concurrency of steps differ. */
  readonly policy: boolean;
}

export interface Renaming {
  readonly from: string;
  readonly to: string;
}

const NO_CHANGE: DefinitionComparison = {
  equal: true,
  changed: [],
  added: [],
  removed: [],
  renamed: [],
  unchanged: [],
  scopes: { added: [], removed: [] },
  structure: false,
  policy: false,
};

/** Compares by path and fingerprint, never by position. */
export function compareDefinitions(old: WorkflowDefinition, next: WorkflowDefinition): DefinitionComparison {
  const [before, after] = [indexSteps(old.root), indexSteps(next.root)];
  if (old.fingerprint === next.fingerprint) return { ...NO_CHANGE, unchanged: [...after.keys()] };
  const kept = [...after.keys()].filter((path) => before.has(path));
  const isSame = (path: string): boolean => before.get(path)?.fingerprint === after.get(path)?.fingerprint;
  const scopes = { before: indexScopes(old.root), after: indexScopes(next.root) };
  const renamedScopes = pairScopes(scopes.before, scopes.after);
  const within = (path: string): string => moveWithin(path, renamedScopes);
  const gone = [...before.keys()].filter((path) => !after.has(path));
  const fresh = [...after.keys()].filter((path) => !before.has(path));
  const moved = gone.filter((path) => within(path) !== path).map((path) => ({ from: path, to: within(path) }));
  const others = pairRenamed(pick(before, without(gone, moved, "from")), pick(after, without(fresh, moved, "to")));
  const names = new Map([...renamedScopes, ...moved, ...others].map(({ from, to }) => [from, to]));
  const now: PathNow = (path) => names.get(path) ?? within(path);
  const known = [...names].flat();
  const isShared = (path: string): boolean =>
    known.includes(path) ||
    [
      [before, after],
      [scopes.before, scopes.after],
    ].some((both) => both.every((paths) => paths.has(path)));
  const isKnown = (path: string): boolean => known.includes(path);
  return {
    equal: false,
    changed: kept.filter((path) => !isSame(path)),
    added: fresh.filter((path) => !isKnown(path)),
    removed: gone.filter((path) => !isKnown(path)),
    renamed: [...renamedScopes, ...others],
    unchanged: kept.filter(isSame),
    scopes: {
      added: outermost([...scopes.after.keys()].filter((path) => !scopes.before.has(path) && !isKnown(path))),
      removed: outermost([...scopes.before.keys()].filter((path) => !scopes.after.has(path) && !isKnown(path))),
    },
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

function indexSteps(root: ScopeDefinition): Map<string, StepDefinition> {
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
  visit(root);
  return steps;
}

function pick(steps: Steps, paths: readonly string[]): Steps {
  return new Map([...steps].filter(([path]) => paths.includes(path)));
}

function without(paths: readonly string[], moved: readonly Renaming[], side: keyof Renaming): readonly string[] {
  const taken = new Set(moved.map((one) => one[side]));
  return paths.filter((path) => !taken.has(path));
}

type Scopes = ReadonlyMap<string, ScopeDefinition>;

/** All but the root, from the outside in. */
function indexScopes(root: ScopeDefinition): Map<string, ScopeDefinition> {
  const scopes = new Map<string, ScopeDefinition>();
  const visit = (scope: ScopeDefinition): void => {
    for (const child of scope.children) {
      if (child.node === "step") continue;
      scopes.set(child.path, child);
      visit(child);
    }
  };
  visit(root);
  return scopes;
}

/** A scope counts as renamed when exactly one that is gone and one that is new hold and do the same; the outermost. */
function pairScopes(before: Scopes, after: Scopes): Renaming[] {
  const gone = shapesOf(before, after);
  const fresh = shapesOf(after, before);
  const pairs: Renaming[] = [];
  for (const [from, shape] of gone) {
    if (pairs.some((pair) => from.startsWith(`${pair.from}/`))) continue;
    const same = (shapes: ReadonlyMap<string, string>) => [...shapes].filter(([, other]) => other === shape);
    const [to, ...others] = same(fresh);
    if (to !== undefined && others.length === 0 && same(gone).length === 1) pairs.push({ from, to: to[0] });
  }
  return pairs;
}

/** What the scopes hold that only one side has, by path: their inner structure and the fingerprints of their steps. */
function shapesOf(scopes: Scopes, others: Scopes): Map<string, string> {
  const own = [...scopes].filter(([path]) => !others.has(path));
  return new Map(
    own.map(([path, scope]) => {
      const steps = [...indexSteps(scope)].map(([inner, step]) => [inner.slice(path.length), step.fingerprint]);
      return [
        path,
        canonicalJson({ ...scopeStructureOf(scope, AS_IT_IS), steps: Object.fromEntries(steps) as JsonObject }),
      ];
    }),
  );
}

function moveWithin(path: string, scopes: readonly Renaming[]): string {
  const scope = scopes.find(({ from }) => path === from || path.startsWith(`${from}/`));
  return scope === undefined ? path : `${scope.to}${path.slice(scope.from.length)}`;
}

function outermost(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
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
  const aboveNow = above === "" ? "" : `${now(above.slice(0, -1))}/`;
  const rename = (name: string): string => {
    const path = now(above + name);
    return path.startsWith(aboveNow) ? path.slice(aboveNow.length) : path;
  };
  const own = {
    name: rename(node.name),
    dependsOn: node.dependsOn.map(rename).sort(),
    startsOn: Object.fromEntries(Object.entries(node.startsOn ?? {}).map(([name, ends]) => [rename(name), ends])),
    when: node.when ?? null,
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
  return now(`${path}/${entry}`).slice(now(path).length + 1);
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
function listHooks(node: NodeDefinition, now: PathNow): Record<string, HooksDefinition> {
  if (node.node === "step") return {};
  const inner = Object.assign({}, ...node.children.map((child) => listHooks(child, now))) as Record<
    string,
    HooksDefinition
  >;
  return node.scope === "workflow" && node.hooks !== undefined ? { ...inner, [now(node.path)]: node.hooks } : inner;
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
    concurrency: Object.fromEntries(
      listConcurrency(definition.root).flatMap(([path, size]) => (isShared(path) ? [[now(path), size]] : [])),
    ),
    output,
    onFailure,
    onUnknown,
    settings,
    scriptedAnswers,
    atlas,
    hooks: { task: definition.hooks, ...listHooks(definition.root, now) },
    patience: Object.fromEntries(patience),
  } as unknown as JsonObject;
}
