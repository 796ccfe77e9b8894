/** Writes one line per test file: the guards that its tests reached, and how long it took. */
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { afterAll, expect } from "vitest";

const reached = new Set();
const beganAtMs = performance.now();
globalThis.__reachedGuard = (id) => {
  reached.add(id);
};

afterAll(() => {
  const file = relative(process.cwd(), expect.getState().testPath);
  const line = { file, tookMs: Math.round(performance.now() - beganAtMs), reached: [...reached] };
  appendFileSync(process.env.SPLASHDOWN_GUARD_NOTES, `${JSON.stringify(line)}\n`);
});
