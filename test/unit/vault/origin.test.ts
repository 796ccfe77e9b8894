/** Who locked a task: recipients lock, owners sign (V21, V22). */
import { generateIdentity, identityToRecipient } from "age-encryption";
import { describe, expect, it } from "vitest";
import { loadAge } from "../../../src/runtime/keychain/key-packages.js";
import type { KeyringHeader } from "../../../src/schema/generated/keyring.js";
import { computeFingerprint } from "../../../src/vault/derivation.js";
import { readSources, type KeySourceSetting } from "../../../src/vault/key-source.js";
import { addKeySource, rotateTaskKey } from "../../../src/vault/keyring-changes.js";
import { decodeKeyring, encodeKeyring } from "../../../src/vault/keyring-format.js";
import { loadKeyring } from "../../../src/vault/keyring-revisions.js";
import { beginLineage } from "../../../src/vault/origin.js";
import { unlockKeyring } from "../../../src/vault/unlocking.js";
import { codeOfAsync } from "../../support/error-code.js";
import { FakeClock } from "../../support/fake-clock.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createVaultRoom, KEY_SOURCE, TASK_ID, TEST_SCRYPT, type VaultRoom } from "../../support/vault-room.js";
import { createWrappingCommand } from "../../support/wrapping-command.js";

const IDENTITY = "/home/ada/age.txt";
const AGE: KeySourceSetting = { kind: "age", recipients: [], identity: IDENTITY };
const COMMAND: KeySourceSetting = { kind: "command", argv: ["kms-wrap"] };
const PASSPHRASE: KeySourceSetting = { kind: "passphrase", environment: "TEAM" };
/** A machine that has never seen the task. */
const NEW = { trust: {} };

function changing(room: VaultRoom, sources: readonly KeySourceSetting[]) {
  const { store, ports } = room;
  const random = createSeededRandom(5);
  const shared = { taskId: TASK_ID, store, sources, ports, random, clock: new FakeClock(), scryptCost: TEST_SCRYPT };
  return { ...shared, trust: room.trust() };
}

/** The victim has an identity; the attacker has a key file and the victim's public recipient. */
async function createAttack() {
  const identity = await generateIdentity();
  const recipients = [await identityToRecipient(identity)];
  const runCommand = createWrappingCommand();
  const room = createVaultRoom({ loadAge: () => loadAge("/work"), runCommand });
  room.fileSystem.addFile(IDENTITY, identity);
  room.secrets.set("TEAM", "correct horse battery");
  return { room, lock: { kind: "age", recipients } as const };
}

async function headerOf(room: VaultRoom): Promise<KeyringHeader> {
  const loaded = await loadKeyring(room.store);
  if (loaded === undefined) throw new Error("no keyring");
  return loaded.keyring.header;
}

/** Writes a keyring over the one that is there, with the attacker's active key. */
async function forge(room: VaultRoom, change: (header: KeyringHeader) => Partial<KeyringHeader>): Promise<void> {
  const loaded = await loadKeyring(room.store);
  if (loaded === undefined) throw new Error("no keyring");
  const sources = await readSources([KEY_SOURCE], room.ports);
  const { active } = await unlockKeyring({ ...loaded, sources });
  const { header } = loaded.keyring;
  const bytes = encodeKeyring({ ...header, ...change(header) }, active.bytes);
  room.store.objects.set(loaded.file, bytes);
}

