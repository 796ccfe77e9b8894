/**
 * What a model says of its own answer: how sure it is, in four parts, and what it does not know.
 *
 * A model that was briefed answers with a report. One that gives its output alone is asked for the rest, once (an installed
 * agent is not: that would be another run of it); the output it gave stays. What is missing then is not made up: a part that is missing counts as the lowest of those given, a single
 * number stands for itself, and where nothing was said that is an uncertainty of the step.
 * Source: DESIGN section 5.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { ConfidenceParts } from "../../engine/model/events.js";
import type { CompletedOutcome } from "../outcome/report.js";

const PARTS = ["knowledge", "information", "implementation", "validation"] as const;

const FRACTION: JsonObject = { type: "number", minimum: 0, maximum: 1 };
const TEXTS: JsonObject = { type: "array", items: { type: "string" } };
const ASSESSMENT: JsonObject = {
  confidence: {
    type: "object",
    description:
      "how sure you are, each 0 to 1: what you know, what you were given, what you made of it, what you checked",
    properties: Object.fromEntries(PARTS.map((part) => [part, FRACTION])),
    required: [...PARTS],
    additionalProperties: false,
  },
  factors: { ...TEXTS, description: "what makes you sure or unsure" },
  uncertainties: { ...TEXTS, description: "what you do not know; empty when nothing" },
  assumptions: { ...TEXTS, description: "what you took for granted" },
  blockers: { ...TEXTS, description: "what kept you from doing it; empty when nothing" },
  milestones: { ...TEXTS, description: "what you have finished on the way" },
};
const KEYS = new Set(["output", ...Object.keys(ASSESSMENT)]);

/** The form of a report around the output that a step declares, a text where it declares none. */
export function reportSchema(output: JsonObject | undefined): JsonObject {
  return objectOf({ output: output ?? { type: "string", description: "the whole result" }, ...ASSESSMENT });
}

function objectOf(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

/** What a model is told of the form, where its provider does not take it from the schema. */
export const REPORT_FORM = `# How to answer

With one JSON object and nothing else:
{"output": …, "confidence": {"knowledge": 0..1, "information": 0..1, "implementation": 0..1, "validation": 0..1}, "factors": […], "uncertainties": […], "assumptions": […], "blockers": […], "milestones": […]}
"output" is the whole result. "confidence" says how sure you are of it: of what you know, of what you were given, of what you made of it, of what you have checked. Name under "uncertainties" what you do not know; say a low number rather than a wrong one.`;

/** What a model is asked that gave an output and nothing beside it. */
export const ASSESSMENT_REQUEST = `Your answer is taken as it is; do not repeat it. Say how sure you are of it, as one JSON object and nothing else:
{"confidence": {"knowledge": 0..1, "information": 0..1, "implementation": 0..1, "validation": 0..1}, "factors": […], "uncertainties": […], "assumptions": […], "blockers": […], "milestones": […]}`;

export const ASSESSMENT_SCHEMA: JsonObject = objectOf(ASSESSMENT);

export interface SelfReport {
  /** `undefined` for an answer that is an assessment alone. */
  readonly output: JsonValue | undefined;
  /** As far as they were given. */
  readonly parts: Partial<ConfidenceParts>;
  readonly single?: number;
  readonly factors: readonly string[];
  readonly uncertainties: readonly JsonValue[];
  readonly assumptions: readonly string[];
  readonly blockers: readonly string[];
  readonly milestones: readonly string[];
}

/** Reads an answer; `undefined` for a value that is no report but an output. Only an `assessment` may have no output. */
export function readSelfReport(value: JsonValue | undefined, isAssessment: boolean): SelfReport | undefined {
  if (!isJsonObject(value) || !isReport(value, isAssessment)) return undefined;
  const { confidence } = value;
  const single = fractionOf(confidence);
  return {
    output: value["output"],
    parts: isJsonObject(confidence) ? readParts(confidence) : {},
    ...(single === undefined ? {} : { single }),
    factors: listTexts(value["factors"]),
    uncertainties: listTexts(value["uncertainties"]),
    assumptions: listTexts(value["assumptions"]),
    blockers: listTexts(value["blockers"]),
    milestones: listTexts(value["milestones"]),
  };
}

function isReport(value: JsonObject, isAssessment: boolean): boolean {
  const keys = Object.keys(value);
  return keys.every((key) => KEYS.has(key)) && (isAssessment || keys.includes("output"));
}

/** One text may stand alone; what is no text is told as JSON. */
function listTexts(value: JsonValue | undefined): readonly string[] {
  if (value === undefined || value === null || value === "") return [];
  const list: readonly JsonValue[] = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
  return list.map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
}

function readParts(confidence: JsonObject): Partial<ConfidenceParts> {
  return Object.fromEntries(
    PARTS.flatMap((part) => {
      const value = fractionOf(confidence[part]);
      return value === undefined ? [] : [[part, value] as const];
    }),
  );
}

/** What is no fraction counts as not said. */
function fractionOf(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" && value >= 0 && value <= 1 ? value : undefined;
}

export function isAssessed({ parts }: SelfReport): boolean {
  return PARTS.every((part) => parts[part] !== undefined);
}

export interface Claim {
  readonly confidence?: number | ConfidenceParts;
  readonly factors: readonly string[];
  readonly uncertainties: readonly JsonValue[];
}

const UNSAID = "the model did not say how sure it is";

/** The confidence that counts: lowered where parts are missing, never made up. */
export function claimOf({ parts, single, factors, uncertainties }: SelfReport): Claim {
  const given = PARTS.flatMap((part) => parts[part] ?? []);
  if (given.length === 0) {
    if (single !== undefined) return { confidence: single, factors, uncertainties };
    return { factors, uncertainties: [...uncertainties, UNSAID] };
  }
  const lowest = Math.min(...given);
  const missing = PARTS.filter((part) => parts[part] === undefined);
  const part = (name: (typeof PARTS)[number]) => parts[name] ?? lowest;
  return {
    confidence: {
      knowledge: part("knowledge"),
      information: part("information"),
      implementation: part("implementation"),
      validation: part("validation"),
    },
    factors:
      missing.length === 0
        ? factors
        : [...factors, `not said, so counted as the lowest of the others: ${missing.join(", ")}`],
    uncertainties,
  };
}

/** What an answer is worth of which nothing is known but its output. */
export function unassessed(output: JsonValue): SelfReport {
  return { output, parts: {}, factors: [], uncertainties: [], assumptions: [], blockers: [], milestones: [] };
}

/** The text of a report stands where the text of an answer would. */
export function reportedOutput(output: JsonValue | undefined, isDeclared: boolean): JsonValue | undefined {
  return typeof output === "string" && !isDeclared ? { result: output } : output;
}

/** The end of a step whose output is taken, with what was said of it. */
export function completeWith(output: JsonValue, report: SelfReport, factors: readonly string[] = []): CompletedOutcome {
  const claim = claimOf(report);
  return {
    status: "completed",
    output,
    ...(claim.confidence === undefined ? {} : { confidence: claim.confidence }),
    factors: [...claim.factors, ...factors],
    uncertainties: claim.uncertainties,
    ...(report.blockers.length === 0 ? {} : { blockers: report.blockers }),
    ...(report.assumptions.length === 0 ? {} : { assumptions: report.assumptions }),
  };
}
