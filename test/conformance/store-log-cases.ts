/** Cases about the log: epochs, segments, the look. */
import assert from "node:assert/strict";
import { errorCodeOf } from "../../src/base/errors.js";
import { assertRejects, createTask, requireTask, type StoreCase, toBytes, toText } from "./store-case.js";

export const CLAIM_CASES: readonly StoreCase[] = [
  {
    name: "S1: epochs count up from 1 and are seen by every opener",
    run: async ({ store, openAgain }) => {
      const task = await createTask(store);
      assert.equal(await task.claim(), 1);
      assert.equal(await (await requireTask(await openAgain())).claim(), 2);
      assert.equal(await task.claim(), 3);
    },
  },
  {
    name: "S1: simultaneous claims never get the same epoch, and only the highest is confirmed",
    run: async ({ store, openAgain }) => {
      const first = await createTask(store);
      const second = await requireTask(await openAgain());
      const claimers = [first, second, first, second, first, second];
      const epochs = await Promise.all(claimers.map((task) => task.claim()));
      assert.deepEqual(
        [...new Set(epochs)].sort((left, right) => left - right),
        [1, 2, 3, 4, 5, 6],
      );
      const confirmed = await Promise.all(epochs.map((epoch) => first.confirm(epoch)));
      assert.deepEqual(
        epochs.filter((_epoch, at) => confirmed[at]),
        [6],
      );
    },
  },
  {
    name: "S1: a superseded owner's look says false, before it has written anything and after",
    run: async ({ store, openAgain }) => {
      const old = await createTask(store);
      const epoch = await old.claim();
      assert.equal(await old.confirm(epoch), true);
      const segment = await old.openSegment(epoch, toBytes("h"));
      assert.equal(await old.confirm(epoch), true);
      const next = await requireTask(await openAgain());
      const nextEpoch = await next.claim();
      assert.equal(await old.confirm(epoch), false);
      // A stale append may be refused or void; it must not make the look true or touch the new epoch.
      await segment.append([toBytes("stale")]).catch(() => undefined);
      assert.equal(await old.confirm(epoch), false);
      assert.equal(await next.confirm(nextEpoch), true);
      assert.equal(toText(await next.read({ epoch: nextEpoch, index: 0 })), "");
    },
  },
  {
    name: "S1: of those who claim after the same epoch one gets the next, and the others are refused",
    run: async ({ store, openAgain }) => {
      const first = await createTask(store);
      const second = await requireTask(await openAgain());
      assert.equal(await first.claim(0), 1);
      const claimers = [first, second, first, second];
      const outcomes = await Promise.allSettled(claimers.map((task) => task.claim(1)));
      const won = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
      assert.deepEqual(won, [2]);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") assert.equal((outcome.reason as { code: string }).code, "OWNER_SUPERSEDED");
      }
      assert.equal(await second.claim(), 3);
      assert.equal(await first.claim(7), 4);
    },
  },
  {
    name: "S1: the claimer sees what the old owner made durable, or the old owner's look says false",
    run: async ({ store, openAgain }) => {
      for (let round = 0; round < 10; round += 1) {
        const old = await createTask(store, `race-${round}`);
        const epoch = await old.claim();
        const segment = await old.openSegment(epoch, toBytes("header"));
        const next = await requireTask(await openAgain(), `race-${round}`);
        const [mayAct, seen] = await Promise.all([
          // A store may refuse the stale append instead of voiding it, as superseded and nothing else.
          segment.append([toBytes("intent")]).then(
            () => old.confirm(epoch),
            (error: unknown) => {
              assert.equal(errorCodeOf(error), "OWNER_SUPERSEDED");
              return false;
            },
          ),
          next.claim().then(async () => toText(await next.read(segment.id)) ?? ""),
        ]);
        assert.ok(!mayAct || seen.includes("intent\n"), "the old owner acts and its successor does not know");
      }
    },
  },
  {
    name: "a claim that never wrote its header is listed as an empty segment",
    run: async ({ store }) => {
      const task = await createTask(store);
      await task.claim();
      assert.deepEqual(await task.segments(), [{ epoch: 1, index: 0, sizeBytes: 0 }]);
    },
  },
  {
    name: "only an epoch that was claimed here takes a segment",
    run: async ({ store, openAgain }) => {
      const task = await createTask(store);
      await task.claim();
      const stranger = await requireTask(await openAgain());
      await assertRejects(stranger.openSegment(1, toBytes("h")), "INTERNAL");
      await assertRejects(task.openSegment(2, toBytes("h")), "INTERNAL");
      assert.deepEqual(await task.segments(), [{ epoch: 1, index: 0, sizeBytes: 0 }]);
    },
  },
];

