import { describe, expect, it } from "vitest";
import type { EventOf } from "../../../src/engine/model/events.js";
import type { CheckpointEntry } from "../../../src/engine/model/state.js";
import { formatSnapshotName } from "../../../src/checkpoint/format/names.js";
import { type RetainedFile, selectExpired, SnapshotRetention } from "../../../src/checkpoint/retention.js";
import { createCheckpointRoom, uuidOf } from "../../support/checkpoint-room.js";
import { FAKE_START_MS } from "../../support/fake-clock.js";

const RULES = { perPhaseMax: 5, perTaskMax: 10 };

function nameOf(seq: number, phase: number): string {
  return formatSnapshotName({ phase, atMs: FAKE_START_MS + seq, seq });
}

/** Files 1…count, as many per phase as given. */
function filesOf(
  count: number,
  perPhase: number,
  extra: (seq: number) => Partial<RetainedFile> = () => ({}),
): RetainedFile[] {
  return Array.from({ length: count }, (_unused, index) => {
    const seq = index + 1;
    const phase = Math.ceil(seq / perPhase);
    return {
      file: nameOf(seq, phase),
      seq,
      phase,
      atMs: FAKE_START_MS + seq,
      sizeBytes: 100,
      isVerified: true,
      isPinned: false,
      ...extra(seq),
    };
  });
}

function seqsOf(files: readonly RetainedFile[], expired: readonly { readonly file: string }[]): number[] {
  return expired.map(({ file }) => files.find((candidate) => candidate.file === file)?.seq ?? -1);
}

