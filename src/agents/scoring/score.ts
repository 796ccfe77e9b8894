/**
 * What a scorer says: a score from 0 to 100, issues, feedback for the next iteration, evidence.
 *
 * Shape of the input: a number, or `{score, issues, feedback, evidence}` where an issue is a text or
 * `{text, severity, where}`. Shape of a scorer's output: always that object, issues as objects.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { ScorerIssue } from "../../engine/model/events.js";
import { outputInvalid } from "../outcome/failure.js";

export interface Score {
  /** 0–100. */
  readonly score: number;
  readonly issues: readonly ScorerIssue[];
  readonly feedback?: string;
  readonly evidence?: string;
}

const SCORE_MAX = 100;
const KEYS = ["score", "issues", "feedback", "evidence"];

/** Reads what a scorer said. Errors: STEP_OUTPUT_INVALID. */
export function parseScore(value: JsonValue): Score {
  const said = isJsonObject(value) ? value : { score: value };
  const { score, issues = [] } = said;
  const unknown = Object.keys(said).filter((key) => !KEYS.includes(key));
  if (unknown.length > 0) throw outputInvalid(`a score has the keys ${KEYS.join(", ")}, but not ${unknown.join(", ")}`);
  if (typeof score !== "number" || score < 0 || score > SCORE_MAX) {
    throw outputInvalid(`score must be a number from 0 to ${SCORE_MAX}, not ${JSON.stringify(score ?? null)}`);
  }
  if (!Array.isArray(issues)) throw outputInvalid("issues must be a list");
  return {
    score,
    issues: issues.map(parseIssue),
    ...optionalText(said, "feedback"),
    ...optionalText(said, "evidence"),
  };
}

/** The score as a step's output. */
export function formatScore(score: Score): JsonObject {
  return { ...score, issues: score.issues.map((issue) => ({ ...issue })) };
}

function parseIssue(value: JsonValue): ScorerIssue {
  if (typeof value === "string") return { text: value };
  if (!isJsonObject(value) || typeof value["text"] !== "string")
    throw outputInvalid("an issue is a text or has a text");
  return { text: value["text"], ...optionalText(value, "severity"), ...optionalText(value, "where") };
}

function optionalText<K extends string>(holder: JsonObject, name: K): { readonly [key in K]?: string } {
  const text = holder[name];
  if (text === undefined || text === null) return {};
  if (typeof text !== "string") throw outputInvalid(`${name} must be a text`);
  return { [name]: text } as { readonly [key in K]?: string };
}
