/** Folds scores and verdicts. The entry of an iteration is replaced with each score; the newest entries stand last. */
import type { EventOf } from "./events.js";
import { childPath, currentStepId, findScopeDefinition } from "./lookup.js";
import { replaceData } from "./evolve-scopes.js";
import type { EvaluationEntry, ScopeEntry, TaskState } from "./state.js";

export function recordScore(state: TaskState, event: EventOf<"score_recorded">): void {
  const found = findEvaluation(state, event.path, event.iteration);
  const before = found?.entry ?? { path: event.path, iteration: event.iteration, scores: {} };
  const score = Object.freeze({
    score: event.score,
    issues: event.issues,
    ...(event.feedback === undefined ? {} : { feedback: event.feedback }),
    ...(event.evidence === undefined ? {} : { evidence: event.evidence }),
  });
  put(state, found?.at, { ...before, scores: Object.freeze({ ...before.scores, [event.dimension]: score }) });
}

export function completeEvaluation(state: TaskState, event: EventOf<"evaluation_completed">): void {
  const found = findEvaluation(state, event.path, event.iteration);
  const before = found?.entry ?? { path: event.path, iteration: event.iteration, scores: {} };
  put(state, found?.at, { ...before, score: event.score, verdict: event.verdict, best: event.best });
  const scope = state.scopes.get(event.path);
  if (scope?.data.scope !== "phase") return;
  const { data } = scope;
  if (!event.best) {
    replaceData(state, scope, { ...data, withoutGain: data.withoutGain + 1 });
    return;
  }
  const best = Object.freeze({ iteration: event.iteration, score: event.score, steps: stepsOf(state, scope) });
  replaceData(state, scope, { ...data, withoutGain: 0, best });
}

/** The steps of the iteration at hand, by child name. */
function stepsOf(state: TaskState, scope: ScopeEntry): Readonly<Record<string, string>> {
  const node = findScopeDefinition(state, scope.path);
  const steps: Record<string, string> = {};
  for (const child of node.children) {
    const path = childPath(scope.path, child.name);
    if (state.visits.has(path)) steps[child.name] = currentStepId(state, path);
  }
  return Object.freeze(steps);
}

/** The evaluation of an iteration of a phase; looked for from the end, where it stands. */
export function findEvaluation(
  state: TaskState,
  path: string,
  iteration: number,
): { at: number; entry: EvaluationEntry } | undefined {
  for (let at = state.evaluations.length - 1; at >= 0; at -= 1) {
    const entry = state.evaluations[at];
    if (entry === undefined || entry.path !== path) return undefined;
    if (entry.iteration === iteration) return { at, entry };
    if (entry.iteration < iteration) return undefined;
  }
  return undefined;
}

function put(state: TaskState, at: number | undefined, entry: EvaluationEntry): void {
  if (at === undefined) state.evaluations.push(Object.freeze(entry));
  else state.evaluations[at] = Object.freeze(entry);
}
