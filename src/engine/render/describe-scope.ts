/**
 * What templates of a node see, by root name; each is put together only when a template names it.
 *
 * A nested workflow is a border: what is inside sees its own inputs, files and steps only. An item of a for_each is one
 * towards its sibling items.
 *
 *   workflow.input.* · workflow.dir, .file, .name · context.iteration, .history · channel.* · secrets.NAME (kept as a
 *   placeholder, filled at the moment of use) · phase.name, .number, .iteration, .confidence · feedback · outputs (of the
 *   phase) · <step>.output… · <step>.error (code, message, step, stderr) where it failed · <group>.outputs, .errors · in an item of a for_each its name, _index, _key
 * A name is looked for among the siblings first, then outwards up to the border, then anywhere within it in definition
 * order; from an item then on outwards.
 */
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { TextPart } from "../../definition/faults/fault.js";
import { locateTemplate, type WrittenPlace } from "../../definition/templates/template-places.js";
import type { TemplateLookup, TemplateScope } from "../../definition/templates/templates.js";
import type { ForEachScope } from "../../definition/model/workflow.js";
import type { StepDefinition } from "../../definition/model/step.js";
import { computePhaseConfidence, type SpecialistReport } from "../model/confidence.js";
import { describeGroupReport } from "../model/group-report.js";
import { loadValue, type Choice } from "../model/choice.js";
import { createContextView, requireReferences } from "./context-view.js";
import { definitionPathOf, itemKeyOf, nameOfPath, parentPathOf } from "../model/identity.js";
import { findItem } from "./items.js";
import {
  childPath,
  findPhase,
  findPlace,
  findWorkflow,
  indexDefinition,
  isGroupNode,
  nameAt,
  requireTask,
  type PlacedPhase,
  currentStep,
} from "../model/lookup.js";
import type { TaskState } from "../model/state.js";
import { describeStored } from "../model/output-history.js";
import { describeStepError } from "./step-error.js";
import { changeChannel } from "../model/deferred-effects.js";

/**
 * The names visible at `path`.
 *
 * Shape: `extra` comes first: `output` in routes, `uncertainties` of a specialist that was added.
 * Units: confidences 0..1.
 */
export function describeScope(choice: Choice, path: string, extra: JsonObject = {}): TemplateScope {
  return placed(choice, path, (name) => {
    if (Object.hasOwn(extra, name)) return extra[name];
    const fixed = describeFixed(choice, path, name);
    if (fixed !== undefined) return fixed;
    const { value, at } = findNamed(choice, path, name);
    return value === undefined && at === undefined ? describeShadowable(choice, path, name) : value;
  });
}

/** A look-up that knows where the templates of its node are written. */
function placed({ state }: Choice, path: string, look: (name: string) => JsonValue | undefined): TemplateLookup {
  return Object.assign(look, { locate: (part: TextPart) => locateFor(state, path, part) });
}

/** Where a part of a template of a node is written; `undefined` where nobody knows. */
export function locateFor(state: TaskState, path: string, part: TextPart): WrittenPlace | undefined {
  return locateTemplate(state.task?.definition.sources, definitionPathOf(path), part);
}

/** What a step itself sees, and why something it asked for was hidden. */
export interface StepScope {
  readonly scope: TemplateScope;
  readonly explain: () => string;
  /** Errors: TEMPLATE_FAILED when one of its references is missing. */
  readonly requireReferences: () => void;
}

/** The names a step sees under the rule `context`. */
export function describeStepScope(
  choice: Choice,
  { path, node }: { readonly path: string; readonly node: StepDefinition },
  extra: JsonObject,
): StepScope {
  const view = createContextView(choice, path, node);
  const whole = describeScope(choice, path, extra);
  if (view === undefined) return { scope: whole, explain: () => "", requireReferences: () => undefined };
  const see = (name: string): JsonValue | undefined => {
    if (Object.hasOwn(extra, name)) return extra[name];
    const fixed = describeFixed(choice, path, name);
    if (fixed !== undefined) return view.limit(name, fixed);
    const { value, at } = findNamed(choice, path, name);
    if (value !== undefined) return view.limit(name, value, at);
    const known = at === undefined ? describeShadowable(choice, path, name) : undefined;
    return known === undefined ? undefined : view.limit(name, known);
  };
  const scope = placed(choice, path, see);
  return {
    scope,
    explain: view.explain,
    requireReferences: () => (view.isExplicit ? requireReferences(node, scope) : undefined),
  };
}

