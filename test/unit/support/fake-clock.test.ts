import { describe, expect, it } from "vitest";
import { isErrorCode } from "../../../src/base/errors.js";
import { FAKE_START_MS, FakeClock } from "../../support/fake-clock.js";
import { createSeededNumbers, createSeededRandom } from "../../support/seeded-random.js";

describe("FakeClock", () => {
  it("fires timers in order of their due time, with the right time visible", async () => {
    const clock = new FakeClock();
    const seen: string[] = [];
    clock.schedule(20, () => seen.push(`b${clock.monotonicMs()}`));
    clock.schedule(10, () => seen.push(`a${clock.monotonicMs()}`));
    const stop = clock.every(15, () => seen.push(`e${clock.monotonicMs()}`));
    await clock.advance(30);
    stop();
    await clock.advance(100);
    expect(seen).toEqual(["a10", "e15", "b20", "e30"]);
    expect(clock.nowMs()).toBe(FAKE_START_MS + 130);
  });

  it("runs a chain of sleeps within one advance", async () => {
    const clock = new FakeClock();
    let woken = -1;
    const chain = (async () => {
      await clock.sleep(10);
      await clock.sleep(10);
      woken = clock.monotonicMs();
    })();
    await clock.advance(25);
    await chain;
    expect(woken).toBe(20);
  });

  it("rejects a sleep with CANCELLED and forgets its timer when the signal fires", async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const slept = clock.sleep(1000, controller.signal).catch((error: unknown) => error);
    controller.abort();
    expect(isErrorCode(await slept, "CANCELLED")).toBe(true);
    expect(clock.pendingCount).toBe(0);
  });

  it("does not fire a cancelled timer and lets wall time jump alone", async () => {
    const clock = new FakeClock(1000);
    let fired = false;
    clock.schedule(5, () => (fired = true))();
    clock.jumpWall(-500);
    await clock.advance(10);
    expect(fired).toBe(false);
    expect([clock.nowMs(), clock.monotonicMs()]).toEqual([510, 10]);
  });
});

describe("createSeededRandom", () => {
  it("gives equal bytes for equal seeds and never repeats a block", () => {
    const first = createSeededRandom(7);
    const second = createSeededRandom(7);
    const blocks = Array.from({ length: 100 }, () => Buffer.from(first.bytes(16)).toString("hex"));
    expect(Array.from({ length: 100 }, () => Buffer.from(second.bytes(16)).toString("hex"))).toEqual(blocks);
    expect(new Set(blocks).size).toBe(100);
  });

  it("gives numbers within the bound", () => {
    const numbers = createSeededNumbers(3);
    expect(Array.from({ length: 200 }, () => numbers.next(6)).every((n) => n >= 0 && n < 6)).toBe(true);
  });
});
