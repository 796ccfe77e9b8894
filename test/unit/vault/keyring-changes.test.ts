import { describe, expect, it } from "vitest";
import {
  addKeySource,
  removeKeySlots,
  retireKeysBelow,
  rewrapKeys,
  rotateTaskKey,
} from "../../../src/vault/keyring-changes.js";
import type { KeyringChangeOptions } from "../../../src/vault/keyring-opening.js";
import { formatKeyFile } from "../../../src/vault/key-file.js";
import { readSources, type KeySourceSetting } from "../../../src/vault/key-source.js";
import { loadKeyring, saveNextRevision } from "../../../src/vault/keyring-revisions.js";
import { computeFingerprint } from "../../../src/vault/derivation.js";
import { unlockKeyring } from "../../../src/vault/unlocking.js";
import { codeOf, codeOfAsync, refusalOf } from "../../support/error-code.js";
import { FakeClock } from "../../support/fake-clock.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createVaultRoom, KEY_SOURCE, TASK_ID, TEST_SCRYPT, type VaultRoom } from "../../support/vault-room.js";

const aad = Buffer.from("aad");
const OTHER_PATH = "/home/ada/keys/second.key";
const OTHER_FILE: KeySourceSetting = { kind: "keyfile", path: OTHER_PATH };
const PASSPHRASE: KeySourceSetting = { kind: "passphrase", environment: "TEAM_PASSPHRASE" };

function changeIn(room: VaultRoom, sources: readonly KeySourceSetting[] = [KEY_SOURCE]): KeyringChangeOptions {
  return {
    taskId: TASK_ID,
    store: room.store,
    sources,
    ports: room.ports,
    random: createSeededRandom("changes"),
    clock: new FakeClock(),
    scryptCost: TEST_SCRYPT,
  };
}

async function createRoom(): Promise<VaultRoom> {
  const room = createVaultRoom();
  room.fileSystem.addFile(OTHER_PATH, formatKeyFile(createSeededRandom("second").bytes(32)));
  room.secrets.set("TEAM_PASSPHRASE", "correct horse battery");
  await room.create();
  return room;
}

const numberIn = (name: string): number => Number(/\d+/.exec(name)?.[0]);

async function slotsOf(room: VaultRoom): Promise<string[][]> {
  const loaded = await loadKeyring(room.store);
  return (loaded?.keyring.header.keys ?? []).map((key) => key.slots.map(({ label }) => label));
}

describe("adding a key source", () => {
  it("lets the new source open what was sealed before, and keeps the old one", async () => {
    const room = await createRoom();
    const sealer = (await room.open()).createSealer("journal");
    const sealed = sealer.seal(0, aad, Buffer.from("before"));
    const change = await addKeySource(changeIn(room), OTHER_FILE);
    expect(change).toMatchObject({ revision: 2, generation: 1, removed: [] });
    expect(change.added.map((slot) => slot.replace(/[0-9a-f]{16}/, "…"))).toEqual(["keyfile … (second.key)"]);
    for (const source of [KEY_SOURCE, OTHER_FILE]) {
      const vault = await room.open([source]);
      expect(vault.createOpener("journal", sealer.header).open(0, aad, sealed).toString()).toBe("before");
    }
  });

  it("changes nothing where the source opens every key already", async () => {
    const room = await createRoom();
    const change = await addKeySource(changeIn(room), KEY_SOURCE);
    expect(change).toMatchObject({ added: [], removed: [] });
    expect(change.revision).toBeUndefined();
    expect([...room.store.objects.keys()]).toEqual(["keyring-1.json"]);
  });

  it("refuses a source that gives nothing, and leaves the keyring alone", async () => {
    const room = await createRoom();
    const absent: KeySourceSetting = { kind: "env", name: "NOT_SET" };
    expect(await codeOfAsync(() => addKeySource(changeIn(room), absent))).toBe("KEY_SOURCE_INVALID");
    expect([...room.store.objects.keys()]).toEqual(["keyring-1.json"]);
  });

  it("refuses a source that is there and holds no key, by what is wrong with it", async () => {
    const room = await createRoom();
    room.fileSystem.addFile("/home/ada/keys/broken.key", "no key at all\n");
    const broken: KeySourceSetting = { kind: "keyfile", path: "/home/ada/keys/broken.key" };
    const refusal = await refusalOf(() => addKeySource(changeIn(room), broken));
    expect(refusal).toMatchObject({ code: "KEY_SOURCE_INVALID" });
    expect(refusal.message).toContain("is not a splashdown key file");
    expect([...room.store.objects.keys()]).toEqual(["keyring-1.json"]);
  });

  it("V17: is for those who can open it only", async () => {
    const room = await createRoom();
    expect(await codeOfAsync(() => addKeySource(changeIn(room, [OTHER_FILE]), OTHER_FILE))).toBe("KEY_WRONG");
    expect([...room.store.objects.keys()]).toEqual(["keyring-1.json"]);
  });
});

