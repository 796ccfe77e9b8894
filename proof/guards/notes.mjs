/** Which tests reach which guard: made by running them all once, and the order in which they are asked. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
/** They start the program, or look at the sources. */
const APART = /^(?:e2e\/|unit\/examples\/|unit\/docs\/|integration\/examples\/|[^/]*$)/;

/** Shape: `{ file, tookMs, reached }`, one for each test file. */
export function readNotes(file) {
  if (!existsSync(file)) {
    const isTest = (path) => path.endsWith(".test.ts") && !APART.test(path);
    const files = readdirSync(join(ROOT, "test"), { recursive: true }).filter(isTest);
    const paths = files.map((path) => join("test", path));
    const flags = ["run", "--config", "proof/guards/vitest.config.mjs", ...paths];
    spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", ...flags], {
      cwd: ROOT,
      env: { ...process.env, SPLASHDOWN_GUARD_NOTES: file },
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Those that reach a site: of its own room first, and quick ones before slow ones. */
export function orderTests({ id }, notes) {
  const room = id.split("/")[1];
  const rank = ({ file, tookMs }) => tookMs * (file.split("/")[2] === room ? 1 : 4);
  return notes
    .filter(({ reached }) => reached.includes(id))
    .sort((left, right) => rank(left) - rank(right))
    .map(({ file }) => file);
}
