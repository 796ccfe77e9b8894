import { describe, expect, it } from "vitest";
import { formatSnapshotName, parseSnapshotName } from "../../../src/checkpoint/format/names.js";

const AT_MS = Date.UTC(2024, 0, 2, 14, 35, 22, 123);

describe("snapshot names", () => {
  it("have the form of the design", () => {
    expect(formatSnapshotName({ phase: 2, atMs: AT_MS, seq: 17 })).toBe(
      "checkpoint_phase2_20240102T143522123Z_00000017.json",
    );
    expect(formatSnapshotName({ phase: 2, atMs: AT_MS, seq: 17, resealedIn: 4 })).toBe(
      "checkpoint_phase2_20240102T143522123Z_00000017~4.json",
    );
  });

  it("are read back exactly", () => {
    for (const name of [
      { phase: 0, atMs: 0, seq: 0 },
      { phase: 12, atMs: AT_MS, seq: 99_999_999 },
      { phase: 1, atMs: AT_MS + 1, seq: 123_456_789 },
      { phase: 3, atMs: Date.UTC(2031, 11, 31, 23, 59, 58, 999), seq: 1, resealedIn: 12 },
    ]) {
      expect(parseSnapshotName(formatSnapshotName(name))).toEqual(name);
    }
  });

  it.each([
    "checkpoint_phase2_20240102T143522123Z_00000017.json.tmp",
    "checkpoint_phase02_20240102T143522123Z_00000017.json",
    "checkpoint_phase2_20240102T143522Z_00000017.json",
    "checkpoint_phase2_20241302T143522123Z_00000017.json",
    "checkpoint_phase2_20240230T143522123Z_00000017.json",
    "checkpoint_phase2_20240102T143522123Z_17.json",
    "checkpoint_phase2_20240102T143522123Z_000000017.json",
    "x/checkpoint_phase2_20240102T143522123Z_00000017.json",
    "checkpoint_phase2_20240102T143522123Z_00000017~0.json",
    "checkpoint_phase2_20240102T143522123Z_00000017~02.json",
    "checkpoint_phase2_20240102T143522123Z_00000017~.json",
    "checkpoint_phase2_20240102T143522123Z_00000017~1234567890123456.json",
    "keyring-00000001.json",
    "",
  ])("are not taken from %j", (file) => {
    expect(parseSnapshotName(file)).toBeUndefined();
  });
});
