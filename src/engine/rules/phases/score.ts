/**
 * Reads what a scorer gave: a number 0–100, or an object with `score`, `issues`, `feedback` and `evidence`.
 *
 * A value that is no score counts as 0 with an issue that says so: the iteration is judged, not the task stopped.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.js";
import { loadValue, type Choice } from "../../model/choice.js";
import type { RecordedScore, ScorerIssue } from "../../model/events.js";
import type { StepEntry } from "../../model/state.js";

/** What one scorer says. */
type ReadScore = Omit<RecordedScore, "spread" | "judges">;

export function readScore(choice: Choice, step: StepEntry): ReadScore {
  const value = step.output === undefined ? null : loadValue(choice, step.output);
  return parseScore(value);
}

/** Units: 0–100; what is outside is cut to it. */
export function parseScore(value: JsonValue): ReadScore {
  if (typeof value === "number") return { score: clamp(value), issues: [] };
  if (typeof value === "boolean") return { score: value ? 100 : 0, issues: [] };
  if (!isJsonObject(value) || typeof value["score"] !== "number") {
    return {
      score: 0,
      issues: [{ text: `the scorer gave no score but ${JSON.stringify(value).slice(0, 200)}`, severity: "error" }],
    };
  }
  return {
    score: clamp(value["score"]),
    issues: Array.isArray(value["issues"]) ? (value["issues"] as readonly JsonValue[]).map(parseIssue) : [],
    ...textOf(value, "feedback"),
    ...textOf(value, "evidence"),
  };
}

function parseIssue(issue: JsonValue): ScorerIssue {
  if (!isJsonObject(issue)) return { text: typeof issue === "string" ? issue : JSON.stringify(issue) };
  const { text, message, severity, where } = issue;
  const said = typeof text === "string" ? text : typeof message === "string" ? message : JSON.stringify(issue);
  return {
    text: said,
    ...(typeof severity === "string" ? { severity } : {}),
    ...(typeof where === "string" ? { where } : {}),
  };
}

function textOf(value: JsonObject, key: "feedback" | "evidence"): { feedback?: string; evidence?: string } {
  const text = value[key];
  return typeof text === "string" ? { [key]: text } : {};
}

function clamp(score: number): number {
  return Number.isFinite(score) ? Math.min(100, Math.max(0, score)) : 0;
}

export interface JudgedScore extends ReadScore {
  /** Absent where a dimension has one scorer. */
  readonly judge: string | undefined;
}

/** The mean counts; issues and words of all are kept, each once. */
export function combineScores(scores: readonly JudgedScore[]): RecordedScore {
  const [first] = scores;
  if (first !== undefined && scores.length === 1 && first.judge === undefined) {
    const { judge: _judge, ...score } = first;
    return score;
  }
  const points = scores.map(({ score }) => score);
  const mean = points.reduce((sum, score) => sum + score, 0) / Math.max(1, points.length);
  const issues = new Map(scores.flatMap((one) => one.issues.map((issue) => [issue.text, issue] as const)));
  return {
    score: Math.round(mean * 100) / 100,
    spread: Math.round((Math.max(...points) - Math.min(...points)) * 100) / 100,
    judges: Object.fromEntries(scores.map(({ judge = "", score }) => [judge, score])),
    issues: [...issues.values()],
    ...joined(scores, "feedback"),
    ...joined(scores, "evidence"),
  };
}

function joined(
  scores: readonly JudgedScore[],
  key: "feedback" | "evidence",
): { feedback?: string; evidence?: string } {
  const texts = scores.flatMap(({ judge, [key]: text }) => (text === undefined ? [] : [`${judge ?? ""}: ${text}`]));
  return texts.length === 0 ? {} : { [key]: texts.join("\n") };
}