describe("selectExpired", () => {
  it("keeps five files of a phase and says why the others go, oldest first", () => {
    const files = filesOf(7, 100);
    const expired = selectExpired(files, RULES);
    expect(seqsOf(files, expired)).toEqual([1, 2]);
    expect(expired[0]?.reason).toBe("more than 5 files of phase 1");
  });

  it("keeps ten files of a task", () => {
    const files = filesOf(20, 4);
    expect(seqsOf(files, selectExpired(files, RULES))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it("removes nothing within the limits", () => {
    expect(selectExpired(filesOf(5, 5), RULES)).toEqual([]);
    expect(selectExpired([], RULES)).toEqual([]);
  });

  it("never removes pinned files, and does not count them", () => {
    const files = filesOf(8, 100, (seq) => ({ isPinned: seq <= 3 }));
    expect(seqsOf(files, selectExpired(files, RULES))).toEqual([]);
  });

  it("C5: spares verified files until two stay", () => {
    const files = filesOf(12, 100, (seq) => ({ isVerified: seq <= 3 }));
    expect(seqsOf(files, selectExpired(files, RULES))).toEqual([1, 4, 5, 6, 7]);
    const one = filesOf(12, 100, (seq) => ({ isVerified: seq === 12 || seq === 1 }));
    expect(seqsOf(one, selectExpired(one, RULES))).toEqual([2, 3, 4, 5, 6, 7]);
  });

  it("removes by age where that is asked for, and everything where a person clears", () => {
    const files = filesOf(6, 100);
    const byAge = selectExpired(files, { ...RULES, beforeMs: FAKE_START_MS + 3 });
    expect(seqsOf(files, byAge)).toEqual([1, 2]);
    expect(byAge[0]?.reason).toBe(`older than ${new Date(FAKE_START_MS + 3).toISOString()}`);
    const cleared = selectExpired(files, { perPhaseMax: 0, perTaskMax: 0, verifiedMin: 0 });
    expect(seqsOf(files, cleared)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(cleared[0]?.reason).toBe("all files of the task are cleared");
  });

  it("keeps the newest file whatever the limits", () => {
    const files = filesOf(3, 100, (seq) => ({ isVerified: seq < 3 }));
    expect(seqsOf(files, selectExpired(files, { perPhaseMax: 0, perTaskMax: 0 }))).toEqual([]);
    expect(seqsOf(filesOf(4, 100), selectExpired(filesOf(4, 100), { perPhaseMax: 0, perTaskMax: 0 }))).toEqual([1, 2]);
  });
});

interface Ground {
  readonly retention: SnapshotRetention;
  readonly events: EventOf<"pruned">[];
  readonly steps: string[];
  readonly lines: string[];
  readonly history: CheckpointEntry[];
  left(): Promise<string[]>;
}

async function createGround(
  count: number,
  options: {
    damaged?: readonly number[];
    superseded?: boolean;
    closed?: boolean;
    /** Pinned while the removal is recorded. */
    pinnedMeanwhile?: number;
  } = {},
): Promise<Ground> {
  const room = await createCheckpointRoom();
  const steps: string[] = [];
  const events: EventOf<"pruned">[] = [];
  const history = Array.from({ length: count }, (_unused, at): CheckpointEntry => {
    const seq = at + 1;
    return {
      checkpointId: uuidOf(seq),
      seq,
      phase: 1,
      trigger: "interval",
      status: "in_progress",
      atMs: FAKE_START_MS + seq,
      position: seq,
    };
  });
  for (let seq = 1; seq <= count; seq += 1) await room.task.putOnce(nameOf(seq, 1), Buffer.from(String(seq)));
  const retention = new SnapshotRetention({
    store: Object.assign(Object.create(room.task) as typeof room.task, {
      list: (prefix: string) => room.task.list(prefix),
      remove: async (...keys: readonly string[]) => {
        steps.push(...keys.map((key) => `remove ${key.slice(-13, -5)}`));
        await room.task.remove(...keys);
      },
    }),
    journal: {
      confirm: async () => {
        steps.push("confirm");
        if (options.superseded === true) throw Object.assign(new Error("superseded"), { code: "OWNER_SUPERSEDED" });
      },
    },
    log: room.log,
    rules: { perPhaseMax: 3, perTaskMax: 10 },
    pins: async () =>
      new Set(events.length === 0 || options.pinnedMeanwhile === undefined ? [] : [uuidOf(options.pinnedMeanwhile)]),
    verify: async (file) => {
      steps.push(`verify ${file.slice(-13, -5)}`);
      return !(options.damaged ?? []).includes(Number(file.slice(-13, -5)));
    },
    onPruned: async (event) => {
      steps.push("pruned");
      if (options.closed === true) throw new Error("closed");
      events.push(event);
    },
    nowMs: () => FAKE_START_MS,
  });
  const left = async (): Promise<string[]> =>
    (await room.task.list("checkpoint_")).map(({ key }) => key.slice(-13, -5));
  return { retention, events, steps, lines: room.lines, history, left };
}

describe("SnapshotRetention", () => {
  it("[reliability K06] keeps a file that was pinned while its removal was recorded", async () => {
    const { retention, history, left } = await createGround(6, { pinnedMeanwhile: 2 });
    const removed = await retention.run({ checkpoints: history });
    expect(removed.map((file) => file.slice(-13, -5))).toEqual(["00000001", "00000003"]);
    expect(await left()).toEqual(["00000002", "00000004", "00000005", "00000006"]);
  });

  it("C4: records, looks for a higher epoch, then removes", async () => {
    const ground = await createGround(5);
    expect(await ground.retention.run({ checkpoints: ground.history })).toHaveLength(2);
    expect(ground.steps).toEqual([
      "verify 00000005",
      "verify 00000004",
      "pruned",
      "confirm",
      "remove 00000001",
      "remove 00000002",
    ]);
    expect(ground.events[0]).toMatchObject({
      files: [nameOf(1, 1), nameOf(2, 1)],
      reason: "more than 3 files of phase 1",
    });
    expect(ground.lines).toHaveLength(2);
    expect(await ground.left()).toEqual(["00000003", "00000004", "00000005"]);
  });

  it("C4: removes nothing when another process owns the task, or when it cannot be recorded", async () => {
    const superseded = await createGround(5, { superseded: true });
    await expect(superseded.retention.run({ checkpoints: superseded.history })).rejects.toThrow("superseded");
    expect(await superseded.left()).toHaveLength(5);
    const closed = await createGround(5, { closed: true });
    await expect(closed.retention.run({ checkpoints: closed.history })).rejects.toThrow("closed");
    expect(await closed.left()).toHaveLength(5);
  });

  it("C5: removes nothing while fewer than two files decode", async () => {
    const ground = await createGround(6, { damaged: [6, 5, 4, 3, 2] });
    expect(await ground.retention.run({ checkpoints: ground.history })).toEqual([]);
    expect(await ground.left()).toHaveLength(6);
  });

  it("C5: keeps the two good files among damaged newer ones", async () => {
    const ground = await createGround(7, { damaged: [7, 6, 5, 4] });
    await ground.retention.run({ checkpoints: ground.history });
    expect(await ground.left()).toEqual(["00000002", "00000003", "00000005", "00000006", "00000007"]);
  });

  it("does not decode what this process wrote itself", async () => {
    const ground = await createGround(4);
    ground.retention.noteVerified(nameOf(4, 1));
    ground.retention.noteVerified(nameOf(3, 1));
    await ground.retention.run({ checkpoints: ground.history });
    expect(ground.steps).toEqual(["pruned", "confirm", "remove 00000001"]);
  });

  it("leaves a superseded owner's files alone and does not count them", async () => {
    const ground = await createGround(8);
    const mine = ground.history.slice(0, 4);
    expect(await ground.retention.run({ checkpoints: mine })).toEqual([nameOf(1, 1)]);
    expect(await ground.left()).toHaveLength(7);
    expect(await ground.retention.run({ checkpoints: [] })).toEqual([]);
  });

  it("C9: keeps the file that a shortened history begins at, over every limit", async () => {
    const ground = await createGround(6);
    const removed = await ground.retention.run({ checkpoints: ground.history, historyFrom: 3 });
    expect(removed).toEqual([nameOf(1, 1), nameOf(3, 1)]);
    expect(await ground.left()).toEqual(["00000002", "00000004", "00000005", "00000006"]);
    const beyond = await createGround(5);
    expect(await beyond.retention.run({ checkpoints: beyond.history, historyFrom: 99 })).toHaveLength(2);
  });

  it("says in the same event what goes of the history", async () => {
    const ground = await createGround(5);
    const retained = { checkpoints: ground.history };
    await ground.retention.carryOut(retained, await ground.retention.plan(retained), { before: 4 });
    expect(ground.events.map(({ history }) => history)).toEqual([{ before: 4 }]);
  });

  it("decodes a file once, whether it is good or not", async () => {
    const ground = await createGround(6, { damaged: [6, 5, 4, 3, 2] });
    await ground.retention.run({ checkpoints: ground.history });
    const verified = ground.steps.length;
    await ground.retention.run({ checkpoints: ground.history });
    expect([verified, ground.steps.length]).toEqual([6, 6]);
  });

  it("looks no further when nothing is over the limits", async () => {
    const ground = await createGround(3);
    expect(await ground.retention.run({ checkpoints: ground.history })).toEqual([]);
    expect(ground.steps).toEqual([]);
  });
});
