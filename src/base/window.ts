/** Work on many things, a few of them at once. */

/**
 * Does the work on each item, never more than `width` at once, beginning in their order.
 *
 * Shape: what the work gave, in the order of the items. Errors: the first failure of the work; what had begun goes on.
 */
export async function mapInWindow<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const take = async (): Promise<void> => {
    for (const [at, item] of waiting) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, take));
  return results;
}
