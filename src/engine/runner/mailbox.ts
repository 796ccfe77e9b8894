/**
 * One thing at a time, in order: the runner's decisions never interleave.
 *
 * Owns: the order. What a task does between two awaits is its own affair.
 */
export class Mailbox {
  #tail: Promise<unknown> = Promise.resolve();

  /** Runs the task after all earlier ones; the answer is the task's own. A failed task does not stop later ones. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(task);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
