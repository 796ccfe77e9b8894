// Builds dist/ from src/: checks that generated code is fresh, compiles, and marks the command as executable.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, rmSync } from "node:fs";

const run = (program, ...args) => execFileSync(program, args, { stdio: "inherit" });

run(process.execPath, "scripts/generate-types.mjs", "--check");
rmSync("dist", { recursive: true, force: true });
run(process.execPath, "node_modules/typescript/bin/tsc", "-p", "tsconfig.json");
if (existsSync("src/schema/generated")) {
  cpSync("src/schema/generated", "dist/schema/generated", {
    recursive: true,
    filter: (path) => !path.endsWith(".ts") || path.endsWith(".d.ts"),
  });
}
chmodSync("dist/cli/main.js", 0o755);
