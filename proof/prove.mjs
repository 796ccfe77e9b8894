#!/usr/bin/env node
/**
 * Proves what the project claims of itself, and prints it as a table: suite, cases tried, violations, time.
 *
 *   node proof/prove.mjs [--long] [--only PATTERN] [--workers N] [--json] [--built] [--list]
 *
 * `--built`: the program has been built already. `--list`: only which suites there are, and how many cases each must try.
 * A suite with fewer cases than that has proven nothing and counts as a violation, unless it says why nothing can be tried
 * here. What the long form takes, and how: proof/proofs/README.md.
 * Exit status 0: no violation, and at least as many cases as each suite must try. 1: anything else.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { selectSuites, Table } from "./proofs/table.mjs";
import { SUITES } from "./proofs/suites.mjs";

const { values } = parseArgs({
  options: {
    long: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    built: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    workers: { type: "string", default: "2" },
  },
});
const form = values.long ? "long" : "commit";
const table = new Table({ form, print: values.json ? () => undefined : (line) => console.log(line) });
const suites = selectSuites(SUITES, { form, only: values.only });

if (values.list) table.list(suites);
else {
  if (!values.built) {
    const build = [join(import.meta.dirname, "build.mjs")];
    execFileSync(process.execPath, build, { stdio: ["ignore", "ignore", "inherit"] });
  }
  const found = await table.run(suites, Number(values.workers));
  if (values.json) console.log(JSON.stringify(found));
  process.exitCode = found.ok ? 0 : 1;
}
