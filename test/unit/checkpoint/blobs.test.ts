import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createBlobShelf, type RangedBlobShelf } from "../../../src/checkpoint/blobs/blobs.js";
import type { BlobRef } from "../../../src/engine/model/value-ref.js";
import type { TaskStore } from "../../../src/store/contract/contract.js";
import type { TaskVault } from "../../../src/vault/contract.js";
import { createCheckpointRoom, textOf } from "../../support/checkpoint-room.js";
import { changedBytes, collectOutcomes, cutBytes, outcomesBut, splicedBytes } from "../../support/damaged-bytes.js";
import { codeOfAsync } from "../../support/error-code.js";
import { FakeClock } from "../../support/fake-clock.js";
import { createOtherKeyVault, createPlainVault, createTestVault, JOURNAL_TASK_ID } from "../../support/journal-room.js";
import { OTHER_TASK_ID } from "../../support/vault-room.js";

/** What a change by somebody who repairs the checksum may be called. */
const TAMPERING = ["BLOB_CORRUPT", "KEY_WRONG", "KEY_MISSING", "TASK_SWAPPED", "SEAL_MISSING", "FORMAT_VERSION"];

interface Ground {
  readonly store: TaskStore;
  readonly shelf: RangedBlobShelf;
  open(vault?: TaskVault): RangedBlobShelf;
  bytes(ref: BlobRef): Promise<Buffer>;
  replace(ref: BlobRef, bytes: Uint8Array): Promise<void>;
}

async function createGround(vault: TaskVault = createTestVault("blobs")): Promise<Ground> {
  const { task: store } = await createCheckpointRoom(vault);
  const open = (other: TaskVault = vault): RangedBlobShelf => createBlobShelf({ store, vault: other });
  return {
    store,
    shelf: open(),
    open,
    bytes: async (ref) => Buffer.from((await store.get(ref.key)) ?? []),
    replace: async (ref, bytes) => {
      await store.remove(ref.key);
      await store.putOnce(ref.key, bytes);
    },
  };
}

const LARGE = { text: textOf(7, 300_000), more: [1, 2, 3] };

describe.each([
  ["sealed", () => createTestVault("blobs")],
  ["plain", () => createPlainVault(JOURNAL_TASK_ID)],
])("the blob shelf, %s", (_name, vault) => {
  it("gives back what it was given", async () => {
    const { shelf, open } = await createGround(vault());
    for (const value of [LARGE, "", "x", null, [], "é".repeat(40_000), textOf(1, 65_534), textOf(2, 65_535)]) {
      expect(await shelf.get(await shelf.put(value))).toEqual(value);
    }
    expect(await open(vault()).get(await shelf.put(LARGE))).toEqual(LARGE);
  });

  it("C6: writes a large value's text in small pieces, and lets others work between them", async () => {
    const { task: store } = await createCheckpointRoom(vault());
    let breaths = 0;
    const clock = new FakeClock();
    let nowMs = 0;
    // Every look at the clock finds the slice used up.
    clock.monotonicMs = () => (nowMs += 10);
    const breathe = () => Promise.resolve(void (breaths += 1));
    const shelf = createBlobShelf({ store, vault: vault(), pacing: { clock, breathe } });
    const value = { list: Array.from({ length: 100_000 }, (_none, at) => at), text: "é\n".repeat(500_000) };
    const ref = await shelf.put(value);
    const pieces = ref.sizeBytes / (64 * 1024);
    expect(breaths).toBeGreaterThan(3 * pieces);
    expect(await shelf.get(ref)).toEqual(value);
  });

  it("gives any range of the text", async () => {
    const { shelf } = await createGround(vault());
    const text = Buffer.from(JSON.stringify(LARGE));
    const ref = await shelf.put(LARGE);
    for (const [offset, length] of [
      [0, 10],
      [65_530, 20],
      [65_536, 65_536],
      [100_000, 150_000],
      [text.length - 5, 100],
      [text.length, 1],
    ] as const) {
      expect((await shelf.readRange(ref, { offset, length })).equals(text.subarray(offset, offset + length))).toBe(
        true,
      );
    }
  });

  it("C8: refuses every single bit flipped in a small blob", async (context) => {
    const { shelf, open, bytes, replace } = await createGround(vault());
    const ref = await shelf.put({ a: "small" });
    const codeOfReading = async (changed: Buffer): Promise<string> => {
      await replace(ref, changed);
      return codeOfAsync(() => open().get(ref));
    };
    const outcomes = await collectOutcomes(context, changedBytes(await bytes(ref)), codeOfReading);
    expect([...outcomes.keys()]).toEqual(["BLOB_CORRUPT"]);
  });

  it("C8: refuses one cut at every length, and with a byte put in, doubled or taken out at every offset", async (context) => {
    const { shelf, open, bytes, replace } = await createGround(vault());
    const ref = await shelf.put({ a: "small" });
    const codeOfReading = async (changed: Buffer): Promise<string> => {
      await replace(ref, changed);
      return codeOfAsync(() => open().get(ref));
    };
    const original = await bytes(ref);
    for (const damages of [cutBytes(original), splicedBytes(original, 11)])
      expect([...(await collectOutcomes(context, damages, codeOfReading)).keys()]).toEqual(["BLOB_CORRUPT"]);
  });
});

