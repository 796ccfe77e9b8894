/**
 * A checkpoint's content, taken at one moment by reference and written out as JSON text later, piece by piece.
 *
 * Owns: the picture of the task in the words of the seeds (agents, decisions, metrics, confidence, outputs). The state
 * for the restart is the engine's (state-codec.ts there); decisions and outputs stand in the picture only and are put
 * back on reading.
 *
 * C6: `capture` copies references, whatever the size of what they lead to.
 * Source: seed 003 (checkpoint file format), DESIGN section 7.
 */
import type { CheckpointId } from "../../base/ids.js";
import { SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { encodeJsonPieces } from "../../base/json-pieces.js";
import type { Decision } from "../../engine/model/decision.js";
import { findDecisionFault } from "../../engine/model/effect-codec.js";
import type { EventOf } from "../../engine/model/events.js";
import { isAgent } from "../../engine/model/lookup.js";
import type { ValueRef, SavedFile } from "../../engine/model/value-ref.js";
import { captureState, type CapturedState, encodeCaptured } from "../../engine/model/state-codec.js";
import type { EvaluationEntry, PhaseEntry, StepEntry, TaskEntry, TaskState } from "../../engine/model/state.js";
import type { Totals } from "../../engine/model/totals.js";
import type {
  CheckpointAgent,
  CheckpointDecision,
  CheckpointMetrics,
  CheckpointPayload,
} from "../../schema/generated/checkpoint-state.js";

/** Number of the payload's schema, in the header. */
export const PAYLOAD_SCHEMA = 1;

/** Channel keys under which a program without the engine keeps the states of its agents (standalone.ts). */
export const AGENT_KEY_PREFIX = "agent:";

export type OutputEntry = TaskState["outputs"] extends ReadonlyMap<string, infer Entry> ? Entry : never;

export interface SnapshotCapture {
  readonly event: EventOf<"checkpoint_recorded">;
  /** Journal record of the checkpoint's event. */
  readonly position: number;
  readonly epoch: number;
  readonly task: TaskEntry;
  readonly totals: Totals;
  readonly steps: readonly StepEntry[];
  readonly phases: readonly PhaseEntry[];
  readonly evaluations: readonly EvaluationEntry[];
  readonly decisions: readonly Decision[];
  readonly deliverables: readonly SavedFile[];
  readonly channel: readonly (readonly [string, JsonValue])[];
  /** In order; the value of a step's own output is the same object as with the step. */
  readonly outputs: readonly (readonly [string, OutputEntry])[];
  /** Everything but decisions and outputs. */
  readonly state: CapturedState;
}

/** Takes references to all entries. Shape: later events do not show in it. Errors: none; `undefined` before the start. */
export function capture(state: TaskState, event: EventOf<"checkpoint_recorded">): SnapshotCapture | undefined {
  if (state.task === undefined) return undefined;
  return {
    event,
    position: state.position,
    epoch: state.epoch,
    task: state.task,
    totals: { ...state.totals },
    steps: [...state.steps.values()],
    phases: [...state.phases.values()],
    evaluations: [...state.evaluations],
    decisions: [...state.decisions],
    deliverables: [...state.deliverables.values()],
    channel: [...state.channel],
    outputs: [...state.outputs],
    state: captureState({ ...state, decisions: [], outputs: new Map() }),
  };
}

/** The text of the payload in pieces: the picture, a line feed, the state. Source: schemas/checkpoint-state.schema.json. */
export function* encodePayload(taken: SnapshotCapture): Generator<string> {
  yield `${JSON.stringify(describeHead(taken)).slice(0, -1)},"agents":{`;
  yield* joinMembers(describeAgents(taken));
  yield '},"decisions":[';
  yield* joinItems(taken.decisions, (decision) => JSON.stringify(encodeDecision(decision)));
  yield `],"metrics":${JSON.stringify(describeMetrics(taken.totals))}`;
  yield `,"confidence":${JSON.stringify(describeConfidence(taken.phases))},"outputs":[`;
  yield* encodeOutputs(taken);
  yield '],"deliverables":[';
  yield* joinItems(taken.deliverables, (file) =>
    JSON.stringify({ file: file.file, size: file.sizeBytes, sha256: file.sha256 }),
  );
  yield '],\n"state":';
  yield* encodeCaptured(taken.state);
  yield "}";
}

/** A step's own output is not written twice. */
function* encodeOutputs(taken: SnapshotCapture): Generator<string> {
  const ofSteps = new Map<string, ValueRef>();
  for (const step of taken.steps) if (step.output !== undefined) ofSteps.set(step.id, step.output);
  let separator = "";
  for (const [path, { by, value }] of taken.outputs) {
    yield separator;
    yield* encodeJsonPieces(ofSteps.get(by) === value ? { path, by } : { path, by, value });
    separator = ",";
  }
}

function* joinItems<T>(items: readonly T[], format: (item: T) => string): Generator<string> {
  let separator = "";
  for (const item of items) {
    yield separator + format(item);
    separator = ",";
  }
}

function* joinMembers(members: Iterable<readonly [string, CheckpointAgent]>): Generator<string> {
  let separator = "";
  for (const [name, member] of members) {
    yield `${separator}${JSON.stringify(name)}:`;
    yield* encodeJsonPieces(member);
    separator = ",";
  }
}

type PayloadHead = Omit<
  CheckpointPayload,
  "agents" | "decisions" | "metrics" | "confidence" | "outputs" | "deliverables" | "state"
>;

function describeHead(taken: SnapshotCapture): PayloadHead {
  const { event, task } = taken;
  return {
    version: "1.0",
    checkpoint_id: event.checkpointId,
    workflow_id: task.id,
    task: task.name,
    workflow: task.definition.name,
    timestamp: new Date(event.atMs).toISOString(),
    phase: event.phase,
    status: event.status,
    resumable: task.resumable && event.status !== "completed",
    trigger: event.trigger,
    ...(event.note === undefined ? {} : { note: event.note }),
    ...(event.metadata === undefined ? {} : { metadata: event.metadata }),
  };
}

function* describeAgents(taken: SnapshotCapture): Generator<readonly [string, CheckpointAgent]> {
  const reported = new Set(taken.channel.map(([key]) => key));
  if (!reported.has(`${AGENT_KEY_PREFIX}atlas`)) yield ["atlas", describeOrchestrator(taken)];
  const evaluator = describeEvaluator(taken);
  if (evaluator !== undefined) yield ["apollo", evaluator];
  let number = 0;
  for (const { step, iterations } of listSpecialists(taken.steps)) {
    number += 1;
    yield [`mercury_${number}`, { ...describeSpecialist(step), ...(iterations > 1 ? { iterations } : {}) }];
  }
  for (const [key, value] of taken.channel) {
    if (key.startsWith(AGENT_KEY_PREFIX) && isJsonObject(value))
      yield [key.slice(AGENT_KEY_PREFIX.length), describeReported(key, value)];
  }
}

/** A specialist is one agent, however often it began; the last time counts. */
function listSpecialists(steps: readonly StepEntry[]): Iterable<{ step: StepEntry; iterations: number }> {
  const byPath = new Map<string, { step: StepEntry; iterations: number }>();
  for (const step of steps) {
    if (!isAgent(step.kind)) continue;
    byPath.set(step.path, { step, iterations: (byPath.get(step.path)?.iterations ?? 0) + 1 });
  }
  return byPath.values();
}

/** An agent as a program reported it. */
function describeReported(key: string, report: JsonObject): CheckpointAgent {
  const { status, confidence, blockers } = report;
  const texts = Array.isArray(blockers) ? blockers.filter((item): item is string => typeof item === "string") : [];
  return {
    status: AGENT_STATUSES.find((candidate) => candidate === status) ?? "active",
    agent_type: typeOfReported(key.slice(AGENT_KEY_PREFIX.length)),
    ...(typeof confidence === "number" ? { confidence } : {}),
    ...(texts.length === 0 ? {} : { blockers: texts }),
    state: `channel.${key}`,
  };
}

/** By the names of the seeds; any other agent of a program does a part of the work. */
function typeOfReported(agent: string): "orchestrator" | "specialist" | "evaluator" {
  if (agent === "atlas") return "orchestrator";
  return agent === "apollo" ? "evaluator" : "specialist";
}

const AGENT_STATUSES: readonly CheckpointAgent["status"][] = ["launched", "active", "completed", "failed", "blocked"];

const ORCHESTRATOR_STATUS: Readonly<Record<EventOf<"checkpoint_recorded">["status"], CheckpointAgent["status"]>> = {
  in_progress: "active",
  paused: "blocked",
  failed: "failed",
  completed: "completed",
};

function describeOrchestrator(taken: SnapshotCapture): CheckpointAgent {
  const decision = taken.decisions.findLast((candidate) => candidate.agent === "atlas");
  const confidence = decision?.confidence ?? latestConfidence(taken.phases);
  return {
    status: ORCHESTRATOR_STATUS[taken.event.status],
    agent_type: "orchestrator",
    ...(confidence === undefined ? {} : { confidence }),
    ...(decision === undefined ? {} : { last_decision: decision.type }),
    state: "scopes",
  };
}

function describeEvaluator({ evaluations, decisions }: SnapshotCapture): CheckpointAgent | undefined {
  const last = evaluations.at(-1);
  if (last === undefined) return undefined;
  const decided = last.verdict === undefined ? undefined : decisions.findLast(({ agent }) => agent === "apollo");
  const decision = decided?.type ?? last.verdict;
  return {
    status: last.verdict === undefined ? "active" : "completed",
    agent_type: "evaluator",
    ...(last.score === undefined ? {} : { confidence: last.score / 100 }),
    ...(decision === undefined ? {} : { last_decision: decision }),
    state: "evaluations",
  };
}

function describeSpecialist(step: StepEntry): CheckpointAgent {
  const confidence = step.confidence?.value ?? step.confidenceHistory.at(-1);
  return {
    status: specialistStatus(step),
    agent_type: "specialist",
    name: step.name,
    ...(confidence === undefined ? {} : { confidence }),
    ...(step.savedAs === undefined ? {} : { output_ref: step.savedAs }),
    ...(step.blockers.length === 0 ? {} : { blockers: step.blockers }),
    state: step.id,
  };
}

function specialistStatus(step: StepEntry): CheckpointAgent["status"] {
  switch (step.status) {
    case "open":
      return step.process === undefined && step.progress === undefined ? "launched" : "active";
    case "completed":
    case "skipped":
      return "completed";
    case "failed":
    case "cancelled":
      return "failed";
    case "asked":
    case "waiting_retry":
    case "unknown":
    case "parked":
      return "blocked";
    default:
      return step.status satisfies never;
  }
}

/** A decision in the words of the file. Shape: `decodeDecision` gives it back exactly. */
export function encodeDecision(decision: Decision): CheckpointDecision {
  return {
    id: decision.id,
    timestamp: new Date(decision.atMs).toISOString(),
    agent: decision.agent,
    type: decision.type,
    description: decision.description,
    rationale: decision.rationale,
    alternatives_considered: decision.alternativesConsidered,
    ...(decision.confidence === undefined ? {} : { confidence: decision.confidence }),
    ...(decision.subject === undefined ? {} : { subject: decision.subject }),
    ...(decision.orchestrator === undefined ? {} : { orchestrator: decision.orchestrator }),
    ...(decision.effect === undefined ? {} : { effect: { ...decision.effect } }),
    ...(decision.facts === undefined ? {} : { facts: decision.facts }),
  };
}

/** Errors: CHECKPOINT_CORRUPT for an effect that is none. */
export function decodeDecision(stored: CheckpointDecision): Decision {
  const decision = {
    id: stored.id,
    atMs: Date.parse(stored.timestamp),
    agent: stored.agent,
    type: stored.type,
    description: stored.description,
    rationale: stored.rationale,
    alternativesConsidered: stored.alternatives_considered,
    ...(stored.confidence === undefined ? {} : { confidence: stored.confidence }),
    ...(stored.subject === undefined ? {} : { subject: stored.subject }),
    ...(stored.orchestrator === undefined ? {} : { orchestrator: stored.orchestrator }),
    ...(stored.effect === undefined ? {} : { effect: stored.effect }),
    ...(stored.facts === undefined ? {} : { facts: stored.facts }),
  };
  const fault = findDecisionFault(decision);
  if (fault !== undefined) throw new SplashdownError("CHECKPOINT_CORRUPT", fault);
  return Object.freeze(decision as Decision);
}

function describeMetrics(totals: Totals): CheckpointMetrics {
  return {
    elapsed_time: totals.elapsedMs / 1000,
    api_calls: totals.calls,
    tokens_used: totals.tokensIn + totals.tokensOut,
    memory_peak: Math.round((totals.memoryPeakBytes / 1024 ** 2) * 10) / 10,
    steps: totals.steps,
    iterations: totals.iterations,
    cost_micro_usd: totals.costMicroUsd,
    unpriced_calls: totals.unpricedCalls,
  };
}

function latestConfidence(phases: readonly PhaseEntry[]): number | undefined {
  return phases.findLast((phase) => phase.confidence !== undefined)?.confidence;
}

function describeConfidence(phases: readonly PhaseEntry[]): CheckpointPayload["confidence"] {
  const known = phases.flatMap((phase) =>
    phase.confidence === undefined ? [] : [[phase.name, phase.confidence] as const],
  );
  // A chain is as strong as its weakest phase; as in the report of confidence.
  const overall = known.length === 0 ? undefined : Math.min(...known.map(([, confidence]) => confidence));
  return { ...(overall === undefined ? {} : { overall }), phases: Object.fromEntries(known) };
}

/** For messages: which checkpoint it is. */
export function labelOf(event: { readonly seq: number; readonly checkpointId: CheckpointId }): string {
  return `checkpoint ${event.seq} (${event.checkpointId})`;
}
