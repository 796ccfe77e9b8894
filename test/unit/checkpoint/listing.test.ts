import { describe, expect, it } from "vitest";
import type { CheckpointId } from "../../../src/base/ids.js";
import { listCheckpoints, selectCheckpoint } from "../../../src/checkpoint/listing.js";
import { formatSnapshotName } from "../../../src/checkpoint/format/names.js";
import { listPinned, PIN_PREFIX } from "../../../src/checkpoint/pins.js";
import type { CheckpointEntry } from "../../../src/engine/model/state.js";
import { createCheckpointRoom, uuidOf } from "../../support/checkpoint-room.js";
import { codeOf, refusalOf } from "../../support/error-code.js";
import { FAKE_START_MS } from "../../support/fake-clock.js";

function entryOf(seq: number, phase: number, extra: Partial<CheckpointEntry> = {}): CheckpointEntry {
  return {
    checkpointId: uuidOf(seq),
    seq,
    phase,
    trigger: "interval",
    status: "in_progress",
    atMs: FAKE_START_MS + seq,
    position: seq * 2,
    ...extra,
  };
}

const ENTRIES = [
  entryOf(1, 0),
  entryOf(2, 1, { checkpointId: "1234abcd-0000-4000-8000-000000000002" as CheckpointId }),
  entryOf(3, 1, { checkpointId: "1234abef-0000-4000-8000-000000000003" as CheckpointId }),
  entryOf(4, 2, { checkpointId: "00000002-0000-4000-8000-000000000004" as CheckpointId }),
];
const LIST = ENTRIES.map((entry) => ({ entry }));

describe("listCheckpoints", () => {
  it("joins the history with the files that are there", async () => {
    const { task } = await createCheckpointRoom();
    const name = (entry: CheckpointEntry): string => formatSnapshotName(entry);
    const [one, two, three] = ENTRIES;
    if (one === undefined || two === undefined || three === undefined) throw new Error("no entries");
    for (const entry of [one, two, three]) await task.putOnce(name(entry), Buffer.from("xxxx"));
    await task.putOnce("checkpoint_phase9_20240102T143522123Z_00000099.json", Buffer.from("x"));
    await task.putOnce("checkpoint_phase9.json", Buffer.from("x"));
    const snapshot = (entry: CheckpointEntry, sizeBytes: number): CheckpointEntry => ({
      ...entry,
      snapshot: { file: name(entry), sha256: "0".repeat(64), sizeBytes },
    });
    const list = await listCheckpoints([snapshot(one, 4), snapshot(two, 5), ...ENTRIES.slice(2)], task);
    expect(list.checkpoints.map(({ entry, file, isVerified }) => [entry.seq, file?.sizeBytes, isVerified])).toEqual([
      [1, 4, true],
      [2, 4, false],
      [3, 4, false],
      [4, undefined, false],
    ]);
    expect(list.strangers).toEqual(["checkpoint_phase9_20240102T143522123Z_00000099.json"]);
  });
});

describe("selectCheckpoint", () => {
  it.each([
    ["latest", 4],
    ["phase1", 3],
    ["phase0", 1],
    ["2", 4 - 2],
    ["1234abcd", 2],
    ["1234ABEF", 3],
    ["1234abef-0000-4000-8000-000000000003", 3],
    [formatSnapshotName(entryOf(3, 1)), 3],
    [`outputs/t/checkpoints/${formatSnapshotName(entryOf(1, 0))}`, 1],
  ])("finds by %s", (text, seq) => {
    expect(selectCheckpoint(LIST, text).entry.seq).toBe(seq);
  });

  it("names all that fit when several do", () => {
    expect(codeOf(() => selectCheckpoint(LIST, "1234ab"))).toBe("CHECKPOINT_AMBIGUOUS");
    expect(codeOf(() => selectCheckpoint(LIST, "00000002"))).toBe("CHECKPOINT_AMBIGUOUS");
    expect(() => selectCheckpoint(LIST, "1234ab")).toThrow(/2 \(1234abcd.*3 \(1234abef/);
  });

  it.each(["1234ab", "99"])("names the task in a refusal of %s, where it is known", async (text) => {
    const told = async (task?: string) =>
      (await refusalOf(async () => selectCheckpoint(LIST, text, task))).details["task"];
    expect([await told("t"), await told()]).toEqual(["t", undefined]);
  });

  it.each(["", "99", "phase7", "beef", "123", formatSnapshotName(entryOf(3, 2)), "checkpoint_phase1.json"])(
    "finds nothing by %j",
    (text) => {
      expect(codeOf(() => selectCheckpoint(LIST, text))).toBe("CHECKPOINT_NOT_FOUND");
      expect(codeOf(() => selectCheckpoint([], text))).toBe("CHECKPOINT_NOT_FOUND");
    },
  );
});

describe("listPinned", () => {
  const pinnedBy = async (...names: string[]): Promise<string[]> => {
    const list = async () => names.map((name) => ({ key: `${PIN_PREFIX}${name}`, sizeBytes: 1 }));
    return [...(await listPinned({ list }))];
  };

  it("takes a checkpoint's id of any generation for a pin, and no other name", async () => {
    const names = [`${uuidOf(1)}-1~1`, `${uuidOf(2)}-1~12`, `${uuidOf(3)}-1`, "strange-1~1", `${uuidOf(4)}-1~x`];
    expect(await pinnedBy(...names, `${uuidOf(5)}~1`, `${uuidOf(6)}-0~1`)).toEqual([uuidOf(1), uuidOf(2)]);
  });

  it("C9: goes by the message of the highest number, whatever older ones came back, in whatever generation", async () => {
    const [one, two] = [uuidOf(1), uuidOf(2)];
    expect(await pinnedBy(`${one}-1~2`, `${one}-2~1`, `${two}-2~2`, `${two}-10~2`, `${two}-9~2`)).toEqual([]);
    expect(await pinnedBy(`${one}-3~1`, `${one}-2~2`, `${two}-11~1`, `${two}-9~2`)).toEqual([two, one]);
  });
});