/** Names that no step hides. */
function describeFixed(choice: Choice, path: string, name: string): JsonValue | undefined {
  switch (name) {
    case "workflow":
      return describeWorkflow(choice, path);
    case "context":
      return describeStored(choice.state, path);
    case "secrets":
      return describeSecrets(choice, path);
    default:
      return undefined;
  }
}

/** Names that a visible step or loop variable hides. */
function describeShadowable(choice: Choice, path: string, name: string): JsonValue | undefined {
  switch (name) {
    case "channel":
      return describeChannel(choice);
    case "secrets":
      return {};
    case "phase":
    case "feedback":
    case "outputs":
      return describePhase(choice, path, name);
    default:
      return undefined;
  }
}

function describeChannel({ state, channelChanges }: Choice): JsonObject {
  const channel = new Map(state.channel);
  changeChannel(channel, channelChanges);
  return Object.fromEntries(channel);
}

function describeWorkflow(choice: Choice, path: string): JsonObject {
  const task = requireTask(choice.state);
  const nested = findWorkflow(choice.state, path)?.node;
  const input = inputsAround(choice, path);
  if (nested !== undefined) return { input, dir: nested.folder, file: nested.file ?? null, name: nested.workflow };
  return { input, dir: task.folder, file: task.definitionFile ?? null, name: task.definition.name };
}

/** The inputs of the workflow that a node is part of. */
export function inputsAround(choice: Choice, path: string): JsonObject {
  const around = findWorkflow(choice.state, path);
  const data = around === undefined ? undefined : choice.state.scopes.get(around.path)?.data;
  if (data?.scope !== "workflow") return requireTask(choice.state).inputs;
  return (loadValue(choice, data.inputs) ?? {}) as JsonObject;
}

/** The placeholders of the secrets that a step names; a step without any may read another step called `secrets`. */
function describeSecrets(choice: Choice, path: string): JsonObject | undefined {
  const node = findPlace(choice.state, path)?.node;
  const names = node?.node === "step" ? node.secrets : [];
  return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, `{{ secrets.${name} }}`]));
}

function describePhase(choice: Choice, path: string, name: "phase" | "feedback" | "outputs"): JsonValue | undefined {
  const phase = findOwnPhase(choice, path);
  if (phase === undefined) return name === "feedback" ? [] : undefined;
  const entry = choice.state.phases.get(phase.path);
  if (name === "feedback") return entry?.feedback ?? [];
  if (name === "outputs") return outputsOf(choice, phase);
  const confidence = entry?.confidence ?? claimedConfidence(choice, phase) ?? null;
  const { node } = phase;
  return { name: node.name, number: node.number, iteration: entry?.iteration ?? 1, confidence };
}

/** The phase around a node in the workflow that it is part of. */
function findOwnPhase({ state }: Choice, path: string): PlacedPhase | undefined {
  const phase = findPhase(state, path);
  const nested = findWorkflow(state, path);
  return nested === undefined || phase?.path.startsWith(`${nested.path}/`) === true ? phase : undefined;
}

/** What the specialists claim before anybody has judged: what a scorer of the phase sees. */
function claimedConfidence(choice: Choice, { path, node }: PlacedPhase): number | undefined {
  const reports = node.children.flatMap((child) => {
    if (child.node === "scope") return claimOfGroup(choice, path, child.name);
    const step = currentStep(choice, childPath(path, child.name));
    if (step === undefined || (step.status !== "completed" && step.status !== "failed")) return [];
    const { confidence } = step;
    return {
      name: child.name,
      criticality: child.criticality,
      failed: step.status === "failed",
      uncertainties: confidence?.uncertainties ?? [],
      ...(confidence?.value === undefined ? {} : { confidence: confidence.value }),
    };
  });
  return computePhaseConfidence(reports).value;
}

