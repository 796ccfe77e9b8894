/**
 * Checks templates ahead: their syntax, and that what they name exists and can have run before.
 *
 * A name under `default` or tested with `is defined` may be missing; a name inside a branch is taken to be there when
 * the branch is. Conditions without braces may name fields of the output, which nobody knows ahead.
 */
import { isJsonObject, type JsonValue } from "../base/json.js";
import { valueAt } from "./document.js";
import type { FaultPath } from "./fault.js";
import { findAfter, findReachable, isOnEveryWay } from "./graph.js";
import { findNearest } from "./nearest.js";
import { type CheckContext, routeEdges } from "./order-check.js";
import {
  findConditionFault,
  findTemplateFault,
  isBareCondition,
  listReferences,
  type TemplateReference,
} from "./templates.js";
import type { InputDefinition, NodeDefinition, ScopeDefinition, WorkflowDefinition } from "./workflow.js";

/** Names that are always there. */
const ROOTS = ["workflow", "context", "channel", "secrets", "phase", "feedback", "outputs"];
/** Keys of a step whose texts are templates. */
const TEMPLATE_KEYS = [
  ...[
    "prompt",
    "system_prompt",
    "model",
    "command",
    "args",
    "environment",
    "env",
    "working_dir",
    "folder",
    "stdin",
    "probe",
  ],
  ...["value", "values", "duration", "reason", "input", "expression", "rubric", "criteria"],
];
/** Texts of a script step that are handed over as they are. */
const PLAIN_IN_SCRIPT = new Set(["env", "environment"]);

interface Site {
  readonly node: NodeDefinition;
  /** Scopes from the root down to the one around the node. */
  readonly trail: readonly ScopeDefinition[];
}

interface Checking extends CheckContext {
  readonly raw: JsonValue;
  readonly inputs: Readonly<Record<string, InputDefinition>>;
  /** Conductor's files need not declare their inputs; see `findUndeclared`. */
  readonly isRouted: boolean;
  /** Where nodes of a name stand; first in order of the definition. */
  readonly named: ReadonlyMap<string, Site>;
}

/** Checks every template of a definition against the file it was built from. */
export function checkReferences(
  definition: Omit<WorkflowDefinition, "fingerprint">,
  raw: JsonValue,
  context: CheckContext,
): void {
  const sites: Site[] = [];
  collectSites(definition.root, [], sites);
  const named = new Map<string, Site>();
  for (const site of sites) if (site.node.name !== "" && !named.has(site.node.name)) named.set(site.node.name, site);
  const checking: Checking = {
    ...context,
    raw,
    inputs: definition.inputs,
    isRouted: isJsonObject(raw) && raw["agents"] !== undefined,
    named,
  };
  for (const site of sites) checkNode(site, checking);
  const output = valueAt(raw, ["output"]);
  if (output !== undefined) checkValue(output, ["output"], undefined, [], checking);
}

function collectSites(scope: ScopeDefinition, trail: readonly ScopeDefinition[], sites: Site[]): void {
  const inner = [...trail, scope];
  const extra =
    scope.scope === "phase"
      ? [...(scope.spawn === undefined ? [] : [scope.spawn]), ...(scope.evaluate?.scorers ?? [])]
      : [];
  for (const node of [...scope.children, ...extra]) {
    sites.push({ node, trail: inner });
    if (node.node === "scope") collectSites(node, inner, sites);
  }
}

function checkNode(site: Site, checking: Checking): void {
  const at = checking.places.get(site.node);
  if (at === undefined) return;
  const raw = valueAt(checking.raw, at);
  const isScript = site.node.node === "step" && site.node.kind === "script";
  const extra = isSpawned(site) ? ["uncertainties", "specialist"] : [];
  if (typeof raw === "string") checkValue(raw, at, site, extra, checking);
  if (!isJsonObject(raw)) return;
  if (site.node.node === "step") {
    for (const key of TEMPLATE_KEYS) {
      const value = raw[key];
      const isPlain = (isScript && PLAIN_IN_SCRIPT.has(key)) || (key === "input" && Array.isArray(value));
      if (value !== undefined && !isPlain) checkValue(value, [...at, key], site, extra, checking);
    }
  }
  site.node.routes.forEach((_route, index) => checkRoute(site, [...at, "routes", index], checking));
}

