/**
 * Events as JSON text, with a schema number and the family that is told in the clear.
 *
 * Owns: which fields an event of each type has. Reading is strict: an unknown type, family or field, or a missing one, is
 * damage, because dropping a fact in silence would change what the state folds to. Records are sealed and authenticated
 * before they get here, so values are checked only as far as rules rely on them: see effect-codec.ts for what they act on.
 * Lifting: a record of an older schema passes through `LIFTS` one number at a time, each a pure function on plain JSON.
 */
import { assert, SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject } from "../../base/json.js";
import { findDecisionFault, findNoteFault, findQuestionFault } from "./effect-codec.js";
import type { EngineEvent, EngineEventType, EventOf } from "./events.js";

export const EVENT_SCHEMA = 1;
/** Every record begins with it. */
const SCHEMA_FIELD = `{"schema":${EVENT_SCHEMA},`;

/** Families told in the clear; a closed list. Source: STORAGE section 1.4. */
export const EVENT_FAMILIES = [
  "task",
  "recovery",
  "scope",
  "intent",
  "spawned",
  "completion",
  "failure",
  "cancellation",
  "turn",
  "tool",
  "substep",
  "milestone",
  "progress",
  "decision",
  "question",
  "answer",
  "channel",
  "score",
  "checkpoint",
  "snapshot",
  "rolled_back",
  "prune",
  "deliverable",
  "note",
] as const;
export type EventFamily = (typeof EVENT_FAMILIES)[number];

export interface EncodedEvent {
  /** The family, told in the clear. */
  readonly kind: EventFamily;
  /** One object with `schema`, `type`, `atMs` and the event's own fields. */
  readonly json: string;
}

/** Any event may have a decision; one type is nothing else. */
type CommonField<T extends EngineEventType> = "type" | "atMs" | (T extends "decision_made" ? never : "decision");
type FieldsOf<T extends EngineEventType> = Exclude<keyof EventOf<T>, CommonField<T>>;
interface EventShape<T extends EngineEventType> {
  readonly family: EventFamily;
  /** `true`: always there. */
  readonly fields: { readonly [F in FieldsOf<T>]-?: undefined extends EventOf<T>[F] ? false : true };
}

