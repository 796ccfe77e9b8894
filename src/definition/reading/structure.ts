/**
 * Judges the shape of a file against its schema, in words for people, and mends a copy so that later checks go on.
 *
 * Owns: unknown, misplaced and missing keys, wrong types, values out of range. A mended copy serves only to find more
 * faults; nothing is ever run from it.
 */
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { parsePointer, type SchemaDefect, type Verdict } from "../../schema/validator.js";
import { type FaultList, type FaultPath, formatPath, valueAt } from "../faults/fault.js";
import { findNearest } from "../faults/nearest.js";
import { describeAt, listKeysAt, listTypesAt, type SchemaName } from "./schema-map.js";

/**
 * The value without its empty keys where the schema wants something else: Conductor takes null for absent.
 *
 * Shape: the same value when there is none.
 */
export function dropEmptyKeys(value: JsonValue, verdict: Verdict<unknown>): JsonValue {
  if (verdict.ok) return value;
  const empty = verdict.defects
    .filter((defect) => defect.keyword === "type")
    .map((defect) => pathOf(value, defect.path));
  const paths = empty.filter((path) => typeof path.at(-1) === "string" && valueAt(value, path) === null);
  if (paths.length === 0) return value;
  const copy = structuredClone<JsonValue>(value);
  for (const path of paths) delete (valueAt(copy, path.slice(0, -1)) as Record<string, JsonValue>)[String(path.at(-1))];
  return copy;
}

/** Keys that people bring along from elsewhere, and what is written here. */
const FOREIGN_KEYS: Readonly<Record<string, string>> = {
  on: "write depends_on: [{step: NAME, on: [done, skipped, failed]}]; routes have `when`, failures have `on_error`",
  needs: "write depends_on",
  after: "write depends_on",
  next: "write routes: [{to: NAME}]",
  condition: "write when",
  if: "write when",
  retries: "write retry: {max_attempts: N}, where N counts the first attempt",
  max_retries: "write retry: {max_attempts: N}, where N counts the first attempt",
  attempts: "write retry: {max_attempts: N}, where N counts the first attempt",
  script: "write type: script and command",
  run: "write command: [program, argument]",
  cmd: "write command: [program, argument]",
  "<<": "merge keys are not part of YAML 1.2; write the keys out or use one alias",
  inputs: "write input, inside workflow",
  // Keys of later versions of Conductor.
  notifications: "write hooks: {on_complete: …, on_error: …} inside workflow: a command or a request tells people",
  raises: "a failure needs no declaration; write on_error: STEP, or depends_on: [{step: NAME, on: [failed]}]",
  defaults: "write runtime (provider, default_model, temperature, max_tokens) inside workflow; all else at each step",
  bundle: "name files by their path: workflow: FILE.yaml at a step, function: FILE.mjs#NAME",
};

/** Modes of the context as older documentation has them. Source: CONDUCTOR-YAML 1.11. */
const FOREIGN_MODES: Readonly<Record<string, string>> = {
  accumulate: "write context: {mode: accumulate} in workflow: every output so far is seen",
  snapshot: "write context: {mode: accumulate} in workflow: every output so far is seen",
  minimal: "write context: {mode: explicit} in workflow, and input: [STEP.output] in each step for what it sees",
};
const MODES = "write context: {mode: accumulate, last_only or explicit} in workflow";

function isForeignMode(path: FaultPath, value: JsonValue | undefined): boolean {
  return (
    formatPath(path) === "workflow.context.mode" && typeof value === "string" && Object.hasOwn(FOREIGN_MODES, value)
  );
}

function suggestMode(value: JsonValue | undefined): string {
  return typeof value === "string" && Object.hasOwn(FOREIGN_MODES, value) ? (FOREIGN_MODES[value] ?? MODES) : MODES;
}

/** The path of a defect as the document knows it: numbers for items of lists. */
function pathOf(root: JsonValue, pointer: string): (string | number)[] {
  const path: (string | number)[] = [];
  for (const part of parsePointer(pointer)) path.push(Array.isArray(valueAt(root, path)) ? Number(part) : part);
  return path;
}

