/**
 * What happens next in a phase.
 *
 *   specialists run (a dag, sliding window)
 *   → all ended: failures first (restart was tried before): go on without, roll back, or stop
 *   → scorers run, scores and verdict are recorded → iterate: all specialists again with the feedback, or judged
 *   → confidence: a band is chosen → proceed | one or several specialists more, then again | a person is asked
 *   → the phase is left
 * Each arrow is one answer of `advance`, and follows from the state alone: after a crash between any two events the same
 * place is found again.
 */
import type { PhaseScope } from "../definition/workflow.js";
import { startReady } from "./advance-scopes.js";
import { decideThat, loadValue, type Choice } from "./choice.js";
import { specialistNames } from "./describe-scope.js";
import type { OpenScope } from "./open-scope.js";
import { countedStep, currentStep, type OpenPhase, type PhaseData } from "./open-phase.js";
import { describeConfidence, settleConfidence } from "./phase-confidence.js";
import { chooseIteration, collectFeedback, computeScore, judgeScore } from "./evaluation.js";
import type { EngineEvent } from "./events.js";
import { findEvaluation } from "./evolve-evaluation.js";
import { describeGroup, leave, leaveFailed } from "./leaving.js";
import { childPath } from "./lookup.js";
import { readScore } from "./score.js";
import { startChild } from "./start.js";
import type { EvaluationEntry } from "./state.js";

export function advancePhase(choice: Choice, open: OpenScope<PhaseScope>): readonly EngineEvent[] {
  const phase: OpenPhase = { ...open, data: open.scope.data as PhaseData };
  const { data, node } = phase;
  const frontier = choice.state.frontier.get(open.scope.path);
  if (frontier === undefined) return [];
  const asked = data.settled === "waiting" ? settleConfidence(choice, phase) : [];
  if (asked.length > 0) return asked;
  if (frontier.ready.length > 0) return startReady(choice, phase, node.maxConcurrent - data.running);
  return data.running > 0 || data.blocked > 0 ? [] : concludePhase(choice, phase);
}

/** Everybody has ended: what that means for the phase. */
function concludePhase(choice: Choice, phase: OpenPhase): readonly EngineEvent[] {
  const { data, node } = phase;
  if (hasFatalFailure(choice, phase)) return failPhase(choice, phase);
  if (node.evaluate !== undefined && data.judged === undefined) return evaluatePhase(choice, phase);
  if (data.judged === "rejected" || data.settled === "fail") return leaveAsFailed(choice, phase);
  if (data.settled === "proceed" || data.settled === "below") return [leavePhase(choice, phase)];
  return settleConfidence(choice, phase);
}

function leaveAsFailed(choice: Choice, phase: OpenPhase): readonly EngineEvent[] {
  return leaveFailed(choice, phase, () => outputOf(choice, phase));
}

/** Failures that `otherwise: continue` tolerates are none, unless nothing at all was done. */
function hasFatalFailure(choice: Choice, phase: OpenPhase): boolean {
  const { data, node } = phase;
  if (data.failed === 0) return false;
  if (node.restart.otherwise !== "continue") return true;
  const ended = choice.state.frontier.get(phase.scope.path)?.ended.size ?? 0;
  return data.failed === ended;
}

function failPhase(choice: Choice, phase: OpenPhase): readonly EngineEvent[] {
  const { node } = phase;
  const rollbacks = choice.state.phases.get(phase.scope.path)?.rollbacks ?? 0;
  if (node.restart.otherwise === "rollback" && rollbacks < Math.max(1, node.restart.maxAttempts))
    return rollBackPhase(choice, phase);
  return leaveAsFailed(choice, phase);
}

/** Back to the phase's start: restarts did not help. External steps that were done since are named. */
function rollBackPhase(choice: Choice, phase: OpenPhase): readonly EngineEvent[] {
  const { state, nowMs } = choice;
  const { node } = phase;
  const start = [...state.checkpoints]
    .reverse()
    .find((entry) => entry.trigger === "phase_started" && entry.phase === node.number);
  if (start === undefined || state.task?.definition.root.scope !== "phases") return leaveAsFailed(choice, phase);
  const acted = node.children
    .map((child) => currentStep(choice, childPath(phase.scope.path, child.name)))
    .filter((step) => step?.effects === "external" && step.status === "completed")
    .map((step) => step?.id ?? "");
  const round = state.round + 1;
  const why = `restarts of phase ${node.name} are used up`;
  return [
    decideThat(choice, {
      agent: "atlas",
      type: "roll_back",
      description: `rolled back to the start of phase ${node.number} (${node.name})`,
      rationale: `${why}${acted.length === 0 ? "" : `; these external steps will run again: ${acted.join(", ")}`}`,
      alternatives: ["fail", "continue"],
      facts: { checkpoint: start.checkpointId, round, external_steps: acted },
    }),
    { type: "rolled_back", atMs: nowMs, to: start.checkpointId, seq: start.seq, round, reason: why },
  ];
}

