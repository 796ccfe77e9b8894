// Where tasks are run: a folder of its own for each, the built program as a process, and the library to look at it.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** A process that has not ended by then hangs, unless the bench is told otherwise; a busy machine takes its time. */
const PROCESS_MS_MAX = 180_000;

export class Bench {
  #folder;
  #dist;
  #processMsMax;
  #store;
  #cache;
  #count = 0;
  /** Outputs with an empty database, where to make one takes seconds. */
  #template;

  /** `store`: `file`, `sqlite`, `pglite`, or the address of a Postgres server, where each place has tables of its own; `cache`: the address of a Redis before it. */
  constructor({ folder, dist, store = "file", cache, processMsMax = PROCESS_MS_MAX }) {
    this.#folder = folder;
    this.#store = store;
    this.#cache = cache;
    this.#dist = dist;
    this.#processMsMax = processMsMax;
  }

  get program() {
    return join(this.#dist, "cli/main.js");
  }

  /** True where a second process is refused as long as the first one runs. */
  get isOfOneProcess() {
    return this.#store === "pglite";
  }

  /** A new folder for one task. */
  createPlace() {
    this.#count += 1;
    const folder = join(this.#folder, `place-${this.#count}`);
    const temporary = join(folder, "tmp");
    mkdirSync(temporary, { recursive: true });
    const outputs = join(folder, "outputs");
    if (this.#template !== undefined) cpSync(this.#template, outputs, { recursive: true });
    return { folder, temporary, outputs, store: this.#addressIn(outputs) };
  }

  #addressIn(outputs) {
    if (this.#store.includes("://")) return `${this.#store}?table_prefix=k${process.pid}_${this.#count}_`;
    if (this.#store === "file") return `file:${outputs}`;
    return `${this.#store}:${join(outputs, "tasks.db")}`;
  }

  discard(place) {
    rmSync(place.folder, { recursive: true, force: true });
  }

  #environment(place) {
    return {
      PATH: process.env.PATH ?? "",
      HOME: join(this.#folder, "home"),
      TMPDIR: place.temporary,
      SPLASHDOWN_CONFIG_DIR: join(this.#folder, "config"),
      SPLASHDOWN_STATE_DIR: join(this.#folder, "state"),
      SPLASHDOWN_STORE: place.store,
      ...(this.#cache === undefined ? {} : { SPLASHDOWN_CACHE: this.#cache }),
    };
  }

  /** Starts a program of Node; `ended` gives its code, signal and what it wrote. */
  start(place, args) {
    const child = spawn(process.execPath, args, {
      cwd: place.folder,
      env: this.#environment(place),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
    let isHanging = false;
    const timer = setTimeout(() => {
      isHanging = true;
      child.kill("SIGKILL");
    }, this.#processMsMax);
    const ended = new Promise((resolve) => {
      // Not `close`: a child that outlives its owner holds the pipes.
      child.on("exit", (code, signal) => {
        clearTimeout(timer);
        setImmediate(() => resolve({ code, signal, isHanging, pid: child.pid, ...said }));
      });
    });
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
    return { pid: child.pid, kill: () => child.kill("SIGKILL"), hasEnded, ended };
  }

  async makeKey() {
    const place = this.createPlace();
    const { code, stderr } = await this.start(place, [this.program, "keys", "init", "--if-missing"]).ended;
    if (code !== 0) throw new Error(`keys init failed: ${stderr}`);
    if (this.#store === "pglite") this.#template = await this.#makeTemplate();
    this.discard(place);
  }

  async #makeTemplate() {
    const place = this.createPlace();
    const { code, stdout, stderr } = await this.start(place, [this.program, "doctor"]).ended;
    if (code !== 0) throw new Error(`no database could be made: ${stdout}${stderr}`);
    return place.outputs;
  }

  /** Looks at the place with the library, as another process beside the owner does. */
  async look(place, read) {
    const { openSplashdown } = await this.#import("runtime/open.js");
    const { createEnvironment } = await this.#import("runtime/platform/environment.js");
    const splashdown = await openSplashdown({ environment: createEnvironment(this.#environment(place), place.folder) });
    try {
      return await read(splashdown);
    } finally {
      await splashdown.close();
    }
  }

  #import(file) {
    return import(pathToFileURL(join(this.#dist, file)).href);
  }
}
