/** Cases about tasks as places, and about who owns them. */
import assert from "node:assert/strict";
import { isAbsolute } from "node:path";
import { assertRejects, createTask, FACTS, requireTask, type StoreCase, toBytes, toText } from "./store-case.js";

const HOSTILE_TASK_NAMES = [
  "",
  ".",
  "..",
  ".hidden",
  "a/b",
  "../escape",
  "a\\b",
  "a\0b",
  "trailing.",
  "space here",
  "CON",
  "nul.txt",
  "ü",
  "a:b",
  "x".repeat(65),
  "__proto__/x",
];

const TRASHED_AT_MS = Date.UTC(2024, 0, 2, 14, 35, 22, 123);

export const TASK_CASES: readonly StoreCase[] = [
  {
    name: "a task exists from its creation on and is listed by name",
    run: async ({ store }) => {
      assert.equal(await store.task("task"), undefined);
      await createTask(store, "task-b");
      await createTask(store, "task-a");
      const names = (await store.tasks()).filter((name) => !name.startsWith("other"));
      assert.deepEqual(names, ["task-a", "task-b"]);
      assert.equal((await requireTask(store, "task-a")).name, "task-a");
    },
  },
  {
    name: "a removed task is gone with all it held, its name is free again, and removing it twice is fine",
    run: async ({ store, openAgain }) => {
      const task = await createTask(store, "task-a");
      await task.putOnce("blobs/aa/x.bin", toBytes("mine"));
      await task.claim();
      await createTask(store, "task-b");
      await task.close();
      await store.removeTask("task-a");
      await store.removeTask("task-a");
      await store.removeTask("never-there");
      const again = await openAgain();
      assert.equal(await again.task("task-a"), undefined);
      assert.notEqual(await again.task("task-b"), undefined);
      const fresh = await createTask(again, "task-a");
      assert.deepEqual(await fresh.list(""), []);
      assert.equal(await fresh.claim(), 1);
    },
  },
  {
    name: "S3: a taken name is not given again, and what is in it stays",
    run: async ({ store, openAgain }) => {
      await (await createTask(store)).putOnce("note", toBytes("mine"));
      assert.equal(await store.createTask("task"), undefined);
      const again = await openAgain();
      assert.equal(await again.createTask("task"), undefined);
      assert.equal(toText(await (await requireTask(again)).get("note")), "mine");
    },
  },
  {
    name: "two creators of one name: exactly one gets it",
    run: async ({ store, openAgain }) => {
      const again = await openAgain();
      const made = await Promise.all([store.createTask("task"), again.createTask("task"), store.createTask("task")]);
      assert.equal(made.filter((task) => task !== undefined).length, 1);
    },
  },
  {
    name: "a name that could be no folder everywhere is refused and finds no task",
    run: async ({ store }) => {
      const before = await store.tasks();
      for (const name of HOSTILE_TASK_NAMES) {
        await assertRejects(store.createTask(name), "TASK_NAME_INVALID");
        assert.equal(await store.task(name), undefined, name);
      }
      assert.deepEqual(await store.tasks(), before);
    },
  },
  {
    name: "deliverables have an absolute folder of the task's own",
    run: async ({ store }) => {
      const first = await createTask(store, "task-1");
      const second = await createTask(store, "task-2");
      assert.ok(isAbsolute(first.deliverablesFolder));
      assert.notEqual(first.deliverablesFolder, second.deliverablesFolder);
    },
  },
  {
    name: "tasks see nothing of each other",
    run: async ({ store }) => {
      const first = await createTask(store, "task-1");
      const second = await createTask(store, "task-2");
      await first.putOnce("note", toBytes("1"));
      assert.equal(await first.claim(), 1);
      assert.equal(await second.get("note"), undefined);
      assert.deepEqual(await second.segments(), []);
      assert.equal(await second.claim(), 1);
    },
  },
  {
    name: "a task in the trash is no task, keeps its name, and comes back as it was",
    run: async ({ store, openAgain }) => {
      const task = await createTask(store);
      await task.putOnce("note", toBytes("kept"));
      const writer = await task.openSegment(await task.claim(), toBytes("header"));
      await task.close();
      const before = await store.tasks();
      assert.equal(await store.trashTask("task", TRASHED_AT_MS), true);
      assert.equal(await store.trashTask("task", TRASHED_AT_MS), false);
      const other = await openAgain();
      assert.deepEqual(
        await other.tasks(),
        before.filter((name) => name !== "task"),
      );
      assert.equal(await other.task("task"), undefined);
      assert.equal(await other.createTask("task"), undefined);
      await other.removeTask("task");
      const [trashed, ...more] = await other.trash();
      assert.deepEqual([trashed?.name, trashed?.trashedAtMs, more], ["task", TRASHED_AT_MS, []]);
      assert.ok((trashed?.sizeBytes ?? 0) >= "kept".length + "header".length);
      assert.equal(await other.restoreTask("task"), true);
      assert.equal(await other.restoreTask("task"), false);
      assert.deepEqual([await store.tasks(), await store.trash()], [before, []]);
      const again = await requireTask(store);
      assert.equal(toText(await again.get("note")), "kept");
      assert.equal(toText(await again.read(writer.id)), "header\n");
      assert.equal(await again.claim(1), 2);
    },
  },
  {
    name: "what is purged from the trash is gone with its name, and nothing else can be purged",
    run: async ({ store, openAgain }) => {
      await (await createTask(store)).putOnce("note", toBytes("kept"));
      assert.equal(await store.purgeTask("task"), false);
      assert.equal(toText(await (await requireTask(store)).get("note")), "kept");
      await store.trashTask("task", TRASHED_AT_MS);
      const other = await openAgain();
      assert.equal(await other.purgeTask("task"), true);
      assert.equal(await other.purgeTask("task"), false);
      assert.deepEqual(await store.trash(), []);
      assert.equal(await store.restoreTask("task"), false);
      const anew = await createTask(store);
      assert.deepEqual([await anew.list(""), await anew.segments()], [[], []]);
    },
  },
  {
    name: "S1: who was superseded by the one that moved the task to the trash writes nothing into it",
    run: async ({ store, openAgain }) => {
      const old = await createTask(store);
      const writer = await old.openSegment(await old.claim(), toBytes("header"));
      const other = await openAgain();
      await (await requireTask(other)).claim();
      await other.trashTask("task", TRASHED_AT_MS);
      await writer.append([toBytes("late")]).catch(() => undefined);
      assert.equal(await old.confirm(1).catch(() => false), false);
      assert.equal(await store.restoreTask("task"), true);
      const task = await requireTask(store);
      assert.equal(await task.claim(2), 3);
    },
  },
  {
    name: "a probe leaves nothing behind",
    run: async ({ store }) => {
      const before = await store.tasks();
      await store.probe();
      await store.probe();
      assert.deepEqual(await store.tasks(), before);
    },
  },
  {
    name: "the manifest says what kind of store it is and the address names it",
    run: async ({ store }) => {
      assert.ok(store.address.startsWith(`${store.manifest.kind}:`));
      assert.ok(store.manifest.objectBytesMax >= 1024 * 1024 && store.manifest.lineBytesMax >= 1024 * 1024);
      assert.ok(!store.manifest.multiProcess || store.manifest.durable);
    },
  },
  {
    name: "the reserve can be made, given up once, and made again, where the manifest promises one",
    run: async ({ store }) => {
      const task = await createTask(store);
      assert.equal(await task.releaseReserve(), false);
      assert.equal(await task.ensureReserve(), store.manifest.reserve);
      if (!store.manifest.reserve) return;
      assert.equal(await task.ensureReserve(), true);
      assert.equal(await task.releaseReserve(), true);
      assert.equal(await task.releaseReserve(), false);
      await task.ensureReserve();
      assert.deepEqual(await task.list(""), []);
      assert.equal(await task.releaseReserve(), true);
    },
  },
];

