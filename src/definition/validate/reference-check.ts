/**
 * Checks templates ahead: their syntax, and that what they name exists and can have run before.
 *
 * A name under `default` or tested with `is defined` may be missing; a name inside a branch is taken to be there when
 * the branch is. Conditions without braces may name fields of the output, which nobody knows ahead.
 */
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { type FaultPath, type FaultSink, type TextPart, valueAt } from "../faults/fault.js";
import { HOOK_NAMES, type HookName } from "../model/hooks.js";
import { findNearest } from "../faults/nearest.js";
import type { CheckContext } from "./order-check.js";
import { findOrderProblem, isSpawned, type NodeSite, type OrderProblem, pickTarget } from "./reference-order.js";
import type { TemplateFault } from "../templates/template-fault.js";
import { findConditionFault, findTemplateFault, isBareCondition } from "../templates/template-check.js";
import { listConditionReferences, listReferences, type TemplateReference } from "../templates/templates.js";
import { FUNCTIONS_PROVIDED, UNREADABLE } from "../templates/keywords.js";
import { checkStepMeaning } from "./step-check.js";
import type { NodeDefinition, ScopeDefinition, WorkflowDefinition } from "../model/workflow.js";
import type { ContextRule, InputDefinition } from "../model/values.js";

/** Names that are always there. */
const ROOTS = ["workflow", "context", "channel", "secrets", "phase", "feedback", "outputs"];
const WORKFLOW_PARTS = ["input", "dir", "file", "name"];
/** Parts that older documentation names. Source: CONDUCTOR-YAML 1.11. */
const FOREIGN_PARTS: ReadonlyMap<string, string> = new Map([
  ["execution_time", "templates know no times; splashdown show TASK tells how long it took"],
]);
/** Keys of a step whose texts are templates. */
const MODEL_KEYS = ["prompt", "system_prompt", "model"];
const COMMAND_KEYS = ["command", "args", "environment", "env", "working_dir", "folder", "stdin", "probe"];
const PEOPLE_KEYS = ["options", "questions", "output_template", "url", "query", "headers", "body"];
const OTHER_KEYS = ["value", "values", "duration", "reason", "input", "expression", "rubric", "criteria"];
const TEMPLATE_KEYS = [...MODEL_KEYS, ...COMMAND_KEYS, ...PEOPLE_KEYS, ...OTHER_KEYS];
/** What a probe is told of the attempt it asks about. */
const NAMES_OF_PROBES = ["step", "input"];
/** Texts of a script step that are handed over as they are. */
const PLAIN_IN_SCRIPT = new Set(["env", "environment"]);

interface Checking extends CheckContext {
  readonly raw: JsonValue;
  readonly inputs: Readonly<Record<string, InputDefinition>>;
  readonly context: ContextRule;
  /** Conductor's files need not declare their inputs; see `findUndeclared`. */
  readonly isRouted: boolean;
  /** Nodes by name, in order of the definition. */
  readonly named: ReadonlyMap<string, readonly NodeSite[]>;
}

/** Where a text is checked, and what it may name besides. */
interface Spot {
  readonly at: FaultPath;
  readonly site: NodeSite | undefined;
  readonly extra: readonly string[];
  /** The part of the text. */
  readonly within?: TextPart;
  readonly checking: Checking;
}

/** Checks every template of a definition against the file it was built from. */
export function checkReferences(
  definition: Omit<WorkflowDefinition, "fingerprint">,
  raw: JsonValue,
  context: CheckContext,
): void {
  const sites: NodeSite[] = [];
  collectSites(definition.root, [], sites);
  const named = new Map<string, NodeSite[]>();
  for (const site of sites) {
    const same = named.get(site.node.name);
    if (same === undefined) named.set(site.node.name, [site]);
    else same.push(site);
  }
  const isRouted = isJsonObject(raw) && raw["agents"] !== undefined;
  const { inputs, context: seen } = definition;
  const checking: Checking = { ...context, raw, inputs, context: seen, isRouted, named };
  for (const site of sites) checkNode(site, checking);
  const output = valueAt(raw, ["output"]);
  if (output !== undefined) checkValue(output, { at: ["output"], site: undefined, extra: [], checking });
  checkHooks(checking);
}

