/** The short form of what `npm run proof -- prove` and `-- soak` do for longer. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PROJECT_FOLDER, runCommand } from "../../support/built-program.js";
import { withFolder } from "../../support/store-places.js";

function runScript(name: string, ...args: string[]) {
  const script = join(PROJECT_FOLDER, "proof", name);
  return withFolder((cwd) => runCommand([script, ...args], { cwd, program: process.execPath, env: { TMPDIR: cwd } }));
}

interface Proof {
  readonly ok: boolean;
  readonly rows: readonly { readonly suite: string; readonly tried: number; readonly violations: readonly string[] }[];
}

describe("scripts/prove", () => {
  it("counts the cases of a suite, and says that nothing was wrong", async () => {
    const { code, json } = await runScript("prove.mjs", "--built", "--json", "--only", "a clock");
    const { ok, rows } = json<Proof>();
    expect({ code, ok, violations: rows.flatMap(({ violations }) => violations) }).toEqual({
      code: 0,
      ok: true,
      violations: [],
    });
    expect(rows.map(({ tried }) => tried)).toEqual([9]);
  });

  it("has nobody call nothing a proof", async () => {
    const { code, json } = await runScript("prove.mjs", "--built", "--json", "--only", "no such suite");
    expect({ code, ...json<Proof>() }).toMatchObject({ code: 1, ok: false, rows: [] });
  });

  it("lets eight processes race for a crashed task: one goes on, nothing runs twice", async () => {
    const { stdout } = await runScript("proofs/races.mjs", "3");
    expect(JSON.parse(stdout)).toEqual({ tried: 3, violations: [] });
  });

  it("stops racers wherever they are and lets them go again: the same", async () => {
    const { stdout } = await runScript("proofs/races.mjs", "2", "--freeze");
    expect(JSON.parse(stdout)).toEqual({ tried: 2, violations: [], frozen: expect.any(Number) });
  });
});

describe("scripts/soak", () => {
  it("runs a mixed task under kills and commands, and finds the ten points kept", async () => {
    const { code, stdout } = await runScript("soak.mjs", "--built", "--minutes", "0", "--short", "--only", "mixed");
    expect(stdout).not.toContain("VIOLATION");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^mixed: kills, faults and commands at once +1 +\d+ +0$/m);
  });
});