function evaluatePhase(choice: Choice, phase: OpenPhase): readonly EngineEvent[] {
  const { node, data, scope, budget } = phase;
  const definition = node.evaluate;
  if (definition === undefined) return [];
  const evaluation = findEvaluation(choice.state, scope.path, data.iteration)?.entry;
  if (evaluation?.verdict !== undefined) return followVerdict(choice, phase, evaluation);
  const ended = choice.state.frontier.get(scope.path)?.ended;
  const missing = definition.scorers.filter((scorer) => ended?.has(`$evaluate/${scorer.dimension}`) !== true);
  if (missing.length > 0) {
    const events: EngineEvent[] = [];
    for (const scorer of missing.slice(0, Math.max(1, node.maxConcurrent))) {
      events.push(...startChild(choice, childPath(scope.path, `$evaluate/${scorer.dimension}`), budget));
      if (budget.isExhausted) break;
    }
    return events;
  }
  const unrecorded = definition.scorers.filter(
    (scorer) =>
      evaluation?.scores[scorer.dimension] === undefined && ended?.get(`$evaluate/${scorer.dimension}`) === "done",
  );
  if (unrecorded.length > 0)
    return recordScores(
      choice,
      phase,
      unrecorded.map((scorer) => scorer.dimension),
    );
  return [completeEvaluation(choice, phase, evaluation?.scores ?? {})];
}

function recordScores(choice: Choice, phase: OpenPhase, dimensions: readonly string[]): readonly EngineEvent[] {
  return dimensions.flatMap((dimension): readonly EngineEvent[] => {
    const step = currentStep(choice, childPath(phase.scope.path, `$evaluate/${dimension}`));
    if (step === undefined) return [];
    const score = readScore(choice, step);
    return [
      {
        type: "score_recorded",
        atMs: choice.nowMs,
        path: phase.scope.path,
        iteration: phase.data.iteration,
        dimension,
        ...score,
      },
    ];
  });
}

function completeEvaluation(choice: Choice, phase: OpenPhase, scores: EvaluationEntry["scores"]): EngineEvent {
  const definition = phase.node.evaluate;
  const score = definition === undefined ? 0 : computeScore(definition, scores);
  const verdict = definition === undefined ? "approve" : judgeScore(definition, score);
  const best = phase.data.best === undefined || score > phase.data.best.score;
  return {
    type: "evaluation_completed",
    atMs: choice.nowMs,
    path: phase.scope.path,
    iteration: phase.data.iteration,
    score,
    verdict,
    best,
  };
}

function followVerdict(choice: Choice, phase: OpenPhase, evaluation: EvaluationEntry): readonly EngineEvent[] {
  const { node, data, scope } = phase;
  const { verdict = "iterate", score = 0 } = evaluation;
  if (node.evaluate === undefined) return [];
  const chosen = chooseIteration(node.evaluate, { iteration: data.iteration, verdict, withoutGain: data.withoutGain });
  const feedback = collectFeedback(evaluation.scores);
  if (chosen.follow === "iterate") {
    return [
      decideThat(choice, {
        agent: "apollo",
        type: "iterate",
        description: `phase ${node.name} runs again with the feedback`,
        rationale: `score ${score} is between ${node.evaluate.reject} and ${node.evaluate.approve} in iteration ${data.iteration} of at most ${node.evaluate.maxIterations}`,
        alternatives: ["approve", "reject"],
        confidence: score / 100,
        facts: { score, iteration: data.iteration, feedback },
      }),
      { type: "iteration_started", atMs: choice.nowMs, path: scope.path, iteration: data.iteration + 1, feedback },
    ];
  }
  const kept = data.best?.iteration ?? data.iteration;
  return [
    decideThat(choice, {
      agent: "apollo",
      type: chosen.judged === "approved" ? "approve" : chosen.judged === "rejected" ? "reject" : "keep_best",
      description: `phase ${node.name}: ${chosen.judged}, iteration ${kept} is kept`,
      rationale: `score ${score}: ${chosen.why}; best score ${data.best?.score ?? score} in iteration ${kept}`,
      alternatives: ["iterate", "approve", "reject"].filter((value) => value !== chosen.judged),
      confidence: score / 100,
      subject: scope.path,
      facts: { judged: chosen.judged, score, iteration: data.iteration, kept_iteration: kept },
    }),
  ];
}

function leavePhase(choice: Choice, phase: OpenPhase): EngineEvent {
  const { scope, data } = phase;
  const frontier = choice.state.frontier.get(scope.path);
  const isShort = data.failed > 0 || data.imperfect > 0 || (frontier?.waiting.size ?? 0) > 0;
  const isPartial = isShort || data.judged === "exhausted" || data.settled === "below";
  const { value: confidence } = describeConfidence(choice, phase);
  return leave(choice, phase, {
    outcome: isPartial ? "partial" : "done",
    output: { inline: outputOf(choice, phase) },
    ...(confidence === undefined ? {} : { confidence }),
  });
}

/** The phase's value; after iterations the outputs of the best one. */
function outputOf(choice: Choice, phase: OpenPhase) {
  const { data } = phase;
  const value = describeGroup(choice, phase, Object.keys(data.spawned));
  if (data.best === undefined || data.best.iteration === data.iteration) return value;
  return { ...value, outputs: bestOutputs(choice, phase) };
}

function bestOutputs(choice: Choice, phase: OpenPhase) {
  return Object.fromEntries(
    specialistNames(choice, { path: phase.scope.path, node: phase.node }).flatMap((name) => {
      const step = countedStep(choice, phase, name);
      return step?.output === undefined ? [] : [[name, loadValue(choice, step.output)] as const];
    }),
  );
}
