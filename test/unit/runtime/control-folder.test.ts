/** Messages that are left while the task gets another key: none that somebody was told of is lost, and one of two is first. */
import { beforeAll, describe, expect, it } from "vitest";
import type { QuestionId } from "../../../src/base/ids.js";
import type { ControlMessage } from "../../../src/engine/model/ports.js";
import type { AuditTrail } from "../../../src/runtime/audit/audit-trail.js";
import {
  carryMessages,
  postMessage,
  listMessages,
  loadMessage,
  removeMessage,
  type WritableMailbox,
} from "../../../src/runtime/mailbox/control-folder.js";
import { FolderInbox, recordAnswer } from "../../../src/runtime/mailbox/control.js";
import type { TaskStore } from "../../../src/store/contract/contract.js";
import { MemorySpace, MemoryStore } from "../../../src/store/memory/memory-store.js";
import type { TaskVault } from "../../../src/vault/contract.js";
import { retireKeysBelow, rotateTaskKey } from "../../../src/vault/keyring-changes.js";
import { codeOfAsync } from "../../support/error-code.js";
import { FakeClock } from "../../support/fake-clock.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createVaultRoom, KEY_SOURCE, TASK_ID } from "../../support/vault-room.js";
import { wrapTask } from "../../support/wrapped-task.js";

const ABOUT = "control/answer-0123";
const QUESTION = "gate" as QuestionId;

/** The vault of each stand of the keyring: one key, two, and the second alone; made once. */
let stands: readonly { first: TaskVault; both: TaskVault; second: TaskVault }[] = [];

beforeAll(async () => {
  const room = createVaultRoom();
  const random = createSeededRandom("stands");
  const { store, ports } = room;
  const changing = { taskId: TASK_ID, store, sources: [KEY_SOURCE], ports, random, clock: new FakeClock() };
  const first = await room.create();
  await rotateTaskKey(changing);
  const both = await room.open();
  await retireKeysBelow(changing, 2);
  stands = [{ first, both, second: await room.open() }];
});

type Stand = "first" | "both" | "second";

/** A task whose key another process changes. */
async function createRoom() {
  const store = new MemoryStore({ space: new MemorySpace(), deliverablesRoot: "/outputs" });
  const task = await store.createTask("t");
  const [vaults] = stands;
  if (task === undefined || vaults === undefined) throw new Error("no task");
  let now: Stand = "first";
  const random = createSeededRandom("desk");
  const keys = {
    // As the keyring is: a vault with the same active key stays.
    renew: (_task: TaskStore, vault: TaskVault) =>
      Promise.resolve(vault.keyId === vaults[now].keyId ? vault : vaults[now]),
  };
  const desk = (vault: TaskVault, at: TaskStore = task): WritableMailbox => ({ task: at, vault, keys, random });
  return {
    task,
    vaults,
    desk,
    keys,
    random,
    rotate: () => void (now = "both"),
    /** Everything under the first key is sealed again, and that goes. */
    reseal: async () => {
      now = "both";
      await carryMessages({ task, vault: vaults.both });
      now = "second";
      await carryMessages({ task, vault: vaults.both });
    },
    load: () => loadMessage({ task, vault: vaults[now] }, ABOUT),
    names: async () => (await listMessages(task)).map(({ key }) => key),
  };
}

/** The task as a process sees it that is held before it creates its first object. */
function heldBefore(task: TaskStore, act: () => unknown): TaskStore {
  let isFirst = true;
  return wrapTask(task, {
    putOnce: async (key, bytes) => {
      if (isFirst) {
        isFirst = false;
        await act();
      }
      return task.putOnce(key, bytes);
    },
  });
}

const says = (text: string) => ({ kind: "answer", text });

