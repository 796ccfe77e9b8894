// All that CI does but the tests: types, lint, format, dead code, generated files, the package. Says what it looked at.
import { spawnSync } from "node:child_process";

const bin = (name, ...args) => [process.execPath, [`node_modules/${name}`, ...args]];
const checks = [
  ["generated files", bin("../scripts/generate-types.mjs", "--check")],
  ["types", bin("typescript/bin/tsc", "--noEmit", "-p", "tsconfig.json")],
  ["types of tests", bin("typescript/bin/tsc", "--noEmit", "-p", "test/tsconfig.json")],
  ["lint", bin("oxlint/bin/oxlint", "--type-aware", "--deny-warnings", "src", "test", "scripts", "examples")],
  ["format", bin("prettier/bin/prettier.cjs", "--check", "--log-level", "warn", ".")],
  ["dead code", bin("knip/bin/knip.js", "--no-progress")],
  ["package", bin("publint/src/cli.js", "--strict")],
  [
    "package types",
    bin("@arethetypeswrong/cli/dist/index.js", "--pack", ".", "--profile", "esm-only", "--format", "ascii"),
  ],
];

const wanted = new Set(process.argv.slice(2));
let failures = 0;
for (const [name, [program, args]] of checks) {
  if (wanted.size > 0 && !wanted.has(name)) continue;
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: "utf8",
    env: { ...process.env, FORCE_COLOR: "0" },
  });
  const ok = status === 0;
  console.log(`${ok ? "ok  " : "FAIL"} ${name}`);
  if (!ok) {
    failures += 1;
    console.log(`${stdout}${stderr}`.split("\n").slice(0, 120).join("\n"));
  }
}
process.exit(failures === 0 ? 0 : 1);
