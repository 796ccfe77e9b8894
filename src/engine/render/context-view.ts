/**
 * What a step may see of earlier outputs: the rule `context` of its workflow, applied. The state is only looked at.
 *
 *   accumulate  every output
 *   last_only   the newest output (of the members of a group, that of the group); a member does not see its siblings
 *   explicit    what the step's `input` names; steps that call no model still see every input of the workflow
 * With `max_tokens` the outputs that are seen are made to fit beside what a person said, which is never cut: `drop_oldest` hides the oldest ones, never the newest;
 * `truncate` cuts the longest texts to one length; `summarize` does the same, as no model is asked for a summary.
 * Gates, questions, routes and the final output see everything.
 * Units: a token is four characters of JSON. Source: CONDUCTOR-YAML 1.2, 1.7.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { createValueFailure, listReferences, type TemplateLookup } from "../../definition/templates/templates.js";
import { kindOf } from "../../definition/kinds/table.js";
import type { StepDefinition } from "../../definition/model/step.js";
import type { ContextRule, StepReference } from "../../definition/model/values.js";
import { loadValue, type Choice } from "../model/choice.js";
import type { ValueRef } from "../model/value-ref.js";
import { parentPathOf } from "../model/identity.js";
import { findPlace, findWorkflow, requireTask } from "../model/lookup.js";
import { isToldGuidance, listGuidance } from "../model/told-guidance.js";

export interface ContextView {
  /** Only what the step names is seen. */
  readonly isExplicit: boolean;
  /** The value of a name as the step sees it; `undefined` when it sees nothing of it. */
  readonly limit: (name: string, value: JsonValue, path?: string) => JsonValue | undefined;
  /** Why a name that was asked for is hidden, as words for the end of a message; empty when none was. */
  readonly explain: () => string;
}

/** An estimate: no tokeniser is asked. */
export const CHARACTERS_PER_TOKEN = 4;
const CUT_MARK = "… (cut)";
/** Members of these run side by side and do not see each other. */
const GROUPS = new Set(["parallel", "for_each"]);

/** The view of a step; `undefined` when it sees everything. Errors: TEMPLATE_FAILED when a reference leads nowhere. */
export function createContextView(choice: Choice, path: string, node: StepDefinition): ContextView | undefined {
  const rule = findWorkflow(choice.state, path)?.node.context ?? requireTask(choice.state).definition.context;
  const isLimited = kindOf(node.kind).seesEverything !== true;
  if (!isLimited || (rule.mode === "accumulate" && rule.tokensMax === undefined)) return undefined;
  const hidden = new Map<string, string>();
  const fit = rule.tokensMax === undefined ? undefined : fitOutputs(choice, { path, node }, rule);
  const newest = rule.mode === "last_only" ? (listSeen(choice, path).at(-1)?.path ?? "") : undefined;
  const named = rule.mode === "explicit" ? referencesOf(node) : undefined;
  const hide = (name: string, why: string): undefined => void hidden.set(name, why);
  return {
    isExplicit: named !== undefined,
    limit: (name, value, at) => {
      if (at === undefined) return name === "workflow" ? limitInputs(value, node, named) : value;
      if (newest !== undefined && !isAtOrBelow(at, newest)) return hide(name, "context.mode is last_only");
      const picked = named === undefined ? value : pickNamed(name, value, named);
      if (picked === undefined) return hide(name, "context.mode is explicit and input does not name it");
      if (fit?.dropped.has(at) === true) return hide(name, "dropped to keep to context.max_tokens");
      return fit?.textMax === undefined ? picked : cutTexts(picked, fit.textMax);
    },
    explain: () => [...hidden].map(([name, why]) => `${name} is hidden: ${why}`).join("; "),
  };
}

interface Seen {
  readonly path: string;
  readonly value: ValueRef;
}

/** Outputs in the order they came, those of the groups around the step left out: members do not see each other. */
function listSeen({ state }: Choice, path: string): Seen[] {
  const groups = listGroups(state, path);
  const workflow = findWorkflow(state, path)?.path;
  const isSeen = (at: string): boolean =>
    (workflow === undefined || at.startsWith(`${workflow}/`)) &&
    groups.every(({ group, own }) => !isAtOrBelow(at, group) || at.startsWith(`${own}/`));
  return [...state.outputs].flatMap(([at, { value }]) => (isSeen(at) ? [{ path: at, value }] : []));
}

/** The groups around a step, each with the member of it that the step is or is part of. */
function listGroups(state: Choice["state"], path: string): { readonly group: string; readonly own: string }[] {
  const groups: { group: string; own: string }[] = [];
  let own = path;
  for (let at = parentPathOf(path); at !== undefined; own = at, at = parentPathOf(at)) {
    const node = findPlace(state, at)?.node;
    if (node?.node === "scope" && GROUPS.has(node.scope)) groups.push({ group: at, own });
  }
  return groups;
}

function isAtOrBelow(path: string, above: string): boolean {
  return path === above || path.startsWith(`${above}/`) || path.startsWith(`${above}[`);
}

/** The references of a step; what a map of inputs names is meant as a whole. */
function referencesOf(node: StepDefinition): readonly StepReference[] {
  if (node.references !== undefined) return node.references;
  return listReferences(node.input).map(({ root, path }) => ({ root, path, isOptional: true }));
}