export const SEGMENT_CASES: readonly StoreCase[] = [
  {
    name: "S2: appended lines are read back whole and in order by another opener",
    run: async ({ store, openAgain }) => {
      const task = await createTask(store);
      const segment = await task.openSegment(await task.claim(), toBytes("header"));
      await segment.append([toBytes("one"), toBytes("two")]);
      await Promise.all([segment.append([toBytes("three")]), segment.append([toBytes("four")])]);
      await segment.append([]);
      await segment.close();
      const again = await requireTask(await openAgain());
      assert.equal(toText(await again.read(segment.id)), "header\none\ntwo\nthree\nfour\n");
      assert.deepEqual(await again.segments(), [{ epoch: 1, index: 0, sizeBytes: 26 }]);
    },
  },
  {
    name: "the next segment of an epoch has the next index, and segments are listed by epoch and index",
    run: async ({ store }) => {
      const task = await createTask(store);
      const first = await task.claim();
      const ids = [];
      for (let count = 0; count < 12; count += 1) {
        const segment = await task.openSegment(first, toBytes(`h${count}`));
        ids.push(segment.id);
        await segment.close();
      }
      const second = await task.claim();
      ids.push((await task.openSegment(second, toBytes("h"))).id);
      assert.deepEqual(
        ids.slice(0, 12).map((id) => id.index),
        [...Array(12).keys()],
      );
      const listed = (await task.segments()).map(({ epoch, index }) => ({ epoch, index }));
      assert.deepEqual(listed, ids);
    },
  },
  {
    name: "S2: a closed segment takes no more lines",
    run: async ({ store }) => {
      const task = await createTask(store);
      const segment = await task.openSegment(await task.claim(), toBytes("h"));
      await segment.close();
      await segment.close();
      await assertRejects(segment.append([toBytes("late")]), "SEGMENT_DEAD");
      assert.equal(toText(await task.read(segment.id)), "h\n");
    },
  },
  {
    name: "S4: a line with a newline in it or without content is refused and nothing of its batch is written",
    run: async ({ store }) => {
      const task = await createTask(store);
      const segment = await task.openSegment(await task.claim(), toBytes("h"));
      await assertRejects(segment.append([toBytes("good"), toBytes("b\nad")]), "INTERNAL");
      await assertRejects(segment.append([toBytes("good"), toBytes("")]), "INTERNAL");
      await segment.append([toBytes("after")]);
      assert.equal(toText(await task.read(segment.id)), "h\nafter\n");
    },
  },
  {
    name: "bytes are taken when append is called, whatever becomes of the caller's buffer",
    run: async ({ store }) => {
      const task = await createTask(store);
      const segment = await task.openSegment(await task.claim(), toBytes("h"));
      const line = Buffer.from("kept");
      const done = segment.append([line]);
      line.fill(0x78);
      await done;
      assert.equal(toText(await task.read(segment.id)), "h\nkept\n");
    },
  },
  {
    name: "a segment can be removed, but never one of the highest epoch",
    run: async ({ store }) => {
      const task = await createTask(store);
      await task.openSegment(await task.claim(), toBytes("a"));
      await task.claim();
      await task.removeSegment({ epoch: 1, index: 0 });
      await task.removeSegment({ epoch: 1, index: 0 });
      await assertRejects(task.removeSegment({ epoch: 2, index: 0 }), "INTERNAL");
      assert.deepEqual(await task.segments(), [{ epoch: 2, index: 0, sizeBytes: 0 }]);
      await assertRejects(task.read({ epoch: 1, index: 0 }), "STORE_FAILED");
      assert.equal(await task.claim(), 3);
    },
  },
];
