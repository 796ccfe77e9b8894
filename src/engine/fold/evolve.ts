/**
 * Folds events into the state: the only place where a task's state changes.
 *
 * Owns: the dispatch, and what belongs to the task as a whole. Steps are folded in evolve-steps.ts, what they say while they
 * run in evolve-reports.ts, scopes and where their children stand in evolve-scopes.ts. It never decides: what to do is in
 * the event.
 *
 * E2: the same events give the same state. E4: containers change in place, entries are frozen and replaced. E5: an event
 * costs the same however many steps are done.
 *
 * A task is `running` from `task_started` or `task_resumed` to `task_closed`; a crash leaves it running without an owner.
 */
import type { EngineEvent, EngineEventType, EventOf } from "../model/events.js";
import { processKeyOf } from "../model/identity.js";
import { enterScope, leaveScope, resetPhase } from "./evolve-scopes.js";
import { cancelStep, completeStep, failStep, intendStep, markHook, saveFiles, spawnStep } from "./evolve-steps.js";
import { recordMilestone, recordProgress, recordSubstep, recordTool, beginCall, recordTurn } from "./evolve-reports.js";
import { addTotals } from "./add-totals.js";
import { makeDecision } from "./apply-effect.js";
import { adoptDefinition, keepPlan, settlePlan } from "./evolve-definition.js";
import { skipNode } from "./evolve-skips.js";
import { completeEvaluation, recordScore } from "./evolve-evaluation.js";
import { forkTask } from "./restore-state.js";
import { answerQuestion, moveInQuestion, openQuestion, remindOfQuestion } from "./evolve-questions.js";
import { rollBack } from "./evolve-rollback.js";
import { requireTask } from "../model/lookup.js";
import type { TaskState } from "../model/state.js";
import { changeChannel } from "../model/deferred-effects.js";

/** Folds one event: `position` rises by one, `atMs` never goes back. */
export function evolve(state: TaskState, event: EngineEvent): void {
  countElapsed(state, event);
  foldEvent(state, event);
  if (event.decision !== undefined) makeDecision(state, event.decision);
  state.position += 1;
  state.atMs = Math.max(state.atMs, event.atMs);
}

/** Working time: while a step runs or waits for its retry. The gap before a new owner is nobody's work. */
function countElapsed(state: TaskState, event: EngineEvent): void {
  if (event.type === "task_resumed" || state.task?.status !== "running") return;
  if (state.open.size === 0 && state.waiting.size === 0) return;
  const passedMs = event.atMs - state.atMs;
  if (passedMs > 0) addTotals(state, { elapsedMs: state.totals.elapsedMs + passedMs });
}

type Fold<E> = (state: TaskState, event: E) => unknown;
const nothing = (): void => undefined;

const FOLDS: { readonly [T in EngineEventType]: Fold<EventOf<T>> } = {
  task_started: startTask,
  task_resumed: resumeTask,
  task_closed: closeTask,
  scope_entered: enterScope,
  scope_left: leaveScope,
  node_skipped: skipNode,
  iteration_started: resetPhase,
  step_intended: intendStep,
  step_spawned: spawnStep,
  server_spawned: (state, { server, process }) => state.servers.set(processKeyOf(process), { server, process }),
  server_ended: (state, { process }) => state.servers.delete(processKeyOf(process)),
  step_completed: completeStep,
  step_failed: failStep,
  step_cancelled: cancelStep,
  call_begun: beginCall,
  turn_recorded: recordTurn,
  tool_intended: recordTool,
  tool_completed: recordTool,
  substep_intended: recordSubstep,
  substep_completed: recordSubstep,
  substep_failed: recordSubstep,
  milestone_reached: recordMilestone,
  progress_reported: recordProgress,
  // As with every event, its decision is folded after it.
  decision_made: nothing,
  question_opened: openQuestion,
  question_answered: answerQuestion,
  question_moved: moveInQuestion,
  question_reminded: remindOfQuestion,
  hook_told: (state, event) => markHook(state, event.hook, event.path),
  channel_changed: (state, event) => changeChannel(state.channel, [event]),
  plan_settled: settlePlan,
  score_recorded: recordScore,
  evaluation_completed: completeEvaluation,
  checkpoint_recorded: recordCheckpoint,
  snapshot_written: recordSnapshot,
  rolled_back: rollBack,
  task_forked: forkTask,
  pruned: shortenHistory,
  delivered: (state, event) => saveFiles(state, event.saved),
  // Kept in the history; nothing in the state depends on it.
  snapshot_failed: nothing,
  time_counted: nothing,
  noted: keepReason,
};

