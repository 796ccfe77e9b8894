/**
 * One child: its streams, its end, its result.
 *
 * A child goes through: held (at the gate) → released → program ended → group empty and streams drained → settled.
 * `end` may come at any time and leads to the same last two states. P5: `result` settles only when nothing of the group
 * runs any more; and where the child was ended, nothing of its tree: no late act of it can follow. What a program that ended
 * by itself has put into a session of its own, as a service, is left to run.
 */
import type { ChildProcess } from "node:child_process";
import type { Duplex, Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setImmediate as nextTurn } from "node:timers/promises";
import { SplashdownError, assert, messageOf } from "../base/errors.js";
import { LIMITS } from "../base/limits.js";
import { LineSplitter } from "../base/line-splitter.js";
import { CappedHead, Tail } from "./capture.js";
import type { Child, ChildResult, ChildSpec, ProcessIdentity } from "./contract.js";
import { endGroup, endTree, type GroupEnding } from "./group-ending.js";
import { GATE_DESCRIPTOR, GATE_LINE, isFailedLaunch, notFound } from "./launcher.js";

const CONTROL_DESCRIPTOR = 3;
/** Patience with streams that somebody outside the group still holds open. */
const DRAIN_MS = 250;
/** Then so many turns of the event loop at most, as long as each brings something. */
const DRAIN_TURNS_MAX = 256;

export interface GroupChildOptions {
  readonly spec: ChildSpec;
  readonly process: ChildProcess;
  readonly identity: ProcessIdentity;
  readonly ending: GroupEnding;
  /** Called once, when the group is empty. */
  readonly onEmpty: () => void;
}

interface ProgramEnd {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly atMs: number;
}

export class GroupChild implements Child {
  readonly identity: ProcessIdentity;
  readonly result: Promise<ChildResult>;
  readonly #options: GroupChildOptions;
  readonly #stdout: CappedHead;
  readonly #stderr: Tail;
  #releasedAtMs: number;
  /** How often a stream gave something. */
  #chunkCount = 0;
  /** Settles the result with an error although the program may still run: it cannot be ended. */
  #abandon: (error: unknown) => void = () => undefined;

  constructor(options: GroupChildOptions) {
    this.#options = options;
    this.identity = options.identity;
    this.#stdout = new CappedHead(options.spec.stdoutBytesMax);
    this.#stderr = new Tail(options.spec.stderrTailBytes);
    this.#releasedAtMs = options.ending.clock.monotonicMs();
    this.#listen();
    this.result = this.#settle();
    // Whoever waits for the result is told; nobody has to.
    this.result.catch(() => undefined);
  }

  release(): void {
    this.#releasedAtMs = this.#options.ending.clock.monotonicMs();
    this.#gate.end(GATE_LINE);
    const { process: child, spec } = this.#options;
    // No stream when there is no input, or a file holds it.
    if (child.stdin !== null && spec.keepsInput !== true) child.stdin.end(spec.input ?? "");
  }

  write(text: string): void {
    const { stdin } = this.#options.process;
    if (stdin?.writable === true) stdin.write(text);
  }

  async end(graceMs: number): Promise<void> {
    try {
      await endTree(this.#options.ending, this.identity, graceMs);
    } catch (error) {
      this.#abandon(error);
    }
    await this.result.catch(() => undefined);
  }

  get #gate(): Duplex {
    return this.#stream(GATE_DESCRIPTOR) as Duplex;
  }

  #stream(descriptor: number): Readable | Writable {
    const stream = this.#options.process.stdio[descriptor];
    assert(stream !== null && stream !== undefined, `descriptor ${descriptor} of a child is no pipe`);
    return stream;
  }

  #listen(): void {
    const { process: child, spec } = this.#options;
    // A child may end without reading: what it does not want is no failure.
    child.stdin?.on("error", () => undefined);
    this.#gate.on("error", () => undefined).resume();
    const note = () => {
      this.#chunkCount += 1;
      spec.onActivity?.();
    };
    child.stdout?.on("data", (chunk: Buffer) => {
      note();
      if (spec.onStdout !== undefined) spec.onStdout(chunk);
      else if (this.#stdout.take(chunk)) void this.end(LIMITS.killGraceMs);
    });
    const decoder = new StringDecoder("utf8");
    child.stderr?.on("data", (chunk: Buffer) => {
      note();
      this.#stderr.take(chunk);
      spec.onStderr?.(decoder.write(chunk));
    });
    if (spec.onControlLine === undefined) return;
    const lines = new LineSplitter(spec.onControlLine);
    const control = this.#stream(CONTROL_DESCRIPTOR) as Duplex;
    control.on("data", (chunk: Buffer) => {
      note();
      lines.take(chunk);
    });
    control.on("end", () => lines.end());
    control.on("error", () => undefined);
  }

  async #settle(): Promise<ChildResult> {
    const { process: child, ending, spec, onEmpty } = this.#options;
    const drained = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const programEnd = await this.#programEnd();
    const leftoversEnded = await endGroup(ending, this.identity, LIMITS.killGraceMs);
    onEmpty();
    await this.#drain(drained);
    const result: ChildResult = {
      exitCode: programEnd.exitCode,
      signal: programEnd.signal,
      stdout: this.#stdout.bytes(),
      stderrTail: this.#stderr.text(),
      durationMs: programEnd.atMs - this.#releasedAtMs,
      stdoutOverflow: this.#stdout.overflowed,
      leftoversEnded,
    };
    if (isFailedLaunch(result)) throw notFound(spec, `${spec.program} cannot be executed: ${result.stderrTail.trim()}`);
    return result;
  }

  #programEnd(): Promise<ProgramEnd> {
    const { process: child, ending } = this.#options;
    return new Promise((resolve, reject) => {
      this.#abandon = reject;
      child.once("error", (error) => reject(new SplashdownError("INTERNAL", messageOf(error), { cause: error })));
      child.once("exit", (exitCode, signal) =>
        resolve({ exitCode: exitCode ?? undefined, signal: signal ?? undefined, atMs: ending.clock.monotonicMs() }),
      );
    });
  }

  /** Waits for the end of the streams; a process that left the group may hold them open for ever. */
  async #drain(drained: Promise<void>): Promise<void> {
    const cancel = this.#options.ending.clock.schedule(DRAIN_MS, () => void this.#cut());
    await drained;
    cancel();
  }

  /**
   * Ends the streams when they have given what is in them. All that the program wrote is: it has ended. But where this process
   * was held up for longer than its patience, the timer comes before the first look at them.
   */
  async #cut(): Promise<void> {
    let before = -1;
    for (let turn = 0; turn < DRAIN_TURNS_MAX && before !== this.#chunkCount; turn += 1) {
      before = this.#chunkCount;
      // A turn looks at what can be read, and only then goes on here.
      await nextTurn();
    }
    for (const stream of this.#options.process.stdio) stream?.destroy();
  }
}
