/**
 * Triggers: which of the events just decided is a checkpoint.
 *
 * A pure rule over the events of one `decide`: `checkpoint_recorded` follows right after the event that fired, except
 * before_risky_operation (before the intent) and shutdown (before `task_closed`). Rules come from the settings:
 * `checkpoint_config.triggers.<trigger>: {enabled, when, min_interval_seconds}`, else from the seed's lists; without either a
 * trigger is on. Sequence
 * numbers are given last, over the whole answer.
 */
import { errorCodeOf } from "../../base/errors.js";
import { createUuid, type CheckpointId } from "../../base/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { Choice } from "../model/choice.js";
import type { EngineEvent, EventOf, Trigger } from "../model/events.js";
import { kindOf } from "../../definition/kinds/table.js";
import type { NodeDefinition } from "../../definition/model/workflow.js";
import { nameOfPath, parentPathOf } from "../model/identity.js";
import { findPlace, isHook, ownPhaseNumber, requireTask, computeElapsedMs } from "../model/lookup.js";
import type { TaskState } from "../model/state.js";

const MEMORY_HIGH = 0.85;
const MEMORY_INTERVAL_MS = 60_000;
/** By hand: they never wait for an interval and cannot be switched off by accident. */
const BY_HAND = new Set<Trigger>(["user_requested", "debug_breakpoint", "before_risky_operation", "shutdown"]);
/** The seed's `manual_triggers` may name these, `automatic_triggers` the others. */
const MANUAL = new Set<Trigger>(["user_requested", "debug_breakpoint", "before_risky_operation"]);

/** Decision types that mean a threshold of confidence was crossed. */
export const CONFIDENCE_DECISIONS = new Set([
  "proceed_flagged",
  "spawn_specialist",
  "spawn_specialists",
  "halt",
  "proceed_below",
]);

type Status = EventOf<"checkpoint_recorded">["status"];

export interface CheckpointRequest {
  readonly trigger: Trigger;
  readonly phase: number;
  readonly status?: EventOf<"checkpoint_recorded">["status"];
  readonly note?: string;
  readonly request?: string | undefined;
  readonly metadata?: JsonObject;
}

/** A checkpoint at this point of the answer; its sequence number is given at the end. */
export function recordCheckpoint(choice: Choice, request: CheckpointRequest): EventOf<"checkpoint_recorded"> {
  return {
    type: "checkpoint_recorded",
    atMs: choice.nowMs,
    checkpointId: createUuid(choice.context.random) as CheckpointId,
    seq: 0,
    phase: request.phase,
    trigger: request.trigger,
    status: statusNow(choice.state, request.status ?? "in_progress"),
    ...(request.note === undefined ? {} : { note: request.note }),
    ...(request.request === undefined ? {} : { request: request.request }),
    metadata: { ...request.metadata, memory_bytes: choice.context.memoryBytes },
  };
}

/** The events with the checkpoints that fire on them; `isDue`: the interval may have come without any. */
export function addCheckpoints(choice: Choice, events: readonly EngineEvent[], isDue = false): readonly EngineEvent[] {
  if (events.length === 0 && !isDue) return events;
  const fired = new Map<Trigger, number>(choice.state.triggered);
  const result: EngineEvent[] = [];
  const settings = settingsOf(choice, events);
  for (const event of events) {
    const request = requestAfter(choice, event);
    if (event.type === "task_closed") result.push(...extraCheckpoints(choice, fired, settings));
    result.push(event);
    if (event.type === "checkpoint_recorded") fired.set(event.trigger, event.atMs);
    if (request === undefined || !isAllowed(choice, request, { fired, settings })) continue;
    fired.set(request.trigger, choice.nowMs);
    result.push(recordCheckpoint(choice, request));
  }
  if (events.at(-1)?.type !== "task_closed") result.push(...extraCheckpoints(choice, fired, settings));
  return numberCheckpoints(choice.state, result);
}

/** The checkpoint of the event that was recorded last, where a crash came between them. */
export function catchUp(choice: Choice, last: EngineEvent | undefined): readonly EngineEvent[] {
  const request = last === undefined ? undefined : requestAfter(choice, last);
  const rules = { fired: choice.state.triggered, settings: requireTask(choice.state).settings };
  return request === undefined || !isAllowed(choice, request, rules) ? [] : [recordCheckpoint(choice, request)];
}

