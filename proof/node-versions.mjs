/**
 * The tests under other versions of Node than the one at hand: each is installed from npm into a folder of its own, and with
 * it a clone of what is committed here, so that packages with native parts are made for it.
 *
 *   node proof/node-versions.mjs [--node 22 --node 24] [--keep] [-- FLAGS OF VITEST]
 *
 * Exit status 0: the tests pass under each; 1: they do not under one; 3: a version or a package could not be installed.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";

const ROOT = join(import.meta.dirname, "..");
const STATUS_UNAVAILABLE = 3;
const { values, positionals } = parseArgs({
  options: {
    node: { type: "string", multiple: true, default: ["22", "24"] },
    keep: { type: "boolean", default: false },
  },
  allowPositionals: true,
});

const folder = mkdtempSync(join(tmpdir(), "splashdown-node-"));
const rows = [];
try {
  for (const wanted of values.node) rows.push(tryVersion(wanted));
} finally {
  if (values.keep) console.log(`kept for a look: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
for (const { version, line } of rows) console.log(`Node ${version}: ${line}`);
process.exitCode = rows.every(({ isGood }) => isGood) ? 0 : 1;

function tryVersion(wanted) {
  const place = join(folder, wanted);
  const env = { ...process.env, PATH: `${installNode(wanted, place)}${delimiter}${process.env.PATH}` };
  const version = execFileSync("node", ["--version"], { env, encoding: "utf8" }).trim();
  const tree = join(place, "tree");
  execFileSync("git", ["clone", "--quiet", ROOT, tree]);
  install(["ci"], { cwd: tree, env });
  execFileSync("npm", ["run", "--silent", "build"], { cwd: tree, env, stdio: "inherit" });
  const { status, stdout } = spawnSync("node", ["scripts/parts/test.mjs", ...positionals], {
    cwd: tree,
    env,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) console.log(stdout);
  return { version, isGood: status === 0, line: stdout.trim().split("\n").at(-1) };
}

/** The folder with the program. */
function installNode(wanted, place) {
  mkdirSync(place);
  writeFileSync(join(place, "package.json"), "{}");
  install(["install", `node@${wanted}`], { cwd: place, env: process.env });
  return join(place, "node_modules", "node", "bin");
}

function install(args, options) {
  const { status, stderr } = spawnSync("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], {
    ...options,
    encoding: "utf8",
  });
  if (status === 0) return;
  console.log(`npm ${args.join(" ")} failed: ${stderr.trim().split("\n")[0]}`);
  rmSync(folder, { recursive: true, force: true });
  process.exit(STATUS_UNAVAILABLE);
}