describe("removing a slot", () => {
  it("shuts its source out", async () => {
    const room = await createRoom();
    await addKeySource(changeIn(room), OTHER_FILE);
    const change = await removeKeySlots(changeIn(room, [OTHER_FILE]), "default.key");
    expect(change.revision).toBe(4);
    expect(await slotsOf(room)).toEqual([["second.key"]]);
    expect(await codeOfAsync(() => room.open([KEY_SOURCE]))).toBe("KEY_WRONG");
    expect((await room.open([OTHER_FILE])).taskId).toBe(TASK_ID);
  });

  it("V19: leaves no revision that its source would open, not even when the newest one is damaged", async () => {
    const room = await createRoom();
    await addKeySource(changeIn(room), OTHER_FILE);
    await removeKeySlots(changeIn(room, [OTHER_FILE]), "default.key");
    expect([...room.store.objects.keys()]).toEqual(["keyring-3.json", "keyring-4.json"]);
    room.store.objects.set("keyring-4.json", Buffer.from("damaged"));
    expect(await codeOfAsync(() => room.open([KEY_SOURCE]))).toBe("KEY_WRONG");
    expect((await room.open([OTHER_FILE])).taskId).toBe(TASK_ID);
  });

  it("V17: refuses to take the last one, and the last one at hand", async () => {
    const room = await createRoom();
    expect(await codeOfAsync(() => removeKeySlots(changeIn(room), "default.key"))).toBe("KEY_LOCKED_OUT");
    await addKeySource(changeIn(room), OTHER_FILE);
    expect(await codeOfAsync(() => removeKeySlots(changeIn(room, [KEY_SOURCE]), "default.key"))).toBe("KEY_LOCKED_OUT");
    expect(await slotsOf(room)).toEqual([["default.key", "second.key"]]);
  });

  it("names what there is when the name fits none", async () => {
    const room = await createRoom();
    const refusal = await refusalOf(() => removeKeySlots(changeIn(room), "third.key"));
    expect(refusal.code).toBe("KEY_SLOT_NOT_FOUND");
    expect(refusal.message).toMatch(
      /^nothing named third\.key opens it; there are keyfile [0-9a-f]{16} \(default\.key\)$/,
    );
  });
});

describe("wrapping anew", () => {
  it("keeps the task's key and makes every slot afresh", async () => {
    const room = await createRoom();
    const before = (await room.open()).keyId;
    const old = (await loadKeyring(room.store))?.keyring.header.keys[0]?.slots[0]?.wrap;
    await rewrapKeys(changeIn(room));
    const header = (await loadKeyring(room.store))?.keyring.header;
    expect(header?.active).toBe(before);
    expect(header?.keys[0]?.slots[0]?.wrap).not.toBe(old);
  });

  it("V18: drops what is not at hand only when that was said", async () => {
    const room = await createRoom();
    await addKeySource(changeIn(room), PASSPHRASE);
    const refusal = await refusalOf(() => rewrapKeys(changeIn(room)));
    expect(refusal.code).toBe("KEY_LOCKED_OUT");
    expect(refusal.message).toMatch(/^passphrase [0-9a-f]{16} \(TEAM_PASSPHRASE\) cannot be wrapped again here/);
    await rewrapKeys(changeIn(room), { dropAbsent: true });
    expect(await slotsOf(room)).toEqual([["default.key"]]);
  });

  it("V18: tells another key file from the one at hand", async () => {
    const room = await createRoom();
    await addKeySource(changeIn(room), OTHER_FILE);
    expect(await codeOfAsync(() => rewrapKeys(changeIn(room)))).toBe("KEY_LOCKED_OUT");
    await rewrapKeys(changeIn(room, [KEY_SOURCE, OTHER_FILE]));
    expect(await slotsOf(room)).toEqual([["default.key", "second.key"]]);
  });
});

