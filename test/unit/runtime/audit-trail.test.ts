import { describe, expect, it } from "vitest";
import { SplashdownError } from "../../../src/base/errors.js";
import { decodeAuditFile } from "../../../src/runtime/audit/audit-file.js";
import { AuditTrail, type AuditedTask } from "../../../src/runtime/audit/audit-trail.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { MemorySpace, MemoryStore } from "../../../src/store/memory/memory-store.js";
import type { TaskStore } from "../../../src/store/contract/contract.js";
import { FakeClock } from "../../support/fake-clock.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createVaultRoom } from "../../support/vault-room.js";
import { wrapTask } from "../../support/wrapped-task.js";

async function createRoom({ durable = false } = {}): Promise<
  AuditedTask & { trail: (seed: string) => AuditTrail; warnings: string[] }
> {
  const warnings: string[] = [];
  const clock = new FakeClock();
  const fileSystem = new MemoryFileSystem("/home/ada");
  const store = new MemoryStore({ space: new MemorySpace(), deliverablesRoot: "/outputs" });
  const task = await store.createTask("t");
  if (task === undefined) throw new Error("no task");
  const vault = await createVaultRoom().create();
  const trail = (seed: string): AuditTrail =>
    new AuditTrail({
      clock,
      random: createSeededRandom(seed),
      log: { info: () => undefined, debug: () => undefined, warn: (text) => void warnings.push(text) },
      fileSystem,
      environment: createEnvironment({ HOME: "/home/ada", USER: "ada" }, "/work"),
      version: "0",
      pid: 1,
      keys: { renew: (_task, same) => Promise.resolve(same) },
      store: durable ? { manifest: { durable } } : store,
    });
  return { task, vault, trail, warnings };
}

async function readAll(task: TaskStore) {
  const files = [];
  for (const { key } of await task.list("audit/"))
    files.push(decodeAuditFile(key, (await task.get(key)) ?? Buffer.alloc(0)));
  return files;
}

const eventsOf = async (task: TaskStore): Promise<string[][]> =>
  (await readAll(task)).map(({ entries }) => entries.map(({ event }) => event));

describe("AuditTrail", () => {
  it("says once that the task was unlocked, and A5: the same reading once", async () => {
    const { trail, ...opened } = await createRoom();
    const one = trail("one");
    await one.note(opened, { event: "read", verb: "show" });
    await one.note(opened, { event: "read", verb: "show" });
    await one.note(
      opened,
      { event: "read", verb: "replay", details: { seq: 1 } },
      { event: "answered", verb: "answer" },
    );
    await one.note(opened, { event: "answered", verb: "answer" });
    expect(await eventsOf(opened.task)).toEqual([["unlocked", "read"], ["read", "answered"], ["answered"]]);
  });

  it("A1: two processes that write at once get numbers one after the other, and each names the one before", async () => {
    const { trail, ...opened } = await createRoom();
    const trails = Array.from({ length: 8 }, (_value, at) => trail(`process ${at}`));
    await Promise.all(trails.map((each) => each.note(opened, { event: "read", verb: "show" })));
    const files = await readAll(opened.task);
    expect(files.map(({ header }) => header.n)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(new Set(files.map(({ header }) => header.session)).size).toBe(8);
    expect(files.map(({ header }) => header.prev === null)).toEqual([true, ...Array.from({ length: 7 }, () => false)]);
  });

  it("notes that a key was missing or wrong, once, and lets the error go on; other errors are not its business", async () => {
    const { trail, task } = await createRoom();
    const one = trail("one");
    const wrong = new SplashdownError("KEY_WRONG", "wrong");
    for (let time = 0; time < 2; time += 1)
      await expect(one.watch({ task, verb: "show" }, Promise.reject(wrong))).rejects.toBe(wrong);
    await expect(one.watch({ task, verb: "show" }, Promise.reject(new Error("other")))).rejects.toThrow("other");
    expect(await eventsOf(task)).toEqual([["unlock_failed"]]);
  });

  it("A4: a folder that may only be read is said, and stops nothing", async () => {
    const { trail, task, vault, warnings } = await createRoom();
    const refusing = wrapTask(task, {
      putOnce: () => Promise.reject(new SplashdownError("STORE_UNWRITABLE", "it may only be read")),
    });
    await trail("one").note({ task: refusing, vault }, { event: "read", verb: "show" });
    expect(warnings).toEqual(["the audit trail of t could not be written: it may only be read"]);
  });

  it("A4: an act whose write fails is not lost: the next one who acts takes it into the trail, once", async () => {
    const { trail, task, vault, warnings } = await createRoom({ durable: true });
    const full = wrapTask(task, {
      putOnce: () => Promise.reject(new SplashdownError("STORE_FULL", "no space left")),
    });
    const details = { question: "q", answer: "yes", by: "bob" };
    await trail("one").note({ task: full, vault }, { event: "answered", verb: "answer", details });
    expect(warnings).toEqual(["the audit trail of t could not be written: no space left"]);
    expect(await eventsOf(task)).toEqual([]);
    await trail("two").note({ task, vault }, { event: "pinned", verb: "checkpoints pin" });
    await trail("three").note({ task, vault }, { event: "unpinned", verb: "checkpoints unpin" });
    expect(await eventsOf(task)).toEqual([
      ["unlocked", "answered", "unlocked", "pinned"],
      ["unlocked", "unpinned"],
    ]);
  });
});
