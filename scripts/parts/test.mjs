// Runs vitest and ends with one plain line: `N passed, N failed, N skipped`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "splashdown-test-"));
const file = join(folder, "report.json");
const args = [
  "node_modules/vitest/vitest.mjs",
  "run",
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${file}`,
];
const { status } = spawnSync(process.execPath, [...args, ...process.argv.slice(2)], { stdio: "inherit" });

let line = "0 passed, 1 failed, 0 skipped";
let failed = true;
try {
  const report = JSON.parse(readFileSync(file, "utf8"));
  const skipped = report.numPendingTests + report.numTodoTests;
  const broken = report.testResults.filter(
    (suite) => suite.status === "failed" && suite.assertionResults.length === 0,
  ).length;
  line = `${report.numPassedTests} passed, ${report.numFailedTests + broken} failed, ${skipped} skipped`;
  failed = report.numPassedTests === 0 || report.numFailedTests + broken > 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
  console.log(line);
}
process.exit(status !== 0 || failed ? 1 : 0);