function isSpawned({ node, trail }: Site): boolean {
  const scope = trail.at(-1);
  return scope?.scope === "phase" && scope.spawn === node;
}

function checkRoute(site: Site, at: FaultPath, checking: Checking): void {
  const when = valueAt(checking.raw, [...at, "when"]);
  // The step itself has just run, and what ran before it has, too.
  const after: Site = { node: site.node, trail: site.trail };
  if (typeof when === "string") {
    const fault = findConditionFault(when);
    if (fault !== undefined) noteSyntax(fault.message, [...at, "when"], checking);
    else if (!isBareCondition(when)) checkValue(when, [...at, "when"], after, ["output", site.node.name], checking);
  }
  const output = valueAt(checking.raw, [...at, "output"]);
  if (output !== undefined) checkValue(output, [...at, "output"], after, ["output", site.node.name], checking);
}

function checkValue(
  value: JsonValue,
  at: FaultPath,
  site: Site | undefined,
  extra: readonly string[],
  checking: Checking,
): void {
  if (typeof value === "string") return checkText(value, at, { site, extra, checking });
  if (Array.isArray(value))
    value.forEach((item: JsonValue, index) => checkValue(item, [...at, index], site, extra, checking));
  else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value))
      if (item !== undefined) checkValue(item, [...at, key], site, extra, checking);
  }
}

interface TextSite {
  readonly site: Site | undefined;
  readonly extra: readonly string[];
  readonly checking: Checking;
}

function checkText(text: string, at: FaultPath, where: TextSite): void {
  const fault = findTemplateFault(text);
  if (fault !== undefined)
    return noteSyntax(
      fault.line > 1 ? `${fault.message} (line ${fault.line} of the text)` : fault.message,
      at,
      where.checking,
    );
  for (const reference of listReferences(text)) checkReference(reference, at, where);
}

function noteSyntax(message: string, at: FaultPath, checking: Checking): void {
  checking.faults.add({ path: at, message: `template: ${message}` });
}

function checkReference(reference: TemplateReference, at: FaultPath, { site, extra, checking }: TextSite): void {
  const { root } = reference;
  if (extra.includes(root)) return;
  if (root === "workflow") return checkInput(reference, at, checking);
  if (root === "secrets") return checkSecret(reference, at, site, checking);
  if (ROOTS.includes(root)) return;
  const target = checking.named.get(root);
  if (target === undefined && checking.absent.has(root)) return;
  if (target === undefined) return noteUnknown(reference, at, extra, checking);
  if (site !== undefined && checking.isComplete && !reference.guarded)
    checkOrderOf(target, site, reference, at, checking);
}

function noteUnknown({ root }: TemplateReference, at: FaultPath, extra: readonly string[], checking: Checking): void {
  const names = [...checking.named.keys()];
  const dashed = names.find((name) => name.startsWith(`${root}-`));
  const nearest = findNearest(root, [...names, ...ROOTS, ...extra]);
  const suggestion = Object.hasOwn(checking.inputs, root)
    ? `write workflow.input.${root}`
    : dashed !== undefined
      ? `a name with a dash cannot stand in a template; call the step ${dashed.replaceAll("-", "_")}`
      : nearest === undefined
        ? undefined
        : `did you mean ${nearest}?`;
  checking.faults.add({
    path: at,
    message: `a template names ${root}, which is no step`,
    ...(suggestion === undefined ? {} : { suggestion }),
  });
}

function checkInput({ path }: TemplateReference, at: FaultPath, { faults, inputs, isRouted }: Checking): void {
  const [first, name] = path;
  if (first === undefined || name === undefined || first !== "input") {
    const known = ["input", "dir", "file", "name"];
    if (first === undefined || known.includes(first)) return;
    const nearest = findNearest(first, known);
    faults.add({
      path: at,
      message: `workflow.${first} does not exist`,
      suggestion: nearest === undefined ? `known: ${known.join(", ")}` : `did you mean workflow.${nearest}?`,
    });
    return;
  }
  if (Object.hasOwn(inputs, name) || isRouted) return;
  const nearest = findNearest(name, Object.keys(inputs));
  faults.add({
    path: at,
    message: `the input ${name} is not declared`,
    suggestion: nearest === undefined ? "declare it under workflow.input" : `did you mean ${nearest}?`,
  });
}

