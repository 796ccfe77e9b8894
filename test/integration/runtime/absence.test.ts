/** What is not there any more of a task is damage with a name and a way on, never a task that has not started. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeOfAsync } from "../../support/error-code.js";
import { filesBelow, removeBelow } from "../../support/task-content.js";
import { FIRST_FILE, NO_SNAPSHOTS, withWaiting, type WaitingRoom } from "../../support/waiting-room.js";

const STORES = ["file", "sqlite"] as const;

/** Changes the first of the files whose path begins so. */
async function changeFile(
  { content }: WaitingRoom,
  prefix: string,
  change: (bytes: Buffer) => Uint8Array | undefined,
): Promise<void> {
  const [found] = await filesBelow(content, prefix);
  if (found === undefined) throw new Error(`there is no ${prefix}`);
  const [path, bytes] = found;
  await content.change([[path, change(bytes)]]);
}

const nothing = (): Buffer => Buffer.alloc(0);

const problemOf = async ({ splashdown }: WaitingRoom): Promise<unknown> => {
  const [entry] = await splashdown.list();
  return JSON.stringify(entry);
};

async function expectRestored(room: WaitingRoom): Promise<void> {
  const { splashdown, workflow, acts } = room;
  expect(await problemOf(room)).toContain("JOURNAL_CORRUPT");
  expect(await codeOfAsync(() => splashdown.resume({ task: "t", workflow }))).toBe("JOURNAL_CORRUPT");
  expect(acts).toEqual(["big"]);
  const view = await splashdown.resume({ task: "t", workflow, acceptLoss: true, answers: { g: "y" } });
  // It may have acted after the last snapshot: that is asked, never assumed.
  expect(view).toMatchObject({ status: "waiting", questions: [{ kind: "unknown_outcome", step: "main/z@1.1" }] });
  expect(acts).toEqual(["big"]);
  await splashdown.answer({ task: "t", answer: "rerun" });
  expect(await splashdown.resume({ task: "t", workflow })).toMatchObject({
    status: "done",
    output: { size: 400_000 },
  });
  expect(acts).toEqual(["big", "z"]);
}

async function expectNamed({ splashdown, workflow, acts, ...room }: WaitingRoom): Promise<void> {
  expect(await problemOf({ splashdown, workflow, acts, ...room })).toContain("JOURNAL_MISSING");
  expect(await codeOfAsync(() => splashdown.resume({ task: "t", workflow }))).toBe("JOURNAL_MISSING");
  expect(await codeOfAsync(() => splashdown.resume({ task: "t", workflow, acceptLoss: true }))).toBe("JOURNAL_MISSING");
  expect(await codeOfAsync(() => splashdown.run({ task: "t", workflow }))).toBe("JOURNAL_MISSING");
  expect((await splashdown.recover()).tasks).toMatchObject([{ task: "t" }]);
  expect(acts).toEqual(["big"]);
}

describe.each(STORES)("a journal that is empty or not there (%s)", (store) => {
  it("[kinds F8] is damage where snapshots are whole, and its task goes on from them once the loss is accepted", async () => {
    await withWaiting(
      async (room) => {
        await changeFile(room, FIRST_FILE, nothing);
        await expectRestored(room);
      },
      {},
      { store },
    );
  });

  it("[kinds F8 kin] of which nothing is left is damage: the task is in every list", async () => {
    await withWaiting(
      async (room) => {
        await removeBelow(room.content, "journal/");
        await expectRestored(room);
      },
      {},
      { store },
    );
  });

  it("[kinds F8 kin] that begins with nothing but NULs is damage", async () => {
    await withWaiting(
      async (room) => {
        await changeFile(room, FIRST_FILE, ({ length }) => Buffer.alloc(length));
        await expectRestored(room);
      },
      {},
      { store },
    );
  });

  it("[kinds F8 kin] is named where nothing else holds the state: no loss that could be accepted, and no fresh start", async () => {
    await withWaiting(
      async (room) => {
        await changeFile(room, FIRST_FILE, nothing);
        await expectNamed(room);
      },
      NO_SNAPSHOTS,
      { store },
    );
  });

  it("[kinds F8 kin] is named by its audit trail where this machine remembers nothing", async () => {
    await withWaiting(
      async (room) => {
        await rm(room.state, { recursive: true });
        await changeFile(room, FIRST_FILE, nothing);
        const resume = () => room.splashdown.resume({ task: "t", workflow: room.workflow });
        expect(await codeOfAsync(resume)).toBe("JOURNAL_MISSING");
        expect(room.acts).toEqual(["big"]);
      },
      NO_SNAPSHOTS,
      { store },
    );
  });

  it("[reliability 10] is never a matter of the task's name", async () => {
    await withWaiting(
      async (room) => {
        await removeBelow(room.content, "journal/");
        await expectNamed(room);
      },
      NO_SNAPSHOTS,
      { store },
    );
  });

  it("[reliability 10 kin] leaves no free name for another task", async () => {
    await withWaiting(
      async ({ splashdown, workflow, acts, content }) => {
        await removeBelow(content, "journal/");
        const code = await codeOfAsync(() => splashdown.run({ task: "t", workflow, fresh: true }));
        expect(code).toBe("USAGE_INVALID");
        expect(acts).toEqual(["big"]);
        expect([...(await filesBelow(content, "journal/")).keys()]).toEqual([]);
      },
      NO_SNAPSHOTS,
      { store },
    );
  });
});

