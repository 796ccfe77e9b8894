import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PROJECT_FOLDER, runCommand } from "../../support/built-program.js";
import { withFolder } from "../../support/store-places.js";

interface Endured {
  readonly name: string;
  readonly resumed: readonly { readonly at: number; readonly goesOnMs: number }[];
  readonly diskMiB: number;
  readonly resealed: { readonly peakMiB: number; readonly readMiB: number };
  readonly faults: readonly string[];
}

describe("long tasks", () => {
  it("killed in the middle go on to the end, each step once in the history", async () => {
    const script = join(PROJECT_FOLDER, "proof/endurance.mjs");
    const { code, stdout } = await withFolder((cwd) =>
      runCommand([script, "--steps", "300", "--megabytes", "4", "--large", "0", "--kills", "2", "--json"], {
        cwd,
        program: process.execPath,
        env: { TMPDIR: cwd },
      }),
    );
    const found = JSON.parse(stdout) as Endured[];
    expect(found.map(({ name, faults }) => [name, faults])).toEqual([
      ["300 steps", []],
      ["4 MB of state", []],
    ]);
    expect(code).toBe(0);
    for (const { resumed, resealed } of found) {
      expect(Math.min(resealed.peakMiB, resealed.readMiB)).toBeGreaterThan(0);
      expect(resumed).toHaveLength(2);
      for (const { goesOnMs } of resumed) expect(goesOnMs).toBeGreaterThan(0);
    }
    // The texts are there once in the journal, and in no more snapshots than their budget admits.
    expect(found[1]?.diskMiB).toBeGreaterThan(4);
    expect(found[1]?.diskMiB).toBeLessThan(30);
  });
});
