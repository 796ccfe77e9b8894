/** Folds a decision: it is kept, and does what its effect says. */
import { requireTask } from "../model/lookup.js";
import type { Decision, DecisionEffect, SpecialistJson } from "../model/decision.js";
import type { ScopeData, ScopeEntry, TaskState } from "../model/state.js";
import { keepBest } from "./evolve-evaluation.js";
import { replaceData } from "./evolve-scopes.js";
import { consumeQuestion } from "./evolve-steps.js";

type EffectKind = DecisionEffect["kind"];
type EffectOf<K extends EffectKind> = Extract<DecisionEffect, { readonly kind: K }>;
type Apply<E> = (state: TaskState, effect: E, decision: Decision) => void;

const nothing = (): void => undefined;

/** The subject of a decision is the scope of which its effect speaks; one that is not open is left alone. */
const APPLY: { readonly [K in EffectKind]: Apply<EffectOf<K>> } = {
  close_question: (state, { question }) => consumeQuestion(state, question),
  pause: (state, { kind }) => requestEnd(state, kind),
  stop: stopTask,
  guide: keepGuidance,
  route: takeRoute,
  settle_phase: settlePhase,
  judge_phase: judgePhase,
  go_on_without: goOnWithout,
  // Later rules read them from the list of decisions.
  give_up: nothing,
  plan: nothing,
  plan_anew: nothing,
};

export function makeDecision(state: TaskState, decision: Decision): void {
  state.decisions.push(Object.freeze(decision));
  const { effect } = decision;
  if (effect !== undefined) (APPLY[effect.kind] as Apply<DecisionEffect>)(state, effect, decision);
}

function requestEnd(state: TaskState, request: "pause" | "stop"): void {
  state.task = Object.freeze({ ...requireTask(state), request });
}

function stopTask(state: TaskState, { kind, question }: EffectOf<"stop">): void {
  if (question !== undefined) consumeQuestion(state, question);
  requestEnd(state, kind);
}

function keepGuidance(
  state: TaskState,
  { text, request }: EffectOf<"guide">,
  { agent, atMs, subject }: Decision,
): void {
  const by = agent.replace(/^person:/, "");
  const path = subject === undefined ? {} : { path: subject };
  state.guidance.push(Object.freeze({ text, by, atMs, ...path, ...(request === undefined ? {} : { id: request }) }));
}

function takeRoute(state: TaskState, { next }: EffectOf<"route">, { subject = "" }: Decision): void {
  const scope = state.scopes.get(subject);
  if (scope?.data.scope !== "machine") return;
  const { current: _current, stuck: _stuck, failed: _failed, ...rest } = scope.data;
  replaceData(state, scope, { ...rest, next });
}

function settlePhase(state: TaskState, effect: EffectOf<"settle_phase">, { subject: path = "" }: Decision): void {
  const { question, confidence, spawn = [] } = effect;
  if (question !== undefined) consumeQuestion(state, question);
  const found = findPhase(state, path);
  if (found === undefined) return;
  const { settled: before, ...rest } = found.data;
  const settled = effect.settled === "none" ? undefined : (effect.settled ?? before);
  replaceData(state, found.scope, { ...rest, ...(settled === undefined ? {} : { settled }) });
  const phase = state.phases.get(path);
  if (phase !== undefined && confidence !== undefined) state.phases.set(path, Object.freeze({ ...phase, confidence }));
  if (spawn.length > 0) addSpecialists(state, path, spawn);
}

function addSpecialists(state: TaskState, path: string, specialists: readonly SpecialistJson[]): void {
  const found = findPhase(state, path);
  if (found === undefined) return;
  const added = Object.fromEntries(specialists.map((specialist) => [specialist.name, specialist]));
  const spawned = Object.freeze({ ...found.data.spawned, ...added });
  replaceData(state, found.scope, { ...found.data, spawned });
  state.frontier.get(path)?.ready.push(...Object.keys(added));
  const phase = state.phases.get(path);
  if (phase === undefined) return;
  const names = Object.freeze(Object.keys(spawned));
  state.phases.set(path, Object.freeze({ ...phase, spawned: phase.spawned + specialists.length, added: names }));
}

function judgePhase(state: TaskState, { judged }: EffectOf<"judge_phase">, { subject: path = "" }: Decision): void {
  const found = findPhase(state, path);
  if (found === undefined) return;
  replaceData(state, found.scope, { ...found.data, judged });
  keepBest(state, path);
}

/** The failed steps stand in nobody's way any more. */
function goOnWithout(state: TaskState, { failed }: EffectOf<"go_on_without">, { subject = "" }: Decision): void {
  const found = findPhase(state, subject);
  if (found === undefined) return;
  const { scope, data } = found;
  for (const id of failed) state.blocked.delete(id);
  replaceData(state, scope, { ...data, without: Object.freeze([...(data.without ?? []), ...failed]) });
}

interface FoundPhase {
  readonly scope: ScopeEntry;
  readonly data: Extract<ScopeData, { readonly scope: "phase" }>;
}

function findPhase(state: TaskState, path: string): FoundPhase | undefined {
  const scope = state.scopes.get(path);
  return scope?.data.scope === "phase" ? { scope, data: scope.data } : undefined;
}
