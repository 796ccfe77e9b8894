/**
 * Runs workflow files of Conductor, unmodified, to their end: `npm run proof -- corpus FOLDER`, or with
 * SPLASHDOWN_CONDUCTOR_EXAMPLES naming the folder. Prints one line per file; the status is not 0 when one fails.
 */
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";

const folder = process.argv[2] ?? process.env.SPLASHDOWN_CONDUCTOR_EXAMPLES;
if (folder === undefined) {
  console.error("corpus: name the folder of the examples: npm run proof -- corpus FOLDER");
  process.exit(2);
}
const project = join(import.meta.dirname, "..");
const vitest = join(project, "node_modules", "vitest", "vitest.mjs");
const args = [vitest, "run", "--project", "e2e", "test/e2e/corpus", "--reporter=verbose"];
const { status } = spawnSync(process.execPath, args, {
  cwd: project,
  stdio: "inherit",
  env: { ...process.env, SPLASHDOWN_CONDUCTOR_EXAMPLES: resolve(folder) },
});
process.exit(status ?? 1);
