/**
 * A second Ctrl+C ends the process also while code holds it: the loop of a function, a pattern that goes back without end.
 *
 * The platform hands a signal to the loop of the main thread, which hears nothing as long as code runs there. So a thread
 * of its own listens too, and the two share a count of the signals that the main thread has taken. A first one that is not
 * taken in time is answered from here, in words; a second one ends the process, as SIGKILL does: what is durable stays.
 */
import { Worker } from "node:worker_threads";
import { SIGNAL_THREAD_PROGRAM } from "./signal-thread-program.js";

export interface SecondSignal {
  /** The main thread has taken a signal; what it does then is its own matter. */
  readonly taken: () => void;
  /** Starts the thread, if it does not run yet; it holds up no end of the process. Tells when it runs. */
  readonly start: (onRunning: () => void) => void;
}

/** The time in which an unblocked main thread takes a signal. */
const TAKEN_WITHIN_MS = 500;

export function createSecondSignal(names: readonly NodeJS.Signals[]): SecondSignal {
  const taken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let worker: Worker | undefined;
  return {
    taken: () => void Atomics.add(taken, 0, 1),
    start: (onRunning) => {
      worker ??= startThread({ taken, names, withinMs: TAKEN_WITHIN_MS }).once("online", onRunning);
    },
  };
}

/** The smallest heap that Node gives a thread. Units: MiB. */
const LIMITS = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 8, codeRangeSizeMb: 1, stackSizeMb: 1 };

function startThread(workerData: { taken: Int32Array; names: readonly string[]; withinMs: number }): Worker {
  const worker = new Worker(SIGNAL_THREAD_PROGRAM, {
    eval: true,
    workerData,
    env: {},
    execArgv: [],
    resourceLimits: LIMITS,
  });
  worker.on("error", () => undefined);
  worker.unref();
  return worker;
}
