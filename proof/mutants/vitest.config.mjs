/** One project with the tests that are to notice, which come as a list in a variable. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: JSON.parse(process.env.SPLASHDOWN_MUTANT_TESTS ?? "[]"),
    testTimeout: 120_000,
    passWithNoTests: false,
  },
});
