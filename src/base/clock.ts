/**
 * Time as a port: the real clock is built in runtime/, tests give a fake one.
 *
 * Units: milliseconds everywhere. `nowMs` is wall time since the epoch and may jump; `monotonicMs` never goes back. A sleep
 * or a scheduled time is over only after what children and the network had sent by then was handed on, so that a process
 * that was held up takes nobody for silent who was not.
 */
export interface Clock {
  nowMs(): number;
  monotonicMs(): number;
  /** As `monotonicMs`, and it passes while the machine sleeps; absent where that is not told apart. */
  elapsedMs?(): number;
  /** Resolves after the time, or rejects with CANCELLED when the signal fires. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
  /** Calls back once after the time; the answer cancels it. The real clock's timer keeps the process alive. */
  schedule(durationMs: number, callback: () => void): () => void;
  /** Calls back at every interval without keeping the process alive; the answer stops it. */
  every(intervalMs: number, callback: () => void): () => void;
}
