/**
 * A Postgres server of a test's own: the system's binaries in a folder that goes away, on a port of loopback.
 *
 * Postgres refuses to run as root, so it runs as the user `postgres` there. Without binaries `findPostgres` is undefined
 * and the tests say so.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "./free-port.js";
import { isRunning, listChildren } from "./process-probe.js";
import { until } from "./real-clock.js";

const SYSTEM = "/usr/lib/postgresql";
const USER = "postgres";

/** Folder of the newest binaries of this machine: SPLASHDOWN_POSTGRES_BIN, or where Debian has them. */
export function findPostgres(): string | undefined {
  const named = process.env["SPLASHDOWN_POSTGRES_BIN"];
  const versions = existsSync(SYSTEM) ? readdirSync(SYSTEM).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...(named === undefined ? [] : [named]), ...versions.map((version) => join(SYSTEM, version, "bin"))];
  return folders.find((folder) => existsSync(join(folder, "initdb")));
}

/** Ends a title: why its tests are left out; empty where they are not. */
export const WITHOUT_POSTGRES =
  findPostgres() === undefined
    ? ", left out: no programs of Postgres here, and SPLASHDOWN_POSTGRES_BIN names none"
    : "";

/** Folders that everybody may enter: what it writes lies in the one, its log in files of 1 MB in the other. */
export interface ServerPlaces {
  readonly within?: string;
  readonly logWithin?: string;
}

export class PostgresServer {
  readonly folder: string;
  readonly #binaries: string;
  #port = 0;
  #server: ChildProcess | undefined;
  #log = "";

  private constructor(binaries: string, within: string) {
    this.#binaries = binaries;
    this.folder = mkdtempSync(join(within, "splashdown-pg-"));
  }

  /** Made and started. */
  static async start(places: ServerPlaces = {}): Promise<PostgresServer> {
    const binaries = findPostgres();
    if (binaries === undefined) throw new Error("no Postgres here");
    const { within = tmpdir(), logWithin } = places;
    const server = new PostgresServer(binaries, within);
    const data = join(server.folder, "data");
    const log = logWithin === undefined ? undefined : mkdtempSync(join(logWithin, "splashdown-pg-log-"));
    if (isRoot()) execFileSync("chown", [USER, server.folder, ...(log === undefined ? [] : [log])]);
    const apart = log === undefined ? [] : ["--waldir", log, "--wal-segsize", "1"];
    server.#execute("initdb", [
      "-D",
      data,
      "-A",
      "trust",
      "-U",
      USER,
      "--no-sync",
      "-E",
      "UTF8",
      "--locale=C",
      ...apart,
    ]);
    server.#port = await findFreePort();
    await server.start();
    return server;
  }

  get url(): string {
    return `postgres://${USER}:a-password@127.0.0.1:${this.#port}/postgres`;
  }

  /** Starts it again after `stop` or `kill`. */
  async start(): Promise<void> {
    const options = ["listen_addresses=127.0.0.1", "max_connections=200"].flatMap((one) => ["-c", one]);
    const args = ["-D", join(this.folder, "data"), "-p", String(this.#port), "-k", this.folder, ...options];
    const [file, all] = asUser(join(this.#binaries, "postgres"), args);
    this.#server = spawn(file, all, { stdio: ["ignore", "ignore", "pipe"], cwd: this.folder });
    this.#server.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#log += text));
    await until("the server takes connections", () => this.#isReady());
  }

  /** SIGKILL to the server and all its backends, as a crash of the machine would end them: none answers afterwards. */
  async kill(): Promise<void> {
    const { pid } = this.#running() ?? {};
    if (pid === undefined) return;
    // Stopped, it starts no more of them.
    process.kill(pid, "SIGSTOP");
    const backends = listChildren(pid);
    await this.#end("SIGKILL");
    for (const backend of backends) killIfThere(backend);
    await until("its backends have ended", () => !backends.some(isRunning));
  }

  /** At once, cutting every connection; nothing is lost. */
  async stop(): Promise<void> {
    await this.#end("SIGQUIT");
  }

  /** Runs a statement as a person would; the rows as text, columns by `|`. */
  query(sql: string): string {
    const address = ["-h", "127.0.0.1", "-p", String(this.#port), "-U", USER];
    const all = [...address, "-Atc", sql, "postgres"];
    return execFileSync(join(this.#binaries, "psql"), all, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  }

  /** From now on that role, which is made, comes in by this password alone. */
  requirePassword(role: string, password: string): void {
    this.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
    const rules = join(this.folder, "data", "pg_hba.conf");
    writeFileSync(rules, `host all ${role} 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, "utf8")}`);
    this.query("SELECT pg_reload_conf()");
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#running();
    if (server === undefined) return;
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill(signal);
    await ended;
  }

  #running(): ChildProcess | undefined {
    const server = this.#server;
    return server?.exitCode === null && server.signalCode === null ? server : undefined;
  }

  #isReady(): boolean {
    if (this.#server?.exitCode !== null) throw new Error(`the server ended: ${this.#log}`);
    try {
      this.query("SELECT 1");
      return true;
    } catch {
      return false;
    }
  }

  #execute(name: string, args: readonly string[]): void {
    const [file, all] = asUser(join(this.#binaries, name), args);
    execFileSync(file, all, { stdio: "ignore", cwd: this.folder });
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended with the server.
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Keeps the process's number: signals reach the program itself. */
function asUser(program: string, args: readonly string[]): [string, string[]] {
  return isRoot()
    ? ["setpriv", ["--reuid", USER, "--regid", USER, "--clear-groups", program, ...args]]
    : [program, [...args]];
}
