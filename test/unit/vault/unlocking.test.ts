import { describe, expect, it } from "vitest";
import type { KeyId } from "../../../src/base/ids.js";
import type { KeyringKey, KeyringSlot } from "../../../src/schema/generated/keyring.js";
import { computeFingerprint } from "../../../src/vault/derivation.js";
import { formatKeyFile } from "../../../src/vault/key-file.js";
import { isReadySource, readSources, type KeySourceSetting } from "../../../src/vault/key-source.js";
import { saveNextRevision } from "../../../src/vault/keyring-revisions.js";
import { extendLineage } from "../../../src/vault/origin.js";
import { createSlot } from "../../../src/vault/slot.js";
import { proveKeyring } from "../../../src/vault/task-vault.js";
import { unlockKeyring } from "../../../src/vault/unlocking.js";
import { codeOf, codeOfAsync, refusalOf } from "../../support/error-code.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import {
  createVaultRoom,
  KEY_PATH,
  KEY_SOURCE,
  TASK_ID,
  TEST_SCRYPT,
  type VaultRoom,
} from "../../support/vault-room.js";

const aad = Buffer.from("aad");
const OTHER: KeySourceSetting = { kind: "keyfile", path: "/home/ada/keys/other.key" };

interface Rotation {
  readonly sources?: readonly KeySourceSetting[];
  readonly minGeneration?: number;
  /** The id to name the new key by, where that is to be wrong. */
  readonly id?: KeyId;
}

/** What `keys rotate` will do: a new generation beside the old one, through the same seams. */
async function rotate(room: VaultRoom, rotation: Rotation = {}): Promise<KeyId> {
  const { sources = [KEY_SOURCE], minGeneration = 1 } = rotation;
  const ready = (await readSources(sources, room.ports)).filter(isReadySource);
  const random = createSeededRandom("rotation");
  const key = random.bytes(32);
  const id = rotation.id ?? computeFingerprint(key, "task-key");
  const shared = { task: TASK_ID, keyId: id, key, random, scryptCost: TEST_SCRYPT };
  const slots: KeyringSlot[] = [];
  for (const source of ready) slots.push(await createSlot({ ...shared, source, secret: source.secret }));
  await saveNextRevision(
    room.store,
    async ({ keyring }) => {
      const older: KeyringKey[] = keyring.header.keys.map((entry) => ({ ...entry, state: "retired" }));
      const entry: KeyringKey = { id, generation: 2, state: "active", created: "2024-01-03T00:00:00.000Z", slots };
      const owner = await readSources([KEY_SOURCE], room.ports);
      const { active } = await unlockKeyring({ keyring, file: "f", sources: owner });
      const lineage = extendLineage(keyring.header, { active, next: { id, generation: 2, bytes: key } });
      return {
        header: { task: TASK_ID, active: id, min_generation: minGeneration, lineage, keys: [...older, entry] },
        activeKey: key,
      };
    },
    (keyring) => proveKeyring(keyring, { sources: ready, key }),
  );
  return id;
}

describe("unlockKeyring with several generations", () => {
  it("seals with the new one and reads the old one", async () => {
    const room = createVaultRoom();
    const before = await room.create();
    const sealer = before.createSealer("blob");
    const sealed = sealer.seal(0, aad, aad);
    const id = await rotate(room);
    const after = await room.open();
    expect(after.keyId).toBe(id);
    expect(after.keyId).not.toBe(before.keyId);
    expect(after.createOpener("blob", sealer.header).open(0, aad, sealed)).toEqual(aad);
  });

  it("opens without the source of the old one, and then says which key is missing", async () => {
    const room = createVaultRoom();
    const before = await room.create();
    const { header } = before.createSealer("blob");
    room.fileSystem.addFile(OTHER.path, formatKeyFile(Buffer.alloc(32, 7)));
    const id = await rotate(room, { sources: [OTHER] });
    const after = await room.open([OTHER]);
    expect(after.keyId).toBe(id);
    expect(codeOf(() => after.createOpener("blob", header))).toBe("KEY_MISSING");
    expect((await room.open([OTHER, KEY_SOURCE])).createOpener("blob", header)).toBeDefined();
    expect(await codeOfAsync(() => room.open([KEY_SOURCE]))).toBe("KEY_WRONG");
  });

  it("refuses files below the minimum generation", async () => {
    const room = createVaultRoom();
    const { header } = (await room.create()).createSealer("blob");
    await rotate(room, { minGeneration: 2 });
    const after = await room.open();
    expect(codeOf(() => after.createOpener("blob", header))).toBe("KEY_MISSING");
  });

  it("V12: refuses a key under a name that is not its own", async () => {
    const room = createVaultRoom();
    await room.create();
    await rotate(room, { id: "0123456789abcdef" as KeyId });
    const error = await refusalOf(() => room.open());
    expect([error.code, error.message]).toEqual([
      "KEYRING_TAMPERED",
      "the keyring file keyring-2.json names a key 0123456789abcdef that it does not hold",
    ]);
  });
});

