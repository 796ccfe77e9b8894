/** What every clock promises, over the fake one and the real one. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/base/clock.js";
import { systemClock } from "../../../src/runtime/platform/system-clock.js";
import { codeOfAsync } from "../../support/error-code.js";
import { FakeClock } from "../../support/fake-clock.js";

interface Subject {
  readonly clock: Clock;
  readonly pass: (durationMs: number) => Promise<void>;
}

const SUBJECTS: readonly (readonly [string, () => Subject])[] = [
  [
    "the fake clock",
    () => {
      const clock = new FakeClock();
      return { clock, pass: (durationMs) => clock.advance(durationMs) };
    },
  ],
  ["the system's clock", () => ({ clock: systemClock, pass: (durationMs) => systemClock.sleep(durationMs) })],
];

describe.each(SUBJECTS)("%s", (_name, create) => {
  it("has a wall in milliseconds since the epoch and a monotonic time that does not go back", async () => {
    const { clock, pass } = create();
    expect(clock.nowMs()).toBeGreaterThan(Date.UTC(2024, 0, 1));
    const before = clock.monotonicMs();
    await pass(2);
    expect(clock.monotonicMs()).toBeGreaterThan(before);
  });

  it("calls back once, and not at all when it was cancelled", async () => {
    const { clock, pass } = create();
    const calls: string[] = [];
    clock.schedule(1, () => calls.push("kept"));
    const cancel = clock.schedule(1, () => calls.push("cancelled"));
    cancel();
    cancel();
    await pass(5);
    expect(calls).toEqual(["kept"]);
  });

  it("calls back at every interval until it is stopped", async () => {
    const { clock, pass } = create();
    let calls = 0;
    const stop = clock.every(1, () => (calls += 1));
    // A process that was held up calls back once for all that it missed.
    const isCalledTwice = () => calls > 1;
    for (let look = 0; look < 1_000 && !isCalledTwice(); look += 1) await pass(10);
    stop();
    const atStop = calls;
    expect(atStop).toBeGreaterThan(1);
    await pass(5);
    expect(calls).toBe(atStop);
  });

  it("ends a sleep when its signal fires, with CANCELLED, before or during it", async () => {
    const { clock } = create();
    expect(await codeOfAsync(() => clock.sleep(60_000, AbortSignal.abort()))).toBe("CANCELLED");
    const controller = new AbortController();
    const sleeping = codeOfAsync(() => clock.sleep(60_000, controller.signal));
    controller.abort();
    expect(await sleeping).toBe("CANCELLED");
  });

  it("sleeps to the end when its signal stays silent", async () => {
    const { clock, pass } = create();
    const controller = new AbortController();
    const sleeping = codeOfAsync(() => clock.sleep(1, controller.signal));
    await pass(5);
    expect(await sleeping).toBe("none");
    controller.abort();
  });
});

describe("a process that was held up", () => {
  it("is handed what came meanwhile before it is told that a time is over", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const near = connect((server.address() as AddressInfo).port, "127.0.0.1");
    const [[far]] = (await Promise.all([once(server, "connection"), once(near, "connect")])) as [[Socket], unknown];
    const told: string[] = [];
    far.on("data", (bytes: Buffer) => told.push(bytes.toString()));
    const slept = systemClock.sleep(5).then(() => told.push("slept"));
    const scheduled = new Promise<void>((resolve) => {
      systemClock.schedule(5, () => {
        told.push("scheduled");
        resolve();
      });
    });
    near.write("sent");
    const heldUntilMs = performance.now() + 50;
    while (performance.now() < heldUntilMs);
    await Promise.all([slept, scheduled]);
    expect(told[0]).toBe("sent");
    expect(told.slice(1).toSorted()).toEqual(["scheduled", "slept"]);
    near.destroy();
    server.close();
  });
});
