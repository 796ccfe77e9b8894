/** What a keyring of a stranger costs: nothing before it is bounded. */
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/base/limits.js";
import type { KeyringHeader, KeyringSlot } from "../../../src/schema/generated/keyring.js";
import type { KeySourceSetting, PassphraseDeriver, ScryptCost } from "../../../src/vault/key-source.js";
import { addKeySource, rotateTaskKey } from "../../../src/vault/keyring-changes.js";
import { encodeKeyring } from "../../../src/vault/keyring-format.js";
import { loadKeyring } from "../../../src/vault/keyring-revisions.js";
import { createPassphraseDeriver } from "../../../src/vault/passphrase-derivation.js";
import { derivePassphraseKey, SCRYPT_COST } from "../../../src/vault/slot.js";
import { openTaskVault } from "../../../src/vault/task-vault.js";
import { codeOfAsync } from "../../support/error-code.js";
import { FakeClock } from "../../support/fake-clock.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createVaultRoom, KEY_SOURCE, TASK_ID, TEST_SCRYPT, type VaultRoom } from "../../support/vault-room.js";

const WORDS: KeySourceSetting = { kind: "passphrase", environment: "WORDS" };

/** A room whose derivations are counted; they cost what tests can afford, whatever is asked for. */
function createCounted() {
  const asked: ScryptCost[] = [];
  let running = 0;
  let runningMost = 0;
  const derive: PassphraseDeriver = async (text, salt, cost) => {
    asked.push(cost);
    running += 1;
    runningMost = Math.max(running, runningMost);
    const key = await derivePassphraseKey(text, salt, TEST_SCRYPT);
    running -= 1;
    return key;
  };
  const room = createVaultRoom({ derive: createPassphraseDeriver(derive) });
  room.secrets.set("WORDS", "correct horse battery");
  return { room, asked, most: () => runningMost };
}

const originals = new WeakMap<VaultRoom, KeyringHeader>();

/** A keyring with these slots, whole but for its mac: as anybody can write one. */
async function plant(room: VaultRoom, slots: (slot: KeyringSlot) => readonly KeyringSlot[]): Promise<void> {
  const header = originals.get(room) ?? (await loadKeyring(room.store))?.keyring.header;
  const [key] = header?.keys ?? [];
  const [slot] = key?.slots ?? [];
  if (header === undefined || key === undefined || slot === undefined) throw new Error("no keyring");
  originals.set(room, header);
  const planted: KeyringHeader = { ...header, keys: [{ ...key, slots: [...slots(slot)] }] };
  room.store.objects.set("keyring-1.json", encodeKeyring(planted, Buffer.alloc(32)));
}

const withCost = (slot: KeyringSlot, cost: Partial<ScryptCost>, salt?: string): KeyringSlot =>
  slot.kdf?.name === "scrypt"
    ? { ...slot, kdf: { ...slot.kdf, ...cost, ...(salt === undefined ? {} : { salt }) } }
    : slot;

const saltOf = (n: number): string => Buffer.alloc(32, n).toString("base64url");

