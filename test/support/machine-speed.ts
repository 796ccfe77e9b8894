/** What a bound on time has to allow for: how slow the machine is that a test runs on. */

/** What `work` took at best where the bounds of the tests were measured. */
const REFERENCE_MS = 0.9;
const TRIES = 20;

const SAMPLE = Array.from({ length: 2_000 }, (_none, at) => ({ at, name: `step ${at}`, values: [at / 3, "é", null] }));

/** How many times slower than there it is here and now; 1 where it is faster. */
export function measureSlowness(): number {
  return Math.max(1, bestMsOf(TRIES, () => JSON.parse(JSON.stringify(SAMPLE))) / REFERENCE_MS);
}

/** The shortest of some tries: another process on the machine can hold up any, our own work takes its time in each. */
export function bestMsOf(tries: number, work: () => unknown): number {
  const times = Array.from({ length: tries }, () => {
    const startMs = performance.now();
    work();
    return performance.now() - startMs;
  });
  return Math.min(...times);
}