const STEP = { step: true, attempt: true } as const;
const SHAPES: { readonly [T in EngineEventType]: EventShape<T> } = {
  task_started: {
    family: "task",
    fields: {
      taskId: true,
      name: true,
      definition: true,
      definitionFile: false,
      folder: true,
      inputs: true,
      settings: true,
      traceparent: false,
      onUnknown: false,
      trackRecords: false,
    },
  },
  task_resumed: {
    family: "recovery",
    fields: {
      epoch: true,
      by: true,
      crashed: true,
      report: true,
      definition: false,
      byPerson: false,
      uncertain: false,
      onUnknown: false,
    },
  },
  task_closed: {
    family: "task",
    fields: {
      end: true,
      reason: true,
      exitStatus: true,
      resumable: true,
      resumeAtMs: false,
      wallAtMs: false,
      output: false,
    },
  },
  scope_entered: {
    family: "scope",
    fields: {
      path: true,
      visit: true,
      phase: false,
      items: false,
      count: false,
      keys: false,
      inputs: false,
      error: false,
    },
  },
  scope_left: {
    family: "scope",
    fields: {
      path: true,
      visit: true,
      outcome: true,
      phase: false,
      confidence: false,
      output: false,
      saved: false,
      next: false,
      routeOutput: false,
      ends: false,
      error: false,
    },
  },
  node_skipped: {
    family: "scope",
    fields: { path: true, visit: true, phase: true, kind: false, reason: true, next: false },
  },
  iteration_started: { family: "scope", fields: { path: true, iteration: true, feedback: true } },
  step_intended: {
    family: "intent",
    fields: {
      ...STEP,
      path: true,
      round: true,
      visit: true,
      kind: true,
      phase: true,
      work: true,
      inputHash: true,
      idempotencyKey: true,
      effects: true,
      onUnknown: true,
      dueAtMs: false,
      spawnedDefinition: false,
      permittedBy: false,
      held: false,
      fingerprint: false,
      guided: false,
    },
  },
  step_spawned: { family: "spawned", fields: { ...STEP, process: true } },
  server_spawned: { family: "spawned", fields: { server: true, process: true } },
  server_ended: { family: "note", fields: { server: true, process: true } },
  step_completed: {
    family: "completion",
    fields: {
      ...STEP,
      output: true,
      confidence: false,
      blockers: false,
      assumptions: false,
      usage: false,
      durationMs: true,
      saved: false,
      next: false,
      routeOutput: false,
      wishes: false,
      by: false,
      ends: false,
      stderr: false,
    },
  },
  step_failed: {
    family: "failure",
    fields: { ...STEP, error: true, durationMs: true, usage: false, disposition: true },
  },
  step_cancelled: { family: "cancellation", fields: { ...STEP, reason: true } },
  turn_recorded: {
    family: "turn",
    fields: { ...STEP, turn: true, value: true, usage: false, fallback: false, guided: false },
  },
  call_begun: { family: "turn", fields: { ...STEP, asked: true } },
  tool_intended: {
    family: "tool",
    fields: { ...STEP, call: true, name: true, tool: false, value: true, effects: true },
  },
  tool_completed: { family: "tool", fields: { ...STEP, call: true, value: true } },
  substep_intended: { family: "substep", fields: { ...STEP, name: true, within: false } },
  substep_failed: { family: "substep", fields: { ...STEP, name: true, failure: true } },
  substep_completed: { family: "substep", fields: { ...STEP, name: true, value: true, wishes: false } },
  milestone_reached: { family: "milestone", fields: { ...STEP, name: true, state: true, wishes: false } },
  progress_reported: {
    family: "progress",
    fields: { ...STEP, fraction: false, message: false, partial: false, confidence: false, blocker: false },
  },
  decision_made: { family: "decision", fields: { decision: true } },
  question_opened: { family: "question", fields: { question: true } },
  question_answered: { family: "answer", fields: { question: true, answer: true, value: false, by: true } },
  question_moved: {
    family: "answer",
    fields: {
      question: true,
      move: true,
      action: true,
      by: true,
      set: true,
      unset: true,
      cursor: true,
      outcome: false,
    },
  },
  hook_told: { family: "note", fields: { hook: true, text: true, path: false } },
  question_reminded: { family: "question", fields: { question: true } },
  channel_changed: { family: "channel", fields: { op: true, key: true, value: true } },
  plan_settled: { family: "scope", fields: { path: true, phases: false, again: false, consumes: false } },
  score_recorded: {
    family: "score",
    fields: {
      path: true,
      iteration: true,
      dimension: true,
      score: true,
      issues: true,
      feedback: false,
      evidence: false,
      spread: false,
      judges: false,
    },
  },
  evaluation_completed: {
    family: "score",
    fields: { path: true, iteration: true, score: true, verdict: true, best: true },
  },
  checkpoint_recorded: {
    family: "checkpoint",
    fields: {
      checkpointId: true,
      seq: true,
      phase: true,
      trigger: true,
      status: true,
      note: false,
      request: false,
      metadata: false,
    },
  },
  snapshot_written: {
    family: "snapshot",
    fields: {
      checkpointId: true,
      seq: true,
      file: true,
      sha256: true,
      sizeBytes: true,
      rawBytes: true,
      durationMs: true,
    },
  },
  snapshot_failed: { family: "snapshot", fields: { checkpointId: true, seq: true, error: true } },
  rolled_back: {
    family: "rolled_back",
    fields: { to: true, seq: true, round: true, reason: true, phase: false, state: false },
  },
  task_forked: {
    family: "task",
    fields: { taskId: true, name: true, origin: true, by: true, set: false, state: true },
  },
  pruned: { family: "prune", fields: { files: true, reason: true, history: false } },
  delivered: { family: "deliverable", fields: { saved: true } },
  time_counted: { family: "task", fields: {} },
  noted: { family: "note", fields: { text: true, effect: false, facts: false } },
};