describe("rotating the task's key", () => {
  it("seals with the next generation and opens both", async () => {
    const room = await createRoom();
    const older = (await room.open()).createSealer("blob");
    const first = older.seal(0, aad, Buffer.from("first"));
    const change = await rotateTaskKey(changeIn(room));
    expect(change).toMatchObject({ generation: 2, revision: 3 });
    const vault = await room.open();
    expect(vault.keyId).toBe(change.active);
    expect(vault.keyId).not.toBe(older.header.key);
    expect(vault.createOpener("blob", older.header).open(0, aad, first).toString()).toBe("first");
  });

  it("refuses older generations once they are retired", async () => {
    const room = await createRoom();
    const older = (await room.open()).createSealer("blob");
    await rotateTaskKey(changeIn(room));
    expect(await retireKeysBelow(changeIn(room), 2)).toMatchObject({ generation: 2, revision: 5 });
    const vault = await room.open();
    expect(codeOf(() => vault.createOpener("blob", older.header))).toBe("KEY_MISSING");
    expect((await retireKeysBelow(changeIn(room), 2)).revision).toBeUndefined();
  });

  it("keeps a key that somebody made while everything was sealed again under the one before", async () => {
    const room = await createRoom();
    await rotateTaskKey(changeIn(room));
    const sealed = (await room.open()).createSealer("blob");
    await rotateTaskKey({ ...changeIn(room), random: createSeededRandom("somebody else") });
    await retireKeysBelow(changeIn(room), 2);
    const vault = await room.open();
    expect(vault.generations).toEqual([3, 2]);
    expect(codeOf(() => vault.createOpener("blob", sealed.header))).toBe("none");
  });

  it("V19: makes a key that one damaged file does not take away", async () => {
    const room = await createRoom();
    const { active } = await rotateTaskKey(changeIn(room));
    expect([...room.store.objects.keys()]).toEqual(["keyring-2.json", "keyring-3.json"]);
    room.store.objects.set("keyring-3.json", Buffer.from("damaged"));
    expect((await room.open()).keyId).toBe(active);
  });

  it("V20: never gives a generation to two keys, whatever is cut off, damaged or gone in between", async () => {
    const room = await createRoom();
    const dice = createSeededRandom("generations");
    const given = new Map<number, Set<string>>();
    const losses = new Set<string>();
    for (let round = 0; round < 60; round += 1) {
      const named = Math.max(...given.keys(), 0);
      const [chance = 0, isGone = 0] = dice.bytes(2);
      const options = { ...changeIn(room), random: createSeededRandom(round), highestNamed: async () => named };
      let puts = 0;
      room.store.beforePut = () => {
        puts += 1;
        if (puts === 2 && chance < 160) throw new Error("killed");
      };
      await rotateTaskKey(options).catch(() => undefined);
      room.store.beforePut = () => undefined;
      for (const key of (await loadKeyring(room.store))?.keyring.header.keys ?? [])
        given.set(key.generation, (given.get(key.generation) ?? new Set()).add(key.id));
      const [newest = "", before] = [...room.store.objects.keys()].sort((a, b) => numberIn(b) - numberIn(a));
      if (before !== undefined && chance < 128) {
        losses.add(isGone < 128 ? "gone" : "damaged");
        if (isGone < 128) room.store.objects.delete(newest);
        else room.store.objects.set(newest, Buffer.from("damaged"));
      }
      const { generations } = await room.open();
      if (generations.length > 20) await retireKeysBelow(changeIn(room), generations[0] ?? 0);
    }
    expect([...given.values()].filter((ids) => ids.size > 1)).toEqual([]);
    expect([given.size > 20, [...losses].sort()]).toEqual([true, ["damaged", "gone"]]);
  });

  it("V20: passes over the generation of a revision that was damaged before anybody saw it", async () => {
    const room = await createRoom();
    await addKeySource(changeIn(room), OTHER_FILE);
    room.store.objects.set("keyring-2.json", Buffer.from("damaged"));
    expect(await rotateTaskKey(changeIn(room))).toMatchObject({ generation: 3, revision: 4 });
  });

  it("is refused when the keyring holds as many as it can", async () => {
    const room = await createRoom();
    for (let generation = 2; generation <= 32; generation += 1) {
      const random = createSeededRandom(generation);
      expect((await rotateTaskKey({ ...changeIn(room), random })).generation).toBe(generation);
    }
    expect(await codeOfAsync(() => rotateTaskKey(changeIn(room)))).toBe("KEYRING_FULL");
    const kept = await rotateTaskKey(changeIn(room), { isFullKept: true });
    expect([kept.revision, kept.generation]).toEqual([undefined, 32]);
    const refusal = await refusalOf(() => addKeySource(changeIn(room), OTHER_FILE));
    expect([refusal.code, refusal.message]).toEqual([
      "KEYRING_FULL",
      "the keyring holds 32 generations of the task's key in 32 slots, and no more than 32 of either and 8 passphrases",
    ]);
    expect((await room.open()).generations).toHaveLength(32);
  });
});

