/**
 * The report of a specialist: what a command writes to stdout, a function returns, a scripted model says.
 *
 * Shape: an object with the key `output` is an envelope and may have no keys but those below; anything else is itself the
 * output. A confidence is 0..1, one number or all four parts.
 * Source: DESIGN section 5; schemas/specialist-protocol.schema.json, `report`.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { ConfidenceParts } from "../../engine/model/events.js";
import type { StepOutcome } from "../../engine/model/ports.js";
import { outputInvalid } from "./failure.js";

export type CompletedOutcome = Extract<StepOutcome, { status: "completed" }>;

const KEYS = ["output", "confidence", "factors", "uncertainties", "blockers", "assumptions"] as const;
const PARTS = ["knowledge", "information", "implementation", "validation"] as const;

/** Reads a stored value as a report. Errors: STEP_OUTPUT_INVALID. */
export function parseReport(value: JsonValue): CompletedOutcome {
  if (!isJsonObject(value) || value["output"] === undefined) return { status: "completed", output: value };
  const unknown = Object.keys(value).filter((key) => !(KEYS as readonly string[]).includes(key));
  if (unknown.length > 0) {
    const text = `beside "output" a report may have ${KEYS.slice(1).join(", ")}, but not ${unknown.join(", ")}`;
    throw outputInvalid(`${text}; put results inside "output"`);
  }
  const { output, confidence, uncertainties } = value;
  return {
    status: "completed",
    output,
    ...(isAbsent(confidence) ? {} : { confidence: parseConfidence(confidence) }),
    ...(isAbsent(uncertainties) ? {} : { uncertainties: requireList("uncertainties", uncertainties) }),
    ...textsOf(value, "factors"),
    ...textsOf(value, "blockers"),
    ...textsOf(value, "assumptions"),
  };
}

/** Reads a confidence. Errors: STEP_OUTPUT_INVALID, with the value that was meant where it can be told. */
export function parseConfidence(value: JsonValue): number | ConfidenceParts {
  if (!isJsonObject(value)) return requireFraction("confidence", value);
  const unknown = Object.keys(value).filter((key) => !(PARTS as readonly string[]).includes(key));
  if (unknown.length > 0)
    throw outputInvalid(`confidence has the parts ${PARTS.join(", ")}, but not ${unknown.join(", ")}`);
  const part = (name: (typeof PARTS)[number]) => requireFraction(`confidence.${name}`, value[name] ?? null);
  return {
    knowledge: part("knowledge"),
    information: part("information"),
    implementation: part("implementation"),
    validation: part("validation"),
  };
}

function requireFraction(name: string, value: JsonValue): number {
  if (typeof value !== "number")
    throw outputInvalid(`${name} must be a number from 0 to 1, not ${JSON.stringify(value)}`);
  if (value > 1 && value <= 100) {
    throw outputInvalid(
      `${name} is ${value}, but it is counted from 0 to 1: say ${Number((value / 100).toPrecision(12))}`,
    );
  }
  if (value < 0 || value > 1) throw outputInvalid(`${name} must be from 0 to 1, not ${value}`);
  return value;
}

function textsOf(report: JsonObject, name: "factors" | "blockers" | "assumptions"): Partial<CompletedOutcome> {
  const value = report[name];
  if (isAbsent(value)) return {};
  const list = requireList(name, value);
  if (!list.every((item) => typeof item === "string")) throw outputInvalid(`${name} must be a list of texts`);
  return { [name]: list };
}

function requireList(name: string, value: JsonValue): readonly JsonValue[] {
  if (!Array.isArray(value)) throw outputInvalid(`${name} must be a list, not ${JSON.stringify(value)?.slice(0, 100)}`);
  return value as readonly JsonValue[];
}

function isAbsent(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}
