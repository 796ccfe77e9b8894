/**
 * The inputs of a task: given values checked against what the workflow declares, typed and completed.
 *
 * Source: CONDUCTOR-YAML 1.2 (zero values) and 1.9 (text of the command line).
 */
import { SplashdownError } from "../../base/errors.js";
import { findInexact } from "../../base/exact-json.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { findNearest } from "../faults/nearest.js";
import type { WorkflowDefinition } from "./workflow.js";
import type { InputDefinition, InputType } from "./values.js";

/** A value a program or a file gave, or a text from the command line, which is typed by its declaration. */
export type GivenInput = { readonly value: JsonValue } | { readonly text: string };

const ZERO: Readonly<Record<InputType, JsonValue>> = { string: "", number: 0, boolean: false, array: [], object: {} };

/**
 * The complete inputs, in the order of their declaration.
 *
 * Errors: INPUT_INVALID naming every input that is missing, unknown or of the wrong type.
 */
export function resolveInputs(
  definition: Pick<WorkflowDefinition, "inputs">,
  given: Readonly<Record<string, GivenInput>>,
): JsonObject {
  const problems: string[] = [];
  const inputs: Record<string, JsonValue> = {};
  for (const name of Object.keys(given))
    if (!Object.hasOwn(definition.inputs, name)) problems.push(describeUnknown(name, definition.inputs));
  for (const [name, input] of Object.entries(definition.inputs)) {
    const own = Object.hasOwn(given, name) ? given[name] : undefined;
    const value = own === undefined ? defaultOf(input) : readGiven(own, input.type);
    const inexact = own === undefined ? undefined : findInexactText(own, input.type);
    if (inexact !== undefined) problems.push(`the input ${name}: ${inexact}`);
    else if (value === undefined) problems.push(`the input ${name} (${input.type}) is missing`);
    else if (!isOfType(value, input.type))
      problems.push(`the input ${name} must be ${article(input.type)}, it is ${describeValue(value)}`);
    else inputs[name] = value;
  }
  if (problems.length > 0) throw new SplashdownError("INPUT_INVALID", problems.join("\n"), { details: { problems } });
  return inputs;
}

/** Wraps values that are no command line texts. */
export function givenValues(values: JsonObject): Record<string, GivenInput> {
  const given: Record<string, GivenInput> = {};
  for (const [name, value] of Object.entries(values)) if (value !== undefined) given[name] = { value };
  return given;
}

function describeUnknown(name: string, inputs: Readonly<Record<string, InputDefinition>>): string {
  const names = Object.keys(inputs);
  const nearest = findNearest(name, names);
  if (nearest !== undefined) return `there is no input ${name}; did you mean ${nearest}?`;
  return names.length === 0
    ? `there is no input ${name}; the workflow declares none`
    : `there is no input ${name}; declared: ${names.join(", ")}`;
}

function defaultOf(input: InputDefinition): JsonValue | undefined {
  if (input.default !== undefined) return input.default;
  return input.required ? undefined : ZERO[input.type];
}

function readGiven(given: GivenInput, type: InputType): JsonValue {
  if ("value" in given) return coerceInput(given.value, type);
  return type === "string" ? given.text : parseInputText(given.text);
}

/** A text or a number as its declared type has it, whichever way it came in; other values stay as they are. */
function coerceInput(value: JsonValue, type: InputType): JsonValue {
  if (type === "string") return typeof value === "number" || typeof value === "boolean" ? JSON.stringify(value) : value;
  if (typeof value !== "string") return value;
  const read = parseInputText(value);
  return isOfType(read, type) ? read : value;
}

/** Why a text that stands for no string cannot be read exactly; `undefined` when it can. */
function findInexactText(given: GivenInput, type: InputType): string | undefined {
  const text = "text" in given ? given.text : given.value;
  if (type === "string" || typeof text !== "string" || !/^\s*[-[{\d]/.test(text)) return undefined;
  return isJsonText(text) ? findInexact(text)?.message : undefined;
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * A text of the command line as a value: true, false, null; JSON if it begins with `[` or `{`; a number; else the text.
 *
 * Source: CONDUCTOR-YAML 1.9. An input declared as string stays text whatever it looks like.
 */
export function parseInputText(text: string): JsonValue {
  const trimmed = text.trim();
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  if (trimmed === "null") return null;
  if (trimmed.startsWith("[") || trimmed.startsWith("{")) {
    try {
      return JSON.parse(trimmed) as JsonValue;
    } catch {
      return text;
    }
  }
  const isNumber = /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(trimmed) && Number.isFinite(Number(trimmed));
  return isNumber ? Number(trimmed) : text;
}

function isOfType(value: JsonValue, type: InputType): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isJsonObject(value);
  return typeof value === type;
}

function article(type: InputType): string {
  return type === "array" || type === "object" ? `an ${type}` : `a ${type}`;
}

function describeValue(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** What is wrong with a declared default; `undefined` when nothing. */
export function checkInputDefault(
  name: string,
  input: InputDefinition,
): { message: string; suggestion?: string } | undefined {
  const value = input.default;
  if (value === undefined || isOfType(value, input.type)) return undefined;
  const isWord = input.type === "boolean" && (value === "yes" || value === "no" || value === "on" || value === "off");
  return {
    message: `the default of ${name} must be ${article(input.type)}, it is ${describeValue(value)}`,
    ...(isWord
      ? { suggestion: `write ${value === "yes" || value === "on" ? "true" : "false"}: ${value} is a text in YAML 1.2` }
      : {}),
  };
}