describe("damage that a snapshot covers", () => {
  it("[kinds F19 kin] is told by the list, by show and by whoever goes on, and stops nobody", async () => {
    await withWaiting(async ({ splashdown, workflow, checkpoints, warnings }) => {
      const file = join(checkpoints, FIRST_FILE);
      const bytes = await readFile(file);
      const at = bytes.indexOf('"d":"', bytes.indexOf('{"n":2,')) + 10;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await writeFile(file, bytes);
      const [entry] = await splashdown.list();
      expect(entry?.damaged).toEqual(["journal 00000001-0000 line 3: hash"]);
      expect((await splashdown.show("t")).damage).toEqual(["journal 00000001-0000 line 3: hash"]);
      expect(await splashdown.resume({ task: "t", workflow, answers: { g: "y" } })).toMatchObject({ status: "done" });
      expect(warnings.join("\n")).toContain("00000001-0000 line 3 of t is damaged (hash)");
    });
  });
});

describe.each(STORES)("a large value that a waiting task needs (%s)", (store) => {
  async function expectSeen(change: (bytes: Buffer) => Uint8Array | undefined): Promise<void> {
    await withWaiting(
      async (room) => {
        const { splashdown, workflow, acts } = room;
        await changeFile(room, "blobs/", change);
        const resumed = () => splashdown.resume({ task: "t", workflow, answers: { g: "y" } });
        expect(await codeOfAsync(resumed)).toBe("BLOB_CORRUPT");
        expect(acts).toEqual(["big"]);
      },
      {},
      { store },
    );
  }

  it("[kinds F14] is missed before anything runs where it was removed", () => expectSeen(() => undefined));
  it("[kinds F14 kin] is missed before anything runs where it was emptied", () => expectSeen(nothing));
  it("[kinds F14 kin] is missed before anything runs where its last byte is gone", () =>
    expectSeen((bytes) => bytes.subarray(0, -1)));
  it("[kinds F14 kin] is missed before anything runs where another one stands there", () =>
    expectSeen((bytes) => bytes.fill(65, bytes.indexOf("\n") + 1)));
});

describe.each(STORES)("an answer that does not open (%s)", (store) => {
  async function expectAsked(change: (bytes: Buffer) => Uint8Array): Promise<void> {
    await withWaiting(
      async (room) => {
        const { splashdown, workflow, acts, warnings } = room;
        await splashdown.answer({ task: "t", answer: "y" });
        await changeFile(room, "control/answer-", change);
        expect((await splashdown.show("t")).open_questions).toBe(1);
        expect(await splashdown.resume({ task: "t", workflow })).toMatchObject({ exit_status: 20 });
        expect(warnings.join("\n")).toContain("was moved to quarantine/control/answer-");
        await splashdown.answer({ task: "t", answer: "y" });
        expect(await splashdown.resume({ task: "t", workflow })).toMatchObject({ status: "done" });
        expect(acts).toEqual(["big", "z"]);
      },
      {},
      { store },
    );
  }

  it("[kinds F19] is set aside where it was emptied, and the question is open", () => expectAsked(nothing));

  it("[kinds F19 kin] is set aside where a bit of it was flipped", () =>
    expectAsked((bytes) => {
      bytes[200] = (bytes[200] ?? 0) ^ 1;
      return bytes;
    }));

  it("[kinds F19 kin] is set aside where it is cut", () => expectAsked((bytes) => bytes.subarray(0, 100)));

  it("[kinds F19 kin] gives way to an answer that is given before any owner has seen the damage", async () => {
    await withWaiting(
      async (room) => {
        const { splashdown, workflow, acts, content } = room;
        await splashdown.answer({ task: "t", answer: "y" });
        await changeFile(room, "control/answer-", () => Buffer.from("no answer\n"));
        await splashdown.answer({ task: "t", answer: "y" });
        expect(await splashdown.resume({ task: "t", workflow })).toMatchObject({ status: "done" });
        expect(acts).toEqual(["big", "z"]);
        expect((await filesBelow(content, "quarantine/control/")).size).toBe(2);
      },
      {},
      { store },
    );
  });
});
