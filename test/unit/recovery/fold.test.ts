import { describe, expect, it } from "vitest";
import type { History } from "../../../src/journal/history.js";
import { createBlobShelf } from "../../../src/checkpoint/blobs/blobs.js";
import { formatSnapshotName } from "../../../src/checkpoint/format/names.js";
import { createSnapshotSource } from "../../../src/checkpoint/source.js";
import { evolve } from "../../../src/engine/fold/evolve.js";
import { encodeWhole } from "../../../src/engine/fold/restore-state.js";
import { createState } from "../../../src/engine/model/state.js";
import { openJournalWriter } from "../../../src/journal/writer.js";
import { foldUntil, lossError, readTask } from "../../../src/recovery/fold.js";
import { startEvents } from "../../simulation/scripted-task.js";
import { textOfState } from "../../simulation/trace.js";
import { codeOfAsync, refusalOf } from "../../support/error-code.js";
import { uuidOf } from "../../support/checkpoint-room.js";
import { FAKE_START_MS } from "../../support/fake-clock.js";
import { createJournalRoom, createTestVault, JOURNAL_TASK_ID, notedEvent } from "../../support/journal-room.js";
import { CHECKPOINTS, damageLine, FIRST_SEGMENT, RecoveryRoom } from "../../support/recovery-room.js";

async function reading(room: RecoveryRoom) {
  const task = await room.task();
  return { task, vault: createTestVault("reader"), snapshots: room.snapshots(task) };
}

describe("readTask", () => {
  it("R5: folds the same state with every snapshot, one, or none, and changes no byte", async () => {
    const room = new RecoveryRoom();
    const owner = await room.live(4, "intended", 4);
    const before = room.contents();
    const options = await reading(room);
    const folded = await readTask(options);
    expect(textOfState(folded.state)).toBe(textOfState(owner.state));
    expect(folded).toMatchObject({ lost: [], uncertainFrom: undefined, unfoldable: 0, base: { seq: 2 } });
    const bare = { ...options.snapshots, list: async () => [] };
    expect(textOfState((await readTask({ ...options, snapshots: bare })).state)).toBe(textOfState(owner.state));
    expect(room.contents()).toEqual(before);
  });

  it("J8: bears a living writer's torn tail", async () => {
    const room = new RecoveryRoom();
    const owner = await room.live(2, "intended", 2);
    room.edit(FIRST_SEGMENT, (bytes) => Buffer.concat([bytes, Buffer.from('{"n":9,"k":"no')]));
    const folded = await readTask(await reading(room));
    expect(folded.position?.n).toBe(owner.state.position);
    expect(folded.history.segments).toMatchObject([{ tail: "torn", droppedBytes: 14 }]);
  });

  it("R3: refuses a sound snapshot that is not the one the journal says was written, and uses the one before", async () => {
    const room = new RecoveryRoom();
    const owner = await room.live(4, "intended", 4);
    const options = await reading(room);
    const [newest, before] = await options.snapshots.list();
    const load: typeof options.snapshots.load = async (file) => {
      const loaded = await options.snapshots.load(file);
      return file === newest?.file ? { ...loaded, sha256: "0".repeat(64) } : loaded;
    };
    const folded = await readTask({
      ...options,
      snapshots: { ...options.snapshots, list: () => options.snapshots.list(), load },
    });
    expect(folded.base?.file).toBe(before?.file);
    expect(folded.refused).toMatchObject([{ file: newest?.file, code: "CHECKPOINT_TAMPERED", isBad: true }]);
    expect(textOfState(folded.state)).toBe(textOfState(owner.state));
  });

  it("R5: goes on after a lost record, counting what no longer fits, and says from where on nothing is certain", async () => {
    const room = new RecoveryRoom();
    await room.live(3, "intended", 3);
    for (const file of room.snapshotFiles()) room.edit(`${CHECKPOINTS}/${file}`, () => Buffer.from("x"));
    // The scope is never entered, so leaving it or moving in it does not fit.
    room.edit(FIRST_SEGMENT, (bytes) => damageLine(bytes, 3));
    const folded = await readTask(await reading(room));
    expect(folded).toMatchObject({ lost: [{ from: 2, to: 2 }], uncertainFrom: 2 });
    expect(folded.state.position).toBe(folded.history.head?.n);
    room.edit(FIRST_SEGMENT, (bytes) => damageLine(damageLine(bytes, 3), 2));
    const less = await readTask(await reading(room));
    expect(less.lost).toEqual([{ from: 1, to: 1 }]);
    expect(less.unfoldable).toBeGreaterThan(0);
  });
});

