import { describe, expect, it } from "vitest";
import { gzipSync } from "node:zlib";
import { SplashdownError } from "../../../src/base/errors.js";
import { createBlobShelf } from "../../../src/checkpoint/blobs/blobs.js";
import { capture } from "../../../src/checkpoint/format/capture.js";
import { formatDiff } from "../../../src/checkpoint/diff/diff-text.js";
import { findLargest } from "../../../src/checkpoint/blobs/large-values.js";
import { encodeLayout, formatHead, readHead, readLayout } from "../../../src/checkpoint/format/layout.js";
import { createCheckpointManager } from "../../../src/checkpoint/manager.js";
import { createTimeSlicer, type TimeSlicer, WITHOUT_PAUSES } from "../../../src/checkpoint/format/time-slicer.js";
import { decodePayload } from "../../../src/checkpoint/format/payload.js";
import { createVerify } from "../../../src/checkpoint/retention.js";
import { compressText, openText } from "../../../src/checkpoint/format/sealed-payload.js";
import { spillLargest } from "../../../src/checkpoint/blobs/spill.js";
import { diffStates } from "../../../src/checkpoint/diff/state-diff.js";
import { diffText } from "../../../src/checkpoint/diff/value-diff.js";
import { encodeSnapshot, writeSnapshot } from "../../../src/checkpoint/format/writer.js";
import { createState, type StepEntry } from "../../../src/engine/model/state.js";
import type { CheckpointHeader } from "../../../src/schema/generated/checkpoint-header.js";
import {
  addSteps,
  createCheckpointRoom,
  createStep,
  createTaskState,
  positionOf,
  RAW_BYTES_MAX,
  recordCheckpoint,
  takeCheckpoint,
  textOf,
} from "../../support/checkpoint-room.js";
import { codeOf, codeOfAsync } from "../../support/error-code.js";
import { createTestVault } from "../../support/journal-room.js";

/** Due at every look. */
function createHurriedPace(): { pace: TimeSlicer; rests: () => number } {
  let rests = 0;
  let nowMs = 0;
  const pace = createTimeSlicer({ monotonicMs: () => (nowMs += 5) }, async () => void (rests += 1));
  return { pace, rests: () => rests };
}

describe("the picture of a task", () => {
  it("has a status for every step and every agent", async () => {
    const room = await createCheckpointRoom();
    const state = createTaskState();
    const statuses: readonly StepEntry["status"][] = [
      "open",
      "asked",
      "waiting_retry",
      "cancelled",
      "completed",
      "failed",
      "skipped",
      "unknown",
      "parked",
    ];
    statuses.forEach((status, at) => {
      const step = createStep(at + 1, { status, confidenceHistory: [] });
      state.steps.set(step.id, step);
    });
    for (const kind of ["scorer", "set", "wait"] as const)
      state.steps.set(`${kind}@1.1` as never, createStep(90, { kind }));
    state.evaluations.push({ path: "p", iteration: 1, scores: {} });
    state.phases.set("p", {
      path: "p",
      name: "p",
      number: 1,
      status: "running",
      iteration: 1,
      startedAtMs: 1,
      feedback: [],
      spawned: 0,
    });
    state.channel.set("agent:helper", { status: "odd", blockers: ["a", 1] });
    const event = recordCheckpoint(state, {
      note: "by hand",
      metadata: { stage: "one" },
      status: "completed",
      trigger: "shutdown",
    });
    const taken = capture(state, event);
    if (taken === undefined) throw new Error("not started");
    const written = await writeSnapshot(taken, { position: positionOf(taken.position), prev: undefined }, room.writer);
    const { picture } = await room.source().loadPicture(written?.file ?? "");
    expect(picture).toMatchObject({
      note: "by hand",
      metadata: { stage: "one" },
      status: "completed",
      resumable: false,
    });
    expect(Object.entries(picture.agents).map(([name, agent]) => `${name} ${agent.status}`)).toEqual([
      "atlas completed",
      "apollo active",
      "mercury_1 launched",
      "mercury_2 blocked",
      "mercury_3 blocked",
      "mercury_4 failed",
      "mercury_5 completed",
      "mercury_6 failed",
      "mercury_7 completed",
      "mercury_8 blocked",
      "mercury_9 blocked",
      "helper active",
    ]);
    expect(picture.agents["helper"]).toMatchObject({
      status: "active",
      agent_type: "specialist",
      blockers: ["a"],
      state: "channel.agent:helper",
    });
    expect(picture.confidence).toEqual({ phases: {} });
  });

  it("is not taken before the task has started", () => {
    const state = createState();
    expect(capture(state, recordCheckpoint(state))).toBeUndefined();
  });
});

