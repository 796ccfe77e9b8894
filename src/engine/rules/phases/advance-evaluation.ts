/**
 * The evaluator's part of a phase: scorers run, their scores are recorded one by one, the verdict is recorded, and what
 * follows from it is a decision: iterate with the feedback, or stop with the best iteration.
 *
 * A scorer that failed and was gone on without has no score: the others count alone. Without any score the phase is not
 * judged, and goes on as partial.
 */
import { EVALUATE_NAME } from "../../../definition/model/defaults.js";
import type { ScorerStep } from "../../../definition/model/step.js";
import { recordDecisionOnce, recordDecision, type Choice } from "../../model/choice.js";
import {
  chooseIteration,
  collectFeedback,
  computeScore,
  describeRegression,
  describeSpread,
  findRegressions,
  judgeScore,
  type IterationChoice,
} from "./evaluation.js";
import type { EngineEvent } from "../../model/events.js";
import { findEvaluation } from "../../fold/evolve-evaluation.js";
import { nameOfPath } from "../../model/identity.js";
import { childPath, currentStep } from "../../model/lookup.js";
import { type OpenPhase } from "../scopes/open-phase.js";
import { combineScores, readScore, type JudgedScore } from "./score.js";
import { startChild } from "../steps/start.js";
import type { EvaluationEntry } from "../../model/state.js";
import type { EvaluationDefinition } from "../../../definition/model/phase-rules.js";

export function evaluatePhase(
  choice: Choice,
  phase: OpenPhase,
  definition: EvaluationDefinition,
): readonly EngineEvent[] {
  const { node, data, scope, budget } = phase;
  const evaluation = findEvaluation(choice.state, scope.path, data.iteration)?.entry;
  if (evaluation?.verdict !== undefined) return followVerdict(choice, phase, { definition, evaluation });
  const ended = choice.state.frontier.get(scope.path)?.ended;
  const missing = definition.scorers.filter((scorer) => ended?.has(nameOf(scorer)) !== true);
  if (missing.length > 0) {
    const events: EngineEvent[] = [];
    for (const scorer of missing.slice(0, Math.max(1, node.maxConcurrent))) {
      events.push(...startChild(choice, childPath(scope.path, nameOf(scorer)), budget));
      if (budget.isExhausted) break;
    }
    return events;
  }
  const scores = evaluation?.scores ?? {};
  const unrecorded = definition.scorers.filter(
    (scorer) => scores[scorer.dimension] === undefined && ended?.get(nameOf(scorer)) === "done",
  );
  if (unrecorded.length > 0) return recordScores(choice, phase, unrecorded);
  if (Object.keys(scores).length === 0) return [goOnUnjudged(choice, phase)];
  return [completeEvaluation(choice, phase, { definition, scores })];
}

/** How a scorer is called among the children of its phase. */
function nameOf({ path }: ScorerStep): string {
  return `${EVALUATE_NAME}/${nameOfPath(path)}`;
}

/** One score for each dimension; of several judges what they say together. */
function recordScores(choice: Choice, phase: OpenPhase, scorers: readonly ScorerStep[]): readonly EngineEvent[] {
  const { path } = phase.scope;
  const { iteration } = phase.data;
  const dimensions = new Map<string, JudgedScore[]>();
  for (const scorer of scorers) {
    const step = currentStep(choice, childPath(path, nameOf(scorer)));
    if (step === undefined) continue;
    const own = dimensions.get(scorer.dimension) ?? [];
    dimensions.set(scorer.dimension, [...own, { judge: scorer.judge, ...readScore(choice, step) }]);
  }
  return [...dimensions].map(([dimension, scores]) => ({
    type: "score_recorded",
    atMs: choice.nowMs,
    path,
    iteration,
    dimension,
    ...combineScores(scores),
  }));
}

function goOnUnjudged(choice: Choice, phase: OpenPhase): EngineEvent {
  return recordDecision(choice, {
    agent: "apollo",
    type: "go_on_unjudged",
    description: `phase ${phase.node.name} continues without a score`,
    rationale: "every scorer failed, was skipped or gave nothing, and the phase continues without what failed",
    alternatives: ["reject", "iterate"],
    subject: phase.scope.path,
    effect: { kind: "judge_phase", judged: "exhausted" },
    facts: { iteration: phase.data.iteration },
  });
}

function completeEvaluation(
  choice: Choice,
  { scope, data }: OpenPhase,
  { definition, scores }: { readonly definition: EvaluationDefinition; readonly scores: EvaluationEntry["scores"] },
): EngineEvent {
  const score = computeScore(definition, scores);
  return {
    type: "evaluation_completed",
    atMs: choice.nowMs,
    path: scope.path,
    iteration: data.iteration,
    score,
    verdict: judgeScore(definition, score),
    best: data.best === undefined || score > data.best.score,
  };
}

interface Judged {
  readonly definition: EvaluationDefinition;
  readonly evaluation: EvaluationEntry;
}

function followVerdict(choice: Choice, phase: OpenPhase, { definition, evaluation }: Judged): readonly EngineEvent[] {
  const { data, scope } = phase;
  const { verdict = "iterate", score = 0 } = evaluation;
  const { iteration, withoutGain } = data;
  const bestScore = data.best?.score ?? score;
  const chosen = chooseIteration(definition, { iteration, verdict, withoutGain, score, bestScore });
  const spread = describeSpread(evaluation.scores);
  if (chosen.follow === "stop") return [stopIterating(choice, phase, { ...chosen, score, spread })];
  const before = findEvaluation(choice.state, scope.path, iteration - 1)?.entry.scores ?? {};
  const regressions = findRegressions(before, evaluation.scores);
  const feedback = [...regressions.map(describeRegression), ...collectFeedback(evaluation.scores)];
  return [
    ...recordDecisionOnce(choice, {
      agent: "apollo",
      type: "iterate",
      description: `phase ${phase.node.name} runs again with the feedback`,
      rationale: `${chosen.why} in iteration ${iteration} of at most ${definition.maxIterations}${spread}`,
      alternatives: ["approve", "reject", "keep_best"],
      confidence: score / 100,
      subject: scope.path,
      facts: {
        score,
        iteration,
        round: choice.state.round,
        feedback,
        ...(regressions.length === 0 ? {} : { regressions: regressions.map((one) => ({ ...one })) }),
      },
    }),
    { type: "iteration_started", atMs: choice.nowMs, path: scope.path, iteration: iteration + 1, feedback },
  ];
}

const DECISION_OF = { approved: "approve", rejected: "reject", exhausted: "keep_best" } as const;

type Stop = Extract<IterationChoice, { follow: "stop" }> & { readonly score: number; readonly spread: string };

function stopIterating(choice: Choice, phase: OpenPhase, { judged, why, score, spread }: Stop): EngineEvent {
  const { scope, data, node } = phase;
  const kept = data.best?.iteration ?? data.iteration;
  const type = DECISION_OF[judged];
  return recordDecision(choice, {
    agent: "apollo",
    type,
    description: `phase ${node.name}: ${judged}, iteration ${kept} is kept`,
    rationale: `score ${score}: ${why}; best score ${data.best?.score ?? score} in iteration ${kept}${spread}`,
    alternatives: ["iterate", ...Object.values(DECISION_OF)].filter((other) => other !== type),
    confidence: score / 100,
    subject: scope.path,
    effect: { kind: "judge_phase", judged },
    facts: { score, iteration: data.iteration, kept_iteration: kept },
  });
}
