/** A record that a machine remembered: on the chain of every later owner, or the history is another one. */
import { describe, expect, it } from "vitest";
import { openWholeSegment } from "../../../src/journal/whole-segment.js";
import { isRolledBack } from "../../../src/recovery/rollback-guard.js";
import { readHistory, type History } from "../../../src/journal/history.js";
import type { JournalPosition } from "../../../src/journal/position.js";
import { createJournalRoom, createSegmentsTask, notedEvent } from "../../support/journal-room.js";

function judge(history: History, position: JournalPosition | undefined): boolean {
  if (position === undefined) throw new Error("nothing was remembered");
  const { epoch, n, h } = position;
  return isRolledBack({ task: "t", history, anchor: { epoch, n, hash: h } });
}

/** Writes records one by one; where each stands. */
async function write(
  writer: Awaited<ReturnType<Awaited<ReturnType<typeof createJournalRoom>>["take"]>>,
  ...numbers: readonly number[]
): Promise<JournalPosition[]> {
  const positions: JournalPosition[] = [];
  for (const n of numbers) {
    writer.append([notedEvent(n)]);
    await writer.durable();
    if (writer.position !== undefined) positions.push(writer.position);
  }
  return positions;
}

describe("a remembered record", () => {
  it("[security H4 kin] is missed where an older copy went on under later epochs", async () => {
    const room = await createJournalRoom();
    const first = await room.take();
    const [one, , three] = await write(first, 1, 2, 3);
    const elsewhere = await room.take(one);
    await write(elsewhere, 2, 3, 4, 5);
    const again = await room.take(elsewhere.position);
    await write(again, 6);
    const history = await room.read();
    expect(history.epoch).toBe(3);
    expect(judge(history, three)).toBe(true);
    expect(judge(history, one)).toBe(false);
  });

  it("[security H4 kin] is missed of an owner whose epoch the chain passes by", async () => {
    const room = await createJournalRoom();
    const first = await room.take();
    const [one] = await write(first, 1);
    const second = await room.take(one);
    const [two] = await write(second, 2);
    const third = await room.take(one);
    await write(third, 2, 3);
    expect(judge(await room.read(), two)).toBe(true);
  });

  it("[security H4 kin] is missed where its place is damaged in a history that had left it before", async () => {
    const room = await createJournalRoom();
    const first = await room.take();
    const [one, , three] = await write(first, 1, 2, 3);
    const elsewhere = await room.take(one);
    await write(elsewhere, 2, 3, 4);
    const id = { epoch: 2, index: 0 };
    const bytes = await room.bytes(id);
    const at = bytes.indexOf('"d":"', bytes.indexOf('{"n":3,')) + 10;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    const segments = new Map<string, Uint8Array>([
      ["1-0", await room.bytes()],
      ["2-0", bytes],
    ]);
    const history = await readHistory({ task: createSegmentsTask(segments), vault: room.vault });
    expect(history.lost).toEqual([{ from: 3, to: 3 }]);
    expect(judge(history, three)).toBe(true);
  });

  it("V15: is there on the chain of every later owner, whatever its epoch", async () => {
    const room = await createJournalRoom();
    const first = await room.take();
    const [one, two] = await write(first, 1, 2);
    const second = await room.take(two);
    await write(second, 3);
    for (const position of [one, two, second.position]) expect(judge(await room.read(), position)).toBe(false);
  });

  it("J14: is there in the copy of the whole history that another key sealed", async () => {
    const room = await createJournalRoom();
    const first = await room.take();
    const [one, two] = await write(first, 1, 2);
    if (two === undefined) throw new Error("nothing was written");
    const whole = await openWholeSegment({ ...room, epoch: await room.task.claim(), prev: two, firstN: 1 });
    for (const n of [1, 2]) await whole.add(notedEvent(n));
    await whole.conclude(notedEvent(3));
    await whole.close();
    const history = await room.read();
    expect([one, two].map((position) => judge(history, position))).toEqual([false, false]);
    expect(judge(history, { ...two, h: "A".repeat(43) })).toBe(true);
  });
});
