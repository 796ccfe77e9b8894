// All that CI does but the tests (see checks.mjs). With names of gates as arguments, only those.
import { spawnSync } from "node:child_process";
import { CHECKS } from "./parts/checks.mjs";

const LINES_MAX = 120;
const wanted = new Set(process.argv.slice(2));
const known = new Set(CHECKS.map(({ name }) => name));
const unknown = [...wanted].filter((name) => !known.has(name));
if (unknown.length > 0) {
  console.error(`no such gate: ${unknown.join(", ")}; there are ${[...known].join(", ")}`);
  process.exit(2);
}

let failures = 0;
for (const { name, args } of CHECKS) {
  if (wanted.size > 0 && !wanted.has(name)) continue;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    env: { ...process.env, FORCE_COLOR: "0" },
  });
  const isGood = status === 0;
  console.log(`${isGood ? "ok  " : "FAIL"} ${name}`);
  if (isGood) continue;
  failures += 1;
  console.log((stdout + stderr).split("\n").slice(0, LINES_MAX).join("\n"));
}
process.exit(failures === 0 ? 0 : 1);