/** Only a model is kept from inputs that it does not name. */
function limitInputs(
  workflow: JsonValue,
  node: StepDefinition,
  named: readonly StepReference[] | undefined,
): JsonValue | undefined {
  if (named === undefined || node.kind !== "model" || !isJsonObject(workflow)) return workflow;
  const own = named.filter(({ root, path }) => root === "workflow" && path[0] === "input");
  if (own.some(({ path }) => path.length === 1)) return workflow;
  const inputs = isJsonObject(workflow["input"]) ? workflow["input"] : {};
  const seen = own.flatMap(({ path, isOptional }): [string, JsonValue][] => {
    const name = path[1] ?? "";
    const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
    return value === undefined && !isOptional ? [] : [[name, value ?? null]];
  });
  return { ...workflow, input: Object.fromEntries(seen) };
}

/** The parts of a value that are named; `undefined` when none is. */
function pickNamed(name: string, value: JsonValue, named: readonly StepReference[]): JsonValue | undefined {
  const own = named.filter(({ root }) => root === name);
  if (own.length === 0) return undefined;
  if (own.some(({ path }) => path.length === 0)) return value;
  let picked: JsonObject = {};
  for (const { path } of own) picked = addPath(picked, value, path);
  return picked;
}

function addPath(into: JsonObject, value: JsonValue, path: readonly string[]): JsonObject {
  const [first = "", ...rest] = path;
  const part = isJsonObject(value) && Object.hasOwn(value, first) ? value[first] : undefined;
  if (part === undefined) return into;
  const before = into[first];
  // A part that is there as a whole stays whole; in a list there are no names.
  const isSplit = rest.length > 0 && isJsonObject(part) && before !== part;
  return { ...into, [first]: isSplit ? addPath(isJsonObject(before) ? before : {}, part, rest) : part };
}

/** Errors: TEMPLATE_FAILED when something that is not optional is missing. */
export function requireReferences(node: StepDefinition, see: TemplateLookup): void {
  for (const { root, path, isOptional } of node.references ?? []) {
    if (isOptional || root === "workflow") continue;
    let value: JsonValue | undefined = see(root);
    for (const part of path) value = isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
    if (value !== undefined) continue;
    const reference = [root, ...path].join(".");
    const message = `the input ${reference} is not there; write ${reference}? if it may be missing`;
    throw createValueFailure(reference, see, { message });
  }
}

interface Fit {
  readonly dropped: ReadonlySet<string>;
  readonly textMax?: number;
}

const sizes = new WeakMap<ValueRef, number>();

function sizeOf(choice: Choice, ref: ValueRef): number {
  const known = sizes.get(ref);
  if (known !== undefined) return known;
  const { length } = JSON.stringify(loadValue(choice, ref));
  if (choice.missing.length === 0) sizes.set(ref, length);
  return length;
}

/** What has to give way so that the outputs fit. */
function fitOutputs(
  choice: Choice,
  { path, node }: { readonly path: string; readonly node: StepDefinition },
  { tokensMax = 0, trim }: ContextRule,
): Fit {
  const guidance = isToldGuidance(node) ? listGuidance(choice.state, path) : [];
  const taken = guidance.reduce((sum, text) => sum + text.length, 0);
  const room = Math.max(0, tokensMax * CHARACTERS_PER_TOKEN - taken);
  const seen = listSeen(choice, path);
  const total = seen.reduce((sum, { value }) => sum + sizeOf(choice, value), 0);
  if (total <= room) return { dropped: new Set() };
  return trim === "drop_oldest"
    ? { dropped: dropOldest(choice, seen, total - room) }
    : {
        dropped: new Set(),
        textMax: computeTextMax(
          seen.map(({ value }) => loadValue(choice, value)),
          total - room,
        ),
      };
}

function dropOldest(choice: Choice, seen: readonly Seen[], excess: number): Set<string> {
  const dropped = new Set<string>();
  let left = excess;
  for (const { path, value } of seen.slice(0, -1)) {
    if (left <= 0) break;
    dropped.add(path);
    left -= sizeOf(choice, value);
  }
  return dropped;
}

/** The length to which the longest texts are cut so that enough goes. */
function computeTextMax(values: readonly JsonValue[], excess: number): number {
  const lengths = values.flatMap(listTexts).sort((left, right) => right - left);
  let gain = 0;
  for (const [index, length] of lengths.entries()) {
    const next = lengths[index + 1] ?? 0;
    const cut = index + 1;
    if (gain + cut * (length - next) >= excess) return Math.max(Math.floor(length - (excess - gain) / cut), 0);
    gain += cut * (length - next);
  }
  return 0;
}

function listTexts(value: JsonValue): number[] {
  if (typeof value === "string") return [value.length];
  return typeof value === "object" && value !== null
    ? Object.values(value).flatMap((item) => listTexts(item as JsonValue))
    : [];
}

function cutTexts(value: JsonValue, textMax: number): JsonValue {
  if (typeof value === "string")
    return value.length <= textMax ? value : `${value.slice(0, Math.max(textMax - CUT_MARK.length, 0))}${CUT_MARK}`;
  if (Array.isArray(value)) return value.map((item: JsonValue) => cutTexts(item, textMax));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutTexts(item ?? null, textMax)]));
}