describe("a task that was locked for a public recipient", () => {
  it("[security C2] V21: is refused where nobody says who locked it", async () => {
    const { room, lock } = await createAttack();
    await room.create([KEY_SOURCE, lock]);
    expect(await codeOfAsync(() => room.open([AGE], NEW))).toBe("KEYRING_UNPROVEN");
    expect(await codeOfAsync(() => addKeySource({ ...changing(room, [AGE]), trust: {} }, PASSPHRASE))).toBe(
      "KEYRING_UNPROVEN",
    );
    expect((await room.open([AGE], { trust: { isAccepted: true } })).encrypted).toBe(true);
  });

  it("[security C2 kin] V21: is refused the same where a key command wraps without a secret, unless it is said to need one", async () => {
    const { room } = await createAttack();
    await room.create([KEY_SOURCE, COMMAND]);
    expect(await codeOfAsync(() => room.open([COMMAND], NEW))).toBe("KEYRING_UNPROVEN");
    expect((await room.open([{ ...COMMAND, provesOrigin: true }], NEW)).encrypted).toBe(true);
  });

  it("[security C2 kin] V21: is refused with the proof of another task, or of another first key", async () => {
    const { room, lock } = await createAttack();
    const own = createVaultRoom({ seed: "own", loadAge: () => loadAge("/work") });
    own.fileSystem.addFile(IDENTITY, room.fileSystem.text(IDENTITY) ?? "");
    await own.create([AGE]);
    const { origin, lineage } = await headerOf(own);
    await room.create([KEY_SOURCE, lock]);
    await forge(room, () => (origin === undefined ? {} : { origin }));
    expect(await codeOfAsync(() => room.open([AGE], NEW))).toBe("KEYRING_UNPROVEN");
    const [first] = lineage;
    await forge(room, ({ lineage: [last] }) => ({
      ...(origin === undefined ? {} : { origin }),
      lineage: first === undefined || last === undefined ? [] : [{ ...first, generation: 1 }],
    }));
    expect(await codeOfAsync(() => room.open([AGE], NEW))).toBe("KEYRING_UNPROVEN");
  });

  it("[security C2 kin] V22: is another task where its keys do not come from the first key that was seen", async () => {
    const { room, lock } = await createAttack();
    const own = createVaultRoom({ seed: "own", loadAge: () => loadAge("/work") });
    const firstKey = (await own.create([KEY_SOURCE])).keyring?.firstKey;
    const { lineage } = await headerOf(own);
    await room.create([KEY_SOURCE, lock, PASSPHRASE]);
    for (const source of [AGE, PASSPHRASE, KEY_SOURCE])
      expect(await codeOfAsync(() => room.open([source], { trust: { firstKey } }))).toBe("KEYRING_FOREIGN");
    // With the true first key before the attacker's, which it never vouched for.
    await rotateTaskKey(changing(room, [KEY_SOURCE, lock]), { dropAbsent: true });
    await forge(room, (header) => ({ lineage: [...lineage, ...header.lineage.slice(1)] }));
    expect(await codeOfAsync(() => room.open([AGE], { trust: { firstKey } }))).toBe("KEYRING_FOREIGN");
  });

  it("[security C2 kin] V21: opens everywhere for the identity that it was made with, also after a rotation by somebody else", async () => {
    const { room } = await createAttack();
    const made = await room.create([AGE, KEY_SOURCE]);
    expect((await room.open([AGE], NEW)).keyId).toBe(made.keyId);
    await rotateTaskKey(changing(room, [KEY_SOURCE]), { dropAbsent: true });
    await addKeySource(changing(room, [KEY_SOURCE]), AGE);
    expect((await room.open([AGE], NEW)).keyring?.generation).toBe(2);
  });

  it("V21: opens where a person trusts whoever signed it, or has seen it before", async () => {
    const { room, lock } = await createAttack();
    await room.create([KEY_SOURCE, lock]);
    const { origin } = await headerOf(room);
    expect((await room.open([AGE], { trust: { origins: [origin?.key ?? ""] } })).encrypted).toBe(true);
    expect((await room.open([AGE])).encrypted).toBe(true);
    expect(await codeOfAsync(() => room.open([AGE], { trust: { origins: ["A".repeat(43)] } }))).toBe(
      "KEYRING_UNPROVEN",
    );
  });

  it("V22: has a lineage that ends at its active key", async () => {
    const { room } = await createAttack();
    await room.create();
    const { lineage, ...header } = await headerOf(room);
    const bytes = Buffer.alloc(32, 1);
    const other = beginLineage({ id: computeFingerprint(bytes, "task-key"), generation: 2, bytes });
    const encoded = encodeKeyring({ ...header, lineage: [...lineage, ...other] }, bytes);
    expect(await codeOfAsync(async () => decodeKeyring(encoded, "keyring-1.json"))).toBe("KEYRING_CORRUPT");
  });
});
