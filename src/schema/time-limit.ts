/**
 * Runs work on foreign data where it can be ended: a pattern that goes back over its text without end, a comparison of each
 * with each. The thread is held up meanwhile, and for no longer than the limit.
 *
 * How: the interpreter ends a script after its time, wherever it is, also within a regular expression; a promise or a timer
 * could not.
 */
import { Script } from "node:vm";

const SLOT = Symbol.for("splashdown.endable-work");
const CALL = new Script('globalThis[Symbol.for("splashdown.endable-work")]()');

/** The answer of the work, or `isOver` when it was ended. Errors: those of the work. Nothing may be awaited in it. */
export function runWithin<T>(
  limitMs: number,
  work: () => T,
): { readonly isOver: false; readonly value: T } | { readonly isOver: true } {
  const before: unknown = Reflect.get(globalThis, SLOT);
  Reflect.set(globalThis, SLOT, work);
  try {
    return { isOver: false, value: CALL.runInThisContext({ timeout: limitMs }) as T };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")
      return { isOver: true };
    throw error;
  } finally {
    Reflect.set(globalThis, SLOT, before);
  }
}
