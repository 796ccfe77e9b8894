/** Whether a cache answers, for whoever looks after a place. */
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import { BestEffortCache } from "./best-effort-cache.js";
import { openRedis } from "./redis-cache.js";

/** How long an answer takes, or why there is none. */
export type CacheProbe = { readonly latencyMs: number } | { readonly trouble: string };

const NAME = "probe";

/** Asks the cache of an address, and writes to it; the first answer takes the connecting too. Errors: none. */
export async function probeCache(address: string, clock: Clock, open = openRedis): Promise<CacheProbe> {
  const troubles: string[] = [];
  try {
    const cache = new BestEffortCache({
      cache: await open(address),
      clock,
      onTrouble: (reason) => void troubles.push(reason),
    });
    await cache.get(NAME);
    const askedAtMs = clock.monotonicMs();
    await cache.get(NAME);
    const latencyMs = clock.monotonicMs() - askedAtMs;
    cache.set(NAME, Buffer.from(NAME));
    await cache.close();
    const [trouble] = troubles;
    return trouble === undefined ? { latencyMs } : { trouble };
  } catch (error) {
    return { trouble: messageOf(error) };
  }
}
