/** Requests in the control folder: they count once, and none is lost between being read and being durable. */
import { describe, expect, it } from "vitest";
import { SplashdownError } from "../../../src/base/errors.js";
import type { QuestionId } from "../../../src/base/ids.js";
import type { ControlMessage } from "../../../src/engine/model/ports.js";
import type { AuditTrail } from "../../../src/runtime/audit/audit-trail.js";
import {
  FolderInbox,
  leaveRequest,
  listMessagesLeft,
  recordAnswer,
  type ControlDeps,
} from "../../../src/runtime/mailbox/control.js";
import { postMessage } from "../../../src/runtime/mailbox/control-folder.js";
import type { TaskStore } from "../../../src/store/contract/contract.js";
import { MemorySpace, MemoryStore } from "../../../src/store/memory/memory-store.js";
import { FakeClock, flushReactions } from "../../support/fake-clock.js";
import { createTestVault } from "../../support/journal-room.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { wrapTask } from "../../support/wrapped-task.js";

async function createRoom(): Promise<{ deps: ControlDeps; warnings: string[] }> {
  const store = new MemoryStore({ space: new MemorySpace(), deliverablesRoot: "/outputs" });
  const task = await store.createTask("t");
  if (task === undefined) throw new Error("no task");
  const warnings: string[] = [];
  const deps: ControlDeps = {
    task,
    vault: createTestVault("control"),
    clock: new FakeClock(),
    random: createSeededRandom("control"),
    log: { info: () => undefined, debug: () => undefined, warn: (text) => void warnings.push(text) },
    keys: { renew: (_task, same) => Promise.resolve(same) },
    audit: { note: () => Promise.resolve() } as unknown as AuditTrail,
  };
  return { deps, warnings };
}

const keysOf = async (task: TaskStore) => (await task.list("control/")).map(({ key }) => key);

async function settle(inbox: FolderInbox): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await flushReactions();
  await inbox.settled();
}

describe("a request in the control folder", () => {
  it("K4: stays until what it asks is durable, and has an id that tells it from every other", async () => {
    const { deps } = await createRoom();
    const { about, id } = await leaveRequest(deps, { kind: "pause", by: "ann", note: "lunch" });
    const inbox = new FolderInbox(deps);
    const received: ControlMessage[] = [];
    let durable = (_isDurable: boolean): void => undefined;
    await inbox.load();
    inbox.listen((message) => {
      received.push(message);
      return new Promise((resolve) => (durable = resolve));
    });
    await settle(inbox);
    expect(received).toEqual([{ kind: "pause", by: "ann", note: "lunch", id }]);
    expect(await keysOf(deps.task)).toEqual([`${about}~1`]);
    durable(true);
    await settle(inbox);
    expect(await keysOf(deps.task)).toEqual([]);
  });

  it("K4: is found by the next owner, under the same id, when this one ended before it was durable", async () => {
    const { deps } = await createRoom();
    const { about, id } = await leaveRequest(deps, { kind: "stop", by: "ann" });
    const first = new FolderInbox(deps);
    await first.load();
    first.listen(() => Promise.resolve(false));
    await settle(first);
    expect(await keysOf(deps.task)).toEqual([`${about}~1`]);
    const second = new FolderInbox(deps);
    const received: ControlMessage[] = [];
    await second.load();
    second.listen((message) => (received.push(message), Promise.resolve(true)));
    await settle(second);
    expect(received).toEqual([{ kind: "stop", by: "ann", id }]);
    expect(await keysOf(deps.task)).toEqual([]);
  });

  it("that cannot be removed is said, and harms nothing: its id makes the second reading say nothing new", async () => {
    const { deps, warnings } = await createRoom();
    const { about } = await leaveRequest(deps, { kind: "checkpoint", by: "ann" });
    const refusing = wrapTask(deps.task, {
      remove: () => Promise.reject(new SplashdownError("STORE_FAILED", "i/o error")),
    });
    const inbox = new FolderInbox({ ...deps, task: refusing });
    await inbox.load();
    inbox.listen(() => Promise.resolve(true));
    await settle(inbox);
    expect(warnings).toEqual([`${about} was taken and could not be removed: i/o error`]);
  });

  it("of a kind that is not known here is told once by each owner, stays, and holds nothing up", async () => {
    const { deps, warnings } = await createRoom();
    const { about } = await leaveRequest(deps, { kind: "reprioritise", by: "ann" });
    const known = await leaveRequest(deps, { kind: "pause", by: "bob" });
    const inbox = new FolderInbox(deps);
    const received: ControlMessage[] = [];
    inbox.listen((message) => (received.push(message), Promise.resolve(true)));
    await inbox.load();
    await inbox.load();
    await settle(inbox);
    expect(received).toEqual([{ kind: "pause", by: "bob", id: known.id }]);
    const why = `a message of the kind "reprioritise" by ann that this version of splashdown does not know`;
    expect(warnings).toEqual([expect.stringContaining(`${about} was ignored: ${why}`)]);
    expect(await keysOf(deps.task)).toEqual([`${about}~1`]);
    expect((await listMessagesLeft(deps)).unread).toEqual([expect.stringContaining(`${about}: ${why}`)]);
  });

  it("that answers in a form that is not known here is said to whoever answers too, and is not taken for one", async () => {
    const { deps, warnings } = await createRoom();
    const question = "gate:main/ok:1" as QuestionId;
    const asked = "a".repeat(64);
    await recordAnswer(deps, { question, asked, answer: "yes", by: "ann" });
    const [key = ""] = await keysOf(deps.task);
    await deps.task.remove(key);
    await postMessage(deps, key.replace(/~1$/, ""), { kind: "answer", ballot: ["yes"] });
    const inbox = new FolderInbox(deps);
    expect(await inbox.retake({ question, asked })).toBe(false);
    await inbox.load();
    expect(warnings).toEqual([expect.stringContaining(`a message of the kind "answer" that this version`)]);
    await expect(recordAnswer(deps, { question, asked, answer: "no", by: "bob" })).rejects.toMatchObject({
      code: "FORMAT_VERSION",
      message: "question gate:main/ok:1 of t was answered in a form that this version does not know",
    });
  });
});

