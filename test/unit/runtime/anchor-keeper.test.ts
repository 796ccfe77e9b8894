/** When the anchor of a running task is raised, and by what it is remembered. */
import { describe, expect, it } from "vitest";
import { silentLog } from "../../../src/base/log.js";
import { SplashdownError } from "../../../src/base/errors.js";
import type { EngineEvent } from "../../../src/engine/model/events.js";
import { createState } from "../../../src/engine/model/state.js";
import type { JournalPosition } from "../../../src/journal/position.js";
import { AnchorKeeper } from "../../../src/runtime/session/anchor-keeper.js";
import { loadAnchor } from "../../../src/vault/anchor.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { TASK_ID } from "../../support/vault-room.js";

const STATE = "/home/ada/state";

function createRoom() {
  const fileSystem = new MemoryFileSystem("/home/ada");
  const room = {
    fileSystem,
    position: undefined as JournalPosition | undefined,
    isSuperseded: false,
    at(n: number) {
      room.position = { epoch: 1, index: 0, n, h: `h${n}` };
    },
    async remembered(): Promise<number | undefined> {
      const loaded = await loadAnchor({ fileSystem, stateFolder: STATE }, TASK_ID);
      return loaded.state === "known" ? loaded.anchor.position?.n : undefined;
    },
  };
  const journal = {
    append: () => undefined,
    durable: () => Promise.resolve(),
    confirm: () =>
      room.isSuperseded
        ? Promise.reject(new SplashdownError("OWNER_SUPERSEDED", "another process claimed the task"))
        : Promise.resolve(),
    get position() {
      return room.position;
    },
  };
  const keeper = new AnchorKeeper({
    services: {
      fileSystem,
      random: createSeededRandom(1),
      environment: { stateFolder: STATE } as never,
      log: silentLog,
      store: { manifest: { durable: true } } as never,
    },
    task: { name: "t" },
    vault: { taskId: TASK_ID },
    journal,
  });
  return { room, keeper };
}

const intended = (effects: "external" | "none"): EngineEvent =>
  ({ type: "step_intended", atMs: 1, step: "main/a@1.1", path: "main/a", effects }) as unknown as EngineEvent;
const state = createState();

describe("the anchor of a running task", () => {
  it("[reliability R14] is raised before a step with effects acts, not only at the end", async () => {
    const { room, keeper } = createRoom();
    room.at(4);
    keeper.observe(intended("external"), state);
    await keeper.events.confirm();
    expect(await room.remembered()).toBe(4);
  });

  it("[reliability R14 kin] is raised at a tool call with effects, at a sub-step, and at what was paid for", async () => {
    const events: readonly Partial<EngineEvent>[] = [
      { type: "tool_intended", effects: "external" } as never,
      { type: "tool_completed" },
      { type: "substep_intended" },
      { type: "substep_completed" },
      { type: "turn_recorded" },
      { type: "question_answered" },
    ];
    for (const [at, event] of events.entries()) {
      const { room, keeper } = createRoom();
      room.at(at + 1);
      keeper.observe({ atMs: 1, ...event } as EngineEvent, state);
      await keeper.events.confirm();
      expect([event.type, await room.remembered()]).toEqual([event.type, at + 1]);
    }
  });

  it("[reliability R14 kin] is raised of a last completion that no act follows", async () => {
    const { room, keeper } = createRoom();
    room.at(9);
    keeper.observe({ type: "step_completed", atMs: 1, step: "main/a@1.1", attempt: 1 } as never, state);
    await keeper.close();
    expect(await room.remembered()).toBe(9);
  });

  it("[reliability R14 kin] is raised with a sync at a snapshot, and without one between", async () => {
    const { room, keeper } = createRoom();
    room.at(1);
    keeper.observe({ type: "snapshot_written", atMs: 1 } as never, state);
    await keeper.events.confirm();
    const syncs = () => room.fileSystem.operations.filter((operation) => operation.startsWith("sync ")).length;
    const before = syncs();
    expect(before).toBeGreaterThan(0);
    room.at(2);
    keeper.observe(intended("external"), state);
    await keeper.events.confirm();
    expect([await room.remembered(), syncs()]).toEqual([2, before]);
  });

  it("is not raised by what may be run again for nothing, and never by an owner that was superseded", async () => {
    const { room, keeper } = createRoom();
    room.at(1);
    keeper.observe(intended("none"), state);
    await keeper.events.confirm();
    expect(await room.remembered()).toBeUndefined();
    room.isSuperseded = true;
    room.at(2);
    keeper.observe(intended("external"), state);
    await expect(keeper.events.confirm()).rejects.toMatchObject({ code: "OWNER_SUPERSEDED" });
    await keeper.close();
    expect(await room.remembered()).toBeUndefined();
  });
});