export const PRESENCE_CASES: readonly StoreCase[] = [
  {
    name: "nobody owns a task that nobody announced",
    run: async ({ store }) => {
      assert.deepEqual(await (await createTask(store)).ownerState(), { state: "none" });
    },
  },
  {
    name: "an announced owner is seen by another opener, with a counter that its beats raise",
    run: async ({ store, openAgain }) => {
      const handle = await (await createTask(store)).announce(FACTS);
      const watching = await requireTask(await openAgain());
      const before = await watching.ownerState();
      await handle.beat();
      await handle.beat();
      const after = await watching.ownerState();
      assert.deepEqual(before.owner, FACTS);
      assert.ok(before.state === "alive" || before.state === "unclear");
      assert.equal((after.counter ?? 0) - (before.counter ?? 0), 2);
      await handle.close();
    },
  },
  {
    name: "an owner that left in good order is not there any more",
    run: async ({ store }) => {
      const task = await createTask(store);
      const handle = await task.announce(FACTS);
      await handle.close();
      assert.deepEqual(await task.ownerState(), { state: "none" });
    },
  },
  {
    name: "the end and the beats of a superseded owner leave the new one's record alone",
    run: async ({ store, openAgain }) => {
      const first = await (await createTask(store)).announce(FACTS);
      const next = { ...FACTS, pid: 4712, since: "2024-01-02T15:00:00.000Z" };
      const task = await requireTask(await openAgain());
      const second = await task.announce(next);
      await first.beat();
      await first.close();
      assert.deepEqual((await task.ownerState()).owner, next);
      await second.close();
    },
  },
  {
    name: "a superseded owner that announces itself late neither hides its successor nor takes its record with it",
    run: async ({ store, openAgain }) => {
      const late = await createTask(store);
      const task = await requireTask(await openAgain());
      const next = { ...FACTS, pid: 4712, epoch: 2 };
      const successor = await task.announce(next);
      const superseded = await late.announce({ ...FACTS, epoch: 1 });
      assert.deepEqual((await task.ownerState()).owner, next);
      await superseded.beat();
      await superseded.close();
      const { owner, counter } = await task.ownerState();
      assert.deepEqual([owner, counter], [next, 1]);
      await successor.beat();
      assert.equal((await task.ownerState()).counter, 2);
      await successor.close();
      assert.deepEqual(await task.ownerState(), { state: "none" });
    },
  },
];
