/** Starts in the background: told in time or not, joined, and what their processes say when they fail. */
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/base/limits.js";
import { Starts, type Background } from "../../../src/runtime/platform/background-starts.js";
import { FakeClock } from "../../support/fake-clock.js";

type Outcome = Awaited<ReturnType<Background["start"]>>;

/** A background whose processes do what the test says. */
function openBackground() {
  const clock = new FakeClock();
  const begun: { words: readonly string[]; end: (outcome: Outcome) => void }[] = [];
  const background: Background = {
    start: (words) => new Promise((end) => begun.push({ words, end })),
  };
  return { clock, begun, starts: new Starts(clock, background) };
}

const ended = (said: string, answer = ""): Outcome => ({ status: 2, answer, said });
const failure = JSON.stringify({
  error: { code: "INPUT_INVALID", message: "input n is no number", details: { file: "w.yaml" } },
});

describe("a start", () => {
  it("is told when the task runs, and those who start the same meanwhile are told the same", async () => {
    const { begun, starts } = openBackground();
    const first = starts.start("t", ["run", "w.yaml"], "{}");
    const second = starts.start("t", ["run", "w.yaml"], "{}");
    const other = starts.start("t", ["run", "w.yaml"], '{"n":1}');
    expect(begun).toHaveLength(2);
    begun[0]?.end({ task: "t", pid: 5 });
    expect(await Promise.all([first, second])).toEqual(["started", "started"]);
    begun[1]?.end(ended(JSON.stringify({ error: { code: "OWNER_ALIVE", message: "t is owned" } })));
    expect(await other).toBe("owned");
    void starts.start("t", ["run", "w.yaml"], "{}");
    expect(begun).toHaveLength(3);
  });

  it("is late where it is not told within the limit, and its failure is remembered until the next start", async () => {
    const { clock, begun, starts } = openBackground();
    const start = starts.start("t", ["run"]);
    await clock.advance(LIMITS.mcpStartMs);
    expect(await start).toBe("late");
    begun[0]?.end(ended(`{"warning": "w"}\n${failure}\n`));
    await starts.settle("t", 1_000);
    expect(starts.failureOf("t")).toMatchObject({
      code: "INPUT_INVALID",
      message: "input n is no number",
      hint: "splashdown validate w.yaml",
    });
    void starts.start("t", ["run"]);
    expect(starts.failureOf("t")).toBeUndefined();
  });

  it("throws what the process says, and what it said last where that makes no sense", async () => {
    const { begun, starts } = openBackground();
    const start = starts.start("t", ["run"]);
    begun[0]?.end(ended(`${failure}\n`));
    await expect(start).rejects.toMatchObject({ code: "INPUT_INVALID" });
    const strange = starts.start("t", ["run"]);
    begun[1]?.end(ended("warning\nSegmentation fault\n", "[]"));
    await expect(strange).rejects.toMatchObject({
      code: "INTERNAL",
      message: "the process that was to run the task ended: Segmentation fault",
    });
  });

  it("that found nothing to do says so in its answer", async () => {
    const { begun, starts } = openBackground();
    const start = starts.start("t", ["run"]);
    begun[0]?.end({ status: 0, answer: JSON.stringify({ task: "t", how: "finished_before" }), said: "" });
    expect(await start).toBe("nothing");
  });

  it("is remembered by a stated number of names only", async () => {
    const { begun, starts } = openBackground();
    for (let at = 0; at <= LIMITS.mcpFailuresKeptMax; at += 1) {
      const start = starts.start(`t${at}`, ["run"]);
      begun[at]?.end(ended(failure));
      await expect(start).rejects.toThrow("no number");
    }
    expect(starts.failureOf("t0")).toBeUndefined();
    expect(starts.failureOf("t1")).toBeDefined();
  });

  it("is waited for no longer than is asked", async () => {
    const { clock, starts } = openBackground();
    const start = starts.start("t", ["run"]);
    const settled = starts.settle("t", 100);
    await clock.advance(100);
    await settled;
    await clock.advance(LIMITS.mcpStartMs);
    expect(await start).toBe("late");
    await starts.settle("another", 100);
  });
});

describe("the bound on processes", () => {
  const fill = (starts: Starts, count: number = LIMITS.mcpProcessesMax): Promise<unknown>[] =>
    Array.from({ length: count }, (_, at) => starts.start(`t${at}`, ["run", `w${at}.yaml`]).catch(() => undefined));
  const tooMany = { code: "PROCESSES_TOO_MANY", details: { limit: LIMITS.mcpProcessesMax } };

  it("[security L8 kin] holds for those that go on with tasks too", async () => {
    const { starts, begun } = openBackground();
    void fill(starts);
    await expect(starts.start("other", ["resume", "--", "other"])).rejects.toMatchObject(tooMany);
    expect(begun).toHaveLength(LIMITS.mcpProcessesMax);
  });

  it("[security L8 kin] does not count those who wait for a start of another one", async () => {
    const { starts, begun } = openBackground();
    void fill(starts);
    void starts.start("t0", ["run", "w0.yaml"]).catch(() => undefined);
    expect(begun).toHaveLength(LIMITS.mcpProcessesMax);
    await expect(starts.start("t0", ["run", "else.yaml"])).rejects.toMatchObject(tooMany);
  });

  it("[security L8 kin] has room again when a process has failed, or has ended with its task", async () => {
    const { starts, begun } = openBackground();
    const all = fill(starts);
    let end: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => (end = resolve));
    begun[0]?.end(ended(`${failure}\n`));
    begun[1]?.end({ task: "t1", pid: 7, ended: gone });
    await Promise.all(all.slice(0, 2));
    void starts.start("next", ["run", "next.yaml"]).catch(() => undefined);
    expect(begun).toHaveLength(LIMITS.mcpProcessesMax + 1);
    await expect(starts.start("later", ["run", "later.yaml"])).rejects.toMatchObject(tooMany);
    end();
    await gone;
    void starts.start("later", ["run", "later.yaml"]).catch(() => undefined);
    expect(begun).toHaveLength(LIMITS.mcpProcessesMax + 2);
  });
});
