/** FAULTS 38 from the client's side: calls of tools that take long, that nobody waits for any more, that answer too late. */
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../../src/base/limits.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { until } from "../../../support/real-clock.js";
import { errorOf, ToolTalks } from "../../../support/tool-talks.js";

const talks = new ToolTalks();
const act = [[{ tool: "odd__act", input: { n: 1 } }]];
/** What the server was told to give up. */
const givenUp = () => talks.read("ledger.given-up");

describe("FAULTS 38: a long call of a tool server", () => {
  it("may take longer than its limit while it tells its progress", async () => {
    const { results, sink } = await talks.talk({ servers: [talks.strange("slow", { timeoutMs: 3_000 })], turns: act });
    expect(results).toEqual([{ value: 'act {"n":1}' }]);
    expect(sink.of("progress")).toContainEqual([{ message: "part 3" }]);
  });

  it("is given up when it tells its progress for ever, and the server is told", async () => {
    const clock = new FakeClock();
    const { ended, sink } = talks.begin({ servers: [talks.strange("endless")], turns: act, clock });
    await until("it tells its progress", () => sink.of("progress").length > 1);
    await clock.advance(LIMITS.toolCallTotalMs - 1);
    const before = sink.of("progress").length;
    await until("it still does", () => sink.of("progress").length > before);
    await clock.advance(1);
    const error = errorOf((await ended).outcome);
    expect(error).toMatchObject({ code: "STEP_TIMEOUT", details: { tool: "act", sent: true } });
    expect(error?.message).toContain("told its progress for 24 hours without an end");
    await until("the server is told", async () => (await givenUp()).length === 1);
  });

  it("is given up when it is silent, and the server is told", async () => {
    const { outcome } = await talks.talk({ servers: [talks.strange("silent", { timeoutMs: 300 })], turns: act });
    expect(errorOf(outcome)).toMatchObject({ code: "STEP_TIMEOUT" });
    await until("the server is told", async () => (await givenUp()).length === 1);
  });

  it("is given up when its step is over, and the server is told", async () => {
    const { ended, cancel } = talks.begin({ servers: [talks.strange("silent")], turns: act });
    await until("the server works on it", async () => (await talks.read()).length === 1);
    cancel();
    expect((await ended).outcome).toEqual({ status: "cancelled" });
    await until("the server is told", async () => (await givenUp()).length === 1);
  });

  it("that is answered when nobody waits any more is not taken for the answer of the next", async () => {
    const { outcome, results } = await talks.talk({
      servers: [talks.strange("late", { policies: { read: { timeoutMs: 300 } } })],
      turns: [[{ tool: "odd__read", input: { n: 1 } }], [{ tool: "odd__again", input: { n: 2 } }]],
    });
    expect(outcome.status).toBe("completed");
    expect(results[0]?.error).toContain("silent for 0.3 seconds");
    expect(results.slice(1)).toEqual([{ value: 'again {"n":2}' }]);
  });
});
