/**
 * The tests over the sources with one guard off, or with notes of which guards a test file reaches.
 *
 * SPLASHDOWN_GUARD: the id of the site that is off. SPLASHDOWN_GUARD_NOTES: a file that gets one JSON line per test file instead.
 * SPLASHDOWN_GUARD_TESTS: the test files, as a JSON list.
 */
import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { findSites, recordReached, switchOff } from "./sites.mjs";

const ROOT = process.cwd();
const { SPLASHDOWN_GUARD: guard, SPLASHDOWN_GUARD_NOTES: notes, SPLASHDOWN_GUARD_TESTS: tests = "[]" } = process.env;

const guards = {
  name: "guards",
  enforce: "pre",
  transform(code, id) {
    const path = relative(ROOT, id.replace(/\?.*$/, ""));
    const sites = findSites(path, code);
    if (sites.length === 0) return undefined;
    if (notes !== undefined) return recordReached(code, sites);
    const site = sites.find(({ id: found }) => found === guard);
    return site === undefined ? undefined : switchOff(code, site);
  },
};

export default defineConfig({
  plugins: [guards],
  test: {
    include: JSON.parse(tests),
    ...(notes === undefined ? {} : { setupFiles: ["proof/guards/note-reached.mjs"] }),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 2_000,
    dangerouslyIgnoreUnhandledErrors: false,
    pool: "forks",
    maxWorkers: 2,
    passWithNoTests: false,
  },
});
