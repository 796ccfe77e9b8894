/** Pins as messages: which of them are about a checkpoint, and which counts. */
import { describe, expect, it } from "vitest";
import type { CheckpointId } from "../../../src/base/ids.js";
import { isPinning, listPinMessages, listPinned, pinKeyOf } from "../../../src/checkpoint/pins.js";

const ONE = "550e8400-e29b-41d4-a716-446655440000" as CheckpointId;
const OTHER = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff" as CheckpointId;

function storeWith(...keys: readonly string[]) {
  const entries = keys.map((key) => ({ key, sizeBytes: 1 }));
  return { list: (prefix: string) => Promise.resolve(entries.filter(({ key }) => key.startsWith(prefix))) };
}

describe("messages about pins", () => {
  const store = storeWith(
    `${pinKeyOf(ONE, 1)}~1`,
    `${pinKeyOf(ONE, 2)}~2`,
    `${pinKeyOf(OTHER, 3)}~1`,
    "control/pin-nobody-1~1",
    pinKeyOf(ONE, 9),
  );

  it("are listed of all checkpoints or of one, the highest number first, and nothing else is", async () => {
    const all = await listPinMessages(store);
    expect(all.map(({ id, number }) => [id, number])).toEqual([
      [OTHER, 3],
      [ONE, 2],
      [ONE, 1],
    ]);
    expect((await listPinMessages(store, ONE)).map(({ about }) => about)).toEqual([pinKeyOf(ONE, 2), pinKeyOf(ONE, 1)]);
  });

  it("C9: pin by their highest number, whatever comes back of older ones", async () => {
    expect([0, 1, 2, 3].map(isPinning)).toEqual([false, true, false, true]);
    expect([...(await listPinned(store))]).toEqual([OTHER]);
  });
});
