/** What doctor says of a cache: how long it takes to answer, or why it does not. */
import { describe, expect, it } from "vitest";
import { probeCache } from "../../../src/store/cache/cache-probe.js";
import { FakeClock, flushReactions } from "../../support/fake-clock.js";
import { HandCache, type CacheMood } from "../../support/hand-cache.js";

const ADDRESS = "redis://cache:6379";

function probe(mood: CacheMood, clock = new FakeClock()) {
  const cache = new HandCache([mood]);
  return { cache, found: probeCache(ADDRESS, clock, async () => cache) };
}

describe("a probe of a cache", () => {
  it("reads, tells how long that took, and proves that it can be written", async () => {
    const { cache, found } = probe("true");
    expect(await found).toEqual({ latencyMs: 0 });
    expect([...cache.held.keys()]).toEqual(["probe"]);
  });

  it("gives the reason of one that fails", async () => {
    expect(await probe("failing").found).toEqual({ trouble: "connection refused" });
  });

  it("waits for a silent one no longer than a reader would", async () => {
    const clock = new FakeClock();
    const { found } = probe("silent", clock);
    await flushReactions();
    await clock.advanceToNext();
    expect(await found).toEqual({ trouble: "no answer within 500 ms" });
  });

  it("names the package that is missing", async () => {
    const missing = async (): Promise<never> => {
      throw new Error("needs a package: npm install @redis/client");
    };
    expect(await probeCache(ADDRESS, new FakeClock(), missing)).toEqual({
      trouble: "needs a package: npm install @redis/client",
    });
  });
});