describe("a message that is left while the task gets another key", () => {
  it("K5: is carried over when it stood before, and nothing stays under the first key", async () => {
    const { desk, vaults, reseal, load, names } = await createRoom();
    expect(await postMessage(desk(vaults.first), ABOUT, says("yes"))).toBe(true);
    await reseal();
    expect((await load())?.body).toMatchObject(says("yes"));
    expect(await names()).toEqual([`${ABOUT}~2`]);
  });

  it.each(["rotate", "reseal"] as const)(
    "K5: by a process that was held meanwhile (%s), stands under the new one",
    async (how) => {
      const room = await createRoom();
      const held = heldBefore(room.task, room[how]);
      expect(await postMessage(room.desk(room.vaults.first, held), ABOUT, says("late"))).toBe(true);
      expect((await room.load())?.body).toMatchObject(says("late"));
      expect(await room.names()).toEqual([`${ABOUT}~2`]);
    },
  );

  it.each(["rotate", "reseal"] as const)(
    "K5: by a process that was held while another left one (%s), is told so",
    async (how) => {
      const room = await createRoom();
      const held = heldBefore(room.task, async () => {
        await room[how]();
        expect(await postMessage(room.desk(room.vaults.both), ABOUT, says("first"))).toBe(true);
      });
      expect(await postMessage(room.desk(room.vaults.first, held), ABOUT, says("late"))).toBe(false);
      expect((await room.load())?.body).toMatchObject(says("first"));
      expect(await room.names()).toEqual([`${ABOUT}~2`]);
    },
  );

  it("K5: is the only one about its question, though that was answered under the first key", async () => {
    const { desk, vaults, rotate, load } = await createRoom();
    await postMessage(desk(vaults.first), ABOUT, says("first"));
    rotate();
    expect(await postMessage(desk(vaults.both), ABOUT, says("late"))).toBe(false);
    expect((await load())?.body).toMatchObject(says("first"));
  });

  it("K5: and withdrawn while it is carried over, is gone", async () => {
    const { task, desk, vaults, rotate, names } = await createRoom();
    await postMessage(desk(vaults.first), ABOUT, says("no more"));
    rotate();
    await carryMessages({ task, vault: vaults.both });
    expect(await removeMessage(task, ABOUT)).toBe(true);
    expect([await names(), await removeMessage(task, ABOUT)]).toEqual([[], false]);
  });

  it("K3: is left as it is when it does not open", async () => {
    const { task, vaults, names } = await createRoom();
    await task.putOnce(`${ABOUT}~1`, Buffer.from("nothing of ours\n"));
    const left = await carryMessages({ task, vault: vaults.both });
    expect(left.map(({ key }) => key)).toEqual([`${ABOUT}~1`]);
    expect(await names()).toEqual([`${ABOUT}~1`]);
  });

  it("is given up when others change the keys all the time", async () => {
    const { task, vaults, random } = await createRoom();
    let at = 0;
    const keys = { renew: () => Promise.resolve(at++ % 2 === 0 ? vaults.second : vaults.first) };
    expect(await codeOfAsync(() => postMessage({ task, vault: vaults.first, keys, random }, ABOUT, says("?")))).toBe(
      "STORE_BUSY",
    );
  });
});

const ASKED = "a".repeat(64);

describe("an owner whose task gets another key", () => {
  async function createOwner() {
    const room = await createRoom();
    const warnings: string[] = [];
    const clock = new FakeClock();
    const log = { info: () => undefined, debug: () => undefined, warn: (text: string) => void warnings.push(text) };
    const audit = { note: () => Promise.resolve() } as unknown as AuditTrail;
    const deps = (vault: TaskVault) => ({ ...room.desk(vault), clock, log, audit });
    const received: ControlMessage[] = [];
    const inbox = new FolderInbox(deps(room.vaults.first));
    inbox.listen((message) => (received.push(message), Promise.resolve(true)));
    return { ...room, deps, inbox, received, warnings };
  }
  const given = (answer: string) => ({ question: QUESTION, asked: ASKED, answer, by: "ann" });

  it("K5: takes an answer that is sealed with the new one", async () => {
    const { deps, vaults, rotate, inbox, received, warnings } = await createOwner();
    rotate();
    await recordAnswer(deps(vaults.both), given("yes"));
    await inbox.load();
    expect(received).toMatchObject([{ kind: "answer", question: QUESTION, answer: "yes", by: "ann" }]);
    expect(await inbox.retake({ question: QUESTION, asked: ASKED })).toBe(true);
    expect(warnings).toEqual([]);
  });

  it("K5: takes one under the first key as the first, before anybody's later one", async () => {
    const { deps, vaults, rotate, inbox, received } = await createOwner();
    await recordAnswer(deps(vaults.first), given("yes"));
    rotate();
    await inbox.load();
    expect(received).toMatchObject([{ answer: "yes" }]);
    await expect(recordAnswer(deps(vaults.both), given("no"))).rejects.toMatchObject({
      code: "QUESTION_CLOSED",
      message: expect.stringContaining("ann") as unknown,
    });
  });

  it("K3: says what it passes over: a generation that nobody made, a name that is none", async () => {
    const { task, inbox, received, warnings } = await createOwner();
    await task.putOnce(`${ABOUT}~9`, Buffer.from("x"));
    await task.putOnce("control/stray", Buffer.from("x"));
    await inbox.load();
    await inbox.load();
    expect(received).toEqual([]);
    expect(warnings).toEqual([
      "control/stray was ignored: its name is that of no message",
      `${ABOUT}~9 was ignored: generation 9 of the task's key is not at hand`,
    ]);
  });
});
