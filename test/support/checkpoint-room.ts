/** A task with snapshots, faked around: states made by hand, memory store, sealed vault, a journal that is always durable. */
import type { CheckpointId, StepId, TaskId } from "../../src/base/ids.js";
import type { Log } from "../../src/base/log.js";
import { capture, type SnapshotCapture } from "../../src/checkpoint/format/capture.js";
import type { CheckpointJournal, SnapshotEvent } from "../../src/checkpoint/contract.js";
import { createSnapshotSource } from "../../src/checkpoint/source.js";
import type { SnapshotWriterOptions } from "../../src/checkpoint/format/writer.js";
import type { WorkflowDefinition } from "../../src/definition/model/workflow.js";
import type { EventOf, Trigger } from "../../src/engine/model/events.js";
import { createState, type CheckpointEntry, type StepEntry, type TaskState } from "../../src/engine/model/state.js";
import type { JournalPosition } from "../../src/journal/position.js";
import { MemorySpace, MemoryStore } from "../../src/store/memory/memory-store.js";
import type { TaskStore } from "../../src/store/contract/contract.js";
import type { TaskVault } from "../../src/vault/contract.js";
import { FAKE_START_MS, FakeClock, flushReactions } from "./fake-clock.js";
import { createTestVault, JOURNAL_TASK_ID } from "./journal-room.js";

export const RAW_BYTES_MAX = 100 * 1024 * 1024;

const DEFINITION: WorkflowDefinition = {
  schema: 1,
  name: "market-report",
  inputs: {},
  root: {
    node: "scope",
    scope: "machine",
    name: "root",
    path: "root",
    dependsOn: [],
    routes: [],
    entry: "a",
    children: [],
  },
  output: {},
  limits: { maxIterations: 10 },
  onFailure: "pause",
  context: { mode: "accumulate", trim: "drop_oldest" },
  atlas: { mode: "rules" },
  metadata: {},
  settings: {},
  fingerprint: "f".repeat(64),
};

/** A uuid that ends with the number. */
export function uuidOf(n: number): CheckpointId {
  return `550e8400-e29b-41d4-a716-${String(n).padStart(12, "0")}` as CheckpointId;
}

export function createStep(n: number, extra: Partial<StepEntry> = {}): StepEntry {
  const path = extra.path ?? `research/step${n}`;
  return Object.freeze({
    id: `${path}@1.1` as StepId,
    path,
    name: `step${n}`,
    kind: "command",
    round: 1,
    visit: 1,
    phase: 1,
    status: "completed",
    attempt: 1,
    failures: 0,
    restarts: 0,
    work: { inline: { command: ["node", "tool.mjs", String(n)] } },
    inputHash: "a".repeat(64),
    idempotencyKey: "b".repeat(64),
    effects: "external",
    onUnknown: "ask",
    intendedAtMs: FAKE_START_MS + n,
    endedAtMs: FAKE_START_MS + n + 1,
    output: { inline: { text: `output of step ${n}` } },
    confidenceHistory: [0.5, 0.87],
    blockers: [],
    assumptions: [],
    crashes: 0,
    ...extra,
  });
}

/** A started task with nothing done. */
export function createTaskState(taskId: TaskId = JOURNAL_TASK_ID): TaskState {
  const state = createState();
  state.position = 1;
  state.epoch = 1;
  state.atMs = FAKE_START_MS;
  state.task = Object.freeze({
    id: taskId,
    name: "t",
    definition: DEFINITION,
    folder: "/work",
    inputs: { question: "why" },
    settings: {},
    startedAtMs: FAKE_START_MS,
    status: "running",
    resumable: true,
    extended: Object.freeze({}),
  });
  return state;
}

/** Adds steps with outputs of about this many characters of text. */
export function addSteps(state: TaskState, count: number, textChars = 20): void {
  const first = state.steps.size + 1;
  for (let n = first; n < first + count; n += 1) {
    const step = createStep(n, { output: { inline: { text: textOf(n, textChars) } } });
    state.steps.set(step.id, step);
    if (step.output !== undefined) state.outputs.set(step.path, Object.freeze({ value: step.output, by: step.id }));
    state.position += 2;
  }
}