describe("the payload", () => {
  /** What a reader makes of any text under a seal that is ours. */
  async function readSealed(text: string, change: Partial<CheckpointHeader> = {}): Promise<string> {
    const vault = createTestVault("payload");
    const room = await createCheckpointRoom(vault);
    const taken = takeCheckpoint(createTaskState());
    const how = { options: room.writer, pace: WITHOUT_PAUSES };
    const place = { position: positionOf(taken.position), prev: undefined };
    const { header } = await readLayout((await encodeSnapshot(taken, place, how)).bytes, RAW_BYTES_MAX, WITHOUT_PAUSES);
    const zip = gzipSync(Buffer.from(text));
    const sealer = vault.createSealer("checkpoint");
    const sizes = { raw: Buffer.byteLength(text), size: zip.length };
    const head = formatHead({ ...header, ...sealer.header, ...sizes, ...change } as CheckpointHeader);
    const { bytes } = await encodeLayout(head, sealer.seal(0, head, zip), WITHOUT_PAUSES);
    return codeOfAsync(async () => {
      const layout = await readLayout(bytes, RAW_BYTES_MAX, WITHOUT_PAUSES);
      decodePayload(await openText({ layout, vault, pace: WITHOUT_PAUSES }), layout.header);
    });
  }

  async function goodText(): Promise<string> {
    const vault = createTestVault("payload");
    const room = await createCheckpointRoom(vault);
    const taken = takeCheckpoint(createTaskState());
    const place = { position: positionOf(taken.position), prev: undefined };
    const { bytes } = await encodeSnapshot(taken, place, { options: room.writer, pace: WITHOUT_PAUSES });
    const layout = await readLayout(bytes, RAW_BYTES_MAX, WITHOUT_PAUSES);
    return (await openText({ layout, vault, pace: WITHOUT_PAUSES })).toString("utf8");
  }

  it("is refused when a newer version wrote it", async () => {
    expect(await readSealed(await goodText(), { schema: 2 })).toBe("FORMAT_VERSION");
    expect(await readSealed((await goodText()).replace('"state":{"schema":1', '"state":{"schema":2'))).toBe(
      "FORMAT_VERSION",
    );
  });

  it("is refused when it is of another checkpoint, or not whole", async () => {
    const text = await goodText();
    expect(await readSealed(text)).toBe("none");
    for (const changed of [
      text.replace('"phase":1', '"phase":2'),
      text.replace('"status":"in_progress"', '"status":"paused"'),
      text.replace("specialist_finished", "interval"),
      text.replace('"version":"1.0"', '"version":"2.0"'),
      text.replace('\n"state":', '\n"stat":'),
      text.replace('"outputs":[]', '"outputs":[{"path":"a","by":"nobody@1.1"}]'),
      text.replace('"decisions":[]', '"decisions":7'),
      "7\n",
    ]) {
      expect(await readSealed(changed)).toBe("CHECKPOINT_CORRUPT");
    }
  });
});

describe("a snapshot file's head", () => {
  it("is read from its first bytes, or refused", async () => {
    const room = await createCheckpointRoom();
    const taken = takeCheckpoint(createTaskState());
    const { bytes } = await encodeSnapshot(
      taken,
      { position: positionOf(taken.position), prev: undefined },
      { options: room.writer, pace: WITHOUT_PAUSES },
    );
    expect(readHead(bytes.subarray(0, 1500)).seq).toBe(1);
    expect(codeOf(() => readHead(bytes.subarray(0, 100)))).toBe("CHECKPOINT_TRUNCATED");
    expect(codeOf(() => readHead(Buffer.from("{}")))).toBe("FORMAT_NOT_OURS");
  });

  it("is refused when its fields do not go together", async () => {
    const room = await createCheckpointRoom();
    const taken = takeCheckpoint(createTaskState());
    const { bytes } = await encodeSnapshot(
      taken,
      { position: positionOf(taken.position), prev: undefined },
      { options: room.writer, pace: WITHOUT_PAUSES },
    );
    const header = readHead(bytes);
    const { key: _key, ...keyless } = header;
    for (const odd of [
      keyless,
      { ...header, suite: "none" },
      { ...header, salt: "" },
      { ...header, timestamp: "2024-13-02T14:35:22.123Z" },
      { ...header, codec: "none" },
    ]) {
      expect(codeOf(() => readHead(formatHead(odd as CheckpointHeader)))).toBe("CHECKPOINT_CORRUPT");
    }
  });
});

