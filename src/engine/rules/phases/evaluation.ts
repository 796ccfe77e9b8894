/**
 * Apollo's arithmetic: the weighted score of an iteration, its verdict, and when to stop iterating.
 *
 * Approve at or above `approve`, reject under `reject`, iterate between. Iterations stop at the maximum, above a score
 * of 95, or after two in a row without gain; the best iteration is kept, not the last, and only where that one is under
 * `reject` the phase is rejected.
 * Units: scores 0–100. Source: DESIGN section 5.
 */
import type { PhaseVerdict } from "../../model/decision.js";
import type { EvaluationDefinition } from "../../../definition/model/phase-rules.js";
import type { EvaluationEntry } from "../../model/state.js";

export type Verdict = "approve" | "iterate" | "reject";
const EARLY_STOP_SCORE = 95;
const WITHOUT_GAIN_MAX = 2;

/** The mean of the dimensions that were scored, by weight. Shape: weights of dimensions without a score do not count. */
export function computeScore(definition: EvaluationDefinition, scores: EvaluationEntry["scores"]): number {
  let sum = 0;
  let weights = 0;
  for (const [dimension, { score }] of Object.entries(scores)) {
    const weight = definition.weights[dimension] ?? 0;
    sum += weight * score;
    weights += weight;
  }
  if (weights === 0) {
    const all = Object.values(scores);
    return all.length === 0 ? 0 : round(all.reduce((total, { score }) => total + score, 0) / all.length);
  }
  return round(sum / weights);
}

export function judgeScore(definition: EvaluationDefinition, score: number): Verdict {
  if (score >= definition.approve || score > EARLY_STOP_SCORE) return "approve";
  return score < definition.reject ? "reject" : "iterate";
}

export interface IterationState {
  readonly iteration: number;
  readonly verdict: Verdict;
  readonly withoutGain: number;
  readonly score: number;
  /** Of all iterations, this one included. */
  readonly bestScore: number;
}

export type IterationChoice =
  | { readonly follow: "iterate"; readonly why: string }
  | { readonly follow: "stop"; readonly judged: PhaseVerdict; readonly why: string };

/** What follows from a verdict. The best iteration counts: one that fell under `reject` after a better one is no gain. */
export function chooseIteration(definition: EvaluationDefinition, at: IterationState): IterationChoice {
  const { approve, reject, maxIterations } = definition;
  const { iteration, verdict, withoutGain, score, bestScore } = at;
  const stop = (judged: PhaseVerdict, why: string) => ({ follow: "stop", judged, why }) as const;
  if (verdict === "approve")
    return stop("approved", score >= approve ? `it reaches ${approve}` : `it is above ${EARLY_STOP_SCORE}`);
  if (bestScore < reject) return stop("rejected", `it is under ${reject}`);
  if (iteration >= maxIterations) return stop("exhausted", `iteration ${iteration} of at most ${maxIterations}`);
  if (withoutGain >= WITHOUT_GAIN_MAX) return stop("exhausted", `${withoutGain} iterations in a row without gain`);
  const why =
    verdict === "reject"
      ? `score ${score} is under ${reject}, but ${bestScore} was reached before,`
      : `score ${score} is between ${reject} and ${approve}`;
  return { follow: "iterate", why };
}

/** Feedback and issues of an iteration as the next one reads them, by dimension. */
export function collectFeedback(scores: EvaluationEntry["scores"]): readonly string[] {
  return Object.entries(scores).flatMap(([dimension, entry]) => [
    ...(entry.feedback === undefined || entry.feedback === "" ? [] : [`${dimension}: ${entry.feedback}`]),
    ...entry.issues.map(
      (issue) => `${dimension}: ${issue.text}${issue.where === undefined ? "" : ` (${issue.where})`}`,
    ),
  ]);
}

const REGRESSION_POINTS = 5;
/** Judges that are further apart do not mean the same. */
const SPREAD_TOLD = 15;

export interface Regression {
  readonly dimension: string;
  readonly from: number;
  readonly to: number;
}

/** Dimensions that fell by five points or more since the iteration before. */
export function findRegressions(
  before: EvaluationEntry["scores"],
  now: EvaluationEntry["scores"],
): readonly Regression[] {
  return Object.entries(now).flatMap(([dimension, { score: to }]) => {
    const from = before[dimension]?.score;
    return from !== undefined && from - to >= REGRESSION_POINTS ? [{ dimension, from, to }] : [];
  });
}

/** As the next iteration reads it. */
export function describeRegression({ dimension, from, to }: Regression): string {
  return `${dimension}: fell from ${from} to ${to} since the iteration before; bring back what was good there`;
}

/** Where judges disagree, as the end of a rationale; empty where they do not. */
export function describeSpread(scores: EvaluationEntry["scores"]): string {
  return Object.entries(scores)
    .filter(([, { spread = 0 }]) => spread > SPREAD_TOLD)
    .map(([dimension, { spread }]) => `; the judges of ${dimension} are ${spread} points apart`)
    .join("");
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
