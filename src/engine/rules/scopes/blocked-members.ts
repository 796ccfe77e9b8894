/**
 * Members of a group that are scopes and cannot go on: a failure stands in them that nobody deals with, so they stay open
 * for a resume, which begins with what failed.
 *
 * Such a member has failed for its group all the same: it takes no place in the window, and a group that fails fast ends
 * its siblings and starts nothing more. (A member that is a step has ended as failed; see evolve-scopes.ts.)
 */
import type { Choice } from "../../model/choice.js";
import { isAbsorbed } from "../steps/failure.js";
import { findPlace, findScopeDefinition } from "../../model/lookup.js";
import type { ScopeEntry, TaskState } from "../../model/state.js";

interface Stopped {
  readonly position: number;
  readonly paths: readonly string[];
}

/** Looked for once for each state: every group asks. */
const known = new WeakMap<TaskState, Stopped>();

/** Names of the members that are held up. */
export function listBlocked(choice: Choice, group: string): ReadonlySet<string> {
  const prefix = `${group}/`;
  const below = findStopped(choice.state).filter((path) => path.startsWith(prefix) && !isAbsorbed(choice, path));
  return new Set(below.map((path) => path.slice(prefix.length).split("/", 1)[0] ?? ""));
}

/** True when the group fails fast and one of its members is held up. */
export function isFailingFast(choice: Choice, group: string): boolean {
  const node = findScopeDefinition(choice.state, group);
  return "failureMode" in node && node.failureMode === "fail_fast" && listBlocked(choice, group).size > 0;
}

/** True when that is so of a group above (or at) the scope: nothing below it starts. */
export function isBlocked(choice: Choice, scope: ScopeEntry): boolean {
  const { state } = choice;
  if (findStopped(state).length === 0) return false;
  for (
    let at: ScopeEntry | undefined = scope;
    at !== undefined;
    at = at.parent === undefined ? undefined : state.scopes.get(at.parent)
  )
    if (isFailingFast(choice, at.path)) return true;
  return false;
}

/** Scopes in which something failed and stands in the way. */
function findStopped(state: TaskState): readonly string[] {
  const before = known.get(state);
  if (before?.position === state.position) return before.paths;
  const paths = new Set<string>();
  for (const id of state.blocked) {
    const step = state.steps.get(id);
    const parent = step?.status === "failed" ? findPlace(state, step.path)?.parent : undefined;
    if (parent !== undefined) paths.add(parent);
  }
  for (const { path, data } of state.scopes.values()) if (isStopped(data)) paths.add(path);
  const stopped = { position: state.position, paths: [...paths] };
  known.set(state, stopped);
  return stopped.paths;
}

function isStopped(data: ScopeEntry["data"]): boolean {
  if ("fault" in data && data.fault !== undefined) return true;
  if (data.scope === "machine") return data.failed === true || data.stuck !== undefined;
  return data.scope === "phase" && (data.judged === "rejected" || data.settled === "fail");
}
