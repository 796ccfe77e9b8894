/** Reads objects of which nobody knows who made them: never more than their kind may have. */
import type { TaskStore } from "../contract/contract.js";

/**
 * The object, or as much of it as shows that it is too large: one byte more than the limit, which its decoder refuses.
 *
 * Shape: `undefined` when there is none.
 */
export function readBounded(
  from: Pick<TaskStore, "get">,
  key: string,
  sizeBytesMax: number,
): Promise<Uint8Array | undefined> {
  return from.get(key, { offset: 0, length: sizeBytesMax + 1 });
}