describe("compressing", () => {
  it("keeps surrogate pairs whole across pieces, and rests", async () => {
    const text = `a${"\ud83d\ude00".repeat(200_000)}`;
    const { pace, rests } = createHurriedPace();
    const plain = await compressText([text], { level: 0, rawBytesMax: RAW_BYTES_MAX }, pace);
    expect(Buffer.concat([...plain.chunks]).toString("utf8")).toBe(text);
    expect(rests()).toBeGreaterThan(3);
    const empty = await compressText([], { level: 6, rawBytesMax: 10 }, WITHOUT_PAUSES);
    expect(empty).toMatchObject({ codec: "gzip", rawBytes: 0 });
  });
});

describe("a writer whose world changes under it", () => {
  it("does not count a file as written that does not open again", async () => {
    const room = await createCheckpointRoom();
    const other = createTestVault("elsewhere");
    const vault = Object.assign(Object.create(other) as typeof other, {
      taskId: other.taskId,
      createSealer: () => {
        const sealer = other.createSealer("checkpoint");
        return {
          ...sealer,
          header: sealer.header,
          sealSlices: (part: number, aad: Uint8Array) => {
            const slices = sealer.sealSlices(part, aad);
            return {
              update: (plain: Uint8Array) => slices.update(Buffer.from(plain).reverse()),
              finish: () => slices.finish(),
            };
          },
        };
      },
      createOpener: other.createOpener.bind(other),
    });
    const taken = takeCheckpoint(createTaskState());
    const write = writeSnapshot(
      taken,
      { position: positionOf(taken.position), prev: undefined },
      { ...room.writer, vault, level: 0 },
    );
    expect(await codeOfAsync(() => write)).toBe("CHECKPOINT_FAILED");
    expect(await room.task.list("checkpoint_")).toEqual([]);
  });

  it("throws away what turns out over the budget, and learns its size", async () => {
    const room = await createCheckpointRoom();
    const state = createTaskState();
    const manager = createCheckpointManager({
      writer: room.writer,
      journal: room.journal,
      log: room.log,
      isEnabled: true,
      onEvent: async () => undefined,
    });
    await manager.captured(state, recordCheckpoint(state)).written;
    addSteps(state, 1000, 3000);
    await manager.captured(state, recordCheckpoint(state)).written;
    expect(manager.counts).toMatchObject({ written: 1, skipped: 1 });
    expect(await room.task.list("checkpoint_")).toHaveLength(1);
    await manager.captured(state, recordCheckpoint(state)).written;
    expect(manager.counts).toMatchObject({ written: 1, skipped: 2 });
    await manager.captured(state, recordCheckpoint(state, { trigger: "shutdown" })).written;
    expect(manager.counts.written).toBe(2);
  });

  it("removes no old files once the task is closed, and says when it cannot", async () => {
    const room = await createCheckpointRoom();
    const state = createTaskState();
    let runs = 0;
    const retention = {
      noteVerified: () => undefined,
      run: () => ((runs += 1), Promise.reject(new Error("disk"))),
    } as never;
    const manager = createCheckpointManager({
      writer: room.writer,
      journal: room.journal,
      log: room.log,
      isEnabled: true,
      onEvent: async () => undefined,
      retention,
    });
    await manager.captured(state, recordCheckpoint(state)).written;
    await manager.idle();
    expect(room.lines.join()).toContain("old checkpoint files could not be removed: disk");
    if (state.task !== undefined) state.task = { ...state.task, status: "done" };
    await manager.captured(state, recordCheckpoint(state)).written;
    await manager.idle();
    expect(runs).toBe(1);
  });

  it("says when a failure cannot be recorded either", async () => {
    const room = await createCheckpointRoom();
    const state = createTaskState();
    const onEvent = () => Promise.reject(new Error("the journal is closed"));
    const manager = createCheckpointManager({
      writer: room.writer,
      journal: room.journal,
      log: room.log,
      isEnabled: true,
      onEvent,
    });
    await expect(manager.captured(state, recordCheckpoint(state)).written).rejects.toMatchObject({
      code: "CHECKPOINT_FAILED",
    });
    expect(room.lines.join()).toContain("could not be recorded: the journal is closed");
  });
});

