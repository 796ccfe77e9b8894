/** What must hold in every state of a task: counts agree with entries, sets with statuses. Throws with the first fault. */
import { parentPathOf } from "../../src/engine/model/identity.js";
import { currentStepId, findPlace } from "../../src/engine/model/lookup.js";
import type { TaskState } from "../../src/engine/model/state.js";

/** A person is asked about it, or by it. */
const BLOCKED: ReadonlySet<string> = new Set(["asked", "unknown", "parked"]);

export function checkState(state: TaskState): void {
  for (const step of state.steps.values()) {
    expectEqual(state.open.has(step.id), step.status === "open", `${step.id} in open`);
    const waits = step.status === "waiting_retry" || (step.status === "open" && step.dueAtMs !== undefined);
    expectEqual(state.waiting.has(step.id), waits, `${step.id} in waiting`);
    // A step of a way that was left stays unknown without holding anything up.
    const isCurrent = step.id === currentStepId(state, step.path);
    if (isCurrent && BLOCKED.has(step.status)) expectEqual(state.blocked.has(step.id), true, `${step.id} in blocked`);
    if (!Object.isFrozen(step)) throw new Error(`${step.id} is not frozen`);
  }
  for (const id of state.blocked) if (!state.steps.has(id)) throw new Error(`${id} is blocked and not there`);
  for (const question of state.questions.values()) {
    expectEqual(state.unsettled.has(question.id), question.status !== "consumed", `${question.id} in unsettled`);
  }
  for (const path of state.scopes.keys()) checkScope(state, path);
}

function checkScope(state: TaskState, path: string): void {
  const scope = state.scopes.get(path);
  if (scope === undefined || !("running" in scope.data)) return;
  const frontier = state.frontier.get(path);
  if (frontier === undefined) throw new Error(`${path} has no frontier`);
  const places = { running: 0, blocked: 0 };
  for (const [child, visit] of state.visits) {
    const place = findPlace(state, child);
    if (place?.parent !== path) continue;
    if (state.scopes.has(child)) places.running += 1;
    const step = state.steps.get(`${child}@${state.round}.${visit}` as never);
    if (step?.status === "open" || step?.status === "waiting_retry") places.running += 1;
    if (step !== undefined && BLOCKED.has(step.status)) places.blocked += 1;
  }
  expectEqual(scope.data.running, places.running, `${path} running`);
  expectEqual(scope.data.blocked, places.blocked, `${path} blocked`);
  const ends = [...frontier.ended.values()];
  expectEqual(scope.data.failed, ends.filter((end) => end === "failed").length, `${path} failed`);
  expectEqual(
    scope.data.imperfect,
    ends.filter((end) => end === "partial" || end === "skipped").length,
    `${path} imperfect`,
  );
  expectEqual(new Set(frontier.ready).size, frontier.ready.length, `${path} ready without doubles`);
  for (const name of frontier.ready)
    if (frontier.ended.has(name)) throw new Error(`${path}/${name} is ready and ended`);
  if (scope.data.scope === "for_each") {
    const { next, running, blocked } = scope.data;
    const begun = running + blocked + frontier.ready.length + frontier.ended.size;
    expectEqual(begun, next, `${path} items in one place each`);
  }
  if (scope.parent !== undefined && parentPathOf(path) !== scope.parent) throw new Error(`${path} has another parent`);
}

function expectEqual(actual: unknown, wanted: unknown, what: string): void {
  if (actual !== wanted) throw new Error(`${what}: ${String(actual)} instead of ${String(wanted)}`);
}