/** What stands for itself: memory pressure and the interval, looked at whenever something happens. */
function extraCheckpoints(choice: Choice, fired: Map<Trigger, number>, settings: JsonObject): readonly EngineEvent[] {
  const requests: CheckpointRequest[] = [];
  const phase = currentPhase(choice.state);
  const sinceMs = (trigger: Trigger) => choice.nowMs - (fired.get(trigger) ?? -Infinity);
  if (choice.context.memoryFraction >= MEMORY_HIGH && sinceMs("memory_pressure_high") >= MEMORY_INTERVAL_MS) {
    requests.push({
      trigger: "memory_pressure_high",
      phase,
      metadata: { memory_fraction: choice.context.memoryFraction },
    });
  }
  const intervalMs = intervalOf(settings);
  const lastMs = fired.get("interval") ?? choice.state.task?.startedAtMs ?? choice.nowMs;
  if (intervalMs !== undefined && choice.nowMs - lastMs >= intervalMs) requests.push({ trigger: "interval", phase });
  const allowed = requests.filter((request) => isAllowed(choice, request, { fired, settings }));
  for (const request of allowed) fired.set(request.trigger, choice.nowMs);
  return allowed.map((request) => recordCheckpoint(choice, request));
}

/** Where the workflow itself has ended, what comes after it (a hook) is recorded of an ended task. */
function statusNow({ task }: TaskState, status: Status): Status {
  if (task?.root === undefined || status !== "in_progress") return status;
  return task.root.outcome === "failed" ? "failed" : "completed";
}

function requestAfter(choice: Choice, event: EngineEvent): CheckpointRequest | undefined {
  const { state } = choice;
  switch (event.type) {
    case "scope_entered":
      return event.phase === undefined ? undefined : { trigger: "phase_started", phase: event.phase };
    case "scope_left":
      return requestAfterScope(state, event);
    case "step_completed":
      return requestAfterStep(choice, event);
    case "step_failed":
      return requestAfterFailure(state, event);
    case "evaluation_completed":
      return {
        trigger: "evaluation_completed",
        phase: currentPhase(state),
        metadata: { score: event.score, verdict: event.verdict },
      };
    case "decision_made":
      return CONFIDENCE_DECISIONS.has(event.decision.type)
        ? {
            trigger: "confidence_threshold_crossed",
            phase: currentPhase(state),
            metadata: { confidence: event.decision.confidence ?? null },
          }
        : undefined;
    case "question_opened":
      return {
        trigger: "question_opened",
        phase: currentPhase(state),
        status: "paused",
        metadata: { question: event.question.id },
      };
    default:
      return undefined;
  }
}

/** A phase, or a workflow without phases, which is as a whole what a phase is elsewhere. */
function requestAfterScope(state: TaskState, event: EventOf<"scope_left">): CheckpointRequest | undefined {
  const { path, phase, outcome } = event;
  if (phase !== undefined) return { trigger: "phase_completed", phase, status: statusAfterPhase(state, phase) };
  const { root } = requireTask(state).definition;
  if (path !== root.path || root.scope === "phases") return undefined;
  const status = outcome === "failed" ? "failed" : "completed";
  return { trigger: "phase_completed", phase: currentPhase(state), status };
}

function requestAfterStep(choice: Choice, event: EventOf<"step_completed">): CheckpointRequest | undefined {
  const step = choice.state.steps.get(event.step);
  if (step === undefined) return undefined;
  const layer = layerOf(choice.state, step.path);
  const metadata = { step: event.step, visit: step.visit, ...(layer === undefined ? {} : { layer_index: layer }) };
  const phase = isHook(step.path) ? currentPhase(choice.state) : step.phase;
  const wished = event.wishes?.checkpoint;
  if (wished !== undefined) {
    const elapsed = { task: step.name, cycle: step.visit, elapsed_ms: computeElapsedMs(choice.state, choice.nowMs) };
    return {
      trigger: "user_requested",
      phase,
      metadata: { ...wished, ...metadata, ...elapsed },
    };
  }
  return kindOf(step.kind).isWork === true ? { trigger: "specialist_finished", phase, metadata } : undefined;
}

/** The layer of a step in its DAG, from 0: one more than the deepest of what it depends on. Source: seed 001. */
function layerOf(state: TaskState, path: string): number | undefined {
  const parent = parentPathOf(path);
  const scope = parent === undefined ? undefined : findPlace(state, parent)?.node;
  if (scope?.node !== "scope" || scope.scope !== "dag") return undefined;
  const layers = layersOf.get(scope) ?? computeLayers(scope.children);
  layersOf.set(scope, layers);
  return layers.get(nameOfPath(path));
}

const layersOf = new WeakMap<object, ReadonlyMap<string, number>>();

/** Shape: what depends on itself, which no checked definition does, is in no layer. */
function computeLayers(nodes: readonly Pick<NodeDefinition, "name" | "dependsOn">[]): ReadonlyMap<string, number> {
  const layers = new Map<string, number>();
  for (let found = -1; found !== layers.size;) {
    found = layers.size;
    for (const { name, dependsOn } of nodes) {
      const above = dependsOn.map((needed) => layers.get(needed));
      if (!layers.has(name) && above.every((layer) => layer !== undefined))
        layers.set(name, Math.max(-1, ...above) + 1);
    }
  }
  return layers;
}

