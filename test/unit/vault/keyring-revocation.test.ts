/** A change that takes something away, cut off after each of its steps: whoever comes next ends it. */
import { describe, expect, it } from "vitest";
import { addKeySource, removeKeySlots } from "../../../src/vault/keyring-changes.js";
import type { KeyringChangeOptions } from "../../../src/vault/keyring-opening.js";
import { finishRevocation } from "../../../src/vault/keyring-revocation.js";
import type { KeyringObjects } from "../../../src/vault/keyring-revisions.js";
import { inspectKeyring } from "../../../src/vault/keyring-view.js";
import { formatKeyFile } from "../../../src/vault/key-file.js";
import type { KeySourceSetting } from "../../../src/vault/key-source.js";
import { codeOfAsync } from "../../support/error-code.js";
import { FakeClock } from "../../support/fake-clock.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createVaultRoom, KEY_SOURCE, TASK_ID, TEST_SCRYPT, type VaultRoom } from "../../support/vault-room.js";

const OTHER_PATH = "/home/ada/keys/second.key";
const OTHER: KeySourceSetting = { kind: "keyfile", path: OTHER_PATH };

class Killed extends Error {}

/** Ends the process before its n-th change of the store. */
function killedAt(store: KeyringObjects, n: number): KeyringObjects {
  let changes = 0;
  const count = (): void => {
    changes += 1;
    if (changes === n) throw new Killed();
  };
  return {
    get: (key) => store.get(key),
    list: (prefix) => store.list(prefix),
    putOnce: async (key, bytes) => (count(), store.putOnce(key, bytes)),
    remove: async (key) => (count(), store.remove(key)),
  };
}

function changeIn(room: VaultRoom, store: KeyringObjects = room.store): KeyringChangeOptions {
  const { ports } = room;
  const random = createSeededRandom("revocation");
  return { taskId: TASK_ID, store, sources: [OTHER], ports, random, clock: new FakeClock(), scryptCost: TEST_SCRYPT };
}

async function createRoom(): Promise<VaultRoom> {
  const room = createVaultRoom();
  room.fileSystem.addFile(OTHER_PATH, formatKeyFile(createSeededRandom("second").bytes(32)));
  await room.create();
  await addKeySource({ ...changeIn(room), sources: [KEY_SOURCE] }, OTHER);
  return room;
}

/** Revisions that the key which was taken away opens. */
async function opened(room: VaultRoom): Promise<string[]> {
  const found: string[] = [];
  for (const [name, bytes] of room.store.objects) {
    const alone = createVaultRoom();
    alone.store.objects.set(name, bytes);
    if ((await codeOfAsync(() => alone.open([KEY_SOURCE]))) === "none") found.push(name);
  }
  return found;
}

describe("a change that takes a key away", () => {
  it.each([
    [1, ["keyring-1.json", "keyring-2.json"], false],
    [2, ["keyring-1.json", "keyring-2.json"], true],
    [3, ["keyring-2.json"], true],
    [4, ["keyring-2.json"], true],
  ])("V19: cut off before its change %i is told, and ended by whoever comes next", async (at, left, isUnfinished) => {
    const room = await createRoom();
    await expect(removeKeySlots(changeIn(room, killedAt(room.store, at)), "default.key")).rejects.toThrow(Killed);
    expect(await opened(room)).toEqual(left);
    expect((await inspectKeyring(room.store))?.unfinished).toBe(isUnfinished);
    expect((await finishRevocation(changeIn(room))) !== undefined).toBe(isUnfinished);
    if (!isUnfinished) await removeKeySlots(changeIn(room), "default.key");
    expect(await opened(room)).toEqual([]);
    expect([...room.store.objects.keys()]).toHaveLength(2);
    expect((await inspectKeyring(room.store))?.unfinished).toBe(false);
    expect((await room.open([OTHER])).taskId).toBe(TASK_ID);
  });

  it("V19: is ended by the next change as well, though that finds nothing more to take away", async () => {
    const room = await createRoom();
    await expect(removeKeySlots(changeIn(room, killedAt(room.store, 4)), "default.key")).rejects.toThrow(Killed);
    expect(await codeOfAsync(() => removeKeySlots(changeIn(room), "default.key"))).toBe("KEY_SLOT_NOT_FOUND");
    expect(await opened(room)).toEqual([]);
  });

  it("V19: that is whole stays as it is, whatever is added later", async () => {
    const room = await createRoom();
    await removeKeySlots(changeIn(room), "default.key");
    expect(await finishRevocation(changeIn(room))).toBeUndefined();
    await addKeySource(changeIn(room), KEY_SOURCE);
    expect((await inspectKeyring(room.store))?.unfinished).toBe(false);
    expect(await opened(room)).toEqual(["keyring-5.json"]);
  });
});