/**
 * Adds a fault for each defect of a verdict.
 *
 * Shape: the answer is the value without what was wrong; `undefined` when there was nothing wrong.
 */
export function noteDefects(verdict: Verdict<unknown>, judging: Judging): JsonValue | undefined {
  const { root } = judging;
  if (verdict.ok) return undefined;
  const mended = structuredClone<JsonValue>(root);
  for (const defect of [...verdict.defects].reverse()) mend(mended, defect, judging);
  for (const defect of verdict.defects) noteDefect(defect, judging);
  return dropHoles(mended);
}

/** What is judged, by which schema, and where its faults go. */
export interface Judging {
  readonly root: JsonValue;
  readonly schema: SchemaName;
  readonly faults: FaultList;
}

function noteDefect(defect: SchemaDefect, judging: Judging): void {
  const path = pathOf(judging.root, defect.path);
  const extra = defect.params["additionalProperty"] ?? defect.params["unevaluatedProperty"];
  if (typeof extra === "string") return noteUnknownKey([...path, extra], judging);
  const missing = defect.params["missingProperty"];
  if (typeof missing === "string") {
    judging.faults.add({
      code: "missing_key",
      path,
      message: `${path.length === 0 ? "the file" : lastName(path)} has no ${missing}`,
      suggestion: `add ${missing}`,
      atKey: true,
    });
    return;
  }
  const code = defect.keyword === "type" ? "wrong_type" : "wrong_value";
  judging.faults.add({ code, path, ...describeDefect(defect, path, judging) });
}

function noteUnknownKey(path: FaultPath, judging: Judging): void {
  const key = String(path.at(-1));
  const above = path.slice(0, -1);
  const place = above.length === 0 ? "the file" : formatPath(above);
  judging.faults.add({
    code: "unknown_key",
    path,
    message: `unknown key ${JSON.stringify(key)} in ${place}`,
    suggestion: suggestKey(key, above, judging),
    atKey: true,
  });
}

function suggestKey(key: string, above: FaultPath, { schema, root }: Judging): string {
  const here = listKeysAt(schema, above);
  const ofOption = suggestForOption(key, above);
  if (ofOption !== undefined) return ofOption;
  if (key === "context_mode") return suggestMode(valueAt(root, [...above, key]));
  const upper = findUpper(key, above, schema);
  if (upper !== undefined) return upper;
  const value = valueAt(root, above);
  const there = here.filter((name) => isJsonObject(value) && Object.hasOwn(value, name));
  const lower = findLower(key, above, { schema, names: there });
  if (lower !== undefined) return lower;
  if (schema === "workflow" && listKeysAt("settings", above).includes(key))
    return `it is a setting of the place, not of a workflow: write it into splashdown.config.yaml`;
  const foreign = Object.hasOwn(FOREIGN_KEYS, key) ? FOREIGN_KEYS[key] : undefined;
  if (foreign !== undefined) return foreign;
  const nearest = findNearest(key, here);
  if (nearest !== undefined) return `did you mean ${nearest}?`;
  return findLower(key, above, { schema, names: here }) ?? listKnown(here);
}

function listKnown(here: readonly string[]): string {
  return here.length === 0
    ? "remove it"
    : `known here: ${here.slice(0, 20).join(", ")}${here.length > 20 ? ", …" : ""}`;
}

/** Words of other versions for the parts of an option. */
function suggestForOption(key: string, above: FaultPath): string | undefined {
  if (above.at(-2) !== "options") return undefined;
  if (key === "name") return "write value, and label for what a person reads";
  return key === "description" ? "write it into label" : undefined;
}

