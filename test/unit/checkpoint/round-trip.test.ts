import { beforeAll, describe, expect, it } from "vitest";
import type { QuestionId, StepId } from "../../../src/base/ids.js";
import { createBlobShelf } from "../../../src/checkpoint/blobs/blobs.js";
import type { SnapshotEvent } from "../../../src/checkpoint/contract.js";
import { validateFile } from "../../../src/checkpoint/format/file-report.js";
import { createCheckpointManager } from "../../../src/checkpoint/manager.js";
import { formatSnapshotName } from "../../../src/checkpoint/format/names.js";
import { writeSnapshot } from "../../../src/checkpoint/format/writer.js";
import { hashState } from "../../../src/engine/model/state-codec.js";
import type { TaskState } from "../../../src/engine/model/state.js";
import {
  addSteps,
  type CheckpointRoom,
  createCheckpointRoom,
  createStep,
  createTaskState,
  positionOf,
  RAW_BYTES_MAX,
  recordCheckpoint,
  recordSnapshot,
  takeCheckpoint,
  textOf,
} from "../../support/checkpoint-room.js";
import { codeOfAsync, refusalOf } from "../../support/error-code.js";
import { FAKE_START_MS } from "../../support/fake-clock.js";
import { createOtherKeyVault, createPlainVault, createTestVault, JOURNAL_TASK_ID } from "../../support/journal-room.js";

const step2 = "research/step2@1.1" as StepId;

/** Something in every container. */
function createRichState(): TaskState {
  const state = createTaskState();
  addSteps(state, 3);
  const rich = createStep(4, {
    status: "open",
    kind: "model",
    output: undefined,
    milestone: { name: "half", state: { inline: { done: [1, 2, { $t: "bigint", v: "12" }] } } },
    partial: { inline: "so far \ud83d\ude00 \ud800 \u2028 é" },
    progress: { fraction: 0.25, message: "reading" },
    confidence: { value: 0.73, factors: ["few files"], uncertainties: [{ text: "x" }] },
    blockers: ["no key"],
    assumptions: ["utf-8"],
  });
  state.steps.set(rich.id, rich);
  state.open.add(rich.id);
  state.waiting.add(step2);
  state.blocked.add("research/step3@1.1" as StepId);
  state.histories.set(rich.id, {
    turns: [{ inline: { role: "assistant", text: "hm" } }],
    tools: new Map([["c1", { name: "read", value: { inline: 1 }, effects: "none", result: { inline: 2 } }]]),
    substeps: new Map([["s", { value: { inline: null }, done: true }]]),
  });
  state.visits.set("research", 2);
  state.outputs.set("research", Object.freeze({ value: { inline: [1, "2", null] }, by: "research" }));
  state.outputs.set(
    "7",
    Object.freeze({ value: { blob: { key: "blobs/aa/x.bin", sizeBytes: 9, digest: "d" } }, by: "7" }),
  );
  state.channel.set("topic", { deep: [{ er: true }] });
  state.channel.set("2", 2);
  for (const n of [1, 2]) {
    state.decisions.push(
      Object.freeze({
        id: `d${n}`,
        atMs: FAKE_START_MS + n,
        agent: n === 1 ? "atlas" : "person:ada",
        type: "spawn_additional_specialist",
        description: "one more",
        rationale: "0.73 < 0.75",
        alternativesConsidered: ["request_human_review"],
        ...(n === 1
          ? {
              confidence: 0.88,
              subject: "research",
              facts: { band: "spawn_one" },
              effect: { kind: "settle_phase", settled: "waiting" } as const,
            }
          : {}),
      }),
    );
  }
  state.questions.set(
    "gate:x:1" as QuestionId,
    Object.freeze({
      id: "gate:x:1" as QuestionId,
      kind: "gate",
      text: "ok?",
      options: [{ value: "y", label: "yes" }],
      openedAtMs: 1,
      status: "open",
    }),
  );
  state.unsettled.add("gate:x:1" as QuestionId);
  state.phases.set(
    "research",
    Object.freeze({
      path: "research",
      name: "research",
      number: 1,
      status: "running",
      iteration: 2,
      startedAtMs: 5,
      confidence: 0.8,
      feedback: ["more"],
      spawned: 1,
    }),
  );
  state.evaluations.push(
    Object.freeze({
      path: "research",
      iteration: 1,
      scores: { quality: { score: 82, issues: [{ text: "thin" }], feedback: "f" } },
      score: 82,
      verdict: "iterate",
    }),
  );
  state.deliverables.set(
    "final/r.md",
    Object.freeze({ file: "final/r.md", sha256: "1".repeat(64), sizeBytes: 3, content: { inline: "abc" } }),
  );
  state.triggered.set("interval", 77);
  state.totals = Object.freeze({
    ...state.totals,
    calls: 42,
    tokensIn: 18_000,
    tokensOut: 500,
    elapsedMs: 185_400,
    memoryPeakBytes: 512.3 * 1024 ** 2,
  });
  return state;
}

