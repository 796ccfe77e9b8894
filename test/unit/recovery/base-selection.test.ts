/** Which snapshot is started from, over sources that give what they are told. */
import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../src/base/error-table.js";
import { SplashdownError } from "../../../src/base/errors.js";
import type { LoadedSnapshot, SnapshotSource } from "../../../src/checkpoint/contract.js";
import type { History } from "../../../src/journal/history.js";
import { selectBase } from "../../../src/recovery/base-selection.js";

/** By file, newest first: the record it lies at, or what loading it throws. */
function select(files: Readonly<Record<string, number | Error>>, until?: number) {
  const snapshots = {
    list: () => Promise.resolve(Object.keys(files).map((file) => ({ file }))),
    load: (file: string) => {
      const found = files[file] ?? new Error(`there is no ${file}`);
      return typeof found === "number" ? Promise.resolve({ position: { n: found } }) : Promise.reject(found);
    },
  } as unknown as SnapshotSource;
  // Records off the chain have a half behind the point.
  const history = { covers: ({ n }: LoadedSnapshot["position"]) => Number.isInteger(n) } as unknown as History;
  return selectBase({ history, snapshots, until });
}

const failing = (code: ErrorCode) => new SplashdownError(code, `it is ${code}`);

describe("selectBase", () => {
  it("takes the newest, and only one at or before the record it is told", async () => {
    const files = { c: 9, b: 6, a: 3 };
    expect((await select(files)).snapshot?.position.n).toBe(9);
    expect((await select(files, 6)).snapshot?.position.n).toBe(6);
    expect((await select(files, 5)).snapshot?.position.n).toBe(3);
    expect(await select(files, 2)).toEqual({ snapshot: undefined, refused: [] });
  });

  it("R4: passes over what a superseded owner saw, and says so without calling it damaged", async () => {
    expect((await select({ b: 6.5, a: 3 })).refused).toEqual([
      { file: "b", code: "OFF_CHAIN", reason: "its position is not in this history", isBad: false },
    ]);
  });

  it.each([
    ["CHECKPOINT_TRUNCATED", true],
    ["CHECKPOINT_CORRUPT", true],
    ["CHECKPOINT_TAMPERED", true],
    ["FORMAT_NOT_OURS", true],
    ["TASK_SWAPPED", true],
    ["SEAL_MISSING", true],
    ["KEY_WRONG", true],
    ["KEY_MISSING", false],
    ["FORMAT_VERSION", false],
    ["STORE_FAILED", false],
  ] as const)("R3: names a file that is %s, takes the one before, and sets it aside: %s", async (code, isBad) => {
    const { snapshot, refused } = await select({ b: failing(code), a: 3 });
    expect(snapshot?.position.n).toBe(3);
    expect(refused).toEqual([{ file: "b", code, reason: `it is ${code}`, isBad }]);
  });

  it("is silent about a file that went meanwhile", async () => {
    expect(await select({ b: failing("CHECKPOINT_NOT_FOUND") })).toEqual({ snapshot: undefined, refused: [] });
  });

  it.each([failing("INTERNAL"), failing("CANCELLED"), new TypeError("ours")])("ends with %s", async (error) => {
    await expect(select({ b: error, a: 3 })).rejects.toBe(error);
  });
});
