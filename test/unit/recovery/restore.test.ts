import { beforeEach, describe, expect, it } from "vitest";
import { encodeBase64Url, sha256 } from "../../../src/base/digest.js";
import { errorCodeOf, SplashdownError } from "../../../src/base/errors.js";
import type { SnapshotSource } from "../../../src/checkpoint/contract.js";
import type { EngineEvent } from "../../../src/engine/model/events.js";
import type { ScanCache } from "../../../src/journal/history.js";
import { openJournalWriter, type JournalWriter } from "../../../src/journal/writer.js";
import { processKeyOf } from "../../../src/engine/model/identity.js";
import { readTask } from "../../../src/recovery/fold.js";
import type { Restored } from "../../../src/recovery/restore.js";
import type { TaskStore } from "../../../src/store/contract/contract.js";
import type { AnchorPosition } from "../../../src/vault/anchor.js";
import { createPlainVault } from "../../../src/vault/sealing.js";
import { textOfState } from "../../simulation/trace.js";
import { codeOfAsync, refusalOf } from "../../support/error-code.js";
import { createOtherKeyVault, createTestVault, JOURNAL_TASK_ID, notedEvent } from "../../support/journal-room.js";
import { CHECKPOINTS, damageLine, FIRST_SEGMENT, RecoveryRoom } from "../../support/recovery-room.js";
import { wrapTask } from "../../support/wrapped-task.js";
import { processOf } from "../../support/places.js";

let room: RecoveryRoom;

beforeEach(() => {
  room = new RecoveryRoom();
});

async function takeOn(restored: Restored, task: TaskStore, seed = "heir"): Promise<JournalWriter> {
  const { epoch, prev, base } = restored;
  return openJournalWriter({ task, vault: createTestVault(seed), epoch, prev, base, clock: room.clock });
}

const resumed = (restored: Restored): EngineEvent => ({
  type: "task_resumed",
  atMs: restored.state.atMs + 1,
  epoch: restored.epoch,
  by: "resume",
  crashed: restored.crashed,
  report: restored.report,
});

