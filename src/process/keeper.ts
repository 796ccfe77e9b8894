/**
 * The owner's side of the keeper: starts it when the first child is spawned, tells it of every group before the group's
 * program may run, and starts another one when it dies.
 *
 * P2 holds because `add` resolves only after the keeper has answered, and a gate opens only after that.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../base/clock.js";
import { SplashdownError } from "../base/errors.js";
import { LineSplitter } from "../base/line-splitter.js";
import { KEEPER_PROGRAM } from "./keeper-program.js";
import type { ProcessEntry } from "./process-table.js";
import { SYSTEM_ENVIRONMENT } from "./system-environment.js";

type KeeperProcess = ChildProcessByStdio<Writable, Readable, null>;

const STARTS_WITHOUT_ANSWER_MAX = 5;

/** A keeper that is stopped, and not dead, answers nobody; another one is started in its place. */
const PATIENCE_MS = 2_000;

export interface KeeperOptions {
  /** For tests. */
  readonly program?: string;
  /** Without it a keeper that does not answer is waited for. */
  readonly clock?: Clock | undefined;
}

/** What the keeper is told of: a group's leader, and the mark of its tree. */
export type KeptGroup = Pick<ProcessEntry, "pid" | "startText"> & { readonly mark?: string };

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  cancelPatience?: () => void;
}

export class Keeper {
  #process: KeeperProcess | undefined;
  #isClosing = false;
  #startsWithoutAnswer = 0;
  readonly #program: string;
  readonly #clock: Clock | undefined;
  readonly #groups = new Map<number, KeptGroup>();
  readonly #waiting = new Map<number, Waiting>();

  constructor({ program = KEEPER_PROGRAM, clock }: KeeperOptions = {}) {
    this.#program = program;
    this.#clock = clock;
  }

  /** Starts the keeper unless it runs. Errors: STORE_BUSY. */
  start(): void {
    if (this.#process !== undefined) return;
    this.#startsWithoutAnswer += 1;
    if (this.#startsWithoutAnswer > STARTS_WITHOUT_ANSWER_MAX) {
      this.#startsWithoutAnswer = 0;
      throw startError(`it ended ${STARTS_WITHOUT_ANSWER_MAX} times without an answer`);
    }
    const isWaiting = ({ pid }: KeptGroup): boolean => this.#waiting.has(pid);
    const groups = [...this.#groups.values()];
    this.#process = this.#spawn(groups.filter((leader) => !isWaiting(leader)));
    for (const leader of groups.filter(isWaiting)) this.#tell("add", leader);
  }

  /** Resolves when the keeper answers for the group. Errors: STORE_BUSY when it cannot be started. */
  add(leader: KeptGroup): Promise<void> {
    return new Promise((resolve, reject) => {
      const isRunning = this.#process !== undefined;
      this.#groups.set(leader.pid, leader);
      this.#waiting.set(leader.pid, { resolve, reject });
      if (isRunning) this.#tell("add", leader);
      else this.#restart();
      this.#replaceIfSilent(leader.pid);
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

  /** What was told to it is told to the next one. */
  #replaceIfSilent(pid: number): void {
    const silent = this.#process;
    const waiting = this.#waiting.get(pid);
    if (waiting === undefined) return;
    waiting.cancelPatience = this.#clock?.schedule(PATIENCE_MS * Math.max(1, this.#startsWithoutAnswer), () => {
      // Its end starts the next one; where that has happened, the next one has its time.
      if (this.#process === silent) silent?.kill("SIGKILL");
      this.#replaceIfSilent(pid);
    });
  }

  /** Starts another keeper; without one, no group that was not answered for may run its program. */
  #restart(): void {
    try {
      this.start();
    } catch (error) {
      for (const [pid, waiting] of this.#waiting) {
        waiting.cancelPatience?.();
        this.#groups.delete(pid);
        waiting.reject(error as Error);
      }
      this.#waiting.clear();
    }
  }

  /** Starts a keeper that knows from its arguments the groups of the keeper before it: the owner may die right after. */
  #spawn(kept: readonly KeptGroup[]): KeeperProcess {
    const told = kept.map(describeGroup);
    const keeper = spawn("/bin/sh", ["-c", this.#program, "splashdown-keeper", String(process.pid), ...told], {
      cwd: "/",
      detached: true,
      env: SYSTEM_ENVIRONMENT,
      stdio: ["pipe", "pipe", "ignore"],
    });
    // Told by the missing number already.
    keeper.once("error", () => undefined);
    if (keeper.pid === undefined) throw startError("the system has no process or descriptor left");
    keeper.once("exit", () => {
      this.#process = undefined;
      if (!this.#isClosing && this.#groups.size > 0) this.#restart();
    });
    // Its end is told by `exit`; what could not be written is told again to the next one.
    keeper.stdin.on("error", () => undefined);
    const lines = new LineSplitter((line) => this.#answered(Number(line)));
    keeper.stdout.on("data", (chunk: Buffer) => lines.take(chunk));
    keeper.unref();
    for (const stream of [keeper.stdin, keeper.stdout]) (stream as Socket).unref();
    return keeper;
  }

  #tell(word: "add" | "drop", group: KeptGroup): void {
    this.#process?.stdin.write(`${word} ${describeGroup(group)}\n`);
  }

  #answered(pid: number): void {
    this.#startsWithoutAnswer = 0;
    this.#waiting.get(pid)?.cancelPatience?.();
    this.#waiting.get(pid)?.resolve();
    this.#waiting.delete(pid);
  }
}

function describeGroup({ pid, startText, mark }: KeptGroup): string {
  return `${pid} ${startText}${mark === undefined ? "" : ` ${mark}`}`;
}

function startError(why: string): SplashdownError {
  return new SplashdownError("STORE_BUSY", `the keeper of child processes cannot be started: ${why}`);
}