const WORDS = "the task reads every file and says what it found there with a reason for each of its choices".split(" ");

/** Text with some variety, the same for the same numbers. */
export function textOf(seed: number, chars: number): string {
  const parts: string[] = [];
  let state = seed * 2654435761;
  for (let length = 0; length < chars;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const word = (state >>> 8) % 4 === 0 ? state.toString(36) : (WORDS[(state >>> 12) % WORDS.length] ?? "");
    parts.push(word);
    length += word.length + 1;
  }
  return parts.join(" ").slice(0, chars);
}

/** Folds a checkpoint's event by hand, as `evolve` does. */
export function recordCheckpoint(
  state: TaskState,
  extra: Partial<EventOf<"checkpoint_recorded">> = {},
): EventOf<"checkpoint_recorded"> {
  const seq = (state.checkpoints.at(-1)?.seq ?? 0) + 1;
  const event: EventOf<"checkpoint_recorded"> = {
    type: "checkpoint_recorded",
    atMs: FAKE_START_MS + seq * 1000,
    checkpointId: uuidOf(seq),
    seq,
    phase: 1,
    trigger: "specialist_finished",
    status: "in_progress",
    ...extra,
  };
  state.position += 1;
  const { type: _type, ...entry } = event;
  state.checkpoints.push(Object.freeze({ ...entry, position: state.position }));
  return event;
}

export function recordSnapshot(state: TaskState, event: EventOf<"snapshot_written">): void {
  state.position += 1;
  const at = state.checkpoints.findIndex((entry) => entry.checkpointId === event.checkpointId);
  const entry = state.checkpoints[at];
  if (entry === undefined) return;
  const snapshot = { file: event.file, sha256: event.sha256, sizeBytes: event.sizeBytes };
  state.checkpoints[at] = Object.freeze<CheckpointEntry>({ ...entry, snapshot });
}

export function positionOf(n: number): JournalPosition {
  return { n, epoch: 1, index: 0, h: Buffer.alloc(32, n % 251).toString("base64url") };
}

export function takeCheckpoint(state: TaskState, trigger: Trigger = "specialist_finished"): SnapshotCapture {
  const taken = capture(state, recordCheckpoint(state, { trigger }));
  if (taken === undefined) throw new Error("the task has not started");
  return taken;
}

/** Durable at once, as far as it is told. */
export class FakeJournal implements CheckpointJournal {
  bytes = 0;
  durableCalls = 0;
  superseded = false;
  failure: Error | undefined;
  unknown = false;

  async durable(): Promise<void> {
    this.durableCalls += 1;
    if (this.failure !== undefined) throw this.failure;
  }

  positionAt(n: number): JournalPosition | undefined {
    return this.unknown ? undefined : positionOf(n);
  }

  sizeBytes(): number {
    return this.bytes;
  }

  confirm(): Promise<void> {
    return this.superseded
      ? Promise.reject(Object.assign(new Error("superseded"), { code: "OWNER_SUPERSEDED" }))
      : Promise.resolve();
  }
}

export interface CheckpointRoom {
  readonly clock: FakeClock;
  readonly space: MemorySpace;
  readonly task: TaskStore;
  readonly vault: TaskVault;
  readonly journal: FakeJournal;
  readonly events: SnapshotEvent[];
  readonly lines: string[];
  readonly log: Log;
  readonly writer: SnapshotWriterOptions;
  source(vault?: TaskVault): ReturnType<typeof createSnapshotSource>;
}

export async function createCheckpointRoom(vault: TaskVault = createTestVault("snapshots")): Promise<CheckpointRoom> {
  const clock = new FakeClock();
  const space = new MemorySpace();
  const task = await new MemoryStore({ space, deliverablesRoot: "/outputs" }).createTask("t");
  if (task === undefined) throw new Error("the task exists");
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  return {
    clock,
    space,
    task,
    vault,
    journal: new FakeJournal(),
    events: [],
    lines,
    log: { info: say, warn: say, debug: say },
    writer: { store: task, vault, clock, breathe: flushReactions, rawBytesMax: RAW_BYTES_MAX, app: "0.1.0" },
    source: (other = vault) => createSnapshotSource({ store: task, vault: other, rawBytesMax: RAW_BYTES_MAX }),
  };
}
