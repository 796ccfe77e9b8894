/**
 * The task that the crash explorer runs: a machine of steps that act on the world one after the other.
 *
 * What comes next is read off the state alone, so a recovered owner goes on where the dead one stopped. Real events,
 * real `evolve`; only the choosing is scripted. A step that was open when its owner died is run again (its effects are
 * declared idempotent), and that shows in the ledger.
 */
import { sha256Hex } from "../../src/base/digest.js";
import type { CheckpointId, StepId } from "../../src/base/ids.js";
import type { WorkflowDefinition } from "../../src/definition/model/workflow.js";
import type { CommandStep } from "../../src/definition/model/step.js";
import type { EngineEvent, EventOf } from "../../src/engine/model/events.js";
import type { TaskState } from "../../src/engine/model/state.js";
import { JOURNAL_TASK_ID } from "../support/journal-room.js";

/** In every input and output; no byte under the task's folder may show it. */
export const CANARY = "canary-7f3a9c51-plaintext";
const START_MS = Date.UTC(2024, 0, 2, 14, 35, 22, 123);

export type StepIntended = EventOf<"step_intended">;
export type CheckpointRecorded = EventOf<"checkpoint_recorded">;

function createStep(name: string, next: string): CommandStep {
  return {
    node: "step",
    kind: "command",
    name,
    path: `root/${name}`,
    dependsOn: [],
    routes: [{ to: next }],
    input: {},
    effects: "idempotent",
    retry: { maxAttempts: 1, backoff: "fixed", delayMs: 0, delayMsMax: 0, jitter: 0 },
    criticality: "standard",
    risky: false,
    saveAs: {},
    secrets: [],
    fingerprint: sha256Hex(name),
    command: ["act", name],
    environment: {},
  };
}

export function createDefinition(stepCount: number): WorkflowDefinition {
  const names = Array.from({ length: stepCount }, (_, at) => `s${at + 1}`);
  return {
    schema: 1,
    name: "explored",
    inputs: {},
    root: {
      node: "scope",
      scope: "machine",
      name: "root",
      path: "root",
      dependsOn: [],
      routes: [],
      entry: "s1",
      children: names.map((name, at) => createStep(name, names[at + 1] ?? "$end")),
    },
    output: {},
    limits: { maxIterations: 100 },
    onFailure: "pause",
    context: { mode: "accumulate", trim: "drop_oldest" },
    atlas: { mode: "rules" },
    metadata: {},
    settings: {},
    fingerprint: sha256Hex(`explored ${stepCount}`),
  };
}

/** The task's last word: how many steps it has, done or not. */
export function countSteps(state: TaskState): number {
  const root = state.task?.definition.root;
  return root?.scope === "machine" ? root.children.length : 0;
}

const ENTER_ROOT: EngineEvent = { type: "scope_entered", atMs: START_MS, path: "root", visit: 1 };

export function startEvents(stepCount: number): EngineEvent[] {
  const started: EngineEvent = {
    type: "task_started",
    atMs: START_MS,
    taskId: JOURNAL_TASK_ID,
    name: "t",
    definition: createDefinition(stepCount),
    folder: "/work",
    inputs: { question: CANARY },
    settings: {},
  };
  return [started, ENTER_ROOT];
}

/** What a crash within the first batch left out. */
export function missingStart(state: TaskState): EngineEvent[] {
  return state.scopes.has("root") || state.task?.root !== undefined ? [] : [{ ...ENTER_ROOT, atMs: state.atMs + 1 }];
}

const stepIdOf = (number: number) => `root/s${number}@1.1` as StepId;

/** The intent of the next step; `undefined` when all are done. */
export function nextIntent(state: TaskState): StepIntended | undefined {
  const count = countSteps(state);
  for (let number = 1; number <= count; number += 1) {
    const entry = state.steps.get(stepIdOf(number));
    if (entry?.status === "completed") continue;
    return {
      type: "step_intended",
      atMs: state.atMs + 1,
      step: stepIdOf(number),
      path: `root/s${number}`,
      round: 1,
      visit: 1,
      attempt: (entry?.attempt ?? 0) + 1,
      kind: "command",
      phase: 0,
      work: { inline: { command: ["act", `s${number}`], note: CANARY } },
      inputHash: sha256Hex(`input ${number}`),
      idempotencyKey: sha256Hex(`key ${number}`),
      effects: "idempotent",
      onUnknown: "rerun",
    };
  }
  return undefined;
}

export function completionOf(state: TaskState, intent: StepIntended): EngineEvent {
  const number = Number(/\d+$/.exec(intent.path)?.[0]);
  const text = `${CANARY} output of ${intent.path} ${"lorem ipsum ".repeat(30)}`;
  return {
    type: "step_completed",
    atMs: state.atMs + 1,
    step: intent.step,
    attempt: intent.attempt,
    output: { inline: { text } },
    durationMs: 1,
    next: number < countSteps(state) ? `s${number + 1}` : "$end",
  };
}

export function checkpointEvent(state: TaskState): CheckpointRecorded {
  const seq = (state.checkpoints.at(-1)?.seq ?? 0) + 1;
  // Two owners may make the same sequence number; never the same id.
  const checkpointId = `${String(state.epoch).padStart(8, "0")}-0000-4000-8000-${String(seq).padStart(12, "0")}`;
  return {
    type: "checkpoint_recorded",
    atMs: state.atMs + 1,
    checkpointId: checkpointId as CheckpointId,
    seq,
    phase: 0,
    trigger: "specialist_finished",
    status: "in_progress",
  };
}

export function closeEvents(state: TaskState): EngineEvent[] {
  const atMs = state.atMs + 1;
  const left: EngineEvent = { type: "scope_left", atMs, path: "root", visit: 1, outcome: "done" };
  const closed: EngineEvent = {
    type: "task_closed",
    atMs,
    end: "done",
    reason: "done",
    exitStatus: 0,
    resumable: false,
  };
  return state.scopes.has("root") ? [left, closed] : [closed];
}