/** From the schema of the index to the next. Shape: `LIFTS[0]` lifts schema 1; none exists yet. */
const LIFTS: readonly ((record: JsonObject) => JsonObject)[] = [];

export function encodeEvent(event: EngineEvent): EncodedEvent {
  const shape = SHAPES[event.type];
  assert(shape !== undefined, `unknown event ${event.type}`);
  const fault = findInnerFault(event);
  assert(fault === undefined, fault ?? "");
  return { kind: shape.family, json: `${SCHEMA_FIELD}${JSON.stringify(event).slice(1)}` };
}

/**
 * The reverse of `encodeEvent`.
 *
 * Errors: FORMAT_VERSION for a newer schema or none; JOURNAL_CORRUPT for anything else that is not an event of that family.
 */
export function decodeEvent(kind: string, json: string): EngineEvent {
  const { schema: _schema, ...record } = lift(parse(json));
  const { type } = record;
  const rule = typeof type === "string" ? RULES.get(type) : undefined;
  if (rule === undefined) throw corrupt(`unknown event type ${JSON.stringify(type)}`);
  if (rule.family !== kind) throw corrupt(`a ${rule.type} event stands under the family ${kind}`);
  checkFields(record, rule);
  const event = record as unknown as EngineEvent;
  const fault = findInnerFault(event);
  if (fault !== undefined) throw corrupt(fault);
  return event;
}

/** What is wrong with the parts of an event that folding and later rules act on. */
function findInnerFault(event: EngineEvent): string | undefined {
  const fault = event.decision === undefined ? undefined : findDecisionFault(event.decision);
  if (fault !== undefined) return fault;
  if (event.type === "question_opened") return findQuestionFault(event.question);
  return event.type === "noted" ? findNoteFault(event) : undefined;
}

const COMMON_FIELDS = ["type", "atMs", "decision"] as const;

/** What reading asks of every record of a type, made once: a long history has hundreds of thousands of them. */
interface Rule {
  readonly type: string;
  readonly family: EventFamily;
  readonly known: ReadonlySet<string>;
  readonly required: readonly string[];
}

const RULES: ReadonlyMap<string, Rule> = new Map(
  Object.entries(SHAPES).map(([type, { family, fields }]) => {
    const known = new Set([...COMMON_FIELDS, ...Object.keys(fields)]);
    const required = Object.entries(fields).flatMap(([name, isRequired]) => (isRequired ? [name] : []));
    return [type, { type, family, known, required }];
  }),
);

function checkFields(record: JsonObject, { type, known, required }: Rule): void {
  if (typeof record["atMs"] !== "number") throw corrupt(`a ${type} event without a time`);
  for (const key of Object.keys(record)) {
    if (!known.has(key)) throw corrupt(`a ${type} event with an unknown field ${key}`);
  }
  for (const key of required) {
    if (record[key] === undefined) throw corrupt(`a ${type} event without ${key}`);
  }
}

function parse(json: string): JsonObject {
  try {
    const value: unknown = JSON.parse(json);
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw corrupt("a record is not JSON", error);
  }
  throw corrupt("a record is not an object");
}

function lift(record: JsonObject): JsonObject {
  const { schema } = record;
  if (typeof schema !== "number" || !Number.isInteger(schema) || schema < 1 || schema > EVENT_SCHEMA) {
    throw new SplashdownError(
      "FORMAT_VERSION",
      `a journal record has schema ${JSON.stringify(schema)}; this version reads up to ${EVENT_SCHEMA}`,
    );
  }
  return LIFTS.slice(schema - 1).reduce((lifted, next) => next(lifted), record);
}

function corrupt(message: string, cause?: unknown): SplashdownError {
  return new SplashdownError("JOURNAL_CORRUPT", message, cause === undefined ? {} : { cause });
}
