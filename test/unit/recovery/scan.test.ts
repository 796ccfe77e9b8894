import { describe, expect, it } from "vitest";
import { SplashdownError } from "../../../src/base/errors.js";
import type { EngineEvent, TaskEnd } from "../../../src/engine/model/events.js";
import { readHistory } from "../../../src/journal/history.js";
import { openJournalWriter } from "../../../src/journal/writer.js";
import { scanTask, scanTasks, type ScannedTask } from "../../../src/recovery/scan.js";
import { planRecovery } from "../../../src/recovery/supervise.js";
import type { OwnerState, Store, TaskStore } from "../../../src/store/contract/contract.js";
import { MemorySpace, MemoryStore } from "../../../src/store/memory/memory-store.js";
import { uuidOf } from "../../support/checkpoint-room.js";
import { FAKE_START_MS, FakeClock } from "../../support/fake-clock.js";
import { createTestVault, JOURNAL_TASK_ID, notedEvent } from "../../support/journal-room.js";
import { startEvents } from "../../simulation/scripted-task.js";
import { wrapTask } from "../../support/wrapped-task.js";

const clock = new FakeClock();
const space = new MemorySpace();
const memory = new MemoryStore({ space, deliverablesRoot: "/outputs" });
const owners = new Map<string, OwnerState>();
/** Changes the bytes of a task's first segment as they are read. */
const rot = new Map<string, (bytes: Buffer) => Buffer>();

const store: Store = {
  manifest: memory.manifest,
  address: memory.address,
  tasks: () => memory.tasks(),
  createTask: (name) => memory.createTask(name),
  removeTask: (name) => memory.removeTask(name),
  trash: () => memory.trash(),
  trashTask: (name, atMs) => memory.trashTask(name, atMs),
  restoreTask: (name) => memory.restoreTask(name),
  purgeTask: (name) => memory.purgeTask(name),
  probe: () => memory.probe(),
  close: () => memory.close(),
  task: async (name) => {
    const task = await memory.task(name);
    if (task === undefined) return undefined;
    const read: TaskStore["read"] = async (id) => rot.get(name)?.(Buffer.from(await task.read(id))) ?? task.read(id);
    return wrapTask(task, { ownerState: async () => owners.get(name) ?? { state: "gone" }, read });
  },
};

const closed = (end: TaskEnd, resumeAtMs?: number): EngineEvent => ({
  type: "task_closed",
  atMs: FAKE_START_MS + 5,
  end,
  reason: end,
  exitStatus: 0,
  resumable: true,
  ...(resumeAtMs === undefined ? {} : { resumeAtMs }),
});

async function make(name: string, events: readonly EngineEvent[]): Promise<void> {
  const task = await memory.createTask(name);
  if (task === undefined) throw new Error("the task exists");
  const writer = await openJournalWriter({
    task,
    vault: createTestVault(name),
    epoch: await task.claim(),
    prev: undefined,
    clock,
  });
  writer.append(events);
  await writer.close();
}

const openVault = async (task: TaskStore) => {
  if (task.name === "unborn") throw new SplashdownError("TASK_NOT_STARTED", "it died before anything was recorded");
  if (task.name === "keyless") throw new SplashdownError("KEY_MISSING", "no source gives the key");
  return createTestVault(`reader of ${task.name}`);
};

const openEnd = [...startEvents(1), notedEvent(3)];

