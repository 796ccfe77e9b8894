/** Several processes at one task: who has claimed it shows itself, and who was superseded hides nobody. */
import { describe, expect, it } from "vitest";
import { SplashdownError } from "../../../src/base/errors.js";
import { requireNoClaimant } from "../../../src/recovery/liveness.js";
import { whileOwning, type PresenceDeps } from "../../../src/runtime/session/presence.js";
import { MemorySpace, MemoryStore } from "../../../src/store/memory/memory-store.js";
import type { TaskStore } from "../../../src/store/contract/contract.js";
import { refusalOf } from "../../support/error-code.js";
import { FakeClock, flushReactions } from "../../support/fake-clock.js";
import { wrapTask } from "../../support/wrapped-task.js";
import { processOf } from "../../support/places.js";

const clock = new FakeClock();

const depsOf = (task: TaskStore, pid: number): PresenceDeps => ({
  task,
  clock,
  self: processOf(pid, pid, "b"),
});

async function createTask(): Promise<TaskStore> {
  const store = new MemoryStore({ space: new MemorySpace(), deliverablesRoot: "/outputs" });
  const task = await store.createTask("t");
  if (task === undefined) throw new Error("no task");
  return task;
}

describe("whileOwning", () => {
  it("R14: whoever comes between a claim and its announcement waits, and names the one that stays", async () => {
    const task = await createTask();
    let claimed = (): void => undefined;
    let announce = (): void => undefined;
    const isClaimed = new Promise<void>((resolve) => (claimed = resolve));
    const mayAnnounce = new Promise<void>((resolve) => (announce = resolve));
    let leave = (): void => undefined;
    const first = whileOwning(depsOf(task, 1), async (presence) => {
      const epoch = await task.claim(0);
      claimed();
      await mayAnnounce;
      await presence.show(epoch);
      await new Promise<void>((resolve) => (leave = resolve));
      return task.confirm(epoch);
    });
    await isClaimed;
    const second = refusalOf(() =>
      whileOwning(depsOf(task, 2), async (presence) => {
        await requireNoClaimant({ task, clock, epoch: 1 });
        await presence.show(await task.claim(1));
      }),
    );
    await clock.advance(1_000);
    announce();
    await flushReactions();
    await clock.advance(100);
    expect(await second).toMatchObject({ code: "OWNER_ALIVE", details: { owner: { pid: 1, epoch: 1 } } });
    leave();
    expect(await first).toBe(true);
  });

  it("hides itself at once when another one claims while it announces itself", async () => {
    const task = await createTask();
    const raced = wrapTask(task, {
      announce: async (facts) => {
        await task.claim();
        return task.announce(facts);
      },
    });
    await whileOwning(depsOf(raced, 1), async (presence) => {
      await presence.show(await raced.claim());
      expect(await raced.ownerState()).toEqual({ state: "none" });
    });
  });

  it("names the successor to whoever was superseded", async () => {
    const task = await createTask();
    const superseded = new SplashdownError("OWNER_SUPERSEDED", "another process claimed the task");
    const refusal = refusalOf(() =>
      whileOwning(depsOf(task, 1), async (presence) => {
        await presence.show(await task.claim());
        const later = await task.claim();
        await task.announce({ ...(await task.ownerState()).owner!, pid: 2, epoch: later });
        throw superseded;
      }),
    );
    expect(await refusal).toMatchObject({ code: "OWNER_SUPERSEDED", details: { owner: { pid: 2, epoch: 2 } } });
  });
});