/** What a hook is told besides. Source: CONDUCTOR-YAML 1.2. */
const NAMES_OF_HOOKS: Readonly<Record<HookName, readonly string[]>> = {
  on_start: [],
  on_complete: ["result"],
  on_error: ["error"],
};

function asWarnings(faults: FaultSink): FaultSink {
  return { add: (note) => faults.warn(note), warn: (note) => faults.warn(note), isFull: false };
}

/** In Conductor's files a hook that cannot be rendered stops nothing, as it is there: it is a warning. */
function checkHooks(checking: Checking): void {
  const { faults, isRouted, raw } = checking;
  const own: Checking = isRouted ? { ...checking, faults: asWarnings(faults) } : checking;
  for (const name of HOOK_NAMES) {
    const at = ["workflow", "hooks", name];
    const hook = valueAt(raw, at);
    const spot: Spot = { at, site: undefined, extra: NAMES_OF_HOOKS[name], checking: own };
    if (isJsonObject(hook)) checkStep(hook, hook["type"] === "script", spot);
    else if (hook !== undefined) checkValue(hook, spot);
  }
}

function collectSites(scope: ScopeDefinition, trail: readonly ScopeDefinition[], sites: NodeSite[]): void {
  const inner = [...trail, scope];
  for (const node of scope.children) {
    sites.push({ node, trail: inner });
    // A nested workflow is checked as the file that it is.
    if (node.node === "scope" && node.scope !== "workflow") collectSites(node, inner, sites);
  }
  if (scope.scope !== "phase") return;
  if (scope.spawn !== undefined) sites.push({ node: scope.spawn, trail: inner });
  for (const node of scope.evaluate?.scorers ?? []) sites.push({ node, trail: inner });
}

function checkNode(site: NodeSite, checking: Checking): void {
  const at = checking.places.get(site.node);
  if (at === undefined) return;
  checkName(site.node.name, at, checking);
  const raw = valueAt(checking.raw, at);
  const extra = [...(isSpawned(site) ? ["uncertainties", "specialist"] : []), ...loopNames(site)];
  const spot: Spot = { at, site, extra, checking };
  // Criteria that serve as a rubric stand in the file as a text alone.
  if (typeof raw === "string") checkValue(raw, spot);
  if (!isJsonObject(raw)) return;
  checkScope(site.node, raw, spot);
  if (site.node.when !== undefined) checkWhen(site.node.when, { ...spot, at: [...at, "when"] });
  if (site.node.node === "step") {
    checkStep(raw, site.node.kind === "script", spot);
    checkStepMeaning(site.node, { ...checking, at, names: checking.named, inputs: Object.keys(checking.inputs) });
  }
  site.node.routes.forEach((_route, index) => checkRoute({ ...spot, at: [...at, "routes", index] }));
}

/** The condition of a node itself: nothing of it has run, so every name in it is that of another step or an input. */
function checkWhen(when: string, spot: Spot): void {
  const fault = findConditionFault(when);
  if (fault !== undefined) return noteSyntax(fault, when, spot);
  if (!isBareCondition(when)) return checkText(when, spot);
  for (const reference of listConditionReferences(when)) {
    const { offset, width } = reference;
    checkReference(reference, { ...spot, within: { text: when, offset, width } });
  }
}

/** A step whose name means something else in every template could never be read. */
function checkName(name: string, at: FaultPath, { faults }: Checking): void {
  if (!UNREADABLE.has(name)) return;
  faults.add({
    code: "wrong_value",
    path: [...at, "name"],
    message: `no template could read a step called ${name}: the name means something else there`,
    suggestion: `call it ${name.toLowerCase()}_step`,
  });
}

/** What items are called in the for_each groups around a node. */
function loopNames({ trail }: NodeSite): readonly string[] {
  return trail.flatMap((scope) =>
    scope.scope === "for_each" ? [scope.as, "_index", ...(scope.keyBy === undefined ? [] : ["_key"])] : [],
  );
}

/** Where items come from, and what a nested workflow is given. */
function checkScope(node: NodeDefinition, raw: Readonly<Record<string, JsonValue | undefined>>, spot: Spot): void {
  if (node.node !== "scope") return;
  const key = raw["for_each"] === undefined ? "source" : "for_each";
  if (node.scope === "for_each") checkValue(node.source, { ...spot, at: [...spot.at, key] });
  if (node.scope === "workflow" && node.inputMapping !== undefined)
    checkValue(node.inputMapping, { ...spot, at: [...spot.at, "input_mapping"] });
}

