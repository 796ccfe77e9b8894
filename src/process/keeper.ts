/**
 * The owner's side of the keeper: starts it when the first child is spawned, tells it of every group before the group's
 * program may run, and starts another one when it dies.
 *
 * P2 holds because `add` resolves only after the keeper has answered, and a gate opens only after that.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { SplashdownError, messageOf } from "../base/errors.js";
import { LineSplitter } from "./capture.js";
import { KEEPER_PROGRAM } from "./keeper-program.js";
import { SYSTEM_ENVIRONMENT, type ProcessEntry } from "./process-table.js";

type KeeperProcess = ChildProcessByStdio<Writable, Readable, null>;

const STARTS_WITHOUT_ANSWER_MAX = 5;

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export class Keeper {
  #process: KeeperProcess | undefined;
  #isClosing = false;
  #startsWithoutAnswer = 0;
  readonly #groups = new Map<number, ProcessEntry>();
  readonly #waiting = new Map<number, Waiting>();

  /** `program` is for tests. */
  constructor(private readonly program: string = KEEPER_PROGRAM) {}

  /** Resolves when the keeper answers for the group. Errors: STORE_BUSY when it cannot be started. */
  add(leader: ProcessEntry): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#groups.set(leader.pid, leader);
      this.#waiting.set(leader.pid, { resolve, reject });
      if (this.#process === undefined) this.#start();
      else this.#tell("add", leader);
    });
  }

  /** The group is empty: its number may be given to others. */
  drop(pid: number): void {
    const leader = this.#groups.get(pid);
    if (leader === undefined) return;
    this.#groups.delete(pid);
    this.#tell("drop", leader);
  }

  /** Number of the keeper's process; `undefined` before the first child. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Lets the keeper go; it ends what is still registered. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const keeper = this.#process;
    if (keeper === undefined) return;
    keeper.ref();
    await new Promise<void>((resolve) => {
      keeper.once("exit", () => resolve());
      keeper.stdin.end();
    });
  }

  /** Starts a keeper and tells it every group that is known. */
  #start(): void {
    this.#startsWithoutAnswer += 1;
    if (this.#startsWithoutAnswer > STARTS_WITHOUT_ANSWER_MAX) {
      this.#fail(new Error(`it ended ${STARTS_WITHOUT_ANSWER_MAX} times without an answer`));
      return;
    }
    try {
      this.#process = this.#spawn();
    } catch (error) {
      this.#fail(error);
      return;
    }
    for (const leader of this.#groups.values()) this.#tell("add", leader);
  }

  #spawn(): KeeperProcess {
    const keeper = spawn("/bin/sh", ["-c", this.program, "splashdown-keeper", String(process.pid)], {
      cwd: "/",
      detached: true,
      env: SYSTEM_ENVIRONMENT,
      stdio: ["pipe", "pipe", "ignore"],
    });
    keeper.once("error", (error) => {
      if (this.#forget(keeper)) this.#fail(error);
    });
    keeper.once("exit", () => {
      if (this.#forget(keeper) && !this.#isClosing && this.#groups.size > 0) this.#start();
    });
    // Its end is told by `exit`; what could not be written is told again to the next one.
    keeper.stdin.on("error", () => undefined);
    const lines = new LineSplitter((line) => this.#answered(Number(line)));
    keeper.stdout.on("data", (chunk: Buffer) => lines.take(chunk));
    keeper.unref();
    for (const stream of [keeper.stdin, keeper.stdout]) (stream as Socket).unref();
    return keeper;
  }

  #tell(word: "add" | "drop", leader: ProcessEntry): void {
    this.#process?.stdin.write(`${word} ${leader.pid} ${leader.startText}\n`);
  }

  #answered(pid: number): void {
    this.#startsWithoutAnswer = 0;
    this.#waiting.get(pid)?.resolve();
    this.#waiting.delete(pid);
  }

  #forget(keeper: KeeperProcess): boolean {
    const wasCurrent = this.#process === keeper;
    if (wasCurrent) this.#process = undefined;
    return wasCurrent;
  }

  /** Refuses every group that was not answered for: its program never runs. */
  #fail(cause: unknown): void {
    this.#startsWithoutAnswer = 0;
    const text = `the keeper of child processes cannot be started: ${messageOf(cause)}`;
    for (const [pid, waiting] of this.#waiting) {
      this.#groups.delete(pid);
      waiting.reject(new SplashdownError("STORE_BUSY", text, { cause }));
    }
    this.#waiting.clear();
  }
}