/** The key is known further up: indented too deep. */
function findUpper(key: string, above: FaultPath, schema: SchemaName): string | undefined {
  for (let size = above.length - 1; size >= 0; size -= 1) {
    if (!listKeysAt(schema, above.slice(0, size)).includes(key)) continue;
    const levels = above.slice(size).filter((part) => typeof part === "string").length;
    const distance = levels === 1 ? "one level up" : "further up";
    return `it belongs ${distance}, into ${size === 0 ? "the file itself" : formatPath(above.slice(0, size))}`;
  }
  return undefined;
}

/** The key is known one level down, in a map or the items of a list of one of these names. */
function findLower(
  key: string,
  above: FaultPath,
  { schema, names }: { readonly schema: SchemaName; readonly names: readonly string[] },
): string | undefined {
  for (const name of names) {
    const inMap = listKeysAt(schema, [...above, name]).includes(key);
    const inItems = listKeysAt(schema, [...above, name, 0]).includes(key);
    if (inMap || inItems) return `it belongs one level down, into ${inMap ? name : `an item of ${name}`}`;
  }
  return undefined;
}

/** The last key of a path, with the index of an item: the whole path stands before the message anyway. */
function lastName(path: FaultPath): string {
  const at = path.findLastIndex((part) => typeof part === "string");
  return formatPath(path.slice(Math.max(at, 0)));
}

interface Words {
  readonly message: string;
  readonly suggestion?: string;
}

function describeDefect(defect: SchemaDefect, path: FaultPath, { schema, root }: Judging): Words {
  const value = valueAt(root, path);
  const name = lastName(path);
  switch (defect.keyword) {
    case "type":
      return describeType(name, value, { types: listTypesAt(schema, path), keys: listKeysAt(schema, path) });
    case "enum":
      return {
        ...describeEnum(name, value, defect.params["allowedValues"]),
        ...(isForeignMode(path, value) ? { suggestion: suggestMode(value) } : {}),
      };
    case "maximum":
    case "minimum":
    case "exclusiveMinimum":
      return describeRange(name, value, defect);
    case "minLength":
      return { message: `${name} is empty` };
    case "minItems":
      return { message: `${name} is empty`, suggestion: "add at least one" };
    case "pattern":
      return describePattern(name, value, describeAt(schema, path));
    default:
      return { message: `${name} ${defect.message}` };
  }
}

/** Words for a time, with a space or without, and what is written for them. */
const TIME_WORDS = /^\s*(\d+(?:\.\d+)?)\s*(milliseconds?|msecs?|seconds?|secs?|minutes?|mins?|hours?|hrs?)\s*$/i;

function describePattern(name: string, value: JsonValue | undefined, description: string | undefined): Words {
  const time = typeof value === "string" ? TIME_WORDS.exec(value) : null;
  if (time !== null) {
    const unit = (time[2] ?? "").toLowerCase();
    const suggestion = `write ${time[1]}${unit.startsWith("mil") || unit.startsWith("ms") ? "ms" : unit.slice(0, 1)}`;
    return { message: `${name} ${JSON.stringify(value)} does not fit`, suggestion };
  }
  if (name.endsWith("name"))
    return {
      message: `${name} ${JSON.stringify(value)} is not a usable name`,
      suggestion: "a name has none of / # @ % [ ] and does not begin with $",
    };
  return {
    message: `${name} ${JSON.stringify(value)} does not fit`,
    ...(description === undefined ? {} : { suggestion: description }),
  };
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  null: "null",
};

function typeName(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  return `${typeof value === "string" ? "the text" : typeof value === "number" ? "the number" : ""} ${JSON.stringify(value)}`.trim();
}

interface Allowed {
  readonly types: readonly string[];
  /** Of the map that may stand here. */
  readonly keys: readonly string[];
}

