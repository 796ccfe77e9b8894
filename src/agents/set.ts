/**
 * A set step: values that the engine rendered, given their declared type.
 *
 * Shape: with `output_type: auto` a value that is one whole `{{ expression }}` keeps its type; a text put together from
 * templates is read as YAML 1.1, as Conductor does, and stays text where it is none. Dates become ISO text.
 * Source: CONDUCTOR-YAML 1.9, DESIGN section 4.
 */
import { unreachable } from "../base/errors.js";
import { isJsonObject, type JsonValue } from "../base/json.js";
import { formatPython } from "../definition/templates/python-text.js";
import type { SetStep } from "../definition/step.js";
import type { TemplateValue } from "../definition/values.js";
import type { StepOutcome, StepWork } from "../engine/ports.js";
import { outputInvalid } from "./failure.js";

const WHOLE_EXPRESSION = /^\s*\{\{(?:(?!\}\})[^])*\}\}\s*$/;
const TRUE_TEXTS = ["true", "1", "yes", "y", "on"];
const FALSE_TEXTS = ["false", "0", "no", "n", "off"];

export async function performSet(work: StepWork): Promise<StepOutcome> {
  const { value, values, outputType } = work.definition as SetStep;
  if (values === undefined) {
    const rendered = work.rendered["value"] ?? null;
    const output = outputType === "auto" ? await readAuto(rendered, value) : await readTyped(rendered, outputType);
    return { status: "completed", output };
  }
  const rendered = work.rendered["values"] ?? work.rendered["value"];
  const output: Record<string, JsonValue> = {};
  for (const [name, item] of Object.entries(isJsonObject(rendered) ? rendered : {})) {
    output[name] = await readAuto(item ?? null, values[name]);
  }
  return { status: "completed", output };
}

async function readAuto(rendered: JsonValue, template: TemplateValue | undefined): Promise<JsonValue> {
  if (typeof rendered !== "string" || typeof template !== "string" || rendered.trim() === "") return rendered;
  const isPutTogether = /\{[{%]/.test(template) && !WHOLE_EXPRESSION.test(template);
  return isPutTogether ? parseYaml(rendered) : rendered;
}

async function readTyped(value: JsonValue, type: Exclude<SetStep["outputType"], "auto">): Promise<JsonValue> {
  switch (type) {
    case "string":
      return formatPython(value);
    case "number":
    case "integer":
      return readNumber(value, type);
    case "boolean":
      return readBoolean(value);
    case "list":
    case "dict":
      return readCollection(value, type);
    default:
      return unreachable(type);
  }
}

function readBoolean(value: JsonValue): boolean {
  const word = formatPython(value).trim().toLowerCase();
  if (TRUE_TEXTS.includes(word)) return true;
  if (FALSE_TEXTS.includes(word)) return false;
  throw mismatch(value, "boolean");
}

async function readCollection(value: JsonValue, type: "list" | "dict"): Promise<JsonValue> {
  const read = typeof value === "string" ? await parseYaml(value) : value;
  const fits = type === "list" ? Array.isArray(read) : isJsonObject(read);
  if (!fits) throw mismatch(value, type);
  return read;
}

function readNumber(value: JsonValue, type: "number" | "integer"): number {
  const isText = typeof value === "string" && value.trim() !== "";
  const number = typeof value === "number" || isText ? Number(value) : NaN;
  if (!Number.isFinite(number) || (type === "integer" && !Number.isInteger(number))) throw mismatch(value, type);
  return number;
}

function mismatch(value: JsonValue, type: string): Error {
  return outputInvalid(
    `the value of the set step is no ${type}`,
    typeof value === "string" ? value : JSON.stringify(value),
  );
}

/** The value of a YAML text, or the text itself where it is none. */
async function parseYaml(text: string): Promise<JsonValue> {
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text, { version: "1.1", uniqueKeys: true, prettyErrors: false, logLevel: "silent" });
  if (document.errors.length > 0) return text;
  // Through JSON, so that dates become ISO text and nothing but plain values is left.
  return JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 100 }) ?? null)) as JsonValue;
}