function claimOfGroup({ state }: Choice, phase: string, name: string): readonly SpecialistReport[] {
  const end = state.frontier.get(phase)?.ended.get(name);
  if (end === undefined || end === "omitted") return [];
  return [describeGroupReport(state, { path: childPath(phase, name), failed: end === "failed" })];
}

function outputsOf(choice: Choice, phase: PlacedPhase): JsonObject {
  const outputs: Record<string, JsonValue> = {};
  for (const name of specialistNames(choice, phase)) {
    const output = choice.state.outputs.get(childPath(phase.path, name));
    if (output !== undefined) outputs[name] = loadValue(choice, output.value);
  }
  return outputs;
}

/** The specialists of a phase, those that were added included. */
export function specialistNames(choice: Choice, { path, node }: PlacedPhase): readonly string[] {
  const added = choice.state.phases.get(path)?.added ?? [];
  return [...node.children.map((child) => child.name), ...added];
}

/** What a name stands for, and where the node of that name stands if it is one. */
interface Named {
  readonly value: JsonValue | undefined;
  readonly at?: string;
}

const NOBODY: Named = { value: undefined };

function nameNode(choice: Choice, at: string): Named {
  return { value: describeNode(choice, at), at };
}

/** Outwards from `path`: siblings, the item at hand, then everything within each border, up to the nested workflow's. */
function findNamed(choice: Choice, path: string, name: string): Named {
  let at = path;
  for (let above = parentPathOf(at); above !== undefined; above = parentPathOf(at)) {
    // A body without a name is called as the item is, and is no sibling of itself.
    const item = itemKeyOf(at) === undefined ? undefined : describeItem(choice, { scope: above, path: at }, name);
    if (item !== undefined) return { value: item };
    const sibling = childPath(above, name);
    if (findPlace(choice.state, sibling) !== undefined) return nameNode(choice, sibling);
    const within = itemKeyOf(at) === undefined ? NOBODY : findWithin(choice, at, name);
    if (within.value !== undefined) return within;
    const node = findPlace(choice.state, above)?.node;
    if (node?.node === "scope" && node.scope === "workflow") return findWithin(choice, above, name);
    at = above;
  }
  return findWithin(choice, at, name);
}

/** A node of that name anywhere within a border, one that has run before others. */
function findWithin(choice: Choice, border: string, name: string): Named {
  const { byName } = indexDefinition(requireTask(choice.state).definition);
  const paths = (byName.get(nameAt(definitionPathOf(border), name)) ?? []).map((rest) => `${border}${rest}`);
  const path = paths.find((candidate) => choice.state.outputs.has(candidate)) ?? paths[0];
  return path === undefined ? NOBODY : nameNode(choice, path);
}

/** `scope` is the for_each, `path` the item. */
function describeItem(
  choice: Choice,
  { scope, path }: { readonly scope: string; readonly path: string },
  name: string,
): JsonValue | undefined {
  const part = name === findForEach(choice, scope)?.as ? "value" : ITEM_PARTS.get(name);
  const data = part === undefined ? undefined : choice.state.scopes.get(scope)?.data;
  if (part === undefined || data?.scope !== "for_each") return undefined;
  return findItem(choice, data, nameOfPath(path))?.[part];
}

const ITEM_PARTS: ReadonlyMap<string, "index" | "key"> = new Map([
  ["_index", "index"],
  ["_key", "key"],
]);

function findForEach(choice: Choice, path: string): ForEachScope | undefined {
  const node = findPlace(choice.state, path)?.node;
  return node?.node === "scope" && node.scope === "for_each" ? node : undefined;
}

function describeNode(choice: Choice, path: string): JsonValue | undefined {
  const node = findPlace(choice.state, path)?.node;
  const output = choice.state.outputs.get(path);
  const error = node === undefined ? undefined : describeStepError(choice, path, node);
  if (output === undefined && node?.node === "scope" && node.scope === "phase")
    return { outputs: outputsOf(choice, { path, node }), errors: {} };
  if (output === undefined) return error === undefined ? undefined : { error };
  const value = loadValue(choice, output.value);
  if (node !== undefined && isGroupNode(node)) return value;
  return error === undefined ? { output: value } : { output: value, error };
}