describe("restoreTask", () => {
  it("R5: gives the state of the dead owner, the record to continue and the next epoch", async () => {
    const owner = await room.live(4, "intended", 4);
    const restored = await room.restore();
    expect(textOfState(restored.state)).toBe(textOfState(owner.state));
    expect(restored).toMatchObject({
      epoch: 2,
      crashed: true,
      uncertain: false,
      prev: { n: owner.state.position, epoch: 1, index: 0 },
    });
    const [, newest] = room.snapshotFiles();
    expect(restored.report).toMatchObject({
      base: { file: newest, seq: 2 },
      epoch: 2,
      tails: [],
      damage: [],
      lost: [],
      quarantined: [],
      ended_processes: [],
      passed_over: [],
    });
    expect(restored.journalBytes).toBe(room.bytes(FIRST_SEGMENT).length);
    expect(restored.base).toBe(restored.state.checkpoints[1]?.checkpointId);
  });

  it("R10: recovers a recovered task to the same state", async () => {
    await room.live(2, "intended", 2);
    const first = await room.restore();
    const second = await room.restore();
    expect(textOfState(second.state)).toBe(textOfState(first.state));
    expect(second.prev).toEqual(first.prev);
    expect(second.epoch).toBe(first.epoch + 1);
  });

  it("says that a task which was closed has not crashed", async () => {
    await room.live(1);
    expect((await room.restore()).crashed).toBe(false);
  });

  it("gives an empty state to a task that never began", async () => {
    await room.live(1, "opened");
    const restored = await room.restore();
    expect(restored.state.task).toBeUndefined();
    expect(restored).toMatchObject({ prev: undefined, base: undefined, crashed: false });
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ["cut to nothing", () => Buffer.alloc(0)],
    ["cut to a byte", (bytes) => bytes.subarray(0, 1)],
    ["cut to half", (bytes) => bytes.subarray(0, bytes.length >>> 1)],
    ["with a flipped bit", (bytes) => flip(bytes, bytes.length >>> 1)],
    ["that holds {}", () => Buffer.from("{}")],
  ])("R3: sets a newest snapshot %s aside, names it, and uses the one before", async (_what, change) => {
    const owner = await room.live(4, "intended", 4);
    const [first, newest = ""] = room.snapshotFiles();
    room.edit(`${CHECKPOINTS}/${newest}`, change);
    const restored = await room.restore();
    expect(textOfState(restored.state)).toBe(textOfState(owner.state));
    expect(restored.report).toMatchObject({
      base: { file: first },
      quarantined: [{ file: newest, moved_to: `quarantine/${newest}` }],
    });
    expect(room.snapshotFiles()).toEqual([first]);
    expect(room.names(`${CHECKPOINTS}/quarantine`)).toEqual([newest, `${newest}.reason.txt`]);
  });

  it("R8: takes the state that was read before where nothing was written since, and reads again where it was", async () => {
    await room.live(4, "intended", 4);
    const task = await room.task();
    const cache: ScanCache = new Map();
    const vault = createTestVault("looker");
    const folded = await readTask({ task, vault, snapshots: room.snapshots(task), cache });
    const taken = await room.restore({ task, vault, known: { folded, cache } });
    expect(taken.state).toBe(folded.state);
    await (await takeOn(taken, task)).close();
    const again = await room.restore({ task, vault, known: { folded, cache } });
    expect(again.epoch).toBe(taken.epoch + 1);
    expect(again.prev?.n).toBe(taken.prev?.n);
  });

  it("R3: starts from the first record when no snapshot is left", async () => {
    const owner = await room.live(4, "intended", 4);
    for (const file of room.snapshotFiles()) room.edit(`${CHECKPOINTS}/${file}`, () => Buffer.from("x"));
    const restored = await room.restore();
    expect(textOfState(restored.state)).toBe(textOfState(owner.state));
    expect(restored.report).toMatchObject({ base: null, records_replayed: owner.state.position });
  });

  it.each(["FORMAT_VERSION", "KEY_MISSING", "STORE_FAILED"] as const)(
    "R3: leaves a snapshot alone that it cannot judge: %s",
    async (code) => {
      const owner = await room.live(3, "intended", 3);
      const real = room.snapshots(await room.task());
      const load = async () => {
        throw new SplashdownError(code, "not now");
      };
      const snapshots = { list: () => real.list(), load, quarantine: () => Promise.reject(new Error("never")) };
      const restored = await room.restore({ snapshots });
      const [file] = room.snapshotFiles();
      expect(textOfState(restored.state)).toBe(textOfState(owner.state));
      expect(restored.report).toMatchObject({ base: null, quarantined: [], passed_over: [{ file, code }] });
    },
  );

  it("R3: passes over a snapshot that is gone by now, and lets a mistake of ours through", async () => {
    await room.live(3, "intended", 3);
    const real = room.snapshots(await room.task());
    const failing = (error: Error) => ({
      list: () => real.list(),
      load: async () => {
        throw error;
      },
      quarantine: real.quarantine,
    });
    const gone = await room.restore({ snapshots: failing(new SplashdownError("CHECKPOINT_NOT_FOUND", "gone")) });
    expect(gone.report).toMatchObject({ base: null, passed_over: [] });
    await expect(room.restore({ snapshots: failing(new TypeError("ours")) })).rejects.toThrow("ours");
  });

  it("R4: passes over a snapshot that a superseded owner wrote too late", async () => {
    const owner = await room.live(3, "intended", 3);
    const task = await room.task();
    const restored = await room.restore({ task });
    const real = room.snapshots(task);
    const [entry] = await real.list();
    if (entry === undefined) throw new Error("no snapshot is there");
    const position = { n: 99, epoch: 1, index: 0, h: encodeBase64Url(sha256("x")) };
    const off: SnapshotSource = {
      list: async () => [{ ...entry, file: "off" }],
      load: async () => ({ ...(await real.load(entry.file)), position }),
      quarantine: () => Promise.reject(new Error("never")),
    };
    await (await takeOn(restored, task)).close();
    const again = await room.restore({ snapshots: off });
    expect(textOfState(again.state)).toBe(textOfState(owner.state));
    expect(again.report).toMatchObject({
      base: null,
      quarantined: [],
      passed_over: [{ file: "off", code: "OFF_CHAIN" }],
    });
  });

  it("R6: damage that a snapshot covers is reported and costs nothing", async () => {
    const owner = await room.live(4, "intended", 4);
    room.edit(FIRST_SEGMENT, (bytes) => damageLine(bytes, 4));
    const restored = await room.restore();
    expect(textOfState(restored.state)).toBe(textOfState(owner.state));
    expect(restored).toMatchObject({ uncertain: false });
    expect(restored.report).toMatchObject({ damage: [{ segment: "00000001-0000", line: 4, what: "hash" }], lost: [] });
  });

  it("R7: stops at damage that nothing covers, naming it and changing no byte, until the loss is accepted", async () => {
    await room.live(4, "intended", 4);
    for (const file of room.snapshotFiles()) room.edit(`${CHECKPOINTS}/${file}`, () => Buffer.from("x"));
    room.edit(FIRST_SEGMENT, (bytes) => damageLine(bytes, 5));
    const before = room.contents();
    const refusal = await refusalOf(() => room.restore());
    expect(refusal).toMatchObject({ code: "JOURNAL_CORRUPT", exitStatus: 13 });
    expect(refusal.message).toBe("the journal of t has lost records 4: 00000001-0000 line 5 (hash)");
    expect(refusal.hint).toBe("splashdown resume t --accept-loss");
    expect(room.contents()).toEqual(before);
    const task = await room.task();
    const restored = await room.restore({ task, acceptLoss: true });
    expect(restored).toMatchObject({ uncertain: true, report: { loss_accepted: true, lost: [{ from: 4, to: 4 }] } });
    const writer = await takeOn(restored, task);
    writer.append([resumed(restored)]);
    await writer.close();
    expect((await room.restore()).uncertain).toBe(false);
  });

  it("R6: records lost at the damaged end are asked about once", async () => {
    const owner = await room.live(2, "intended", 2);
    const lines = room.bytes(FIRST_SEGMENT).toString("latin1").split("\n").length - 1;
    room.edit(FIRST_SEGMENT, (bytes) => damageLine(bytes, lines));
    expect(await codeOfAsync(() => room.restore())).toBe("JOURNAL_CORRUPT");
    const task = await room.task();
    const restored = await room.restore({ task, acceptLoss: true });
    expect(restored.prev?.n).toBe(owner.state.position - 1);
    await (await takeOn(restored, task)).close();
    expect((await room.restore()).uncertain).toBe(false);
  });

  it("R6: a journal shorter than its newest snapshot is loss, though the state is there", async () => {
    await room.live(4, "intended", 4);
    const cut = room.bytes(FIRST_SEGMENT).toString("latin1").split("\n").slice(0, 4).join("\n");
    room.edit(FIRST_SEGMENT, () => Buffer.from(`${cut}\n`, "latin1"));
    expect(await codeOfAsync(() => room.restore())).toBe("JOURNAL_CORRUPT");
    const restored = await room.restore({ acceptLoss: true });
    expect(restored.state.checkpoints).toHaveLength(2);
    expect(restored.prev?.n).toBe(restored.state.position);
  });

  it.each<[string, number, () => Partial<Parameters<RecoveryRoom["restore"]>[0]>, (bytes: Buffer) => Buffer]>([
    ["KEY_WRONG", 12, () => ({ vault: createOtherKeyVault() }), (bytes) => bytes],
    ["KEY_MISSING", 12, () => ({ vault: createPlainVault(JOURNAL_TASK_ID) }), (bytes) => bytes],
    ["JOURNAL_TAMPERED", 15, () => ({}), forge],
    [
      "FORMAT_VERSION",
      13,
      () => ({}),
      (bytes) => Buffer.from(bytes.toString("latin1").replace('"1.0"', '"999"'), "latin1"),
    ],
    ["TASK_ROLLED_BACK", 15, () => ({ anchor: { epoch: 1, n: 500, hash: "x" } }), (bytes) => bytes],
  ])("R7: refuses with %s and changes no byte", async (code, status, extra, change) => {
    await room.live(1, "intended");
    room.edit(FIRST_SEGMENT, change);
    const before = room.contents();
    const refusal = await refusalOf(() => room.restore(extra()));
    expect([refusal.code, refusal.exitStatus]).toEqual([code, status]);
    expect(room.contents()).toEqual(before);
  });

  it("R7: compares with the anchor by epoch, record and hash", async () => {
    await room.live(1, "intended");
    const { prev } = await room.restore();
    const at = (anchor: Partial<AnchorPosition>) => ({
      anchor: { epoch: 1, n: prev?.n ?? 0, hash: prev?.h ?? "", ...anchor },
    });
    const code = (anchor: Partial<AnchorPosition>) => codeOfAsync(() => room.restore(at(anchor)));
    expect(await code({})).toBe("none");
    expect(await code({ n: 2, hash: room.bytes(FIRST_SEGMENT).toString().split("\n")[2]?.slice(-45, -2) ?? "" })).toBe(
      "none",
    );
    expect(await code({ hash: "forked" })).toBe("TASK_ROLLED_BACK");
    expect(await code({ n: (prev?.n ?? 0) + 1 })).toBe("TASK_ROLLED_BACK");
    expect(await code({ epoch: 2 })).toBe("TASK_ROLLED_BACK");
    // A later epoch is no excuse: its owner would have read that record.
    expect(await code({ epoch: 0, n: 900 })).toBe("TASK_ROLLED_BACK");
    expect(await code({ epoch: 0, n: 0 })).toBe("none");
    const accepted = await room.restore({ ...at({ epoch: 2 }), acceptLoss: true });
    expect(accepted).toMatchObject({ uncertain: true, report: { rolled_back: true, loss_accepted: true } });
  });

  it("R7: calls a folder without records rolled back when more was acknowledged, and damage never so", async () => {
    await room.live(1, "opened");
    const refusal = await refusalOf(() => room.restore({ anchor: { epoch: 1, n: 3, hash: "x" } }));
    expect(refusal.message).toBe(
      "the journal of t is empty or not there, but it was not always so: record 3, which this machine has acknowledged",
    );
    const other = new RecoveryRoom();
    const owner = await other.live(1, "intended");
    other.edit(FIRST_SEGMENT, (bytes) => damageLine(bytes, 3));
    const inDamage = { epoch: 1, n: 2, hash: "x" };
    expect(await codeOfAsync(() => other.restore({ anchor: inDamage }))).toBe("JOURNAL_CORRUPT");
    expect((await other.restore({ anchor: inDamage, acceptLoss: true })).report["rolled_back"]).toBeUndefined();
    other.edit(FIRST_SEGMENT, (bytes) => damageLine(bytes, owner.state.position + 1));
    const atEnd = { epoch: 1, n: owner.state.position + 5, hash: "x" };
    expect((await other.restore({ anchor: atEnd, acceptLoss: true })).report["rolled_back"]).toBeUndefined();
  });

  it("R8: sees what the superseded owner wrote until the claim, and not what it writes later", async () => {
    const old = await room.live(2, "intended", 1);
    const task = await room.task();
    const oldTask = await room.task();
    const oldRestored = await room.restore({ task: oldTask });
    const writer = await takeOn(oldRestored, oldTask, "old");
    const slow = wrapTask(task, {
      claim: async () => {
        writer.append([notedEvent(1, "before the claim")]);
        await writer.durable();
        return task.claim();
      },
    });
    const restored = await room.restore({ task: slow });
    expect(restored.state.position).toBe(old.state.position + 1);
    writer.append([notedEvent(2, "after the claim")]);
    await writer.durable();
    expect(await codeOfAsync(() => writer.confirm())).toBe("OWNER_SUPERSEDED");
    const heir = await takeOn(restored, task);
    await heir.close();
    expect((await room.restore()).state.position).toBe(old.state.position + 1);
  });

  it("R14: says before the claim whether another process has claimed and not opened its journal", async () => {
    await room.live(4, "intended", 4);
    const told: (number | undefined)[] = [];
    const beforeClaim = (_state: unknown, unused: number | undefined): Promise<void> => {
      told.push(unused);
      return Promise.resolve();
    };
    const restored = await room.restore({ beforeClaim });
    await room.restore({ beforeClaim });
    const task = await room.task();
    await room.restore({ beforeClaim, task });
    expect([restored.epoch, told]).toEqual([2, [undefined, 2, 3]]);
    const journal = await takeOn({ ...restored, epoch: 4 }, task);
    journal.append([resumed({ ...restored, epoch: 4 })]);
    await journal.durable();
    await room.restore({ beforeClaim });
    expect(told.at(-1)).toBeUndefined();
  });

  it("R9: ends what the dead owner left running before it answers", async () => {
    await room.live(1, "intended");
    const task = await room.task();
    const first = await room.restore({ task });
    const step = [...first.state.open][0];
    if (step === undefined) throw new Error("no step is open");
    const writer = await takeOn(first, task);
    writer.append([{ type: "step_spawned", atMs: 1, step, attempt: 1, process: processOf(77, 5, "boot") }]);
    await writer.close();
    room.processes.alive.add(77);
    const restored = await room.restore();
    expect(room.processes.ended).toEqual([77]);
    expect(restored.report).toMatchObject({ ended_processes: [{ step, pid: 77 }] });
    room.processes.ended.length = 0;
    await room.restore();
    expect(room.processes.ended).toEqual([]);
  });

  it("[reliability 1c kin] hands on what is of another place, and ends nothing there by its number", async () => {
    await room.live(1, "intended");
    const task = await room.task();
    const first = await room.restore({ task });
    const step = [...first.state.open][0];
    if (step === undefined) throw new Error("no step is open");
    const writer = await takeOn(first, task);
    writer.append([{ type: "step_spawned", atMs: 1, step, attempt: 1, process: processOf(77, 5, "boot") }]);
    await writer.close();
    room.processes.alive.add(77);
    room.processes.elsewhere.add(77);
    const restored = await room.restore();
    expect(room.processes.ended).toEqual([]);
    expect([...restored.mayRun]).toEqual([[step, { pid: 77, host: "host-a" }]]);
    expect(restored.report).toMatchObject({ may_still_run: [{ step, pid: 77, host: "host-a" }] });
  });

  it("[reliability 7 kin] ends tool servers of the dead owner, and hands on those of another place with whoever calls them", async () => {
    await room.live(1, "intended");
    const task = await room.task();
    const first = await room.restore({ task });
    const step = [...first.state.open][0];
    if (step === undefined) throw new Error("no step is open");
    const writer = await takeOn(first, task);
    const call = { call: "1.1", name: "odd__act", value: { inline: {} }, effects: "external" } as const;
    const [here, away, over] = [77, 78, 79].map((pid) => ({ server: `s${pid}`, process: processOf(pid, 5, "boot") }));
    if (here === undefined || away === undefined || over === undefined) throw new Error("three servers are wanted");
    writer.append([
      { type: "server_spawned", atMs: 1, ...here },
      { type: "server_spawned", atMs: 1, ...away },
      { type: "server_spawned", atMs: 1, ...over },
      { type: "tool_intended", atMs: 1, step, attempt: 1, ...call },
      { type: "server_ended", atMs: 2, ...over },
    ]);
    await writer.close();
    for (const pid of [77, 78, 79]) room.processes.alive.add(pid);
    room.processes.elsewhere.add(78);
    const restored = await room.restore();
    expect(room.processes.ended).toEqual([77]);
    expect(restored.report).toMatchObject({ ended_processes: [{ server: "s77", pid: 77 }] });
    expect([...restored.mayRun]).toEqual([[step, { pid: 78, host: "host-a" }]]);
    expect([...restored.serversLeft]).toEqual([processKeyOf(away.process)]);
  });

  it("[reliability 1b kin] takes all that is open for running where a person takes over from an unclear owner", async () => {
    await room.live(1, "intended");
    const owner = { pid: 9, host: "far" };
    const { mayRun, state } = await room.restore({ unclearOwner: () => owner });
    expect([...mayRun]).toEqual([...state.open].map((step) => [step, owner]));
    expect((await room.restore()).mayRun.size).toBe(0);
  });

  it("offers a completion that a superseded owner wrote too late, and ends what it spawned too late", async () => {
    await room.live(1, "intended");
    const oldTask = await room.task();
    const old = await takeOn(await room.restore({ task: oldTask }), oldTask, "old");
    const task = await room.task();
    const heir = await room.restore({ task });
    const step = [...heir.state.open][0];
    if (step === undefined) throw new Error("no step is open");
    old.append([
      { type: "step_spawned", atMs: 1, step, attempt: 1, process: processOf(78, 5, "boot") },
      { type: "step_completed", atMs: 2, step, attempt: 1, output: { inline: "late" }, durationMs: 1 },
      { type: "step_completed", atMs: 2, step, attempt: 7, output: { inline: "of another attempt" }, durationMs: 1 },
    ]);
    await old.close();
    await (await takeOn(heir, task)).close();
    room.processes.alive.add(78);
    const restored = await room.restore();
    expect(restored.state.open.has(step)).toBe(true);
    expect(restored.orphans.map(({ event, epoch, isOfOpenStep }) => [event.output, epoch, isOfOpenStep])).toEqual([
      [{ inline: "late" }, 2, true],
      [{ inline: "of another attempt" }, 2, false],
    ]);
    const first = restored.orphans[0]?.n ?? 0;
    expect(restored.report).toMatchObject({
      orphan_completions: [
        { step, attempt: 1, epoch: 2, n: first },
        { step, attempt: 7, epoch: 2, n: first + 1 },
      ],
    });
    expect(room.processes.ended).toEqual([78]);
  });

  it("R10: gives up when recovery takes too long, with nothing written but the claim", async () => {
    await room.live(1, "intended");
    const task = await room.task();
    const first = await room.restore({ task });
    const step = [...first.state.open][0];
    if (step === undefined) throw new Error("no step is open");
    const writer = await takeOn(first, task);
    writer.append([{ type: "step_spawned", atMs: 1, step, attempt: 1, process: processOf(79, 5, "boot") }]);
    await writer.close();
    room.processes.alive.add(79);
    room.processes.ending = () => new Promise(() => undefined);
    const before = room.contents();
    const waiting = refusalOf(() => room.restore({ timeoutMs: 10_000 }));
    await room.clock.advance(10_000);
    expect((await waiting).code).toBe("RECOVERY_TIMEOUT");
    const after = room.contents();
    const added = [...after.keys()].filter((path) => !before.has(path));
    expect(added).toEqual([`${CHECKPOINTS}/journal/00000003-0000.jsonl`]);
    expect(room.clock.pendingCount).toBe(0);
  });

  it("R10: gives up before the claim when its time is over by then, or when it is cancelled", async () => {
    await room.live(1, "intended");
    const task = await room.task();
    const slow = wrapTask(task, {
      read: async (id) => {
        await room.clock.advance(2_000);
        return task.read(id);
      },
    });
    const before = room.contents();
    expect(await codeOfAsync(() => room.restore({ task: slow, timeoutMs: 1_000 }))).toBe("RECOVERY_TIMEOUT");
    expect(await codeOfAsync(() => room.restore({ signal: AbortSignal.abort() }))).toBe("CANCELLED");
    const stop = new AbortController();
    const real = room.snapshots(task);
    const stopping = {
      list: () => (stop.abort(), real.list()),
      load: (file: string) => real.load(file),
      quarantine: real.quarantine,
    };
    expect(await codeOfAsync(() => room.restore({ signal: stop.signal, snapshots: stopping }))).toBe("CANCELLED");
    expect(room.contents()).toEqual(before);
    expect((await room.restore({ timeoutMs: 60_000 })).epoch).toBe(2);
  });

  it("R8: of two that recover at once one gets the epoch, and the other is refused without having changed anything", async () => {
    await room.live(2, "intended", 1);
    const tasks = [await room.task(), await room.task()] as const;
    const both = await Promise.allSettled(tasks.map((task) => room.restore({ task })));
    const epochs = both.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value.epoch] : []));
    const codes = both.flatMap((outcome) => (outcome.status === "rejected" ? [errorCodeOf(outcome.reason)] : []));
    expect([epochs, codes]).toEqual([[2], ["OWNER_SUPERSEDED"]]);
  });
});

function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** The first record changed and every hash after it set right, as one without the key can. */
function forge(bytes: Buffer): Buffer {
  const [header = "", ...lines] = damageLine(bytes, 2).toString("latin1").split("\n").slice(0, -1);
  let prior: Buffer = sha256(header.replace(/,"h":"[^"]*"\}$/, ""));
  const made = lines.map((line) => {
    const hashed = line.replace(/,"h":"[^"]*"\}$/, "");
    prior = sha256(prior, hashed);
    return `${hashed},"h":"${encodeBase64Url(prior)}"}`;
  });
  return Buffer.from(`${[header, ...made].join("\n")}\n`, "latin1");
}
