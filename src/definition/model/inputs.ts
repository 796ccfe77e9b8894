/**
 * The inputs of a task: given values checked against what the workflow declares, typed and completed.
 *
 * Shape: values of programs and files come in plain and are stored as what they are (base/json-encoding.ts).
 * Source: CONDUCTOR-YAML 1.2 (zero values) and 1.9 (text of the command line).
 */
import { errorCodeOf, messageOf, SplashdownError } from "../../base/errors.js";
import { encodeValue } from "../../base/json-encoding.js";
import { formatJsonText, formatPlainValue, parsePlainValue } from "../../base/plain-value.js";
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

/** Wraps stored values. */
export function givenValues(values: JsonObject): Record<string, GivenInput> {
  const given: Record<string, GivenInput> = {};
  for (const [name, value] of Object.entries(values)) if (value !== undefined) given[name] = { value };
  return given;
}

/** Wraps values of a program or a file. Errors: INPUT_INVALID for one that cannot be stored. */
export function givenFromOutside(values: Readonly<Record<string, unknown>>): Record<string, GivenInput> {
  const stored = Object.entries(values).flatMap(([name, value]): [string, JsonValue][] => {
    if (value === undefined) return [];
    try {
      return [[name, encodeValue(value)]];
    } catch (error) {
      throw new SplashdownError("INPUT_INVALID", `the input ${name}: ${messageOf(error)}`, { cause: error });
    }
  });
  return givenValues(Object.fromEntries(stored));
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
  if (type === "string") {
    const plain = formatPlainValue(value);
    if (typeof plain === "string") return plain;
    return typeof plain === "number" || typeof plain === "boolean" ? formatJsonText(plain) : value;
  }
  if (typeof value !== "string") return value;
  const read = parseInputText(value);
  return isOfType(read, type) ? read : value;
}

/** Why a text that stands for no string cannot be read exactly; `undefined` when it can. */
function findInexactText(given: GivenInput, type: InputType): string | undefined {
  const text = "text" in given ? given.text : given.value;
  if (type === "string" || typeof text !== "string" || !/^\s*[-+.[{\d]/.test(text)) return undefined;
  try {
    parsePlainValue(NUMBER.test(text.trim()) ? written(text.trim()) : text.trim());
    return undefined;
  } catch (error) {
    return errorCodeOf(error) === undefined ? undefined : messageOf(error);
  }
}

/** A number as JSON writes it. */
function written(number: string): string {
  return number
    .replace(/^\+/, "")
    .replace(/^(-?)\./, "$10.")
    .replace(/\.(?=$|[eE])/, "")
    .replace(/^(-?)0+(?=\d)/, "$1");
}

/**
 * A text of the command line as a value: true, false, null; JSON if it begins with `[` or `{`; a number; else the text.
 *
 * Source: CONDUCTOR-YAML 1.9. An input declared as string stays text whatever it looks like.
 */
export function parseInputText(text: string): JsonValue {
  const trimmed = text.trim();
  const word = trimmed.toLowerCase();
  if (word === "true" || word === "false") return word === "true";
  if (word === "null") return null;
  if (trimmed.startsWith("[") || trimmed.startsWith("{")) {
    try {
      return parsePlainValue(trimmed);
    } catch {
      return text;
    }
  }
  const isNumber = NUMBER.test(trimmed) && Number.isFinite(Number(trimmed));
  return isNumber ? encodeValue(Number(trimmed)) : text;
}

/** As a person writes one, a sign and a bare point included. */
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;

function isOfType(value: JsonValue, type: InputType): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isJsonObject(value);
  if (type === "number" && isJsonObject(value)) return value["$t"] === "num";
  return typeof value === type;
}

function article(type: InputType): string {
  return type === "array" || type === "object" ? `an ${type}` : `a ${type}`;
}

function describeValue(value: JsonValue): string {
  const text = formatJsonText(formatPlainValue(value));
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
