/** The tests over the sources with every guard switchable: guard-switch.mjs says which one is off. */
import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { addSwitches, findSites } from "./sites.mjs";

const ROOT = process.cwd();

const guards = {
  name: "guards",
  enforce: "pre",
  transform(code, id) {
    const sites = findSites(relative(ROOT, id.replace(/\?.*$/, "")), code);
    return sites.length === 0 ? undefined : addSwitches(code, sites);
  },
};

export default defineConfig({
  plugins: [guards],
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/e2e/**"],
    setupFiles: ["proof/guards/guard-switch.mjs"],
    env: { TZ: "UTC" },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 2_000,
    pool: "forks",
    maxWorkers: 2,
    passWithNoTests: false,
  },
});
