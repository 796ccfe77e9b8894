/** What is not there any more of a task is damage with a name and a way on, never a task that has not started. */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeOfAsync } from "../../support/error-code.js";
import { FIRST_FILE, NO_SNAPSHOTS, withWaiting, type WaitingRoom } from "../../support/waiting-room.js";

async function firstBlob(checkpoints: string): Promise<string> {
  const [folder = ""] = await readdir(join(checkpoints, "blobs"));
  const [name = ""] = await readdir(join(checkpoints, "blobs", folder));
  return join(checkpoints, "blobs", folder, name);
}

async function answerFile(checkpoints: string): Promise<string> {
  const name = (await readdir(join(checkpoints, "control"))).find((each) => each.startsWith("answer-"));
  return join(checkpoints, "control", name ?? "");
}

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

describe("a journal that is empty or not there", () => {
  it("[kinds F8] is damage where snapshots are whole, and its task goes on from them once the loss is accepted", async () => {
    await withWaiting(async (room) => {
      await writeFile(join(room.checkpoints, FIRST_FILE), "");
      await expectRestored(room);
    });
  });

  it("[kinds F8 kin] whose folder is gone is damage: the task is in every list", async () => {
    await withWaiting(async (room) => {
      await rm(join(room.checkpoints, "journal"), { recursive: true });
      await expectRestored(room);
    });
  });

  it("[kinds F8 kin] that begins with nothing but NULs is damage", async () => {
    await withWaiting(async (room) => {
      const { length } = await readFile(join(room.checkpoints, FIRST_FILE));
      await writeFile(join(room.checkpoints, FIRST_FILE), Buffer.alloc(length));
      await expectRestored(room);
    });
  });

  it("[kinds F8 kin] is named where nothing else holds the state: no loss that could be accepted, and no fresh start", async () => {
    await withWaiting(async (room) => {
      await writeFile(join(room.checkpoints, FIRST_FILE), "");
      await expectNamed(room);
    }, NO_SNAPSHOTS);
  });

  it("[kinds F8 kin] is named by its audit trail where this machine remembers nothing", async () => {
    await withWaiting(async (room) => {
      await rm(room.state, { recursive: true });
      await writeFile(join(room.checkpoints, FIRST_FILE), "");
      expect(await codeOfAsync(() => room.splashdown.resume({ task: "t", workflow: room.workflow }))).toBe(
        "JOURNAL_MISSING",
      );
      expect(room.acts).toEqual(["big"]);
    }, NO_SNAPSHOTS);
  });

  it("[reliability 10] is never a matter of the task's name", async () => {
    await withWaiting(async (room) => {
      await rm(join(room.checkpoints, "journal"), { recursive: true });
      await expectNamed(room);
    }, NO_SNAPSHOTS);
  });
});

describe("the place of a task whose journal is gone", () => {
  it("[reliability 10 kin] is no free name for another task", async () => {
    await withWaiting(async ({ splashdown, workflow, acts, checkpoints }) => {
      await rm(join(checkpoints, "journal"), { recursive: true });
      const code = await codeOfAsync(() => splashdown.run({ task: "t", workflow, fresh: true }));
      expect(code).toBe("USAGE_INVALID");
      expect(acts).toEqual(["big"]);
      expect(await readdir(checkpoints)).not.toContain("journal");
    }, NO_SNAPSHOTS);
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

describe("a large value that a waiting task needs", () => {
  const damages: readonly (readonly [string, (file: string) => Promise<void>])[] = [
    ["that was removed", (file) => rm(file)],
    ["that was emptied", (file) => writeFile(file, "")],
    ["that lost its last byte", async (file) => writeFile(file, (await readFile(file)).subarray(0, -1))],
    [
      "that was exchanged for another of its length",
      async (file) => {
        const bytes = await readFile(file);
        await writeFile(file, bytes.fill(65, bytes.indexOf("\n") + 1));
      },
    ],
  ];

  async function expectSeen(damage: (file: string) => Promise<void>): Promise<void> {
    await withWaiting(async ({ splashdown, workflow, acts, checkpoints }) => {
      await damage(await firstBlob(checkpoints));
      const resumed = () => splashdown.resume({ task: "t", workflow, answers: { g: "y" } });
      expect(await codeOfAsync(resumed)).toBe("BLOB_CORRUPT");
      expect(acts).toEqual(["big"]);
    });
  }

  const damage = (at: number) => damages[at]?.[1] ?? (() => Promise.reject(new Error("there is no such damage")));

  it("[kinds F14] is missed before anything runs where it was removed", () => expectSeen(damage(0)));
  it("[kinds F14 kin] is missed before anything runs where it was emptied", () => expectSeen(damage(1)));
  it("[kinds F14 kin] is missed before anything runs where its last byte is gone", () => expectSeen(damage(2)));
  it("[kinds F14 kin] is missed before anything runs where another one stands there", () => expectSeen(damage(3)));
});

describe("an answer whose file does not open", () => {
  async function expectAsked(change: (file: string) => Promise<void>): Promise<void> {
    await withWaiting(async ({ splashdown, workflow, acts, checkpoints, warnings }) => {
      await splashdown.answer({ task: "t", answer: "y" });
      const file = await answerFile(checkpoints);
      await change(file);
      expect((await splashdown.show("t")).open_questions).toBe(1);
      expect(await splashdown.resume({ task: "t", workflow })).toMatchObject({ exit_status: 20 });
      expect(warnings.join("\n")).toContain("was moved to quarantine/control/answer-");
      await splashdown.answer({ task: "t", answer: "y" });
      expect(await splashdown.resume({ task: "t", workflow })).toMatchObject({ status: "done" });
      expect(acts).toEqual(["big", "z"]);
    });
  }

  it("[kinds F19] is set aside where it was emptied, and the question is open", () =>
    expectAsked((file) => writeFile(file, "")));

  it("[kinds F19 kin] is set aside where a bit of it was flipped", () =>
    expectAsked(async (file) => {
      const bytes = await readFile(file);
      bytes[200] = (bytes[200] ?? 0) ^ 1;
      await writeFile(file, bytes);
    }));

  it("[kinds F19 kin] is set aside where it is cut", () =>
    expectAsked(async (file) => writeFile(file, (await readFile(file)).subarray(0, 100))));

  it("[kinds F19 kin] gives way to an answer that is given before any owner has seen the damage", async () => {
    await withWaiting(async ({ splashdown, workflow, checkpoints, acts }) => {
      await splashdown.answer({ task: "t", answer: "y" });
      await writeFile(await answerFile(checkpoints), "no answer\n");
      await splashdown.answer({ task: "t", answer: "y" });
      expect(await splashdown.resume({ task: "t", workflow })).toMatchObject({ status: "done" });
      expect(acts).toEqual(["big", "z"]);
      expect(await readdir(join(checkpoints, "quarantine/control"))).toHaveLength(2);
    });
  });
});
