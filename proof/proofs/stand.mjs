// A folder with a workflow of commands that note what they do, and the built program as a process on it.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..", "..");
export const PROGRAM = join(ROOT, "dist/cli/main.js");
const PROCESS_MS_MAX = 120_000;

export class Stand {
  folder = mkdtempSync(join(tmpdir(), "splashdown-prove-"));
  variables;

  constructor() {
    mkdirSync(this.path("home"));
    this.variables = {
      PATH: process.env.PATH ?? "",
      HOME: this.path("home"),
      SPLASHDOWN_CONFIG_DIR: this.path("config"),
      SPLASHDOWN_STATE_DIR: this.path("state"),
      SPLASHDOWN_TRUST: "1",
      SPLASHDOWN_STORE: `file:${this.path("outputs")}`,
      // One thread does all file work, so that the n-th call is the same one each time.
      UV_THREADPOOL_SIZE: "1",
    };
  }

  path(...parts) {
    return join(this.folder, ...parts);
  }

  /** Steps in a row, each a line in the ledger; one that may be held goes on when there is no file `hold-<name>`. */
  writeWorkflow(names, { canBeHeld = false, ...more } = {}) {
    const hold = (name) => (canBeHeld ? `while [ -e hold-${name} ]; do sleep 0.02; done;` : "");
    const agents = names.map((name, at) => ({
      name,
      command: ["sh", "-c", `echo ${name} >> ledger; ${hold(name)} echo '{"output":{"did":"${name}"}}'`],
      working_dir: ".",
      effects: "none",
      routes: [{ to: names[at + 1] ?? "$end" }],
      ...more,
    }));
    const workflow = { name: "proof", entry_point: names[0], limits: { max_iterations: 100 } };
    const output = { last: `{{ ${names.at(-1)}.output.did }}` };
    writeFileSync(this.path("workflow.json"), JSON.stringify({ workflow, agents, output }));
  }

  /** Runs a command line to its end; `splashdown` when it begins with a verb. */
  run(args, { through = [], program = PROGRAM, variables = {} } = {}) {
    const [file, ...rest] = [...through, process.execPath, program, ...args];
    const env = { ...this.variables, ...variables };
    const options = { cwd: this.folder, env, encoding: "utf8", timeout: PROCESS_MS_MAX };
    const { status, signal, stdout, stderr } = spawnSync(file, rest, options);
    return { code: status, signal, stdout, stderr };
  }

  start(args) {
    return spawn(process.execPath, args, {
      cwd: this.folder,
      env: this.variables,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
  }

  ledger(name = "ledger") {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), "utf8").trim().split("\n") : [];
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The view on stdout; `undefined` when there is none. */
export function viewOf({ stdout }) {
  try {
    return JSON.parse(stdout);
  } catch {
    return undefined;
  }
}
