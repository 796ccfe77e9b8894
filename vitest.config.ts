import { execFileSync } from "node:child_process";
import { defineConfig } from "vitest/config";

// Types and validators of the schemas, which the sources import.
execFileSync(process.execPath, ["scripts/generate-types.mjs"], { cwd: import.meta.dirname, stdio: "inherit" });

const UNIT = [
  "test/unit/**/*.test.ts",
  "test/golden/**/*.test.ts",
  "test/{house,cases,fault-table,claim-table}.test.ts",
];

export default defineConfig({
  test: {
    // `unit` is for every change and takes a minute; what takes longer over the sources is `integration`; only `e2e`, tests of
    // the built program, waits for a build.
    projects: [
      {
        extends: true,
        test: { name: "unit", include: UNIT },
      },
      {
        extends: true,
        test: { name: "integration", include: ["test/**/*.test.ts"], exclude: ["test/e2e/**", ...UNIT] },
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
