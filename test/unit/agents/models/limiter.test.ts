import { describe, expect, it } from "vitest";
import { CallLimiter } from "../../../../src/agents/providers/limiter.js";
import { SplashdownError } from "../../../../src/base/errors.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { createSeededRandom } from "../../../support/seeded-random.js";

const never = new AbortController().signal;
const refused = (details: Record<string, number> = {}) =>
  new SplashdownError("MODEL_RATE_LIMITED", "slow down", { details });

function open() {
  const clock = new FakeClock();
  return { clock, limiter: new CallLimiter({ clock, random: createSeededRandom("limiter") }) };
}

const retryAt = async (call: Promise<unknown>): Promise<number> => {
  const error = (await call.catch((thrown: unknown) => thrown)) as SplashdownError;
  expect(error.code).toBe("MODEL_RATE_LIMITED");
  return error.details["retry_at_ms"] as number;
};

describe("the limit that parallel calls share", () => {
  it("holds back the others after one refusal, without asking the provider", async () => {
    const { clock, limiter } = open();
    const atMs = clock.nowMs() + 3_000;
    let asked = 0;
    const call = () => {
      asked += 1;
      return Promise.reject(refused({ retry_at_ms: atMs }));
    };
    expect(await retryAt(limiter.run("p/m", never, call))).toBe(atMs);
    for (let other = 0; other < 9; other += 1) expect(await retryAt(limiter.run("p/m", never, call))).toBe(atMs);
    expect(asked).toBe(1);
    expect(await limiter.run("p/other", never, () => Promise.resolve("let in"))).toBe("let in");
  });

  it("lets one go ahead when the time has come; the others follow when its answer begins", async () => {
    const { clock, limiter } = open();
    const until = clock.nowMs() + 1_000;
    await retryAt(limiter.run("p/m", never, () => Promise.reject(refused({ retry_at_ms: until }))));
    await clock.advance(1_000);
    const order: string[] = [];
    let accept = (): void => undefined;
    const first = limiter.run("p/m", never, (accepted) => {
      order.push("first");
      return new Promise((resolve) => {
        accept = () => (accepted(), resolve("one"));
      });
    });
    const second = limiter.run("p/m", never, () => (order.push("second"), Promise.resolve("two")));
    await Promise.resolve();
    expect(order).toEqual(["first"]);
    accept();
    expect(await Promise.all([first, second])).toEqual(["one", "two"]);
    expect(order).toEqual(["first", "second"]);
  });

  it("tells the others the next time when the one ahead is refused again", async () => {
    const { clock, limiter } = open();
    const until = clock.nowMs() + 1_000;
    await retryAt(limiter.run("p/m", never, () => Promise.reject(refused({ retry_at_ms: until }))));
    await clock.advance(1_000);
    const first = limiter.run("p/m", never, () => Promise.reject(refused({ retry_at_ms: until + 5_000 })));
    const second = limiter.run("p/m", never, () => Promise.resolve("never"));
    expect(await retryAt(first)).toBe(until + 5_000);
    expect(await retryAt(second)).toBe(until + 5_000);
  });

  it("waits longer each time where no time is said, a minute at most", async () => {
    const { clock, limiter } = open();
    const waits: number[] = [];
    for (let count = 0; count < 9; count += 1) {
      const atMs = await retryAt(limiter.run("p/m", never, () => Promise.reject(refused())));
      waits.push(atMs - clock.nowMs());
      await clock.advance(atMs - clock.nowMs());
    }
    expect(waits[0]).toBeGreaterThanOrEqual(800);
    expect(waits[0]).toBeLessThanOrEqual(1_000);
    expect(waits[3]).toBeGreaterThan(6_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(60_000);
  });

  it("does not keep those who are cancelled", async () => {
    const { clock, limiter } = open();
    await retryAt(limiter.run("p/m", never, () => Promise.reject(refused({ retry_at_ms: clock.nowMs() + 10 }))));
    await clock.advance(10);
    void limiter.run("p/m", never, () => new Promise(() => undefined));
    const controller = new AbortController();
    const waiting = limiter.run("p/m", controller.signal, () => Promise.resolve(1));
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
  });
});