function checkStep(raw: Readonly<Record<string, JsonValue | undefined>>, isScript: boolean, spot: Spot): void {
  for (const key of TEMPLATE_KEYS) {
    const value = raw[key];
    const isPlain = (isScript && PLAIN_IN_SCRIPT.has(key)) || (key === "input" && Array.isArray(value));
    const extra = key === "probe" ? [...spot.extra, ...NAMES_OF_PROBES] : spot.extra;
    if (value !== undefined && !isPlain) checkValue(value, { ...spot, at: [...spot.at, key], extra });
  }
}

/** In a route the step itself has just run, and its output is `output`. */
function checkRoute(spot: Spot): void {
  const { at, site, checking } = spot;
  const extra = [...spot.extra, "output", site?.node.name ?? ""];
  const when = valueAt(checking.raw, [...at, "when"]);
  if (typeof when === "string") {
    const inner: Spot = { ...spot, at: [...at, "when"], extra };
    const fault = findConditionFault(when);
    if (fault !== undefined) noteSyntax(fault, when, inner);
    else if (!isBareCondition(when)) checkValue(when, inner);
  }
  const output = valueAt(checking.raw, [...at, "output"]);
  if (output !== undefined) checkValue(output, { ...spot, at: [...at, "output"], extra });
}

function checkValue(value: JsonValue, spot: Spot): void {
  if (typeof value === "string") return checkText(value, spot);
  if (typeof value !== "object" || value === null) return;
  const isList = Array.isArray(value);
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) checkValue(item, { ...spot, at: [...spot.at, isList ? Number(key) : key] });
  }
}

function checkText(text: string, spot: Spot): void {
  const fault = findTemplateFault(text);
  if (fault !== undefined) return noteSyntax(fault, text, spot);
  const seen = new Set<string>();
  for (const reference of listReferences(text)) {
    const { offset, width, ...rest } = reference;
    const same = JSON.stringify(rest);
    if (seen.has(same)) continue;
    seen.add(same);
    checkReference(reference, { ...spot, within: { text, offset, width } });
  }
}

function noteSyntax(fault: TemplateFault, text: string, { at, checking }: Spot): void {
  const { message, line, offset, suggestion } = fault;
  const [rest = ""] = text.slice(offset).split("\n");
  const place = line > 1 ? ` (line ${line} of the text)` : "";
  checking.faults.add({
    code: "template",
    path: at,
    message: `template: ${message}${place}`,
    ...(suggestion === undefined ? {} : { suggestion }),
    within: { text, offset, width: Math.min(rest.trimEnd().length, 40) },
  });
}

function checkReference(reference: TemplateReference, spot: Spot): void {
  const { root } = reference;
  if (spot.extra.includes(root)) return;
  if (root === "workflow") return checkInput(reference, spot);
  if (isOfSecrets(root, spot)) return checkSecret(reference, spot);
  if (!isProvided(reference, spot.checking)) checkStepNamed(reference, spot);
}

/** A step may be called `secrets`; where the step with the template has secrets, they are meant all the same. */
function isOfSecrets(root: string, { checking, site }: Spot): boolean {
  if (root !== "secrets") return false;
  const hasSecrets = site?.node.node === "step" && site.node.secrets.length > 0;
  return hasSecrets || !checking.named.has(root);
}

/** There without a step of that name, or the name of what does not run here. */
function isProvided({ root, guarded }: TemplateReference, { named, absent }: Checking): boolean {
  if (absent.has(root)) return true;
  return !named.has(root) && (ROOTS.includes(root) || (guarded && FUNCTIONS_PROVIDED.has(root)));
}

function checkStepNamed(reference: TemplateReference, spot: Spot): void {
  const { root } = reference;
  const { checking, site } = spot;
  const target = pickTarget(checking.named.get(root) ?? [], site);
  if (target === undefined) return noteUnknown(root, spot);
  if (!reference.guarded) checkPart(target.node, reference, spot);
  if (site === undefined || !checking.isComplete || reference.guarded) return;
  const problem = findOrderProblem(target, site, reference);
  if (problem !== undefined) noteOrder(problem, spot);
}

