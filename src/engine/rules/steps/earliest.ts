/** The earliest of times that may be absent. */
export function earliest(times: readonly (number | undefined)[]): number | undefined {
  let found: number | undefined;
  for (const atMs of times) if (atMs !== undefined && (found === undefined || atMs < found)) found = atMs;
  return found;
}
