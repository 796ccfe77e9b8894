/** Folds a node that is not done: its place in its scope is taken as ended, and nothing of it has run. */
import type { EventOf } from "../model/events.js";
import { definitionPathOf, nameOfPath, stepIdOf } from "../model/identity.js";
import { requirePlace } from "../model/lookup.js";
import type { StepEntry, TaskState } from "../model/state.js";
import { moveChild, openPhase } from "./evolve-scopes.js";
import { replaceStep } from "./evolve-steps.js";

type Skipped = EventOf<"node_skipped">;

export function skipNode(state: TaskState, event: Skipped): void {
  if (event.kind === undefined) skipScope(state, event);
  else skipStep(state, event, event.kind);
}

function skipStep(state: TaskState, event: Skipped, kind: NonNullable<Skipped["kind"]>): void {
  const { path, visit } = event;
  const id = stepIdOf({ path, round: state.round, visit });
  const before = state.steps.get(id);
  state.visits.set(path, visit);
  state.rounds.delete(path);
  const entry: StepEntry = {
    ...(before ?? untried(event, kind, state.round)),
    status: "skipped",
    reason: event.reason,
    endedAtMs: event.atMs,
    error: undefined,
    held: undefined,
  };
  replaceStep(state, entry, { end: "omitted", next: event.next });
}

const NOTHING: readonly never[] = Object.freeze([]);

/** A step without an attempt. */
function untried({ path, visit, phase, atMs }: Skipped, kind: StepEntry["kind"], round: number): StepEntry {
  return {
    id: stepIdOf({ path, round, visit }),
    path,
    name: nameOfPath(definitionPathOf(path)),
    kind,
    round,
    visit,
    phase,
    status: "skipped",
    attempt: 0,
    failures: 0,
    restarts: 0,
    work: Object.freeze({ inline: null }),
    inputHash: "",
    idempotencyKey: "",
    effects: "none",
    onUnknown: "ask",
    intendedAtMs: atMs,
    confidenceHistory: NOTHING,
    blockers: NOTHING,
    assumptions: NOTHING,
    crashes: 0,
  };
}

function skipScope(state: TaskState, { path, visit, next, atMs }: Skipped): void {
  const { node } = requirePlace(state, path);
  const isOpen = state.scopes.delete(path);
  state.frontier.delete(path);
  state.visits.set(path, visit);
  if (node.node === "scope" && node.scope === "phase") {
    openPhase(state, { path, node }, atMs);
    const phase = state.phases.get(path);
    if (phase !== undefined) state.phases.set(path, Object.freeze({ ...phase, status: "skipped", endedAtMs: atMs }));
  }
  moveChild(state, path, { from: isOpen ? "running" : "ready", to: "ended", end: "omitted", next });
}