let room: CheckpointRoom;
let state: TaskState;
let file: string;

beforeAll(async () => {
  room = await createCheckpointRoom();
  state = createRichState();
  const taken = takeCheckpoint(state);
  const written = await writeSnapshot(taken, { position: positionOf(taken.position), prev: undefined }, room.writer);
  file = written?.file ?? "";
});

describe("a snapshot", () => {
  it("gives back the whole state, byte for byte", async () => {
    const loaded = await room.source().load(file);
    expect(hashState(loaded.state)).toBe(hashState(state));
    expect(loaded).toMatchObject({ seq: 1, epoch: 1, prev: undefined, position: positionOf(state.position) });
    expect(loaded.state.decisions).toEqual(state.decisions);
    expect([...loaded.state.outputs]).toEqual([...state.outputs]);
    expect(loaded.state.outputs.get("research/step1")?.value).toBe(
      loaded.state.steps.get("research/step1@1.1" as StepId)?.output,
    );
  });

  it("holds the seed's structure", async () => {
    const { picture } = await room.source().loadPicture(file);
    expect(picture).toMatchObject({
      version: "1.0",
      workflow_id: JOURNAL_TASK_ID,
      workflow: "market-report",
      task: "t",
      phase: 1,
      status: "in_progress",
      resumable: true,
      metrics: { elapsed_time: 185.4, api_calls: 42, tokens_used: 18_500, memory_peak: 512.3 },
      confidence: { overall: 0.8, phases: { research: 0.8 } },
      deliverables: [{ file: "final/r.md", size: 3 }],
    });
    expect(picture.agents["atlas"]).toMatchObject({
      status: "active",
      confidence: 0.88,
      last_decision: "spawn_additional_specialist",
      state: "scopes",
    });
    expect(picture.agents["apollo"]).toMatchObject({
      status: "completed",
      confidence: 0.82,
      last_decision: "iterate",
      state: "evaluations",
    });
    expect(picture.agents["mercury_4"]).toMatchObject({
      status: "active",
      name: "step4",
      confidence: 0.73,
      blockers: ["no key"],
      state: "research/step4@1.1",
    });
    expect(picture.decisions[0]).toMatchObject({
      timestamp: "2024-01-02T14:35:22.124Z",
      rationale: "0.73 < 0.75",
      alternatives_considered: ["request_human_review"],
      confidence: 0.88,
    });
  });

  it("stores no large thing twice", async () => {
    const other = await createCheckpointRoom();
    const large = createTaskState();
    addSteps(large, 50, 10_000);
    const taken = takeCheckpoint(large);
    const written = await writeSnapshot(taken, { position: positionOf(taken.position), prev: undefined }, other.writer);
    expect(written?.rawBytes).toBeLessThan(50 * 11_000);
  });

  it("works without compression and without encryption", async () => {
    for (const [vault, extra] of [
      [createTestVault("s"), { level: 0 }],
      [createPlainVault(JOURNAL_TASK_ID), {}],
      [createPlainVault(JOURNAL_TASK_ID), { level: 0 }],
    ] as const) {
      const other = await createCheckpointRoom(vault);
      const taken = takeCheckpoint(createRichState());
      const written = await writeSnapshot(
        taken,
        { position: positionOf(taken.position), prev: undefined },
        { ...other.writer, ...extra },
      );
      const loaded = await other.source().load(written?.file ?? "");
      expect(hashState(loaded.state)).toBe(hashState(state));
      expect(loaded.header.codec).toBe("level" in extra ? "none" : "gzip");
    }
  });

  it("is refused when the state is not where the header says", async () => {
    const other = await createCheckpointRoom();
    const taken = takeCheckpoint(createRichState());
    const written = await writeSnapshot(taken, { position: positionOf(3), prev: undefined }, other.writer);
    expect(await codeOfAsync(() => other.source().load(written?.file ?? ""))).toBe("CHECKPOINT_CORRUPT");
  });

  it("is refused out of its place in the chain", async () => {
    const other = await createCheckpointRoom();
    const chained = createTaskState();
    const first = takeCheckpoint(chained);
    recordSnapshot(chained, {
      type: "snapshot_written",
      atMs: 1,
      checkpointId: first.event.checkpointId,
      seq: 1,
      file: "f",
      sha256: "a".repeat(64),
      sizeBytes: 1,
      rawBytes: 1,
      durationMs: 1,
    });
    const second = takeCheckpoint(chained);
    const prev = { checkpointId: first.event.checkpointId, sha256: "b".repeat(64) };
    const written = await writeSnapshot(second, { position: positionOf(second.position), prev }, other.writer);
    expect(await codeOfAsync(() => other.source().load(written?.file ?? ""))).toBe("TASK_SWAPPED");
  });
});