describe("createVerify", () => {
  it("tells a damaged file from a store that fails", async () => {
    const room = await createCheckpointRoom();
    const verify = (code: "CHECKPOINT_CORRUPT" | "KEY_WRONG" | "STORE_FAILED") =>
      createVerify(() => Promise.reject(new SplashdownError(code, "x")), room.log)("f");
    expect(await verify("CHECKPOINT_CORRUPT")).toBe(false);
    expect(await verify("KEY_WRONG")).toBe(false);
    expect(await codeOfAsync(() => verify("STORE_FAILED"))).toBe("STORE_FAILED");
    expect(await createVerify(() => Promise.resolve(), room.log)("f")).toBe(true);
  });
});

describe("large values", () => {
  it("are found and moved with rests between", async () => {
    const room = await createCheckpointRoom();
    const state = createTaskState();
    const first = createStep(1, {
      output: undefined,
      work: { inline: textOf(1, 50_000) },
      partial: { inline: textOf(2, 40_000) },
      milestone: { name: "m", state: { inline: textOf(3, 30_000) } },
    });
    const second = createStep(2, { output: { blob: { key: "blobs/x", sizeBytes: 1, digest: "d" } } });
    for (const step of [first, second]) state.steps.set(step.id, step);
    state.outputs.set("scope", { value: { inline: textOf(4, 20_000) }, by: "scope" });
    state.deliverables.set("final/a.md", {
      file: "final/a.md",
      sha256: "0".repeat(64),
      sizeBytes: 9,
      content: { inline: textOf(5, 10_000) },
    });
    state.channel.set("c", textOf(6, 1000));
    const taken = takeCheckpoint(state);
    const { pace, rests } = createHurriedPace();
    expect((await findLargest(taken, 2, pace)).map(({ path }) => path)).toEqual([
      "steps.research/step1@1.1.work",
      "steps.research/step1@1.1.partial",
    ]);
    const blobs = createBlobShelf({
      store: room.task,
      vault: room.vault,
      pacing: { clock: room.clock, breathe: async () => undefined },
    });
    const { spilled, taken: smaller } = await spillLargest(taken, { blobs, rawBytesMax: 12_000, pace });
    expect(spilled.map(({ path }) => path)).toEqual([
      "steps.research/step1@1.1.work",
      "steps.research/step1@1.1.partial",
      "steps.research/step1@1.1.milestone",
      "outputs.scope",
      "deliverables.final/a.md",
    ]);
    expect(rests()).toBeGreaterThan(10);
    expect(JSON.stringify([smaller.steps, smaller.outputs, smaller.deliverables]).length).toBeLessThan(5000);
  });

  it("[reliability K05] free as often what they take as they stand in the text: no further value is moved", async () => {
    const room = await createCheckpointRoom();
    const state = createTaskState();
    const twice = { inline: textOf(1, 50_000) };
    const first = createStep(1, { output: undefined, partial: twice, milestone: { name: "m", state: twice } });
    const second = createStep(2, { output: undefined, work: { inline: textOf(2, 40_000) } });
    for (const step of [first, second]) state.steps.set(step.id, step);
    const { pace } = createHurriedPace();
    const blobs = createBlobShelf({
      store: room.task,
      vault: room.vault,
      pacing: { clock: room.clock, breathe: async () => undefined },
    });
    const { spilled } = await spillLargest(takeCheckpoint(state), { blobs, rawBytesMax: 91_000, pace });
    expect(spilled.map(({ path }) => path)).toEqual(["steps.research/step1@1.1.partial"]);
  });

  it("rest while they are written", async () => {
    const room = await createCheckpointRoom();
    let nowMs = 0;
    let breaths = 0;
    const clock = Object.assign(Object.create(room.clock) as typeof room.clock, { monotonicMs: () => (nowMs += 3) });
    const blobs = createBlobShelf({
      store: room.task,
      vault: room.vault,
      pacing: { clock, breathe: async () => void (breaths += 1) },
    });
    await blobs.put(textOf(1, 300_000));
    expect(breaths).toBeGreaterThan(4);
  });
});