describe("a keyring that asks for work", () => {
  it("[security M3] is damaged where one slot asks for more than a step over what is written, and nothing is derived", async () => {
    const { room, asked } = createCounted();
    await room.create([WORDS]);
    asked.length = 0;
    for (const cost of [
      { log2n: 20, r: 8, p: 4 },
      { log2n: 19, r: 8, p: 1 },
      { log2n: 18, r: 8, p: 2 },
      { log2n: 17, r: 16, p: 1 },
    ]) {
      await plant(room, (slot) => [withCost(slot, cost)]);
      expect(await codeOfAsync(() => room.open([WORDS]))).toBe("KEYRING_CORRUPT");
    }
    expect(asked).toEqual([]);
  });

  it("[security M3 kin] is damaged where its slots together ask for more than eight of what is written", async () => {
    const { room, asked } = createCounted();
    await room.create([WORDS]);
    asked.length = 0;
    await plant(room, (slot) => Array.from({ length: 9 }, (_, n) => withCost(slot, SCRYPT_COST, saltOf(n))));
    expect(await codeOfAsync(() => room.open([WORDS]))).toBe("KEYRING_CORRUPT");
    expect(asked).toEqual([]);
    await plant(room, (slot) => Array.from({ length: 8 }, (_, n) => withCost(slot, SCRYPT_COST, saltOf(n))));
    expect(await codeOfAsync(() => room.open([WORDS], { trust: {} }))).toBe("KEY_WRONG");
    expect(asked).toHaveLength(8);
  });

  it("[security M3 kin] is derived from one at a time, and once for slots that ask alike", async () => {
    const { room, asked, most } = createCounted();
    await room.create([WORDS]);
    asked.length = 0;
    await plant(room, (slot) => [1, 1, 2, 2, 3].map((n) => withCost(slot, {}, saltOf(n))));
    const opening = [1, 2, 3].map(() => codeOfAsync(() => room.open([WORDS], { trust: {} })));
    expect(await Promise.all(opening)).toEqual(["KEY_WRONG", "KEY_WRONG", "KEY_WRONG"]);
    expect([asked.length, most()]).toEqual([3, 1]);
  });

  it("[security M3 kin] derives nothing and runs no command for a task that was never opened here, until it is named", async () => {
    const { room, asked } = createCounted();
    await room.create([WORDS]);
    asked.length = 0;
    expect(await codeOfAsync(() => room.open([WORDS], { trust: { isFrugal: true } }))).toBe("KEY_NOT_TRIED");
    expect(asked).toEqual([]);
    expect((await room.open([WORDS])).encrypted).toBe(true);
  });

  it("[security M3 kin] is not read where it is larger than any keyring, nor are more revisions than ever stand", async () => {
    const { room } = createCounted();
    await room.create();
    const read: string[] = [];
    const store = Object.create(room.store) as typeof room.store;
    store.get = async (key) => {
      read.push(key);
      return room.store.get(key);
    };
    room.store.objects.set("keyring-9.json", Buffer.alloc(LIMITS.keyringBytesMax + 1));
    const { ports } = room;
    const open = () =>
      openTaskVault({ taskId: TASK_ID, store, sources: [KEY_SOURCE], ports, random: createSeededRandom(1) });
    expect((await open()).encrypted).toBe(true);
    expect(read).toEqual(["keyring-1.json"]);
    read.length = 0;
    for (let rev = 100; rev < 400; rev += 1) room.store.objects.set(`keyring-${rev}.json`, Buffer.from("x"));
    expect(await codeOfAsync(open)).toBe("KEYRING_CORRUPT");
    expect(read.length).toBeLessThanOrEqual(LIMITS.keyringRevisionsMax);
  });

  it("is derived from once after any number of rotations, and holds no more than eight passphrases", async () => {
    const { room, asked } = createCounted();
    await room.create([WORDS]);
    const change = (seed: number) => ({
      taskId: TASK_ID,
      store: room.store,
      sources: [WORDS],
      ports: room.ports,
      clock: new FakeClock(),
      random: createSeededRandom(seed),
      trust: room.trust(),
      scryptCost: SCRYPT_COST,
    });
    await rotateTaskKey(change(1));
    await rotateTaskKey(change(2));
    asked.length = 0;
    const fresh = createCounted();
    fresh.room.secrets.set("WORDS", "correct horse battery");
    for (const [key, bytes] of room.store.objects) fresh.room.store.objects.set(key, bytes);
    expect((await fresh.room.open([WORDS], { trust: {} })).generations).toHaveLength(3);
    // The first one was made at the cost of tests.
    expect(fresh.asked.length).toBeLessThanOrEqual(2);
    for (let n = 0; n < 6; n += 1) {
      room.secrets.set(`W${n}`, `another long passphrase ${n}`);
      await addKeySource(change(10 + n), { kind: "passphrase", environment: `W${n}` });
    }
    room.secrets.set("LAST", "one long passphrase more");
    expect(await codeOfAsync(() => addKeySource(change(20), { kind: "passphrase", environment: "LAST" }))).toBe(
      "KEYRING_FULL",
    );
  });
});
