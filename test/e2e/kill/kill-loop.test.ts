import { describe, expect, it } from "vitest";
import { join } from "node:path";
import { PROJECT_FOLDER, runCommand } from "../../support/built-program.js";
import { withFolder } from "../../support/store-places.js";

function runLoop(...args: string[]) {
  const loop = join(PROJECT_FOLDER, "proof/kill-loop.mjs");
  return withFolder((cwd) => runCommand([loop, ...args], { cwd, program: process.execPath, env: { TMPDIR: cwd } }));
}

describe("the kill loop", () => {
  it("finds no violation in a dozen kills at every kind of point", async () => {
    const { code, stdout } = await runLoop("--kills", "12");
    const [, kills, tasks, violations] =
      /(\d+) kills, (\d+) tasks, \d+ unknown outcomes reported, (\d+) violations/.exec(stdout) ?? [];
    expect(stdout).not.toContain("FAULT");
    expect({ code, violations }).toEqual({ code: 0, violations: "0" });
    expect(Number(kills)).toBeGreaterThanOrEqual(12);
    expect(Number(tasks)).toBeGreaterThanOrEqual(8);
    for (const point of [
      "start",
      "intent",
      "spawned",
      "effect",
      "done",
      "half-snapshot",
      "recovery",
      "outlive",
      "audit tools",
    ]) {
      expect(stdout).toMatch(new RegExp(`^${point} +\\d`, "m"));
    }
  });

  it.each([
    ["double", "intent", "effect first happened 2 times"],
    ["lost", "intent", "happened 0 times"],
    ["late", "intent", "a line that must never appear: late-left"],
    ["rerun", "effect", "effect first happened 2 times"],
    ["careless", "effect", "effect first happened 2 times"],
  ])("reports the planted violation %s", async (plant, point, text) => {
    const { code, stdout } = await runLoop("--kills", "1", "--workers", "1", "--points", point, "--plant", plant);
    expect(code).toBe(1);
    expect(stdout).toContain(text);
  });
});
