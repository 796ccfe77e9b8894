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
import type { PhaseScope } from "../../../definition/model/workflow.js";
import { evaluatePhase } from "./advance-evaluation.js";
import { countTried, startReady } from "../scopes/advance-scopes.js";
import type { Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import { describeGroup, leave, leaveFailed } from "../scopes/leaving.js";
import { countedStep, type OpenPhase, type PhaseData } from "../scopes/open-phase.js";
import type { OpenScope } from "../steps/open-scope.js";
import { settleFailures } from "./partial-failure.js";
import { describeConfidence, settleConfidence } from "./phase-confidence.js";

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
  const failures = settleFailures(choice, phase, () => outputOf(choice, phase));
  if (failures !== undefined) return failures;
  if (data.ends !== undefined || !isAnythingTried(choice, phase)) return [leavePhase(choice, phase)];
  if (node.evaluate !== undefined && data.judged === undefined) return evaluatePhase(choice, phase, node.evaluate);
  if (data.judged === "rejected" || data.settled === "fail")
    return leaveFailed(choice, phase, () => outputOf(choice, phase));
  if (data.settled === "proceed" || data.settled === "below") return [leavePhase(choice, phase)];
  return settleConfidence(choice, phase);
}

/** False where every specialist was skipped: there is nothing to score and nobody to be sure of anything. */
function isAnythingTried({ state }: Choice, { scope }: OpenPhase): boolean {
  const frontier = state.frontier.get(scope.path);
  return frontier === undefined || countTried(frontier) > 0 || frontier.waiting.size > 0;
}

function leavePhase(choice: Choice, phase: OpenPhase): EngineEvent {
  const { scope, data } = phase;
  const frontier = choice.state.frontier.get(scope.path);
  const isShort = data.failed > 0 || data.imperfect > 0 || (frontier?.waiting.size ?? 0) > 0;
  const isPartial = isShort || data.judged === "exhausted" || data.settled === "below";
  const { value: confidence } = describeConfidence(choice, phase);
  const saved = (data.best?.files ?? []).filter(
    ({ file, sha256 }) => choice.state.deliverables.get(file)?.sha256 !== sha256,
  );
  return leave(choice, phase, {
    outcome: isPartial ? "partial" : "done",
    output: { inline: outputOf(choice, phase) },
    ...(saved.length === 0 ? {} : { saved }),
    ...(confidence === undefined ? {} : { confidence }),
  });
}

/** The phase's value; after iterations that of the best one, which stands since the evaluation was over. */
function outputOf(choice: Choice, phase: OpenPhase) {
  return describeGroup(choice, phase, {
    added: Object.keys(phase.data.spawned),
    stepOf: (name) => countedStep(choice, phase, name),
  });
}