const PARTS_OF_GROUPS = ["outputs", "errors", "count", "states"];

/** A group is read as `name.outputs`, anything else as `name.output`: the other one would fail after all was paid for. */
function checkPart(target: NodeDefinition, { path }: TemplateReference, spot: Spot): void {
  const { name } = target;
  const [part = ""] = path.map(String);
  const isGroup = target.node === "scope" && target.scope !== "machine" && target.scope !== "workflow";
  const isWrong = isGroup ? part === "output" : PARTS_OF_GROUPS.includes(part);
  if (!isWrong) return;
  spot.checking.faults.add({
    code: "unknown_name",
    path: spot.at,
    within: spot.within,
    message: isGroup ? `${name} is a group: it has no output` : `${name} is no group: it has no ${part}`,
    suggestion: isGroup ? `write ${name}.outputs` : `write ${name}.output`,
  });
}

/** What goes wrong on some ways only is a warning in Conductor's files, as it is there. */
function noteOrder({ message, suggestion, isPassing }: OrderProblem, { at, within, checking }: Spot): void {
  const fault = { code: "order" as const, path: at, within, message, suggestion };
  if (isPassing === true && checking.isRouted) checking.faults.warn(fault);
  else checking.faults.add(fault);
}

function noteUnknown(root: string, spot: Spot): void {
  if (spot.checking.faults.isFull) return;
  const suggestion = suggestName(root, spot);
  spot.checking.faults.add({
    code: "unknown_name",
    path: spot.at,
    within: spot.within,
    message: `a template names ${root}, which is no step`,
    ...(suggestion === undefined ? {} : { suggestion }),
  });
}

function suggestName(root: string, { checking, extra }: Spot): string | undefined {
  if (Object.hasOwn(checking.inputs, root)) return `write workflow.input.${root}`;
  const names = [...checking.named.keys()];
  const dashed = names.find((name) => name.startsWith(`${root}-`));
  if (dashed !== undefined) {
    return `a name with a dash cannot stand in a template; call the step ${dashed.replaceAll("-", "_")}`;
  }
  const inputs = Object.keys(checking.inputs);
  const nearest = findNearest(root, [...names, ...extra, ...inputs]) ?? findNearest(root, ROOTS, 1);
  if (nearest !== undefined) {
    const isInput = inputs.includes(nearest) && !names.includes(nearest) && !extra.includes(nearest);
    return `did you mean ${isInput ? `workflow.input.${nearest}` : nearest}?`;
  }
  // It is like a name of ours and none: people forget the way to an input.
  return findNearest(root, ROOTS) === undefined
    ? undefined
    : `if it is an input, declare it under workflow.input and write workflow.input.${root}`;
}

function checkInput({ path }: TemplateReference, { at, within, checking }: Spot): void {
  const { faults, inputs, isRouted } = checking;
  const [first, name] = path;
  if (first !== undefined && !WORKFLOW_PARTS.includes(first)) {
    const nearest = findNearest(first, WORKFLOW_PARTS);
    const known = FOREIGN_PARTS.get(first) ?? `known: ${WORKFLOW_PARTS.join(", ")}`;
    const suggestion = nearest === undefined ? known : `did you mean workflow.${nearest}?`;
    faults.add({ code: "unknown_name", path: at, within, message: `workflow.${first} does not exist`, suggestion });
  }
  if (first !== "input" || name === undefined || Object.hasOwn(inputs, name) || isRouted) return;
  const nearest = findNearest(name, Object.keys(inputs));
  const suggestion = nearest === undefined ? "declare it under workflow.input" : `did you mean ${nearest}?`;
  faults.add({ code: "unknown_name", path: at, within, message: `the input ${name} is not declared`, suggestion });
}

function checkSecret({ path }: TemplateReference, { at, within, site, checking }: Spot): void {
  const secrets = site?.node.node === "step" ? site.node.secrets : [];
  const [name] = path;
  if (name === undefined || secrets.includes(name)) return;
  const message = `the secret ${name} is not named by this step`;
  checking.faults.add({ code: "unknown_name", path: at, within, message, suggestion: `add secrets: [${name}] to it` });
}
