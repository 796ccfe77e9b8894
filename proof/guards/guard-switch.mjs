/**
 * What the guarded sources ask at each site while tests run: whether this one is off. SPLASHDOWN_GUARD_OFF names a file with
 * the id of the site that is; SPLASHDOWN_GUARD_NOTES one that gets a line per test file, with the sites that it reached.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { afterAll, expect } from "vitest";

const { SPLASHDOWN_GUARD_OFF: file, SPLASHDOWN_GUARD_NOTES: notes } = process.env;
const off = file === undefined ? undefined : readFileSync(file, "utf8");
const reached = new Set();
const beganAtMs = performance.now();

globalThis.__isGuardOff = (id) => {
  if (notes !== undefined) reached.add(id);
  return id === off;
};
/** What is awaited at a site; nobody waits for it, nor hears of its failure, when the site is off. */
globalThis.__awaited = (id, promise) => {
  if (!globalThis.__isGuardOff(id)) return promise;
  Promise.resolve(promise).catch(() => undefined);
  return undefined;
};

if (notes !== undefined)
  afterAll(() => {
    const path = relative(process.cwd(), expect.getState().testPath);
    const line = { file: path, tookMs: Math.round(performance.now() - beganAtMs), reached: [...reached] };
    appendFileSync(notes, `${JSON.stringify(line)}\n`);
  });
