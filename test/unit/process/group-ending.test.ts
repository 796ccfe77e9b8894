import { afterEach, describe, expect, it, vi } from "vitest";
import { endGroup } from "../../../src/process/group-ending.js";
import type { ProcessEntry, ProcessTable } from "../../../src/process/process-table.js";
import { SplashdownError } from "../../../src/base/errors.js";
import { FakeClock } from "../../support/fake-clock.js";
import { placeOf, processOf } from "../../support/places.js";
import { createPlatformError } from "../../support/platform-error.js";

const LEADER: ProcessEntry = {
  pid: 4242,
  parentId: 1,
  groupId: 4242,
  sessionId: 4242,
  startTicks: 7,
  startText: "7",
  isZombie: false,
};
const IDENTITY = processOf(4242, 7, "boot");

afterEach(() => vi.restoreAllMocks());

/** A system in which signals have the given effect; answers what was sent and when. */
function openSystem(kill: (signal: string | number) => void, read: () => ProcessEntry | undefined = () => LEADER) {
  const clock = new FakeClock();
  const sent: [number, string][] = [];
  vi.spyOn(process, "kill").mockImplementation((pid, signal = 0) => {
    if (pid !== -4242) throw new Error(`a signal for ${pid}`);
    if (signal !== 0) sent.push([clock.monotonicMs(), String(signal)]);
    kill(signal);
    return true;
  });
  const table: ProcessTable = {
    place: placeOf("boot"),
    read,
    list: () => Promise.resolve([LEADER]),
    hasMark: () => false,
  };
  return { clock, sent, ending: { clock, table } };
}

const failWith = (code: string) => createPlatformError(code);

describe("endGroup", () => {
  it("P3: sends TERM, then KILL when the grace time is over, and repeats it until the group is empty", async () => {
    let kills = 0;
    const { clock, sent, ending } = openSystem((signal) => {
      if (kills >= 3) throw failWith("ESRCH");
      if (signal === "SIGKILL") kills += 1;
    });
    const ended = endGroup(ending, IDENTITY, 1000);
    await clock.advance(10_000);
    expect(await ended).toBe(true);
    expect(sent.map(([, signal]) => signal)).toEqual(["SIGTERM", "SIGKILL", "SIGKILL", "SIGKILL"]);
    expect(sent[1]?.[0]).toBeGreaterThanOrEqual(1000);
    expect(sent[1]?.[0]).toBeLessThan(1100);
  });

  it("sends KILL at once without a grace time", async () => {
    let isGone = false;
    const { clock, sent, ending } = openSystem((signal) => {
      if (isGone) throw failWith("ESRCH");
      isGone = signal === "SIGKILL";
    });
    const ended = endGroup(ending, IDENTITY, 0);
    await clock.advance(100);
    expect(await ended).toBe(true);
    expect(sent).toEqual([[0, "SIGKILL"]]);
  });

  it("[reliability P02] goes on when a KILL is refused once, as by a member that is changing its user", async () => {
    let kills = 0;
    let isGone = false;
    const { clock, ending } = openSystem((signal) => {
      if (isGone) throw failWith("ESRCH");
      if (signal !== "SIGKILL") return;
      kills += 1;
      if (kills < 3) throw failWith("EPERM");
      isGone = true;
    });
    const ended = endGroup(ending, IDENTITY, 1000);
    await clock.advance(2000);
    expect(await ended).toBe(true);
    expect(kills).toBe(3);
  });

  it("gives up on members of another user, and says so", async () => {
    const { clock, ending } = openSystem(() => {
      throw failWith("EPERM");
    });
    const failure = endGroup(ending, IDENTITY, 1000).catch((error: unknown) => error);
    await clock.advance(6100);
    expect(await failure).toMatchObject({
      code: "STEP_FAILED",
      message: "process group 4242 holds processes of another user, which cannot be ended",
    });
  });

  it("sends nothing to a group that was given away", async () => {
    const { sent, ending } = openSystem(
      () => undefined,
      () => ({ ...LEADER, startTicks: 8 }),
    );
    expect(await endGroup(ending, IDENTITY, 1000)).toBe(false);
    expect(sent).toEqual([]);
  });

  it("takes a look that could not be made for a group that still runs", async () => {
    let looks = 0;
    const { clock, ending } = openSystem(
      () => undefined,
      () => {
        looks += 1;
        if (looks < 5) throw new SplashdownError("STORE_BUSY", "no descriptor left");
        return { ...LEADER, startTicks: 8 };
      },
    );
    const ended = endGroup(ending, IDENTITY, 1000);
    await clock.advance(1000);
    expect(await ended).toBe(true);
    expect(looks).toBe(5);
  });

  it("passes on what no one foresaw", async () => {
    const { ending } = openSystem((signal) => {
      if (signal !== 0) throw failWith("EINVAL");
    });
    await expect(endGroup(ending, IDENTITY, 1000)).rejects.toMatchObject({ code: "EINVAL" });
  });
});
