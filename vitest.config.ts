import { execFileSync } from "node:child_process";
import { defineConfig } from "vitest/config";

// Types and validators of the schemas, which the sources import.
execFileSync(process.execPath, ["scripts/generate-types.mjs"], { cwd: import.meta.dirname, stdio: "inherit" });

export default defineConfig({
  test: {
    // Two projects, so that only tests of the built program wait for a build.
    projects: [
      {
        extends: true,
        test: { name: "source", include: ["test/**/*.test.ts"], exclude: ["test/e2e/**"] },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/support/built-program.ts"],
          testTimeout: 240_000,
        },
      },
    ],
    // Texts for people tell times by the zone of the process.
    env: { TZ: "UTC" },
    // Against hanging alone: none of them takes a tenth of it on a quiet machine.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    pool: "forks",
    maxWorkers: 2,
    passWithNoTests: false,
    allowOnly: false,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/**/generated/**"],
      reporter: ["text-summary", "json-summary"],
    },
  },
});
