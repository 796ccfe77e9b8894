/**
 * Code of a workflow in this process: what it does to the process is told as a failure of its step.
 *
 * A call of `process.exit`, a rejection that nobody waits for, an exception in a timer and a promise that can never settle
 * end the step by name, and nothing else. Which step it was is known by the async context that the code runs in; where it
 * cannot be told, those who ran are named and the process ends as it would without us.
 * Handlers are set with the first function of a task and taken away with the last task that had one. While functions run
 * no end of the process has the status 0.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { writeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { EXIT_STATUS } from "../../base/error-table.js";
import { errorCodeOf, messageOf, SplashdownError } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { isEndOfRun } from "./failure.js";

export interface FunctionGuard {
  /** Errors: what the code throws; STEP_FAILED for what it does to the process. */
  run<T>(path: string, code: () => T | Promise<T>): Promise<T>;
  /** The task is over: what its functions still do is nobody's failure. */
  close(): void;
}

interface Guarded {
  readonly path: string;
  readonly log: Log;
  readonly fail: (error: SplashdownError) => void;
  isOver: boolean;
}

const context = new AsyncLocalStorage<Guarded>();
const running = new Set<Guarded>();
const guards = new Set<FunctionGuard>();

export function openFunctionGuard(log: Log): FunctionGuard {
  const own = new Set<Guarded>();
  const guard: FunctionGuard = {
    run: async (path, code) => {
      if (guards.size === 0) install();
      guards.add(guard);
      let fail: Guarded["fail"] = () => undefined;
      const failed = new Promise<never>((_resolve, reject) => (fail = reject));
      const guarded: Guarded = { path, log, fail: (error) => fail(error), isOver: false };
      running.add(guarded);
      own.add(guarded);
      try {
        // A rejection that nobody took is told before the next turn.
        const ended = context
          .run(guarded, () => Promise.resolve().then(code))
          .then(async (value) => (await nextTurn(), value));
        return await Promise.race([ended, failed]);
      } catch (error) {
        throw asStepError(error);
      } finally {
        guarded.isOver = true;
        running.delete(guarded);
        own.delete(guarded);
      }
    },
    close: () => {
      for (const guarded of own) running.delete(guarded);
      if (guards.delete(guard) && guards.size === 0) uninstall();
    },
  };
  return guard;
}

/** What a function throws is its own: neither a code of ours in it nor a value that cannot be read ends the run. */
function asStepError(error: unknown): unknown {
  try {
    const message = messageOf(error);
    if (!isEndOfRun(error)) return error;
    return new SplashdownError("STEP_FAILED", message, { details: { code: errorCodeOf(error) ?? null }, cause: error });
  } catch {
    return new SplashdownError("STEP_FAILED", "the function threw something that cannot be read");
  }
}

function tellFailure(guarded: Guarded, what: string, cause?: unknown): SplashdownError {
  const why = cause === undefined ? "" : `: ${messageOf(asStepError(cause))}`;
  const stack = cause instanceof Error && cause.stack !== undefined ? { stack: cause.stack } : {};
  const error = new SplashdownError("STEP_FAILED", `the function of step ${guarded.path} ${what}${why}`, {
    details: { step: guarded.path, ...stack },
    cause,
  });
  if (guarded.isOver) guarded.log.warn(`${error.message} (the step is over)`);
  else guarded.fail(error);
  return error;
}

type Listener = (...values: never[]) => void;
type LooseEvent = "uncaughtException" | "unhandledRejection";
const EXIT = "process.exit";
const LOOSE: Readonly<Record<LooseEvent, string>> = {
  uncaughtException: "threw outside of what it gave back",
  unhandledRejection: "left a rejected promise that nobody waits for",
};

let remove: (() => void) | undefined;

function install(): void {
  const restore = [takeExit(), takeLoose("uncaughtException"), takeLoose("unhandledRejection")];
  process.on("beforeExit", failHung);
  process.on("exit", nameRunning);
  remove = () => {
    for (const give of restore) give();
    process.off("beforeExit", failHung);
    process.off("exit", nameRunning);
  };
}

function uninstall(): void {
  remove?.();
  remove = undefined;
}

/** The process as a place that holds a function, which is taken out and put back. */
interface Exiting {
  exit: (code?: number | string | null) => never;
}

function takeExit(): () => void {
  const exiting: Exiting = process;
  const real = exiting.exit;
  const guarded = (code?: number | string | null): never => {
    const by = context.getStore();
    if (by === undefined) return real.call(process, code);
    throw tellFailure(by, `called ${EXIT}(${code ?? ""})`);
  };
  process.exit = guarded;
  return () => {
    if (process.exit === guarded) process.exit = real;
  };
}

/** The listeners of others hear only what is not a function's. */
function takeLoose(event: LooseEvent): () => void {
  const others = process.listeners(event as "uncaughtException") as Listener[];
  const listen = (reason: unknown, ...more: unknown[]): void => {
    const by = context.getStore();
    const isOurs = reason instanceof SplashdownError && isEndOfRun(reason);
    if (by !== undefined && !isOurs) {
      tellFailure(by, LOOSE[event], reason);
      return;
    }
    const paths = listRunning();
    if (paths !== "") writeSync(2, `splashdown: the functions of ${paths} were running when this happened:\n`);
    if (others.length > 0) for (const other of others) other(...([reason, ...more] as never[]));
    else endUnheard(reason);
  };
  for (const other of others) process.off(event, other as never);
  process.on(event as "uncaughtException", listen);
  return () => {
    process.off(event, listen);
    for (const other of others) process.on(event as "uncaughtException", other as never);
  };
}

/** As Node does where nobody listens. */
function endUnheard(reason: unknown): void {
  writeSync(2, `${reason instanceof Error ? (reason.stack ?? reason.message) : messageOf(reason)}\n`);
  process.exit.call(process, EXIT_STATUS.unexpected);
}

/** Nothing is left that could settle what they wait for. */
function failHung(): void {
  for (const guarded of running) tellFailure(guarded, "never comes to an end: nothing is left that it could wait for");
}

function nameRunning(): void {
  const paths = listRunning();
  if (paths === "") return;
  writeSync(2, `splashdown: the process ended while the functions of ${paths} were running\n`);
  if (process.exitCode === undefined || process.exitCode === 0) process.exitCode = EXIT_STATUS.failed;
}

function listRunning(): string {
  return [...running].map(({ path }) => path).join(", ");
}
