/** A roll-back that a person accepted once is not asked about again; who begins at this moment is not superseded. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/base/clock.js";
import { codeOfAsync } from "../../support/error-code.js";
import { realClock } from "../../support/real-clock.js";
import { createSocketPresence } from "../../../src/store/presence/socket-presence.js";
import { createRealStore } from "../../support/store-places.js";
import { NO_SNAPSHOTS, withWaiting, type WaitingRoom } from "../../support/waiting-room.js";

/** The folder as it was when the task waited, put back after two more owners. */
async function rollBack({ splashdown, workflow, checkpoints, root }: WaitingRoom): Promise<void> {
  const copy = join(root, "copy");
  const filter = (path: string): boolean => !path.endsWith(".sock");
  cpSync(checkpoints, copy, { recursive: true, filter });
  for (let times = 0; times < 2; times += 1)
    expect(await splashdown.resume({ task: "t", workflow })).toMatchObject({ exit_status: 20 });
  rmSync(checkpoints, { recursive: true });
  cpSync(copy, checkpoints, { recursive: true, filter });
}

async function withAccepted(act: (room: WaitingRoom) => Promise<void>, settings: object = {}): Promise<void> {
  await withWaiting(async (room) => {
    await rollBack(room);
    const { splashdown, workflow } = room;
    expect(await codeOfAsync(() => splashdown.resume({ task: "t", workflow }))).toBe("TASK_ROLLED_BACK");
    await splashdown.resume({ task: "t", workflow, acceptLoss: true });
    await act(room);
  }, settings);
}

describe("a roll-back that a person accepted", () => {
  it("[reliability R10] is not asked about by the next resume, though the owners that are gone had later epochs", async () => {
    await withAccepted(async ({ splashdown, workflow }) => {
      expect(await codeOfAsync(() => splashdown.resume({ task: "t", workflow }))).toBe("none");
    });
  });

  it("[reliability R10 kin] is no problem of the task in the list", async () => {
    await withAccepted(async ({ splashdown }) => {
      expect((await splashdown.list()).map(({ task, problem }) => ({ task, problem }))).toEqual([{ task: "t" }]);
    });
  });

  it("[reliability R10 kin] is no damage that show tells of", async () => {
    await withAccepted(async ({ splashdown }) => {
      expect((await splashdown.show("t")).damage).toEqual([]);
    });
  });

  it("[reliability R10 kin] is not asked about with snapshots switched off", async () => {
    await withAccepted(async ({ splashdown, workflow }) => {
      expect(await codeOfAsync(() => splashdown.resume({ task: "t", workflow }))).toBe("none");
    }, NO_SNAPSHOTS);
  });
});

/** The first time that whoever waits sleeps, this happens instead. */
function createMeanwhile(): { readonly clock: Clock; happens(act: () => Promise<void>): void } {
  let next: (() => Promise<void>) | undefined;
  const sleep: Clock["sleep"] = async (ms, signal) => {
    const act = next;
    next = undefined;
    if (act === undefined) return realClock.sleep(ms, signal);
    await act();
  };
  const clock = new Proxy(realClock, {
    get: (target, name, receiver) => (name === "sleep" ? sleep : (Reflect.get(target, name, receiver) as unknown)),
  });
  return { clock, happens: (act) => void (next = act) };
}

describe("a claimant in its first moments", () => {
  async function expectLeft(verb: (room: WaitingRoom) => Promise<unknown>): Promise<void> {
    const meanwhile = createMeanwhile();
    await withWaiting(
      async (room) => {
        const store = createRealStore(join(room.root, "outputs"), {
          presence: createSocketPresence({ clock: realClock, platform: process.platform }),
        });
        const task = await store.task("t");
        const epoch = await task?.claim();
        const facts = {
          machineId: "m",
          namespace: "n",
          pid: 7,
          host: "here",
          bootId: "b",
          processStartedAt: "1",
          since: "2026-01-01T00:00:00.000Z",
        };
        let hide = (): Promise<void> => Promise.resolve();
        meanwhile.happens(async () => {
          const handle = await task?.announce({ ...facts, epoch: epoch ?? 0 });
          hide = async () => handle?.close();
        });
        const code = await codeOfAsync(async () => verb(room));
        await hide();
        await store.close();
        expect(code).toBe("OWNER_ALIVE");
        expect(room.acts).toEqual(["big"]);
      },
      {},
      { clock: meanwhile.clock },
    );
  }

  it("[reliability R13] is left alone by resume: it shows itself, and is an owner", () =>
    expectLeft(({ splashdown, workflow }) => splashdown.resume({ task: "t", workflow })));

  it("[reliability R13 kin] is left alone by a run under the task's name", async () => {
    await expectLeft(async ({ splashdown, workflow }) => {
      await splashdown.answer({ task: "t", answer: "y" });
      return splashdown.run({ task: "t", workflow });
    });
  });

  it("[reliability R13 kin] is left alone by whoever accepts a loss", () =>
    expectLeft(({ splashdown, workflow }) => splashdown.resume({ task: "t", workflow, acceptLoss: true })));

  it("[reliability R13 kin] is left alone by whoever gives the task another key", () =>
    expectLeft(({ splashdown }) => splashdown.keys.rotate({ task: "t" }, { taskKey: true, reencrypt: true })));
});
