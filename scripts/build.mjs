// Builds dist/ from src/: checks that generated code is fresh, compiles, and marks the command as executable. It is built in
// a folder beside it, which then takes its name: whoever runs the program meanwhile, or a build that is cut off, leaves it whole.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

const run = (program, ...args) => execFileSync(program, args, { stdio: "inherit" });

run(process.execPath, "scripts/generate-types.mjs", "--check");
const fresh = mkdtempSync("dist-");
try {
  run(process.execPath, "node_modules/typescript/bin/tsc", "-p", "tsconfig.json", "--outDir", fresh);
  cpSync("src/schema/generated", join(fresh, "schema/generated"), {
    recursive: true,
    filter: (path) => !path.endsWith(".ts") || path.endsWith(".d.ts"),
  });
  chmodSync(join(fresh, "cli/main.js"), 0o755);
  chmodSync(fresh, 0o755);
  while (!takesName(fresh)) moveAway();
} finally {
  rmSync(fresh, { recursive: true, force: true });
}

function takesName(folder) {
  try {
    renameSync(folder, "dist");
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes(error.code)) return false;
    throw error;
  }
}

/** What has the name goes; another build may have been quicker. */
function moveAway() {
  const old = mkdtempSync("dist-");
  try {
    renameSync("dist", join(old, "dist"));
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  } finally {
    rmSync(old, { recursive: true, force: true });
  }
}