function requestAfterFailure(state: TaskState, event: EventOf<"step_failed">): CheckpointRequest | undefined {
  if (event.disposition.action === "pause_until") return undefined;
  const status = event.disposition.action === "fail" ? "failed" : "in_progress";
  const step = state.steps.get(event.step);
  return {
    trigger: "error_encountered",
    phase: step?.phase ?? currentPhase(state),
    status,
    metadata: { step: event.step, code: event.error.code },
  };
}

function statusAfterPhase(state: TaskState, phase: number): "completed" | "in_progress" {
  const { root } = requireTask(state).definition;
  return root.scope === "phases" && root.children.at(-1)?.number === phase ? "completed" : "in_progress";
}

interface Rules {
  readonly fired: ReadonlyMap<Trigger, number>;
  readonly settings: JsonObject;
}

function isAllowed(choice: Choice, request: CheckpointRequest, rules: Rules): boolean {
  const rule = ruleOf(rules.settings, request.trigger);
  if (rule["enabled"] === false) return false;
  const minSeconds = rule["min_interval_seconds"];
  const lastMs = rules.fired.get(request.trigger);
  if (
    typeof minSeconds === "number" &&
    lastMs !== undefined &&
    !BY_HAND.has(request.trigger) &&
    choice.nowMs - lastMs < minSeconds * 1_000
  )
    return false;
  const { when } = rule;
  return typeof when !== "string" || holds(choice, when, request);
}

/** A condition that cannot be decided does not cost a checkpoint. */
function holds(choice: Choice, when: string, request: CheckpointRequest): boolean {
  const facts: JsonObject = {
    trigger: request.trigger,
    phase: request.phase,
    status: request.status ?? "in_progress",
    ...request.metadata,
  };
  try {
    return choice.context.templates.evaluateCondition(when, facts);
  } catch (error) {
    if (errorCodeOf(error) !== "TEMPLATE_FAILED") throw error;
    return true;
  }
}

function settingsOf(choice: Choice, events: readonly EngineEvent[]): JsonObject {
  if (choice.state.task !== undefined) return choice.state.task.settings;
  const started = events.find((event) => event.type === "task_started");
  return started === undefined ? {} : started.settings;
}

function ruleOf(settings: JsonObject, trigger: Trigger): JsonObject {
  const config = configOf(settings);
  const rules = config["triggers"];
  const rule = isJsonObject(rules) ? rules[trigger] : undefined;
  if (isJsonObject(rule)) return rule;
  const list = config[MANUAL.has(trigger) ? "manual_triggers" : "automatic_triggers"];
  return Array.isArray(list) ? { enabled: (list as readonly JsonValue[]).includes(trigger) } : {};
}

function configOf(settings: JsonObject): JsonObject {
  const config = settings["checkpoint_config"];
  return isJsonObject(config) ? config : {};
}

/** The interval trigger fires only where an interval was set. Units: milliseconds. */
function intervalOf(settings: JsonObject): number | undefined {
  const rule = ruleOf(settings, "interval");
  const seconds = configOf(settings)["interval_seconds"] ?? rule["min_interval_seconds"];
  return typeof seconds === "number" && seconds > 0 && rule["enabled"] !== false ? seconds * 1_000 : undefined;
}

/** When the interval trigger is due; `undefined` when it is not set. */
export function intervalAtMs(state: TaskState): number | undefined {
  if (state.task === undefined) return undefined;
  const intervalMs = intervalOf(state.task.settings);
  return intervalMs === undefined
    ? undefined
    : (state.triggered.get("interval") ?? state.task.startedAtMs) + intervalMs;
}

function numberCheckpoints(state: TaskState, events: readonly EngineEvent[]): readonly EngineEvent[] {
  let seq = state.checkpoints.at(-1)?.seq ?? 0;
  return events.map((event) => {
    if (event.type !== "checkpoint_recorded") return event;
    seq += 1;
    return { ...event, seq };
  });
}

/** Number of the phase that is open, or was left last; 0 before the first. */
export function currentPhase(state: TaskState): number {
  let number = 0;
  for (const scope of state.scopes.values()) {
    if (scope.data.scope === "phase") number = Math.max(number, ownPhaseNumber(state, scope.path) ?? 0);
  }
  if (number > 0) return number;
  for (const phase of state.phases.values()) number = Math.max(number, ownPhaseNumber(state, phase.path) ?? 0);
  return number;
}