describe("foldHistory", () => {
  it("looks at the time now and then", async () => {
    const room = new RecoveryRoom();
    await room.live(90);
    const options = await reading(room);
    let looks = 0;
    const bare = { ...options.snapshots, list: async () => [] };
    await readTask({ ...options, snapshots: bare, checkTime: () => void (looks += 1) });
    expect(looks).toBe(1);
  });

  it("lets a record through that never fitted: that is a mistake of ours, not damage", async () => {
    const room = new RecoveryRoom();
    await room.live(1);
    const task = await room.task();
    const restored = await room.restore({ task });
    const { epoch, prev, state } = restored;
    const writer = await openJournalWriter({ task, vault: createTestVault("w"), epoch, prev, clock: room.clock });
    writer.append([{ type: "scope_left", atMs: state.atMs, path: "root", visit: 1, outcome: "done" }]);
    await writer.close();
    expect(await codeOfAsync(async () => readTask(await reading(room)))).toBe("INTERNAL");
  });

  it("names a segment that is not there", async () => {
    const room = new RecoveryRoom();
    await room.live(2, "intended", 2);
    await room.live(2);
    for (const file of room.snapshotFiles()) room.edit(`${CHECKPOINTS}/${file}`, () => Buffer.from("x"));
    room.disk.disk.findFolder(`${CHECKPOINTS}/journal`).entries.delete("00000001-0000.jsonl");
    const refusal = await refusalOf(() => room.restore());
    expect(refusal.message).toMatch(/^the journal of t has lost records 1–\d+: 00000001-0000 \(missing\)$/);
    const folded = await readTask(await reading(room));
    expect(folded.unfoldable).toBeGreaterThan(0);
    const history = { damage: [], report: () => ({}) } as unknown as History;
    expect(lossError("t", { lost: folded.lost, history }).message).toMatch(/they are not there$/);
  });
});

describe("foldUntil", () => {
  it("gives the state right after any record, from the snapshot before it", async () => {
    const room = new RecoveryRoom();
    const owner = await room.live(3);
    const options = await reading(room);
    for (let n = 1; n <= owner.state.position; n += 1) {
      const folded = await foldUntil({ ...options, until: n });
      expect(folded.state.position).toBe(n);
      expect(folded.base?.position.n ?? 0).toBeLessThanOrEqual(n);
    }
    expect(textOfState((await foldUntil({ ...options, until: owner.state.position })).state)).toBe(
      textOfState(owner.state),
    );
  });

  it("says of a record that prune --history cut off that it was removed; where a file is damaged, that it is lost", async () => {
    const room = await createJournalRoom();
    const first = await room.take();
    first.append(startEvents(1));
    await first.close();
    const heir = await room.take(first.position);
    heir.append([notedEvent(3), notedEvent(4)]);
    heir.append([{ type: "pruned", atMs: FAKE_START_MS + 9, files: [], reason: "test", history: { before: 3 } }]);
    await heir.close();
    await room.task.removeSegment({ epoch: 1, index: 0 });
    const { task, vault } = room;
    const bare = createSnapshotSource({ store: task, vault, rawBytesMax: 1_000_000 });
    for (const until of [1, 2, 4]) {
      const error = await refusalOf(() => foldUntil({ task, vault, snapshots: bare, until }));
      expect([error.code, error.message]).toEqual([
        "CHECKPOINT_NOT_FOUND",
        `records before 3 of t were removed by prune --history: record ${until} cannot be reached`,
      ]);
    }
    await task.putOnce(formatSnapshotName({ phase: 1, atMs: FAKE_START_MS, seq: 1 }), Buffer.from("x"));
    expect(await codeOfAsync(() => foldUntil({ task, vault, snapshots: bare, until: 4 }))).toBe("JOURNAL_CORRUPT");
    expect(await codeOfAsync(() => foldUntil({ task, vault, snapshots: bare, until: 2 }))).toBe("CHECKPOINT_NOT_FOUND");
  });

  it("reads the state that a record carries from its blob", async () => {
    const room = await createJournalRoom();
    const { task, vault } = room;
    const state = createState();
    for (const event of startEvents(1)) evolve(state, event);
    const blob = await createBlobShelf({ store: task, vault }).put(encodeWhole(state));
    const writer = await room.take();
    const origin = { taskId: JOURNAL_TASK_ID, name: "other", checkpointId: uuidOf(1), seq: 4, position: 2 };
    const forked = { type: "task_forked", atMs: FAKE_START_MS, taskId: JOURNAL_TASK_ID, name: "t", origin } as const;
    writer.append([{ ...forked, by: "ada", state: { blob } }]);
    await writer.close();
    const folded = await readTask({ task, vault, snapshots: { list: async () => [] } as never });
    expect([folded.state.task?.name, folded.state.task?.status, folded.lost]).toEqual(["t", "paused", []]);
    expect([...folded.state.scopes.keys()]).toEqual([...state.scopes.keys()]);
  });

  it("refuses a record that is not there, and one behind a lost one", async () => {
    const room = new RecoveryRoom();
    const owner = await room.live(1);
    const options = await reading(room);
    expect(await codeOfAsync(() => foldUntil({ ...options, until: owner.state.position + 1 }))).toBe(
      "CHECKPOINT_NOT_FOUND",
    );
    room.edit(FIRST_SEGMENT, (bytes) => damageLine(bytes, 3));
    const again = await reading(room);
    expect(await codeOfAsync(() => foldUntil({ ...again, until: 3 }))).toBe("JOURNAL_CORRUPT");
    expect((await foldUntil({ ...again, until: 1 })).state.position).toBe(1);
  });
});
