/**
 * Folds a roll-back to the start of a phase: nothing is deleted from the history, the state returns.
 *
 * What the phase and the later ones did no longer counts: their outputs, visits and scopes go, so that they are entered
 * anew in the next round. Steps stay listed under their old round; limits, spend, decisions and checkpoints do not return.
 */
import { assert } from "../../base/errors.js";
import type { EventOf } from "../model/events.js";
import { restoreTo, withdrawQuestions } from "./restore-state.js";
import { replaceData } from "./evolve-scopes.js";
import { requireTask } from "../model/lookup.js";
import type { QuestionEntry, TaskState } from "../model/state.js";

export function rollBack(state: TaskState, event: EventOf<"rolled_back">): void {
  if (event.state === undefined) rollBackPhase(state, event);
  else restoreTo(state, event);
}

function rollBackPhase(state: TaskState, event: EventOf<"rolled_back">): void {
  const { phase: number } = event;
  const { root } = requireTask(state).definition;
  assert(number !== undefined && root.scope === "phases", "only a workflow of phases rolls back to one of them");
  state.round = event.round;
  for (const phase of root.children) {
    if (phase.number < number) continue;
    forget(state, phase.path);
    withdrawQuestions(state, event.atMs, (question) => isAbout(state, question, phase.path));
    const entry = state.phases.get(phase.path);
    if (entry !== undefined)
      state.phases.set(phase.path, Object.freeze({ ...entry, rollbacks: (entry.rollbacks ?? 0) + 1 }));
  }
  const { root: _root, ...task } = requireTask(state);
  state.task = Object.freeze(task);
  const scope = state.scopes.get(root.path);
  if (scope?.data.scope !== "phases") return;
  const { current: _current, ...data } = scope.data;
  replaceData(state, scope, { ...data, next: Math.max(0, number - 1) });
}

function isAbout(state: TaskState, { phase, step }: QuestionEntry, path: string): boolean {
  const subject = phase ?? (step === undefined ? "" : (state.steps.get(step)?.path ?? ""));
  return isAtOrBelow(subject, path);
}

function isAtOrBelow(candidate: string, path: string): boolean {
  return candidate === path || candidate.startsWith(`${path}/`);
}

function forget(state: TaskState, path: string): void {
  const isBelow = (candidate: string) => isAtOrBelow(candidate, path);
  for (const map of [state.outputs, state.stored, state.visits, state.rounds, state.scopes, state.frontier]) {
    for (const key of map.keys()) if (isBelow(key)) map.delete(key);
  }
  for (const list of state.stored.values()) {
    const others = list.filter((stored) => !isBelow(stored));
    list.splice(0, list.length, ...others);
  }
  const kept = state.evaluations.filter((entry) => !isBelow(entry.path));
  state.evaluations.splice(0, state.evaluations.length, ...kept);
  for (const set of [state.open, state.waiting, state.blocked]) {
    for (const id of set) if (isBelow(state.steps.get(id)?.path ?? "")) set.delete(id);
  }
}
