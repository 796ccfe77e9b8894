/** Cases about objects: created once, read whole or in part, listed in order, removed. */
import assert from "node:assert/strict";
import { assertRejects, createTask, requireTask, type StoreCase, toBytes, toText } from "./store-case.js";

const HOSTILE_KEYS = [
  "",
  ".",
  "..",
  "../up",
  "a/../b",
  "a//b",
  "/abs",
  "a/",
  ".hidden",
  "a/.hidden",
  "a\\b",
  "a b",
  "a\0b",
  "ä",
  "nul",
  "a/CON.json",
  "a.",
  "journal/00000001-0000.jsonl",
  "journal",
  "owner",
  "owner-0011223344556677.sock",
  "Journal/x",
  "x".repeat(256),
];

export const OBJECT_CASES: readonly StoreCase[] = [
  {
    name: "S3: an object is created once and never replaced, also not by another opener",
    run: async ({ store, openAgain }) => {
      const task = await createTask(store);
      assert.equal(await task.putOnce("control/answer-1", toBytes("first")), "created");
      assert.equal(await task.putOnce("control/answer-1", toBytes("second")), "exists");
      const again = await requireTask(await openAgain());
      assert.equal(await again.putOnce("control/answer-1", toBytes("third")), "exists");
      assert.equal(toText(await again.get("control/answer-1")), "first");
    },
  },
  {
    name: "S3: of many simultaneous creators exactly one wins and its bytes stand",
    run: async ({ store, openAgain }) => {
      const first = await createTask(store);
      const second = await requireTask(await openAgain());
      const creators = [...Array(8).keys()];
      const outcomes = await Promise.all(
        creators.map((at) => (at % 2 === 0 ? first : second).putOnce("control/answer-1", toBytes(`creator ${at}`))),
      );
      const winners = creators.filter((at) => outcomes[at] === "created");
      assert.equal(winners.length, 1);
      assert.equal(toText(await first.get("control/answer-1")), `creator ${winners[0]}`);
      assert.equal((await first.list("")).length, 1);
    },
  },
  {
    name: "an empty object and one of three megabytes come back byte for byte",
    run: async ({ store }) => {
      const task = await createTask(store);
      const large = Buffer.alloc(3 * 1024 * 1024 + 17, "splashdown");
      await task.putOnce("blobs/ab/large.bin", large);
      await task.putOnce("blobs/ab/empty.bin", toBytes(""));
      assert.equal(Buffer.compare(Buffer.from((await task.get("blobs/ab/large.bin")) ?? []), large), 0);
      assert.equal((await task.get("blobs/ab/empty.bin"))?.byteLength, 0);
    },
  },
  {
    name: "a range is cut at the end of the object and empty beyond it",
    run: async ({ store }) => {
      const task = await createTask(store);
      await task.putOnce("a", toBytes("0123456789"));
      assert.equal(toText(await task.get("a", { offset: 0, length: 4 })), "0123");
      assert.equal(toText(await task.get("a", { offset: 8, length: 100 })), "89");
      assert.equal(toText(await task.get("a", { offset: 10, length: 1 })), "");
      assert.equal(toText(await task.get("a", { offset: 500, length: 1 })), "");
      assert.equal(toText(await task.get("a", { offset: 3, length: 0 })), "");
      assert.equal(await task.get("b", { offset: 0, length: 1 }), undefined);
    },
  },
  {
    name: "an absent object is undefined, to remove one is fine, and an absent folder lists nothing",
    run: async ({ store }) => {
      const task = await createTask(store);
      assert.equal(await task.get("nothing"), undefined);
      assert.equal(await task.get("no/such/folder"), undefined);
      await task.remove("nothing");
      await task.remove("no/such/folder");
      assert.deepEqual(await task.list("no/"), []);
    },
  },
  {
    name: "a list is sorted by key and holds what begins with the prefix, with its size",
    run: async ({ store }) => {
      const task = await createTask(store);
      for (const key of ["b", "a/z", "a/b/c", "a-1", "a.json", "ab/x", "B", "a/y"])
        await task.putOnce(key, toBytes(key));
      const keysOf = async (prefix: string) => (await task.list(prefix)).map((entry) => entry.key);
      assert.deepEqual(await keysOf(""), ["B", "a-1", "a.json", "a/b/c", "a/y", "a/z", "ab/x", "b"]);
      assert.deepEqual(await keysOf("a"), ["a-1", "a.json", "a/b/c", "a/y", "a/z", "ab/x"]);
      assert.deepEqual(await keysOf("a/"), ["a/b/c", "a/y", "a/z"]);
      assert.deepEqual(await keysOf("a/b"), ["a/b/c"]);
      assert.deepEqual(await keysOf("a/b/c"), ["a/b/c"]);
      assert.deepEqual(await keysOf("c"), []);
      assert.deepEqual(await task.list("a/b/"), [{ key: "a/b/c", sizeBytes: 5 }]);
    },
  },
  {
    name: "many objects are removed at once, in several folders, and absent ones among them are fine",
    run: async ({ store, openAgain }) => {
      const task = await createTask(store);
      const keys = Array.from({ length: 450 }, (_item, at) => (at % 3 === 0 ? `notes/${at}` : `note-${at}`));
      const [first = "", last = ""] = [keys[0], keys[449]];
      for (const key of [first, last, "kept"]) await task.putOnce(key, toBytes(key));
      await task.remove(...keys);
      assert.deepEqual(await (await requireTask(await openAgain())).list(""), [{ key: "kept", sizeBytes: 4 }]);
      await task.remove();
    },
  },
  {
    name: "a destroyed object is gone as a removed one is; to destroy an absent one is fine",
    run: async ({ store, openAgain }) => {
      const task = await createTask(store);
      await task.putOnce("keyring-1.json", toBytes("secret"));
      await task.destroy("keyring-1.json");
      await task.destroy("keyring-1.json");
      await task.destroy("no/such/folder");
      const again = await requireTask(await openAgain());
      assert.equal(await again.get("keyring-1.json"), undefined);
      assert.deepEqual(await again.list("keyring-"), []);
      assert.equal(await again.putOnce("keyring-1.json", toBytes("next")), "created");
    },
  },
  {
    name: "a removed object is gone and its key can be given again",
    run: async ({ store, openAgain }) => {
      const task = await createTask(store);
      await task.putOnce("a/b", toBytes("1"));
      await task.remove("a/b");
      assert.equal(await (await requireTask(await openAgain())).get("a/b"), undefined);
      assert.deepEqual(await task.list(""), []);
      assert.equal(await task.putOnce("a/b", toBytes("2")), "created");
    },
  },
  {
    name: "S4: a key that some store could not hold is refused by every call, and nothing is made",
    run: async ({ store }) => {
      const task = await createTask(store);
      for (const key of HOSTILE_KEYS) {
        await assertRejects(task.putOnce(key, toBytes("x")), "INTERNAL");
        await assertRejects(task.get(key), "INTERNAL");
        await assertRejects(task.remove(key), "INTERNAL");
      }
      for (const prefix of ["../", "/", "a//", ".", "journal/", "a/../"]) {
        await assertRejects(task.list(prefix), "INTERNAL");
      }
      assert.deepEqual(await task.list(""), []);
      assert.deepEqual(await task.segments(), []);
    },
  },
  {
    name: "the longest key and every allowed character can be stored",
    run: async ({ store }) => {
      const task = await createTask(store);
      const key = `a~b/C_d.e-f/${"k".repeat(255 - 12)}`;
      assert.equal(await task.putOnce(key, toBytes("x")), "created");
      assert.deepEqual(await task.list(""), [{ key, sizeBytes: 1 }]);
    },
  },
  {
    name: "objects and the log do not see each other",
    run: async ({ store }) => {
      const task = await createTask(store);
      await task.openSegment(await task.claim(), toBytes("h"));
      assert.deepEqual(await task.list(""), []);
      await task.putOnce("journal2", toBytes("x"));
      assert.equal((await task.segments()).length, 1);
    },
  },
  {
    name: "a sweep takes no object and no segment",
    run: async ({ store }) => {
      const task = await createTask(store);
      await task.openSegment(await task.claim(), toBytes("h"));
      await task.putOnce("a/b", toBytes("1"));
      await task.sweep();
      assert.deepEqual(await task.list(""), [{ key: "a/b", sizeBytes: 1 }]);
      assert.equal((await task.segments()).length, 1);
    },
  },
  {
    name: "a sweep in the middle of another's put does not lose the object",
    run: async ({ store, openAgain }) => {
      const task = await createTask(store);
      const owner = await requireTask(await openAgain());
      const puts = [1, 2, 3].map((at) => task.putOnce(`control/answer-${at}`, toBytes(`${at}`)));
      await owner.sweep();
      assert.deepEqual(await Promise.all(puts), ["created", "created", "created"]);
      assert.equal(toText(await owner.get("control/answer-2")), "2");
    },
  },
  {
    name: "a watch can be begun and stopped at any time",
    run: async ({ store }) => {
      const task = await createTask(store);
      const stop = task.watch("control/", () => undefined);
      const stopOther = task.watch("", () => undefined);
      await task.putOnce("control/answer-1", toBytes("x"));
      stop();
      stop();
      await task.close();
      stopOther();
    },
  },
];
