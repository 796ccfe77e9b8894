/**
 * Counts what is under way, and says when nothing is any more.
 *
 * Owns: the count. What begins and ends is said by whoever does it; one thing begins before the one it follows ends, so
 * that the count is zero only in true quiet.
 */
export class Activity {
  #count = 0;
  readonly #onQuiet: () => void;

  constructor(onQuiet: () => void) {
    this.#onQuiet = onQuiet;
  }

  get isQuiet(): boolean {
    return this.#count === 0;
  }

  /** Something begins; the answer ends it, and counts once however often it is called. */
  begin(): () => void {
    let isEnded = false;
    this.#count += 1;
    return () => {
      if (isEnded) return;
      isEnded = true;
      this.#count -= 1;
      if (this.#count === 0) this.#onQuiet();
    };
  }
}
