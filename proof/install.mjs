/**
 * Installs what `npm pack` makes as a stranger does and follows every page of README, guide and operations with it.
 *
 * The home is fresh and no compiler, no make and no python is to be found, so whatever builds at install would fail. Needs a
 * package registry; takes some minutes. Flags go to vitest, such as `-t 2-commands` for one page.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const PROJECT = join(import.meta.dirname, "..");
/** What a package would build itself with. */
const BUILDERS = /^(?:cc|c\+\+|gcc|g\+\+|clang|cpp|ld|make|gmake|cmake|ninja|python|cargo|rustc|go)(?:[-.\d].*)?$/;

/** All programs of this machine but the builders, in one folder. */
function makePath(folder) {
  mkdirSync(folder);
  for (const place of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of listNames(place)) {
      if (!BUILDERS.test(name) && !listNames(folder).includes(name)) symlinkSync(join(place, name), join(folder, name));
    }
  }
  return folder;
}

function listNames(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function run(program, args, options) {
  const { status } = spawnSync(program, args, { stdio: "inherit", ...options });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}`);
}

const place = mkdtempSync(join(tmpdir(), "splashdown-install-"));
try {
  const [home, project] = [join(place, "home"), join(place, "project")];
  mkdirSync(home);
  mkdirSync(project);
  const env = { ...process.env, HOME: home, npm_config_cache: join(place, "cache") };
  run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", place], { cwd: PROJECT, env });
  const tarball = readdirSync(place).find((name) => name.endsWith(".tgz"));
  const bare = { ...env, PATH: makePath(join(place, "bin")) };
  const beganMs = Date.now();
  run("npm", ["install", join(place, tarball), "--no-audit", "--no-fund"], { cwd: project, env: bare });
  console.log(`installed in ${((Date.now() - beganMs) / 1_000).toFixed(1)} s without a compiler`);
  const installed = join(project, "node_modules", "splashdown");
  const words = ["vitest", "run", "--project", "e2e", "test/e2e/docs/pages.test.ts", ...process.argv.slice(2)];
  run("npx", words, { cwd: PROJECT, env: { ...bare, HOME: process.env.HOME, SPLASHDOWN_INSTALLED: installed } });
} finally {
  rmSync(place, { recursive: true, force: true });
}
