import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const script = join(import.meta.dirname, "../../../proof/bench.mjs");

describe("the bench", () => {
  it("gives each measure a figure beside its bound in its quick form", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [script, "--quick", "--json"]);
    const { results, peers } = JSON.parse(stdout) as { results: Record<string, unknown>[]; peers: unknown[] };
    expect(results.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "durable step, sealed",
        "resume of 1000 steps with a snapshot",
        "2000 no-op steps, window 64",
        "for_each of 2000 no-op items, window 64",
        "largest snapshot of a typical task of ten agents",
      ]),
    );
    for (const { name, figure, ratio, bound, met } of results) {
      // What a program takes over bare Node is a difference, which noise may turn round.
      expect(figure).toBeGreaterThan((name as string).endsWith("over bare Node") ? -1_000 : 0);
      expect(met).toBe((ratio as number) <= (bound as number));
    }
    expect(peers).toEqual([]);
  });
});