function foldEvent(state: TaskState, event: EngineEvent): void {
  (FOLDS[event.type] as Fold<EngineEvent>)(state, event);
}

function startTask(state: TaskState, event: EventOf<"task_started">): void {
  state.epoch = 1;
  state.task = Object.freeze({
    id: event.taskId,
    name: event.name,
    definition: event.definition,
    ...(event.definitionFile === undefined ? {} : { definitionFile: event.definitionFile }),
    folder: event.folder,
    inputs: event.inputs,
    settings: event.settings,
    startedAtMs: event.atMs,
    status: "running",
    resumable: true,
    ...(event.onUnknown === undefined ? {} : { onUnknown: event.onUnknown }),
    ...(event.trackRecords === undefined ? {} : { trackRecords: event.trackRecords }),
    extended: Object.freeze({}),
  });
}

function resumeTask(state: TaskState, event: EventOf<"task_resumed">): void {
  const {
    request,
    reason: _reason,
    exitStatus: _exit,
    resumeAtMs: _at,
    pausedAtMs: _paused,
    onUnknown: _policy,
    ...task
  } = requireTask(state);
  state.epoch = event.epoch;
  state.task = Object.freeze({
    ...task,
    status: "running",
    resumable: true,
    // Who asked that it ends has not seen it end: only a person goes on all the same.
    ...(event.crashed && event.byPerson !== true && request !== undefined ? { request } : {}),
    ...(event.uncertain === true ? { uncertain: true } : {}),
    ...(event.onUnknown === undefined ? {} : { onUnknown: event.onUnknown }),
  });
  if (event.definition !== undefined) adoptDefinition(state, keepPlan(task.definition, event.definition));
  countCrash(state, event);
}

function countCrash(state: TaskState, event: EventOf<"task_resumed">): void {
  for (const id of [...state.open, ...state.waiting, ...state.blocked]) {
    const step = state.steps.get(id);
    if (step === undefined || step.dueAtMs !== undefined) continue;
    if (event.byPerson === true) state.steps.set(id, Object.freeze({ ...step, crashes: 0 }));
    else if (event.crashed && step.status === "open")
      state.steps.set(id, Object.freeze({ ...step, crashes: step.crashes + 1 }));
  }
}

/** Why the owner left a task that stays open, until somebody goes on with it. */
function keepReason(state: TaskState, { text, effect }: EventOf<"noted">): void {
  if (effect === "crashed") state.task = Object.freeze({ ...requireTask(state), reason: text });
}

function shortenHistory(state: TaskState, { history }: EventOf<"pruned">): void {
  if (history === undefined || state.task === undefined) return;
  const historyFrom = Math.max(history.before, state.task.historyFrom ?? 1);
  state.task = Object.freeze({ ...state.task, historyFrom });
}

function closeTask(state: TaskState, event: EventOf<"task_closed">): void {
  state.task = Object.freeze({
    ...requireTask(state),
    status: event.end,
    reason: event.reason,
    exitStatus: event.exitStatus,
    resumable: event.resumable,
    ...(event.resumeAtMs === undefined
      ? {}
      : { resumeAtMs: event.resumeAtMs, pausedAtMs: event.wallAtMs ?? event.atMs }),
    ...(event.output === undefined ? {} : { output: event.output }),
  });
}

function recordCheckpoint(state: TaskState, event: EventOf<"checkpoint_recorded">): void {
  const memoryBytes = event.metadata?.["memory_bytes"];
  if (typeof memoryBytes === "number" && memoryBytes > state.totals.memoryPeakBytes)
    addTotals(state, { memoryPeakBytes: memoryBytes });
  state.triggered.set(event.trigger, event.atMs);
  state.checkpoints.push(
    Object.freeze({
      checkpointId: event.checkpointId,
      seq: event.seq,
      phase: event.phase,
      trigger: event.trigger,
      status: event.status,
      atMs: event.atMs,
      position: state.position + 1,
      ...(event.note === undefined ? {} : { note: event.note }),
      ...(event.request === undefined ? {} : { request: event.request }),
      ...(event.metadata === undefined ? {} : { metadata: event.metadata }),
    }),
  );
}

function recordSnapshot(state: TaskState, event: EventOf<"snapshot_written">): void {
  for (let at = state.checkpoints.length - 1; at >= 0; at -= 1) {
    const checkpoint = state.checkpoints[at];
    if (checkpoint === undefined || checkpoint.seq < event.seq) return;
    if (checkpoint.checkpointId !== event.checkpointId) continue;
    const snapshot = Object.freeze({ file: event.file, sha256: event.sha256, sizeBytes: event.sizeBytes });
    state.checkpoints[at] = Object.freeze({ ...checkpoint, snapshot });
    return;
  }
}