function checkSecret({ path }: TemplateReference, at: FaultPath, site: Site | undefined, { faults }: Checking): void {
  const secrets = site?.node.node === "step" ? site.node.secrets : [];
  const [name] = path;
  if (name === undefined || secrets.includes(name)) return;
  faults.add({
    path: at,
    message: `the secret ${name} is not named by this step`,
    suggestion: `add secrets: [${name}] to it`,
  });
}

/** A step's template can name only what has run before it on every way. */
function checkOrderOf(target: Site, site: Site, reference: TemplateReference, at: FaultPath, checking: Checking): void {
  const targetTrail: readonly NodeDefinition[] = [...target.trail, target.node];
  const ownTrail: readonly NodeDefinition[] = [...site.trail, site.node];
  const depth = targetTrail.findIndex((node, index) => node !== ownTrail[index]);
  const scope = targetTrail[depth - 1];
  const [theirs, own] = [targetTrail[depth], ownTrail[depth]];
  if (depth < 0 || own === undefined || theirs === undefined || scope?.node !== "scope")
    return checkSelf(reference, at, checking);
  const problem = findOrderProblem(scope, theirs, own, {
    reference,
    isScorer: site.node.node === "step" && site.node.kind === "scorer",
    isSpawn: isSpawned(site),
  });
  if (problem !== undefined) checking.faults.add({ path: at, ...problem });
}

/** A step that names itself or a group it stands in has no output yet the first time. */
function checkSelf(reference: TemplateReference, at: FaultPath, checking: Checking): void {
  if (!reference.certain) return;
  checking.faults.add({
    path: at,
    message: `${reference.root} has not run yet when it names itself`,
    suggestion: `write {{ ${reference.root} | default(…) }} or ask with is defined`,
  });
}

interface OrderQuestion {
  readonly reference: TemplateReference;
  readonly isScorer: boolean;
  readonly isSpawn: boolean;
}

interface Problem {
  readonly message: string;
  readonly suggestion: string;
}

function findOrderProblem(
  scope: ScopeDefinition,
  theirs: NodeDefinition,
  own: NodeDefinition,
  question: OrderQuestion,
): Problem | undefined {
  const name = theirs.name;
  switch (scope.scope) {
    case "phases": {
      const [first, second] = [scope.children.indexOf(theirs as never), scope.children.indexOf(own as never)];
      return first < second
        ? undefined
        : {
            message: `${question.reference.root} runs in a later phase`,
            suggestion: "name a step of an earlier phase",
          };
    }
    case "parallel":
      return {
        message: `${name} runs beside ${own.name}, not before it`,
        suggestion: "members of a group cannot name each other",
      };
    case "machine":
      return findRouteProblem(routeEdges(scope), scope.entry, {
        theirs: name,
        own: own.name,
        isCertain: question.reference.certain,
      });
    default:
      if (question.isScorer || question.isSpawn) return undefined;
      return isBefore(scope.children, name, own.name)
        ? undefined
        : { message: `${own.name} does not wait for ${name}`, suggestion: `add depends_on: [${name}] to ${own.name}` };
  }
}

function isBefore(children: readonly NodeDefinition[], first: string, second: string): boolean {
  const edges = new Map(children.map((child) => [child.name, child.dependsOn]));
  return findAfter(second, edges).has(first);
}

function findRouteProblem(
  edges: Map<string, readonly string[]>,
  entry: string,
  names: { theirs: string; own: string; isCertain: boolean },
): Problem | undefined {
  const { theirs, own, isCertain } = names;
  if (!findReachable(edges.get(theirs) ?? [], edges).has(own)) {
    return { message: `${theirs} can never have run before ${own}`, suggestion: "name a step on the way to it" };
  }
  if (!isCertain || isOnEveryWay(theirs, own, { entry, edges })) return undefined;
  return {
    message: `${theirs} may not have run before ${own}: there is a way past it`,
    suggestion: `write {{ ${theirs}.output | default('') }} or ask {% if ${theirs} is defined %}`,
  };
}