describe("the blob shelf", () => {
  it("stores equal values once, under a name that tells nothing", async () => {
    const { store, shelf, open } = await createGround();
    const first = await shelf.put(LARGE);
    expect(await open().put({ ...LARGE })).toEqual(first);
    expect(first.key).toMatch(/^blobs\/([a-z2-7]{2})\/\1[a-z2-7]{50}\.bin$/);
    expect(await store.list("blobs/")).toHaveLength(1);
    const other = await createGround(createTestVault("blobs", "0b0a3f2c-5d7e-4f10-8a9b-1c2d3e4f5a6b"));
    expect((await other.shelf.put(LARGE)).key).not.toBe(first.key);
    expect(first.sizeBytes).toBe(Buffer.byteLength(JSON.stringify(LARGE)));
  });

  it("shows nothing of the value", async () => {
    const { shelf, bytes } = await createGround();
    const file = await bytes(await shelf.put({ secret: "the quick brown fox" }));
    expect(file.toString("latin1")).not.toContain("quick");
  });

  it("C8: refuses another value under its name, of this task or another", async () => {
    const { shelf, open, bytes, replace } = await createGround();
    const one = await shelf.put({ a: "one" });
    const two = await shelf.put({ a: "two" });
    await replace(one, await bytes(two));
    expect(await codeOfAsync(() => open().get(one))).toBe("BLOB_CORRUPT");
    const other = await createGround(createTestVault("blobs", "0b0a3f2c-5d7e-4f10-8a9b-1c2d3e4f5a6b"));
    const foreign = await other.shelf.put({ a: "one" });
    await replace(one, await other.bytes(foreign));
    expect(await codeOfAsync(() => open().get(one))).toBe("TASK_SWAPPED");
  });

  it("C8: refuses chunks that change places", async () => {
    const { shelf, open, bytes, replace } = await createGround();
    const ref = await shelf.put(LARGE);
    const file = await bytes(ref);
    const start = file.indexOf(0x0a) + 1;
    const chunk = 65_536 + 16;
    const swapped = Buffer.concat([
      file.subarray(0, start),
      file.subarray(start + chunk, start + 2 * chunk),
      file.subarray(start, start + chunk),
      file.subarray(start + 2 * chunk),
    ]);
    await replace(ref, swapped);
    expect(await codeOfAsync(() => open().get(ref))).toBe("BLOB_CORRUPT");
  });

  it("refuses every bit flipped in the header with its checksum repaired", async (context) => {
    const { shelf, open, bytes, replace } = await createGround();
    const ref = await shelf.put({ a: "small" });
    const original = await bytes(ref);
    const end = original.indexOf(',"sha256":"');
    const outcomes = await collectOutcomes(context, changedBytes(original, end), async (flipped) => {
      flipped.write(createHash("sha256").update(flipped.subarray(0, end)).digest("hex"), end + 11, "latin1");
      await replace(ref, flipped);
      return codeOfAsync(() => open().get(ref));
    });
    expect(outcomesBut(outcomes, TAMPERING)).toEqual([]);
  });

  it("tells a missing blob and a wrong key apart from damage", async () => {
    const { store, shelf, open } = await createGround();
    const ref = await shelf.put(LARGE);
    expect(await codeOfAsync(() => open(createOtherKeyVault()).get(ref))).toBe("KEY_WRONG");
    expect(await codeOfAsync(() => open(createPlainVault(JOURNAL_TASK_ID)).get(ref))).toBe("KEY_MISSING");
    await store.remove(ref.key);
    expect(await codeOfAsync(() => open().get(ref))).toBe("BLOB_CORRUPT");
    expect(await codeOfAsync(() => open().get({ ...ref, key: "keyring-1.json" }))).toBe("BLOB_CORRUPT");
  });

  it("proves a blob by its name alone, and says which one is missing or damaged", async () => {
    const { store, shelf, bytes, replace } = await createGround();
    const ref = await shelf.put(LARGE);
    await expect(shelf.prove(ref.key)).resolves.toBeUndefined();
    await replace(ref, (await bytes(ref)).subarray(0, 5000));
    expect(await codeOfAsync(() => shelf.prove(ref.key))).toBe("BLOB_CORRUPT");
    await store.remove(ref.key);
    await expect(shelf.prove(ref.key)).rejects.toThrow("it is missing");
  });

  it("leaves what stands in the way where the key is the wrong one: that is no damage", async () => {
    const { shelf, bytes, replace, store } = await createGround();
    const ref = await shelf.put(LARGE);
    const whole = await bytes(ref);
    const foreign = await createGround(createTestVault("blobs", OTHER_TASK_ID));
    await replace(ref, await foreign.bytes(await foreign.shelf.put(LARGE)));
    const again = createBlobShelf({ store, vault: createTestVault("blobs") });
    expect(await codeOfAsync(() => again.put(LARGE))).toBe("TASK_SWAPPED");
    expect((await bytes(ref)).equals(whole)).toBe(false);
    expect(await store.list("quarantine/")).toEqual([]);
  });

  it("sets a damaged file aside that stands in the way", async () => {
    const { store, shelf, open, bytes, replace } = await createGround();
    const ref = await shelf.put(LARGE);
    const damaged = (await bytes(ref)).subarray(0, 5000);
    await replace(ref, damaged);
    const other = open();
    expect(await other.put(LARGE)).toEqual(ref);
    expect(await other.get(ref)).toEqual(LARGE);
    expect((await store.list("quarantine/")).map(({ sizeBytes }) => sizeBytes)).toEqual([5000]);
  });
});
