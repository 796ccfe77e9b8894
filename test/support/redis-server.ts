/** A Redis server of a test's own, in memory alone, on a port of loopback; without the program `findRedis` is undefined. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { findFreePort } from "./free-port.js";
import { until } from "./real-clock.js";

/** SPLASHDOWN_REDIS_SERVER, or the first `redis-server` of the path. */
export function findRedis(): string | undefined {
  const named = process.env["SPLASHDOWN_REDIS_SERVER"];
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const programs = folders.map((folder) => join(folder, "redis-server"));
  return [...(named === undefined ? [] : [named]), ...programs].find((program) => existsSync(program));
}

/** Ends a title: why its tests are left out; empty where they are not. */
export const WITHOUT_REDIS =
  findRedis() === undefined ? ", left out: no redis-server here (apt-get install redis-server)" : "";

export class RedisServer {
  readonly #folder = mkdtempSync(join(tmpdir(), "splashdown-redis-"));
  readonly #port: number;
  #server: ChildProcess | undefined;

  private constructor(port: number) {
    this.#port = port;
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await findFreePort());
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** Starts it again, empty, after `kill`. */
  async start(): Promise<void> {
    const program = findRedis();
    if (program === undefined) throw new Error("no redis-server here");
    const settings = ["--port", String(this.#port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    this.#server = spawn(program, [...settings, "--dir", this.#folder], { stdio: "ignore" });
    await until("the server answers", async () => (await this.ask("PING").catch(() => "")) === "+PONG\r\n");
  }

  /** One inline command; its answer as it comes. */
  ask(command: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#port, "127.0.0.1", () => socket.write(`${command}\r\n`));
      socket.once("data", (bytes) => {
        socket.destroy();
        resolve(bytes.toString());
      });
      socket.once("error", reject);
    });
  }

  /** It keeps its connections and says nothing, until `wake`. */
  freeze(): void {
    this.#server?.kill("SIGSTOP");
  }

  wake(): void {
    this.#server?.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    const server = this.#server;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGKILL");
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