describe("differences", () => {
  it("of any kind can be told as text", async () => {
    const from = createTaskState();
    const to = createTaskState();
    const many = Array.from({ length: 80 }, (_unused, at) => at);
    const pairs: readonly [Partial<StepEntry>, Partial<StepEntry>][] = [
      [
        { output: { inline: `${"same\n".repeat(20)}old\nend` } },
        { output: { inline: `${"same\n".repeat(20)}new\nend` } },
      ],
      [{ output: { inline: many } }, { output: { inline: many.map((n) => -n - 1) } }],
      [{ output: { inline: 1 } }, { output: { blob: { key: "k", sizeBytes: 300_000, digest: "abc" } } }],
      [{ output: undefined }, { output: { blob: { key: "k", sizeBytes: 300_001, digest: "abd" } } }],
      [{ output: { blob: { key: "k", sizeBytes: 300_002, digest: "abe" } } }, { output: undefined }],
      [{ output: { inline: textOf(1, 3000).split(" ") } }, { output: undefined }],
      [
        {
          confidence: { value: 0.5, factors: [], uncertainties: [] },
          usage: { calls: 1, tokensIn: 2, tokensOut: 3 },
          milestone: { name: "a", state: { inline: 1 } },
        },
        {
          confidence: { value: 0.6, factors: [], uncertainties: [] },
          usage: { calls: 1, tokensIn: 2, tokensOut: 4 },
          milestone: { name: "b", state: { inline: 1 } },
        },
      ],
    ];
    pairs.forEach(([one, other], at) => {
      const [before, after] = [createStep(at + 1, one), createStep(at + 1, other)];
      from.steps.set(before.id, before);
      to.steps.set(after.id, after);
    });
    for (const rationale of ["a", "b"]) {
      const decision = {
        id: rationale,
        atMs: 1,
        agent: "atlas",
        type: "plan",
        description: "d",
        alternativesConsidered: [],
      };
      from.decisions.push({ ...decision, rationale });
      to.decisions.push({ ...decision, rationale: `${rationale}!` });
    }
    to.checkpoints.push({
      checkpointId: "x" as never,
      seq: 1,
      phase: 1,
      trigger: "interval",
      status: "paused",
      atMs: 1,
      position: 1,
    });
    const text = formatDiff(await diffStates(from, to));
    for (const part of [
      "step 1 research/step1@1.1: output\n  … 18 equal or left out\n  same\n  same\n- old\n+ new\n  end",
      "  … and 30 more",
      "- 1 bytes\n+ 300000 bytes, digest abc",
      "+ 300001 bytes, digest abd",
      "- 300002 bytes, digest abe",
      "step 7 research/step7@1.1: confidence.value\n- 0.5\n+ 0.6",
      'milestoneName\n- "a"\n+ "b"',
      'decision atlas plan: rationale\n- "a"\n+ "a!"',
      'decision atlas plan (2): rationale\n- "b"\n+ "b!"',
    ]) {
      expect(text).toContain(part);
    }
    expect(text).toMatch(/step 6 research\/step6@1\.1: output\n- \d+ bytes, digest [0-9a-f]{16}/);
    expect((await diffStates(from, to, { showsAll: true })).differences.at(-1)).toMatchObject({
      subject: "checkpoint",
      name: "1",
      kind: "added",
    });
  });

  it("of a task that has not started are those of what it lacks", async () => {
    expect((await diffStates(createState(), createState())).equal).toBe(true);
    expect((await diffStates(createTaskState(), createState())).differences).toMatchObject([
      { subject: "task", kind: "removed" },
    ]);
    expect((await diffStates(createState(), createTaskState())).differences).toMatchObject([
      { subject: "task", kind: "added" },
    ]);
  });

  it("of lines only added or only removed need no algorithm", async () => {
    expect((await diffText("a\nb", "a\nx\ny\nb")).map(({ op }) => op)).toEqual(["same", "added", "added", "same"]);
    expect((await diffText("a\nx\nb", "a\nb")).map(({ op }) => op)).toEqual(["same", "removed", "same"]);
  });
});