describe("the snapshot source", () => {
  it("lists newest first by sequence, whatever the clock said, and passes over other files", async () => {
    const other = await createCheckpointRoom();
    const many = createTaskState();
    const atMs = [9000, 5000, 7000];
    for (const at of atMs) {
      const event = recordCheckpoint(many, { atMs: FAKE_START_MS + at, phase: at === 5000 ? 12 : 2 });
      const manager = createCheckpointManager({
        writer: other.writer,
        journal: other.journal,
        log: other.log,
        isEnabled: true,
        onEvent: async () => undefined,
      });
      await manager.captured(many, event).written;
    }
    await other.task.putOnce("checkpoint_phase1.json", Buffer.from("x"));
    await other.task.putOnce(formatSnapshotName({ phase: 1, atMs: FAKE_START_MS, seq: 99 }), Buffer.from("damaged"));
    expect((await other.source().list()).map(({ seq, phase }) => [seq, phase])).toEqual([
      [99, 1],
      [3, 2],
      [2, 12],
      [1, 2],
    ]);
  });

  it("lists files of one sequence by epoch, those that cannot be read last", async () => {
    const other = await createCheckpointRoom();
    const files: string[] = [];
    for (const [epoch, ms] of [
      [1, 1],
      [3, 2],
      [2, 3],
    ] as const) {
      const one = createTaskState();
      one.epoch = epoch;
      const event = recordCheckpoint(one, { atMs: FAKE_START_MS + ms });
      const manager = createCheckpointManager({
        writer: other.writer,
        journal: other.journal,
        log: other.log,
        isEnabled: true,
        onEvent: async () => undefined,
      });
      await manager.captured(one, event).written;
    }
    for (const ms of [4, 5]) {
      files.push(formatSnapshotName({ phase: 1, atMs: FAKE_START_MS + ms, seq: 1 }));
      await other.task.putOnce(files.at(-1) ?? "", Buffer.from("damaged"));
    }
    const listed = await other.source().list();
    // The readable ones are of epochs 3, 2 and 1.
    expect(listed.slice(0, 3).map(({ atMs }) => atMs - FAKE_START_MS)).toEqual([2, 3, 1]);
    expect(listed.slice(3).map(({ file: name }) => name)).toEqual([...files].reverse());
  });

  it("names the file in every refusal, and refuses what is not there", async () => {
    const refusal = await refusalOf(() => room.source(createOtherKeyVault()).load(file));
    expect(refusal).toMatchObject({ code: "KEY_WRONG", details: { file, task: "t" } });
    expect(refusal.message).toContain(file);
    expect(await codeOfAsync(() => room.source().load(formatSnapshotName({ phase: 1, atMs: 0, seq: 1 })))).toBe(
      "CHECKPOINT_NOT_FOUND",
    );
    expect(await codeOfAsync(() => room.source().load("../../etc/passwd"))).toBe("CHECKPOINT_NOT_FOUND");
  });

  it("refuses a file under the name of another", async () => {
    const bytes = (await room.task.get(file)) ?? new Uint8Array();
    const other = formatSnapshotName({ phase: 1, atMs: FAKE_START_MS + 1000, seq: 2 });
    await room.task.putOnce(other, bytes);
    expect(await codeOfAsync(() => room.source().load(other))).toBe("TASK_SWAPPED");
    await room.task.remove(other);
  });

  it("refuses a file over the size limit unread", async () => {
    const { createSnapshotSource } = await import("../../../src/checkpoint/source.js");
    await room.task.putOnce(formatSnapshotName({ phase: 1, atMs: 0, seq: 7 }), Buffer.alloc(70_000));
    const source = createSnapshotSource({ store: room.task, vault: room.vault, rawBytesMax: 1000 });
    expect(await codeOfAsync(() => source.load(formatSnapshotName({ phase: 1, atMs: 0, seq: 7 })))).toBe(
      "VALUE_TOO_LARGE",
    );
    await room.task.remove(formatSnapshotName({ phase: 1, atMs: 0, seq: 7 }));
  });

  it("sets a bad file aside with its reason, as often as it comes back", async () => {
    const other = await createCheckpointRoom();
    const name = formatSnapshotName({ phase: 1, atMs: 0, seq: 1 });
    const keys: string[] = [];
    for (const content of ["one", "two", "two"]) {
      await other.task.putOnce(name, Buffer.from(content));
      keys.push(await other.source().quarantine(name, `bad ${content}`));
    }
    expect(keys).toEqual([`quarantine/${name}`, `quarantine/${name}.2`, `quarantine/${name}.2`]);
    expect(await other.task.list("checkpoint_")).toEqual([]);
    expect(Buffer.from((await other.task.get(`quarantine/${name}.reason.txt`)) ?? []).toString()).toBe("bad one\n");
    expect(await codeOfAsync(() => other.source().quarantine(name, "again"))).toBe("CHECKPOINT_NOT_FOUND");
  });
});