describe("a change of keys", () => {
  it("V10: starts again from the keyring of whoever was faster", async () => {
    const room = await createRoom();
    let isFirst = true;
    room.store.beforePut = async () => {
      if (!isFirst) return;
      isFirst = false;
      await addKeySource(changeIn(room), OTHER_FILE);
    };
    const change = await addKeySource(changeIn(room), PASSPHRASE);
    expect(change.revision).toBe(3);
    expect(await slotsOf(room)).toEqual([["default.key", "second.key", "TEAM_PASSPHRASE"]]);
  });

  it("V17: whoever opens the new key opens the older ones", async () => {
    const room = await createRoom();
    await rotateTaskKey(changeIn(room, [KEY_SOURCE, OTHER_FILE]));
    expect(await slotsOf(room)).toEqual([
      ["default.key", "second.key"],
      ["default.key", "second.key"],
    ]);
    expect(await codeOfAsync(() => rewrapKeys(changeIn(room, [OTHER_FILE]), { dropAbsent: true }))).toBe("none");
  });

  it("V17: needs every generation, not only the newest", async () => {
    const room = await createRoom();
    const loaded = await loadKeyring(room.store);
    if (loaded === undefined) throw new Error("the room has no keyring");
    const { keyring, file } = loaded;
    const { active } = await unlockKeyring({ keyring, file, sources: await readSources([KEY_SOURCE], room.ports) });
    const older = { id: computeFingerprint(Buffer.alloc(32, 9), "task-key"), state: "retired" as const };
    const keys = keyring.header.keys.flatMap((key) => [
      { ...key, ...older },
      { ...key, generation: 2 },
    ]);
    const [first] = keyring.header.lineage;
    const lineage = keyring.header.lineage.concat({ id: keyring.header.active, generation: 2, key: first?.key ?? "" });
    const draft = { header: { ...keyring.header, lineage, keys }, activeKey: active.bytes };
    await saveNextRevision(
      room.store,
      async () => draft,
      async () => undefined,
    );
    const refusal = await refusalOf(() => rewrapKeys(changeIn(room)));
    expect([refusal.code, refusal.details["keys"]]).toEqual(["KEY_MISSING", [older.id]]);
  });
});
