/**
 * A set step: values that the engine rendered, given their declared type.
 *
 * Shape: with `output_type: auto` every text is rendered and then read as YAML 1.2, as Conductor does (yaml-value.ts). A list
 * or a map that one whole `{{ expression }}` gives keeps its values: reading its printed form again would damage texts with
 * backslashes, and turn nothing into the word None. Source: Conductor `executor/set_step.py`.
 */
import { unreachable } from "../base/errors.js";
import { isJsonObject, type JsonValue } from "../base/json.js";
import { formatPython } from "../definition/templates/python-text.js";
import type { SetStep } from "../definition/model/step.js";
import type { StepOutcome, StepWork } from "../engine/model/ports.js";
import type { PerformerDeps } from "./outcome/contract.js";
import { outputInvalid } from "./outcome/failure.js";
import { requireDeclaredOutput } from "./outcome/output-check.js";
import { readYamlValue } from "./outcome/yaml-value.js";

const TRUE_TEXTS = ["true", "1", "yes", "y", "on"];
const FALSE_TEXTS = ["false", "0", "no", "n", "off"];

export async function performSet(deps: PerformerDeps, work: StepWork): Promise<StepOutcome> {
  const output = await readOutput(work);
  await requireDeclaredOutput(deps, work, output);
  return { status: "completed", output };
}

async function readOutput(work: StepWork): Promise<JsonValue> {
  const { values, outputType } = work.definition as SetStep;
  if (values === undefined) {
    const rendered = work.rendered["value"] ?? null;
    return outputType === "auto" ? readAuto(rendered) : readTyped(rendered, outputType);
  }
  const rendered = work.rendered["values"] ?? work.rendered["value"];
  const output: Record<string, JsonValue> = {};
  for (const [name, item] of Object.entries(isJsonObject(rendered) ? rendered : {})) {
    output[name] = await readAuto(item ?? null);
  }
  return output;
}

async function readAuto(rendered: JsonValue): Promise<JsonValue> {
  if (typeof rendered !== "string") return rendered;
  const read = await readYamlValue(rendered);
  if ("keyProblem" in read)
    throw outputInvalid(`the value of the set step has a key that is no text: ${read.keyProblem}`, rendered);
  return read.value;
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
  const read = await readAuto(value);
  const fits = type === "list" ? Array.isArray(read) : isJsonObject(read);
  if (!fits) throw mismatch(value, type);
  return read;
}

function readNumber(value: JsonValue, type: "number" | "integer"): number {
  const text = typeof value === "string" ? value.trim() : joinItems(value);
  const isWritten = type === "integer" ? /^[-+]?\d+$/.test(text) : text !== "";
  const number = isWritten ? Number(text) : NaN;
  const isExact = Number.isSafeInteger(number) || (Number.isFinite(number) && !/^[-+]?\d+$/.test(text));
  if (!isExact) throw mismatch(value, type);
  return number;
}

/** As text, a list as its items with commas between them: a list of one number is that number. */
function joinItems(value: JsonValue): string {
  if (Array.isArray(value)) return value.map((item: JsonValue) => joinItems(item)).join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}

function mismatch(value: JsonValue, type: string): Error {
  return outputInvalid(
    `the value of the set step is no ${type}`,
    typeof value === "string" ? value : JSON.stringify(value),
  );
}