describe("validateFile", () => {
  const results = async (
    bytes: Uint8Array,
    options: Partial<Parameters<typeof validateFile>[1]> = {},
  ): Promise<unknown[]> =>
    (await validateFile(bytes, { rawBytesMax: RAW_BYTES_MAX, ...options })).checks.map(({ check, result, code }) => [
      check,
      result,
      ...(code === undefined ? [] : [code]),
    ]);

  it("says what it can without a key, and more with one", async () => {
    const bytes = (await room.task.get(file)) ?? new Uint8Array();
    expect(await results(bytes)).toEqual([
      ["structure", "ok"],
      ["name", "skipped"],
      ["seal", "skipped"],
      ["content", "skipped"],
    ]);
    expect(await results(bytes, { vault: room.vault, name: file })).toEqual([
      ["structure", "ok"],
      ["name", "ok"],
      ["seal", "ok"],
      ["content", "ok"],
    ]);
    const report = await validateFile(bytes, { rawBytesMax: RAW_BYTES_MAX });
    expect(report).toMatchObject({ ok: true, withKey: false, header: { seq: 1 } });
  });

  it("names what fails", async () => {
    const bytes = Buffer.from((await room.task.get(file)) ?? []);
    expect(
      await results(bytes, {
        vault: createOtherKeyVault(),
        name: "checkpoint_phase9_20240102T143523123Z_00000001.json",
      }),
    ).toEqual([
      ["structure", "ok"],
      ["name", "failed", "TASK_SWAPPED"],
      ["seal", "failed", "KEY_WRONG"],
      ["content", "skipped"],
    ]);
    const cut = await validateFile(bytes.subarray(0, 900), {
      rawBytesMax: RAW_BYTES_MAX,
      vault: room.vault,
      name: file,
    });
    expect(cut.ok).toBe(false);
    expect(cut.checks[0]).toMatchObject({ check: "structure", result: "failed", code: "CHECKPOINT_TRUNCATED" });
  });
});

describe("a checkpoint over its size limit", () => {
  async function save(texts: readonly number[], rawBytesMax: number) {
    const other = await createCheckpointRoom();
    const large = createTaskState();
    texts.forEach((chars, at) => {
      const step = createStep(at + 1, { output: { inline: { text: textOf(at, chars) } } });
      large.steps.set(step.id, step);
      if (step.output !== undefined) large.outputs.set(step.path, { value: step.output, by: step.id });
    });
    const blobs = createBlobShelf({ store: other.task, vault: other.vault });
    const events: SnapshotEvent[] = [];
    const manager = createCheckpointManager({
      writer: { ...other.writer, rawBytesMax },
      journal: other.journal,
      log: other.log,
      isEnabled: true,
      onEvent: async (event) => void events.push(event),
      blobs,
    });
    return { other, large, blobs, events, done: manager.captured(large, recordCheckpoint(large)).written };
  }

  it("keeps its largest values outside and says which", async () => {
    const { other, large, blobs, events, done } = await save([5000, 90_000, 6000, 40_000], 60_000);
    await done;
    const [event] = events;
    if (event?.type !== "snapshot_written") throw new Error("not written");
    expect(other.lines.join("\n")).toMatch(
      /over its size limit; kept outside: steps.research\/step2@1.1.output \(88 KB\)/,
    );
    const loaded = await other.source().load(event.file);
    const output = loaded.state.steps.get(step2)?.output;
    if (output === undefined || !("blob" in output)) throw new Error("not outside");
    expect(await blobs.get(output.blob)).toEqual({ text: textOf(1, 90_000) });
    expect(loaded.state.outputs.get("research/step2")?.value).toBe(output);
    expect(large.steps.get(step2)?.output).toHaveProperty("inline");
    expect(loaded.state.steps.get("research/step1@1.1" as StepId)?.output).toEqual({
      inline: { text: textOf(0, 5000) },
    });
  });

  it("fails with the largest paths when that is not enough", async () => {
    const { done } = await save(
      Array.from({ length: 40 }, () => 3000),
      50_000,
    );
    const refusal = await refusalOf(() => done);
    expect(refusal).toMatchObject({ code: "CHECKPOINT_FAILED", details: { cause: "VALUE_TOO_LARGE" } });
    expect(refusal.message).toMatch(/largest: steps\./);
  });
});
