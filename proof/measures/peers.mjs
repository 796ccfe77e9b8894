// What a user would pick instead, run here beside us: LangGraph.js with its SQLite saver, DBOS on Postgres. They are
// installed on demand into the folder peers/ and skipped with a reason where they cannot be had.
import { execFileSync, spawnSync } from "node:child_process";
import { accessSync, chownSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const folder = join(import.meta.dirname, "peers");
const STEPS = 300;
const NOBODY = 65_534;

/** Why it failed, in one line. */
const reasonOf = (error) =>
  String(error.stderr ?? "")
    .trim()
    .split("\n")
    .find((line) => /rror/.test(line)) ?? error.message.split("\n")[0];

function install() {
  if (existsSync(join(folder, "node_modules/@dbos-inc/dbos-sdk"))) return;
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", "--no-package-lock"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: 300_000,
  });
}

function runPeer(script, args) {
  const output = execFileSync(process.execPath, [join(folder, script), ...args.map(String)], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 300_000,
  });
  return JSON.parse(output.trim().split("\n").at(-1));
}

function inTemporary(act) {
  const place = mkdtempSync(join(tmpdir(), "splashdown-bench-peer-"));
  try {
    return act(place);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function findProgram(name) {
  for (const path of (process.env.PATH ?? "").split(delimiter)) {
    try {
      accessSync(join(path, name));
      return join(path, name);
    } catch {
      continue;
    }
  }
  throw new Error(`there is no ${name} on this machine`);
}

async function findFreePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A throw-away Postgres as it is set up by default, never as root: it refuses that. */
async function withPostgres(act) {
  const [initdb, control] = ["initdb", "pg_ctl"].map(findProgram);
  const place = mkdtempSync(join(tmpdir(), "splashdown-bench-pg-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(place, NOBODY, NOBODY);
  const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const run = (program, args) => {
    const { status, stderr, error } = spawnSync(program, args, {
      cwd: place,
      ...as,
      stdio: ["ignore", "ignore", "pipe"],
    });
    if (status !== 0) throw error ?? new Error(`${program}: ${String(stderr).trim().split("\n")[0]}`);
  };
  const data = join(place, "data");
  try {
    run(initdb, ["-D", data, "-A", "trust", "-U", "bench"]);
    const port = await findFreePort();
    const options = `-k ${place} -h 127.0.0.1 -p ${port}`;
    run(control, ["-D", data, "-w", "-l", join(place, "log"), "-o", options, "start"]);
    try {
      return await act(`postgresql://bench@127.0.0.1:${port}/splashdown_bench`);
    } finally {
      run(control, ["-D", data, "-w", "-m", "fast", "stop"]);
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function measurePeer(name, measure) {
  try {
    install();
    return { name, ...(await measure()) };
  } catch (error) {
    return { name, skipped: reasonOf(error) };
  }
}

/** Shape: for each peer `stepMs`, and `onDisk` bytes of `count` steps with a kilobyte each; or `skipped` with why. */
export async function measurePeers(count) {
  const langgraph = await measurePeer("LangGraph.js with SqliteSaver", () =>
    inTemporary((small) => {
      const { stepMs } = runPeer("langgraph.mjs", [STEPS, 16, small]);
      return inTemporary((large) => ({ stepMs, onDisk: runPeer("langgraph.mjs", [count, 1024, large]).onDisk }));
    }),
  );
  const dbos = await measurePeer("DBOS on Postgres", () => withPostgres((url) => runPeer("dbos.mjs", [STEPS, url])));
  return [langgraph, dbos];
}
