import { describe, expect, it } from "vitest";
import { describeOwner, observeOwner, requireNoClaimant, requireOwnerGone } from "../../../src/recovery/liveness.js";
import type { OwnerFacts, OwnerState, TaskStore } from "../../../src/store/contract/contract.js";
import { codeOfAsync, refusalOf } from "../../support/error-code.js";
import { FakeClock } from "../../support/fake-clock.js";
import { createSegmentsTask } from "../../support/journal-room.js";
import { wrapTask } from "../../support/wrapped-task.js";

const owner: OwnerFacts = {
  pid: 4711,
  host: "ada",
  machineId: "machine-a",
  bootId: "b",
  namespace: "pid:[1]",
  processStartedAt: "x",
  since: "2024-01-02T14:35:22.123Z",
};

/** Answers in turn, the last one for ever. */
function taskWith(...states: readonly OwnerState[]): { task: TaskStore; asked: () => number } {
  let asked = 0;
  const task = wrapTask(createSegmentsTask(new Map()), {
    ownerState: async () => {
      asked += 1;
      return states[Math.min(asked, states.length) - 1] ?? { state: "none" };
    },
  });
  return { task, asked: () => asked };
}

const unclear = (counter?: number): OwnerState => ({
  state: "unclear",
  owner,
  ...(counter === undefined ? {} : { counter }),
});

describe("observeOwner", () => {
  it.each(["alive", "gone", "none"] as const)("R1: believes at once what is provable: %s", async (state) => {
    const { task, asked } = taskWith({ state, owner });
    expect(await observeOwner({ task, clock: new FakeClock() })).toEqual({ state, owner });
    expect(asked()).toBe(1);
  });

  it("R2: watches an unclear owner's counter for 15 s of its own clock", async () => {
    const clock = new FakeClock();
    const { task } = taskWith(unclear(7));
    const observed = observeOwner({ task, clock });
    let isDone = false;
    void observed.then(() => (isDone = true));
    await clock.advance(14_999);
    expect(isDone).toBe(false);
    await clock.advance(1);
    expect(await observed).toEqual({ state: "unclear", owner });
    expect(clock.pendingCount).toBe(0);
  });

  it("R2: a counter that rises is a living owner", async () => {
    const clock = new FakeClock();
    const { task } = taskWith(unclear(7), unclear(7), unclear(8));
    const observed = observeOwner({ task, clock });
    await clock.advance(2_000);
    expect(await observed).toEqual({ state: "alive", owner });
  });

  it("R1: an owner that goes, or answers, while it is watched is no longer unclear", async () => {
    for (const state of ["gone", "alive"] as const) {
      const clock = new FakeClock();
      const { task } = taskWith(unclear(), { state, owner });
      const observed = observeOwner({ task, clock });
      await clock.advance(1_000);
      expect((await observed).state).toBe(state);
    }
  });

  it("stops watching when cancelled", async () => {
    const { task } = taskWith(unclear());
    const stop = AbortSignal.abort();
    expect(await codeOfAsync(() => observeOwner({ task, clock: new FakeClock(), signal: stop }))).toBe("CANCELLED");
  });
});

describe("requireOwnerGone", () => {
  const clock = new FakeClock();

  it("R1: refuses while the owner lives, saying who and since when, and no flag helps", async () => {
    for (const takeOver of [false, true]) {
      const { task } = taskWith({ state: "alive", owner });
      const refusal = await refusalOf(() => requireOwnerGone({ task, clock, takeOver }));
      expect(refusal.code).toBe("OWNER_ALIVE");
      expect(refusal.message).toBe("task t is owned by process 4711 on ada since 2024-01-02T14:35:22.123Z");
      expect(refusal.exitStatus).toBe(11);
      expect(refusal.details).toEqual({ task: "t", owner });
    }
  });

  it("R1: refuses an unclear owner unless a person takes over, who need not wait", async () => {
    const { task } = taskWith(unclear());
    const refusal = await refusalOf(() => requireOwnerGone({ task, clock, takeOver: false, watchMs: 0 }));
    expect(refusal.code).toBe("OWNER_UNCLEAR");
    expect(refusal.hint).toBe("splashdown resume t --take-over");
    expect((await requireOwnerGone({ task, clock, takeOver: true })).state).toBe("unclear");
  });

  it.each(["gone", "none"] as const)("lets go on when nobody is there: %s", async (state) => {
    const { task } = taskWith({ state });
    expect((await requireOwnerGone({ task, clock, takeOver: false })).state).toBe(state);
    expect(describeOwner(undefined)).toBe("an unknown process");
  });
});

describe("the owner of a task of which nothing was recorded", () => {
  const unrecorded = { takeOver: false, hasNoRecords: true };

  it("[reliability 1b kin] is watched for 15 s and then superseded without a question, where it cannot be reached", async () => {
    const clock = new FakeClock();
    const { task } = taskWith(unclear(7));
    const gone = requireOwnerGone({ task, clock, ...unrecorded });
    let isDone = false;
    void gone.then(() => (isDone = true));
    await clock.advance(14_999);
    expect(isDone).toBe(false);
    await clock.advance(1);
    expect(await gone).toEqual({ state: "unclear", owner });
  });

  it("[reliability 1b kin] is left alone where it lives, or its counter rises", async () => {
    const clock = new FakeClock();
    const living = taskWith({ state: "alive", owner });
    expect(await codeOfAsync(() => requireOwnerGone({ task: living.task, clock, ...unrecorded }))).toBe("OWNER_ALIVE");
    const rising = codeOfAsync(() =>
      requireOwnerGone({ task: taskWith(unclear(7), unclear(8)).task, clock, ...unrecorded }),
    );
    await clock.advance(1_000);
    expect(await rising).toBe("OWNER_ALIVE");
  });
});

describe("requireNoClaimant", () => {
  it("R14: waits for a process that has claimed and not shown itself, and names it when it does", async () => {
    const clock = new FakeClock();
    const claimant = { ...owner, pid: 9, epoch: 2 };
    const { task } = taskWith({ state: "gone", owner }, { state: "gone", owner }, { state: "alive", owner: claimant });
    const judged = refusalOf(() => requireNoClaimant({ task, clock, epoch: 2 }));
    await clock.advance(100);
    expect(await judged).toMatchObject({ code: "OWNER_ALIVE", details: { owner: { pid: 9 } } });
  });

  it("R14: goes on after five seconds, when it never came that far", async () => {
    const clock = new FakeClock();
    const { task } = taskWith({ state: "gone", owner });
    let isDone = false;
    const judged = requireNoClaimant({ task, clock, epoch: 2 }).then(() => (isDone = true));
    await clock.advance(4_900);
    expect(isDone).toBe(false);
    await clock.advance(200);
    await judged;
  });

  it("R14: goes on at once when it showed itself and is gone", async () => {
    const { task, asked } = taskWith({ state: "gone", owner: { ...owner, epoch: 2 } });
    await requireNoClaimant({ task, clock: new FakeClock(), epoch: 2 });
    expect(asked()).toBe(1);
  });
});
