/**
 * A person goes back to a checkpoint: what was done since is named, nothing of it is deleted, and what may have acted
 * outside is asked about where it would start again (see start.ts).
 */
import { createDecision, type Choice } from "../../model/choice.js";
import type { EngineEvent, EventOf } from "../../model/events.js";
import { evolve } from "../../fold/evolve.js";
import { encodeWhole } from "../../fold/restore-state.js";
import type { Rollback } from "../../model/input.js";
import { findActedSince } from "../../model/lookup.js";
import type { ScopeEntry, TaskState } from "../../model/state.js";
import { decodeSections } from "../../model/state-sections.js";
import { currentPhase, recordCheckpoint } from "../triggers.js";
import type { JsonObject } from "../../../base/json.js";

/** The roll-back itself. */
export function rollBackTo(state: TaskState, request: Rollback, atMs: number): EventOf<"rolled_back"> {
  const { to, by } = request;
  return {
    type: "rolled_back",
    atMs,
    to: to.checkpointId,
    seq: to.seq,
    round: state.round + 1,
    reason: `${by} went back to checkpoint ${to.seq}`,
    state: { inline: request.state },
  };
}

/** The state as it will be, folded on a copy: nothing of the task is changed. */
export function previewAfter(state: TaskState, events: readonly EngineEvent[]): TaskState {
  const copy = decodeSections(encodeWhole(state) as JsonObject);
  for (const event of events) evolve(copy, event);
  return copy;
}

interface Going {
  /** What was decided before, in the same answer. */
  readonly events: readonly EngineEvent[];
  readonly request: Rollback;
  /** What is done about a scope that cannot go on by itself. */
  readonly reopen: (choice: Choice, scope: ScopeEntry) => readonly EngineEvent[];
}

export function rollBack(choice: Choice, { events, request, reopen }: Going): readonly EngineEvent[] {
  const { state, nowMs } = choice;
  const { to, by, done } = request;
  const acted = findActedSince(state, done).map(({ id }) => id);
  const rolledBack = rollBackTo(state, request, nowMs);
  const after = previewAfter(state, [...events, rolledBack]);
  const rationale =
    acted.length === 0
      ? "no external step was done since"
      : `done or perhaps done since, and asked about before they would run again: ${acted.join(", ")}`;
  const decision = createDecision(choice, {
    agent: `person:${by}`,
    type: "roll_back",
    description: `went back to checkpoint ${to.seq} of phase ${to.phase}`,
    rationale,
    facts: { checkpoint: to.checkpointId, round: rolledBack.round, external_steps: acted },
  });
  return [
    { ...rolledBack, decision },
    recordCheckpoint(choice, {
      trigger: "user_requested",
      phase: currentPhase(after),
      note: `went back to checkpoint ${to.seq}`,
    }),
    ...[...after.scopes.values()].flatMap((scope) => reopen({ ...choice, state: after }, scope)),
  ];
}