describe("scanTasks", () => {
  it("R11: says how each task stands, from its end and its owner", async () => {
    await make("running", openEnd);
    owners.set("running", {
      state: "alive",
      owner: {
        pid: 5,
        host: "ada",
        machineId: "m",
        bootId: "b",
        namespace: "pid:[1]",
        processStartedAt: "x",
        since: "y",
      },
    });
    await make("crashed", openEnd);
    await make("unclear", openEnd);
    owners.set("unclear", { state: "unclear" });
    for (const end of ["done", "partial", "failed", "stopped", "waiting"] as const)
      await make(end, [...openEnd, closed(end), notedEvent(9)]);
    await make("paused", [...openEnd, closed("paused", FAKE_START_MS + 1_000)]);
    await make("asked-to-pause", [...openEnd, closed("paused")]);
    await make("taken-up-again", [...openEnd, closed("paused"), { ...resumed, atMs: FAKE_START_MS + 9 }]);
    const origin = { taskId: JOURNAL_TASK_ID, name: "done", checkpointId: uuidOf(1), seq: 4, position: 2 };
    const forked = { type: "task_forked", atMs: FAKE_START_MS, taskId: JOURNAL_TASK_ID, name: "fork", origin } as const;
    await make("fork", [{ ...forked, by: "ada", state: { inline: {} } }]);
    await memory.createTask("never-began");
    const tasks = await scanTasks({ store, openVault });
    expect(Object.fromEntries(tasks.map((task) => [task.name, task.status]))).toEqual({
      "asked-to-pause": "paused",
      crashed: "crashed",
      done: "done",
      failed: "failed",
      fork: "paused",
      "never-began": "crashed",
      partial: "partial",
      paused: "paused",
      running: "running",
      stopped: "stopped",
      "taken-up-again": "crashed",
      unclear: "unclear",
      waiting: "waiting",
    });
    expect(tasks.find((task) => task.name === "fork")?.closed?.reason).toBe("forked from checkpoint 4 of done");
    expect(tasks.find((task) => task.name === "done")).toMatchObject({
      records: 5,
      epoch: 1,
      lastAtMs: FAKE_START_MS + 9,
      closed: { end: "done" },
    });
    expect(tasks.map((task) => task.name)).toEqual(tasks.map((task) => task.name).sort());
  });

  it("R12: a bad task is one bad entry", async () => {
    await make("keyless", openEnd);
    await make("rotten", openEnd);
    await make("headless", openEnd);
    await make("forged", openEnd);
    rot.set("rotten", (bytes) => change(bytes, bytes.lastIndexOf('"d":"') + 10));
    rot.set("headless", (bytes) => change(bytes, bytes.indexOf('"salt":"') + 10));
    rot.set("forged", () => Buffer.from('{"format":"splashdown.journal","version":"7.0","header":{}}\n'));
    await memory.createTask("unborn");
    const names = ["unborn", "keyless", "rotten", "headless", "forged", "gone", "crashed"];
    const tasks = await scanTasks({ store, openVault, names });
    expect(tasks.map(({ name, status, problem }) => [name, status, problem?.code])).toEqual([
      ["unborn", "crashed", undefined],
      ["keyless", "key_missing", "KEY_MISSING"],
      ["rotten", "damaged", "JOURNAL_CORRUPT"],
      ["headless", "damaged", "JOURNAL_CORRUPT"],
      ["forged", "damaged", "FORMAT_VERSION"],
      ["crashed", "crashed", undefined],
    ]);
  });

  it("looks behind epochs that only removed files: an ended task stays ended", async () => {
    await make("pruned-twice", [...openEnd, closed("done")]);
    const task = await memory.task("pruned-twice");
    if (task === undefined) throw new Error("the task is gone");
    const vault = createTestVault("pruner");
    for (let times = 1; times <= 2; times += 1) {
      const { head } = await readHistory({ task, vault });
      const journal = await openJournalWriter({ task, vault, epoch: await task.claim(), prev: head, clock });
      journal.append([{ type: "pruned", atMs: FAKE_START_MS + 20, files: ["x"], reason: "many" }]);
      await journal.close();
    }
    const [scanned] = await scanTasks({ store, openVault, names: ["pruned-twice"] });
    expect(scanned).toMatchObject({ status: "done", records: 6, epoch: 3, lastAtMs: FAKE_START_MS + 20 });
  });

  it("looks through epochs that wrote nothing", async () => {
    await make("empty-heirs", [...openEnd, closed("done")]);
    const task = await memory.task("empty-heirs");
    if (task === undefined) throw new Error("the task is gone");
    const vault = createTestVault("heirs");
    const head = { n: 4, epoch: 1, index: 0, h: "" };
    const { records } = await readHistory({ task, vault });
    const prev = records.at(-1)?.position ?? head;
    await (await openJournalWriter({ task, vault, epoch: await task.claim(), prev, clock })).close();
    await task.claim();
    expect(await scanTask("empty-heirs", { store, openVault })).toMatchObject({ status: "done", epoch: 2, records: 4 });
  });

  it("lets a mistake of ours through", async () => {
    const broken = () => Promise.reject(new TypeError("ours"));
    await expect(scanTask("crashed", { store, openVault: broken })).rejects.toMatchObject({ code: "INTERNAL" });
  });
});

const resumed: EngineEvent = { type: "task_resumed", atMs: 0, epoch: 2, by: "resume", crashed: false, report: {} };

function change(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

describe("planRecovery", () => {
  const entry = (name: string, status: ScannedTask["status"], extra: Partial<ScannedTask> = {}): ScannedTask => ({
    name,
    status,
    taskId: "x",
    epoch: 1,
    records: 3,
    lastAtMs: 1,
    owner: undefined,
    closed: undefined,
    problem: undefined,
    ...extra,
  });
  const paused = (name: string, resumeAtMs?: number) =>
    entry(name, "paused", { closed: { ...closed("paused", resumeAtMs), wallAtMs: 0 } as never });

  it("R13: takes up what crashed and what is due, and says of the rest why not", () => {
    const plan = planRecovery(
      [
        entry("a", "crashed"),
        entry("b", "crashed", { records: 0 }),
        paused("c", 1_000),
        paused("d", 1_001),
        paused("e"),
        entry("f", "running", {
          owner: {
            pid: 5,
            host: "h",
            machineId: "m",
            bootId: "b",
            namespace: "pid:[1]",
            processStartedAt: "x",
            since: "y",
          },
        }),
        entry("g", "running"),
        entry("h", "unclear"),
        entry("i", "waiting"),
        entry("j", "damaged", { problem: { code: "JOURNAL_CORRUPT", message: "it is torn" } }),
        entry("k", "key_missing"),
        entry("l", "failed"),
        entry("m", "stopped"),
        entry("n", "partial"),
        entry("o", "done"),
        paused("p", 5_000),
      ],
      1_000,
    );
    expect(plan.take).toEqual([
      { name: "a", why: "crashed" },
      { name: "c", why: "due" },
    ]);
    expect(Object.fromEntries(plan.leave.map(({ name, why }) => [name, why]))).toEqual({
      b: "it never started",
      d: "its time comes at 1970-01-01T00:00:01.001Z",
      e: "it was paused on request",
      f: "its owner, process 5, is alive",
      g: "its owner, process ?, is alive",
      h: "it is unclear whether its owner lives",
      i: "it waits for a person",
      j: "it is torn",
      k: "it cannot be read",
      l: "it failed and needs a person",
      m: "a person stopped it",
      n: "it has ended",
      o: "it has ended",
      p: "its time comes at 1970-01-01T00:00:05.000Z",
    });
    expect(plan.nextDueAtMs).toBe(1_001);
    const answered = planRecovery([entry("i", "waiting"), entry("j", "waiting")], 1_000, new Set(["j"]));
    expect(answered.take).toEqual([{ name: "j", why: "answered" }]);
    expect(answered.leave).toEqual([{ name: "i", why: "it waits for a person" }]);
    expect(planRecovery([], 0).nextDueAtMs).toBeUndefined();
  });
});