describe("unlockKeyring", () => {
  it("lets a failure that is not the key's through as it is", async () => {
    const room = createVaultRoom();
    await room.create();
    room.fileSystem.lstat = () => Promise.reject(new RangeError("our own mistake"));
    expect(await codeOfAsync(() => room.open())).toBe("KEY_SOURCE_INVALID");
    const broken = {
      ...room.ports,
      readSecret: () => {
        throw new RangeError("our own mistake");
      },
    };
    const sources: KeySourceSetting[] = [{ kind: "env", name: "X" }];
    await expect(readSources(sources, broken)).rejects.toThrow("our own mistake");
  });

  it("lets a cancelled key command through", async () => {
    const { createWrappingCommand } = await import("../../support/wrapping-command.js");
    const { SplashdownError } = await import("../../../src/base/errors.js");
    let isCancelled = false;
    const inner = createWrappingCommand();
    const room = createVaultRoom({
      runCommand: async (call) => {
        if (isCancelled) throw new SplashdownError("CANCELLED", "stopped");
        return inner(call);
      },
    });
    const command: KeySourceSetting = { kind: "command", argv: ["wrap"] };
    await room.create([command]);
    isCancelled = true;
    expect(await codeOfAsync(() => room.open([command]))).toBe("CANCELLED");
  });

  it("tries cheap sources first", async () => {
    const room = createVaultRoom();
    room.secrets.set("P", "correct horse battery");
    await room.create([{ kind: "passphrase", environment: "P" }, KEY_SOURCE]);
    const { loadKeyring } = await import("../../../src/vault/keyring-revisions.js");
    const { selectPairs } = await import("../../../src/vault/unlocking.js");
    const sources = await readSources([{ kind: "passphrase", environment: "P" }, KEY_SOURCE], room.ports);
    const entry = (await loadKeyring(room.store))?.keyring.header.keys[0];
    expect(entry && selectPairs(entry, sources).map(({ source }) => source.label)).toEqual([
      `key file ${KEY_PATH}`,
      "passphrase in $P",
    ]);
  });

  it("asserts what the format promises", async () => {
    const keyring = {
      header: { task: TASK_ID, rev: 1, active: "0123456789abcdef", min_generation: 1, lineage: [], keys: [] },
      mac: Buffer.alloc(64),
      authenticated: Buffer.alloc(1),
    };
    expect(await codeOfAsync(() => unlockKeyring({ keyring, file: "f", sources: [] }))).toBe("INTERNAL");
    expect(await codeOfAsync(() => proveKeyring(keyring, { sources: [], key: aad }))).toBe("INTERNAL");
  });
});

describe("readSources", () => {
  it("labels slots with a short name, never a path or an argument", async () => {
    const { computeSlotLabel } = await import("../../../src/vault/key-source.js");
    const labels = (
      [
        { kind: "keyfile", path: "/home/ada/a.key" },
        { kind: "keyfile", path: "C:\\Users\\ada\\b.key" },
        { kind: "keyfile", path: "/home/ada/" },
        { kind: "env", name: "X".repeat(300) },
        { kind: "passphrase", environment: "P" },
        { kind: "command", argv: ["/opt/wrap", "--token", "secret"] },
        { kind: "command", argv: [] },
      ] as const
    ).map(computeSlotLabel);
    expect(labels).toEqual(["a.key", "b.key", "unnamed", "X".repeat(200), "P", "wrap", "unnamed"]);
  });
});