describe("a message whose file could not be read once", () => {
  const question = "gate:main/ok:1" as QuestionId;
  const asked = "a".repeat(64);

  /** The first read of anything is refused by the disk. */
  function failOnce(task: TaskStore, code: "STORE_FAILED" | "STORE_BUSY"): TaskStore {
    let isRefused = false;
    return wrapTask(task, {
      get: (key) => {
        if (isRefused) return task.get(key);
        isRefused = true;
        return Promise.reject(new SplashdownError(code, "input/output error"));
      },
    });
  }

  async function readTwice(deps: ControlDeps, code: "STORE_FAILED" | "STORE_BUSY"): Promise<ControlMessage[]> {
    const inbox = new FolderInbox({ ...deps, task: failOnce(deps.task, code) });
    const received: ControlMessage[] = [];
    inbox.listen((message) => (received.push(message), Promise.resolve(true)));
    await inbox.load();
    expect(received).toEqual([]);
    await inbox.load();
    await settle(inbox);
    return received;
  }

  it("[reliability R06] is taken at the next look: no answer is lost", async () => {
    const { deps } = await createRoom();
    await recordAnswer(deps, { question, asked, answer: "yes", by: "ann" });
    expect(await readTwice(deps, "STORE_FAILED")).toMatchObject([{ kind: "answer", answer: "yes", by: "ann" }]);
  });

  it("[reliability R06 kin] alike a move of a wizard, where the disk was busy", async () => {
    const { deps } = await createRoom();
    await recordAnswer(deps, { question, asked, answer: "skip", by: "ann", move: 1 });
    expect(await readTwice(deps, "STORE_BUSY")).toMatchObject([{ kind: "answer", answer: "skip", move: 1 }]);
  });

  it("[reliability R06 kin] alike a request, which stays until then", async () => {
    const { deps } = await createRoom();
    await leaveRequest(deps, { kind: "stop", by: "ann" });
    expect(await readTwice(deps, "STORE_FAILED")).toMatchObject([{ kind: "stop", by: "ann" }]);
    expect(await keysOf(deps.task)).toEqual([]);
  });

  it("[reliability R06 kin] alike where the folder could not be listed", async () => {
    const { deps } = await createRoom();
    await recordAnswer(deps, { question, asked, answer: "yes", by: "ann" });
    let isRefused = false;
    const task = wrapTask(deps.task, {
      list: (prefix) => {
        if (isRefused) return deps.task.list(prefix);
        isRefused = true;
        return Promise.reject(new SplashdownError("STORE_FAILED", "input/output error"));
      },
    });
    const inbox = new FolderInbox({ ...deps, task });
    const received: ControlMessage[] = [];
    inbox.listen((message) => (received.push(message), Promise.resolve(true)));
    await inbox.load();
    await inbox.load();
    expect(received).toMatchObject([{ kind: "answer", answer: "yes" }]);
  });
});
