// Runs the suite of the store contract, the stories of a task and those of FAULTS on every store there is here, Redis before
// Postgres among them, and prints a table of what passed. `--readme` writes it into the README.
//   node scripts/stores.mjs [--readme] [--suite]     --suite: only the contract, without the built program
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { computeRows, formatRows, placeTable } from "./stores/table.mjs";

const { values } = parseArgs({ options: { readme: { type: "boolean" }, suite: { type: "boolean" } } });
const root = join(import.meta.dirname, "..");
const RUNS = [
  ["source", "test/unit/store/conformance.test.ts", "test/unit/store/sql-conformance.test.ts"],
  ...(values.suite ? [] : [["e2e", "test/e2e/stores/scenarios.test.ts"]]),
];

function run([project, ...files], folder) {
  const report = join(folder, `${project}.json`);
  const args = ["vitest", "run", "--project", project, "--reporter=json", `--outputFile=${report}`, ...files];
  const env = { ...process.env, SPLASHDOWN_TEST_STORES: "all", SPLASHDOWN_PROOF_FACTOR: "2" };
  spawnSync("npx", args, { cwd: root, env, stdio: ["ignore", "ignore", "inherit"] });
  return JSON.parse(readFileSync(report, "utf8")).testResults.flatMap(({ assertionResults }) => assertionResults);
}

const folder = mkdtempSync(join(tmpdir(), "splashdown-stores-"));
try {
  const rows = computeRows(RUNS.flatMap((each) => run(each, folder)));
  const table = formatRows(rows);
  console.log(table);
  if (values.readme) {
    const path = join(root, "README.md");
    writeFileSync(path, placeTable(readFileSync(path, "utf8"), table));
  }
  process.exitCode = rows.every(({ groups }) => [...groups.values()].every(({ failed }) => failed === 0)) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