function describeType(name: string, value: JsonValue | undefined, { types, keys }: Allowed): Words {
  const expected = types.map((type) => TYPE_NAMES[type] ?? type).join(" or ");
  const suggestion = suggestValue(value, types) ?? suggestMap(types, keys);
  return {
    message: `${name} must be ${expected === "" ? "something else" : expected}, it is ${typeName(value)}`,
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

function suggestValue(value: JsonValue | undefined, types: readonly string[]): string | undefined {
  if (typeof value === "string") return suggestForText(value, types);
  const isPlain = typeof value === "number" || typeof value === "boolean";
  if (isPlain && types.includes("string")) return `write "${value}" in quotes`;
  return types.includes("array") && value !== null && !Array.isArray(value) ? BEGIN_WITH_DASH : undefined;
}

function suggestMap(types: readonly string[], [first]: readonly string[]): string | undefined {
  return types.includes("object") && first !== undefined ? `write {${first}: …}` : undefined;
}

const BEGIN_WITH_DASH = "begin each item with a dash";
const WORDS: Readonly<Record<string, boolean>> = {
  yes: true,
  on: true,
  y: true,
  true: true,
  no: false,
  off: false,
  n: false,
  false: false,
};

function suggestForText(text: string, types: readonly string[]): string | undefined {
  const word = text.toLowerCase();
  if (types.includes("boolean") && Object.hasOwn(WORDS, word))
    return `write ${WORDS[word]}: ${text} is a text in YAML 1.2`;
  const isNumeric = types.includes("number") || types.includes("integer");
  if (isNumeric && text.trim() !== "" && Number.isFinite(Number(text))) return `write ${Number(text)} without quotes`;
  return types.includes("array") ? BEGIN_WITH_DASH : undefined;
}

function describeEnum(name: string, value: JsonValue | undefined, allowed: unknown): Words {
  const choices = Array.isArray(allowed) ? allowed.map(String) : [];
  const nearest = typeof value === "string" ? findNearest(value, choices) : undefined;
  return {
    message: `${name} must be one of ${choices.join(", ")}, it is ${typeName(value)}`,
    ...(nearest === undefined ? {} : { suggestion: `did you mean ${nearest}?` }),
  };
}

function describeRange(name: string, value: JsonValue | undefined, defect: SchemaDefect): Words {
  const limit = Number(defect.params["limit"]);
  const number = Number(value);
  if (defect.keyword === "maximum" && limit === 1 && number > 1 && number <= 100) {
    return {
      message: `${name} is ${number}, but it is counted from 0 to 1`,
      suggestion: `write ${Number((number / 100).toFixed(4))}`,
    };
  }
  const words = { maximum: "at most", minimum: "at least", exclusiveMinimum: "more than" }[defect.keyword] ?? "within";
  return { message: `${name} must be ${words} ${limit}, it is ${typeName(value)}` };
}

/** Stands where an item of a list was taken out, until `dropHoles`. */
const HOLE = Symbol("hole");

function mend(mended: JsonValue, defect: SchemaDefect, { root, schema }: Judging): void {
  const path = pathOf(root, defect.path);
  const extra = defect.params["additionalProperty"] ?? defect.params["unevaluatedProperty"];
  if (typeof extra === "string") {
    const owner = valueAt(mended, path);
    if (isJsonObject(owner)) mendKey(owner as Record<string, JsonValue>, extra, listKeysAt(schema, path));
    return;
  }
  if (defect.params["missingProperty"] !== undefined) return;
  const owner: unknown = valueAt(mended, path.slice(0, -1));
  const last = path.at(-1);
  if (Array.isArray(owner) && typeof last === "number") (owner as unknown[])[last] = HOLE;
  else if (isJsonObject(owner)) delete (owner as Record<string, JsonValue>)[String(last)];
}

/** A mistyped key is taken for the one that was meant. */
function mendKey(owner: Record<string, JsonValue>, key: string, known: readonly string[]): void {
  const nearest = findNearest(key, known);
  const value = owner[key];
  if (nearest !== undefined && value !== undefined && !Object.hasOwn(owner, nearest)) owner[nearest] = value;
  delete owner[key];
}

function dropHoles(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return (value as readonly unknown[]).filter((item) => item !== HOLE).map((item) => dropHoles(item as JsonValue));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, dropHoles(item ?? null)]));
}
