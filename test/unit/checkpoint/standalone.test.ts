import { describe, expect, it } from "vitest";
import { createCheckpointManager } from "../../../src/checkpoint/manager.js";
import { SnapshotRetention } from "../../../src/checkpoint/retention.js";
import { createSnapshotSource } from "../../../src/checkpoint/source.js";
import {
  isOfProgram,
  openStandaloneCheckpoints,
  type StandaloneCheckpoints,
  type StandaloneOptions,
} from "../../../src/checkpoint/standalone.js";
import type { EngineEvent } from "../../../src/engine/model/events.js";
import { evolve } from "../../../src/engine/fold/evolve.js";
import { createState, type TaskState } from "../../../src/engine/model/state.js";
import type { JournalPosition } from "../../../src/journal/position.js";
import type { JournalWriter } from "../../../src/journal/writer.js";
import { createTaskState, RAW_BYTES_MAX } from "../../support/checkpoint-room.js";
import { codeOfAsync, refusalOf } from "../../support/error-code.js";
import { flushReactions } from "../../support/fake-clock.js";
import {
  createJournalRoom,
  createOtherKeyVault,
  JOURNAL_TASK_ID,
  type JournalRoom,
} from "../../support/journal-room.js";
import { createSeededRandom } from "../../support/seeded-random.js";

interface Program {
  readonly checkpoints: StandaloneCheckpoints;
  readonly state: TaskState;
  readonly journal: JournalWriter;
  readonly copies: Map<string, Uint8Array>;
}

/** A program's process over a task that may have been there before. */
async function startProgram(
  room: JournalRoom,
  from?: { state: TaskState; prev: JournalPosition },
  extra: Partial<StandaloneOptions> = {},
): Promise<Program> {
  const journal = await room.take(from?.prev);
  const state = from?.state ?? createState();
  const copies = new Map<string, Uint8Array>();
  const log = { info: () => undefined, warn: () => undefined, debug: () => undefined };
  const onEvent = async (event: EngineEvent): Promise<void> => {
    evolve(state, event);
    journal.append([event]);
    await journal.durable();
  };
  const source = createSnapshotSource({ store: room.task, vault: room.vault, rawBytesMax: RAW_BYTES_MAX });
  const retention = new SnapshotRetention({
    store: room.task,
    journal,
    log,
    rules: { perPhaseMax: 2, perTaskMax: 4 },
    verify: () => Promise.resolve(true),
    onPruned: onEvent,
    nowMs: () => room.clock.nowMs(),
  });
  const writer = {
    store: room.task,
    vault: room.vault,
    clock: room.clock,
    breathe: flushReactions,
    rawBytesMax: RAW_BYTES_MAX,
    app: "0.1.0",
  };
  const manager = createCheckpointManager({ writer, journal, log, isEnabled: true, onEvent });
  const checkpoints = await openStandaloneCheckpoints({
    name: "my-agents",
    store: room.task,
    journal,
    manager,
    source,
    retention,
    state,
    taskId: JOURNAL_TASK_ID,
    clock: room.clock,
    random: createSeededRandom(`program ${journal.epoch}`),
    exportTo: async (path, bytes) => void copies.set(path, bytes),
    ...extra,
  });
  return { checkpoints, state, journal, copies };
}

describe("the standalone checkpoint manager", () => {
  it("saves agents and decisions and gives them back", async () => {
    const { checkpoints } = await startProgram(await createJournalRoom());
    await checkpoints.startPhase(1);
    await checkpoints.updateAgentState("mercury_1", {
      status: "active",
      confidence: 0.73,
      blockers: ["key"],
      state: { seen: new Set([1]) },
    });
    await checkpoints.recordDecision({
      agent: "atlas",
      type: "spawn",
      description: "one more",
      rationale: "low",
      alternativesConsidered: ["ask"],
      confidence: 0.88,
    });
    const saved = await checkpoints.createCheckpoint(undefined, { stage: "validated" });
    expect(saved).toMatchObject({ entry: { seq: 2, phase: 1, trigger: "user_requested" }, isVerified: true });
    const loaded = await checkpoints.load(saved.entry.checkpointId);
    expect(loaded).toMatchObject({
      seq: 2,
      phase: 1,
      agents: {
        mercury_1: { status: "active", confidence: 0.73, blockers: ["key"], state: { seen: new Set([1]) } },
      },
      decisions: [
        {
          agent: "atlas",
          description: "one more",
          rationale: "low",
          alternativesConsidered: ["ask"],
          confidence: 0.88,
        },
      ],
      metadata: { stage: "validated" },
    });
    expect(await checkpoints.loadLatest()).toEqual(loaded);
  });

  it("shows its agents in the file's picture", async () => {
    const room = await createJournalRoom();
    const { checkpoints } = await startProgram(room);
    await checkpoints.updateAgentState("mercury_1", { status: "completed", confidence: 0.9 });
    await checkpoints.updateAgentState("atlas", { status: "blocked", blockers: ["ada"] });
    const { file } = await checkpoints.createCheckpoint();
    const source = createSnapshotSource({ store: room.task, vault: room.vault, rawBytesMax: RAW_BYTES_MAX });
    expect((await source.loadPicture(file?.name ?? "")).picture.agents).toEqual({
      mercury_1: { status: "completed", agent_type: "specialist", confidence: 0.9, state: "channel.agent:mercury_1" },
      atlas: { status: "blocked", agent_type: "orchestrator", blockers: ["ada"], state: "channel.agent:atlas" },
    });
  });

  it("is a real task: its journal folds to the same state, and a new process goes on", async () => {
    const room = await createJournalRoom();
    const first = await startProgram(room);
    await first.checkpoints.updateAgentState("a", { status: "active", state: 1 });
    await first.checkpoints.createCheckpoint();
    const history = await room.read();
    const state = createState();
    for (const record of history.records) evolve(state, record.decode());
    expect(state).toEqual(first.state);
    const prev = first.journal.position;
    if (prev === undefined) throw new Error("nothing was written");
    const second = await startProgram(room, { state, prev });
    await second.checkpoints.updateAgentState("a", { status: "completed", state: 2 });
    await second.checkpoints.createCheckpoint();
    expect((await second.checkpoints.list()).map(({ entry }) => entry.seq)).toEqual([1, 2]);
    expect((await second.checkpoints.loadLatest())?.agents).toEqual({ a: { status: "completed", state: 2 } });
  });

  it("goes back to a phase", async () => {
    const { checkpoints, state } = await startProgram(await createJournalRoom());
    await checkpoints.startPhase(1);
    await checkpoints.updateAgentState("a", { status: "active", state: "early" });
    await checkpoints.createCheckpoint();
    await checkpoints.startPhase(2);
    await checkpoints.updateAgentState("a", { status: "active", state: "late" });
    await checkpoints.createCheckpoint();
    expect(await checkpoints.resumeFromPhase(1)).toMatchObject({ phase: 1, agents: { a: { state: "early" } } });
    expect(state.channel.get("agent:a")).toMatchObject({ state: "early" });
    expect((await checkpoints.createCheckpoint()).entry.phase).toBe(1);
    expect(await codeOfAsync(() => checkpoints.resumeFromPhase(7))).toBe("CHECKPOINT_NOT_FOUND");
  });

  it("deletes files and prunes by the rules; the checkpoints stay listed", async () => {
    const room = await createJournalRoom();
    const { checkpoints } = await startProgram(room);
    for (let count = 0; count < 5; count += 1) await checkpoints.createCheckpoint();
    expect(await checkpoints.delete("latest")).toBe(true);
    expect(await checkpoints.delete("latest")).toBe(false);
    expect(await codeOfAsync(() => checkpoints.load("5"))).toBe("CHECKPOINT_NOT_FOUND");
    expect((await checkpoints.loadLatest())?.seq).toBe(4);
    expect(await checkpoints.prune()).toHaveLength(2);
    expect((await checkpoints.list()).map(({ entry, file }) => [entry.seq, file !== undefined])).toEqual([
      [1, false],
      [2, false],
      [3, true],
      [4, true],
      [5, false],
    ]);
    expect((await room.read()).records.filter((record) => record.decode().type === "pruned")).toHaveLength(2);
  });

  it("deletes no file once another process has claimed the task", async () => {
    const room = await createJournalRoom();
    const { checkpoints } = await startProgram(room);
    await checkpoints.createCheckpoint();
    const files = await room.task.list("checkpoint_");
    await room.task.claim();
    expect(await codeOfAsync(() => checkpoints.delete("latest"))).toBe("OWNER_SUPERSEDED");
    expect(files).toHaveLength(1);
    expect(await room.task.list("checkpoint_")).toEqual(files);
  });

  it("passes over a damaged latest file, and finds nothing in a new task", async () => {
    const room = await createJournalRoom();
    const { checkpoints } = await startProgram(room);
    expect(await checkpoints.loadLatest()).toBeUndefined();
    await checkpoints.createCheckpoint();
    const { file } = await checkpoints.createCheckpoint();
    await room.task.remove(file?.name ?? "");
    await room.task.putOnce(file?.name ?? "", Buffer.from('{"format":"splashdown.checkpoint",'));
    expect((await checkpoints.loadLatest())?.seq).toBe(1);
  });

  it("passes over no file that the store or the key fails to give", async () => {
    const room = await createJournalRoom();
    const source = createSnapshotSource({ store: room.task, vault: createOtherKeyVault(), rawBytesMax: RAW_BYTES_MAX });
    const { checkpoints } = await startProgram(room, undefined, { source });
    await checkpoints.createCheckpoint();
    expect(await codeOfAsync(() => checkpoints.loadLatest())).toBe("KEY_WRONG");
  });

  it("is told from a task that a workflow runs, and from one that never began", async () => {
    const { state } = await startProgram(await createJournalRoom());
    expect([state, createTaskState(), createState()].map(isOfProgram)).toEqual([true, false, false]);
  });

  it("writes a copy where it is asked to", async () => {
    const room = await createJournalRoom();
    const { checkpoints, copies } = await startProgram(room);
    const { file } = await checkpoints.createCheckpoint("/backup/one.json");
    expect(copies.get("/backup/one.json")).toEqual(await room.task.get(file?.name ?? ""));
    const { checkpoints: without } = await startProgram(await createJournalRoom(), undefined, { exportTo: undefined });
    expect(await codeOfAsync(() => without.createCheckpoint("/backup/two.json"))).toBe("USAGE_INVALID");
    expect(await without.list()).toEqual([]);
  });

  it("refuses what cannot be right", async () => {
    const { checkpoints } = await startProgram(await createJournalRoom());
    expect(await codeOfAsync(async () => checkpoints.updateAgentState("a", { status: "active", confidence: 87 }))).toBe(
      "USAGE_INVALID",
    );
    expect(
      await codeOfAsync(async () =>
        checkpoints.recordDecision({ agent: "a", type: "t", description: "d", rationale: "r", confidence: 150 }),
      ),
    ).toBe("USAGE_INVALID");
    const near = await refusalOf(async () => checkpoints.updateAgentState("a", { status: "active", confidence: 87 }));
    expect(near.message).toContain("; 0.87 was meant?");
    const far = await refusalOf(async () => checkpoints.updateAgentState("a", { status: "active", confidence: -1 }));
    expect(far.message).toBe("a confidence is from 0 to 1, not -1");
    expect(await codeOfAsync(() => checkpoints.startPhase(0))).toBe("USAGE_INVALID");
    expect(await codeOfAsync(async () => checkpoints.updateAgentState("a", { status: "active", state: () => 1 }))).toBe(
      "VALUE_UNSUPPORTED",
    );
  });
});
