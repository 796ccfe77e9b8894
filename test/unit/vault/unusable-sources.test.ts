/** Sources that give nothing, wraps that nobody could open again, and keys under names that are not theirs. */
import { describe, expect, it } from "vitest";
import type { KeyId } from "../../../src/base/ids.js";
import { wrapByAge, type AgeBox } from "../../../src/vault/age-wrap.js";
import { ensureDefaultKeyFile } from "../../../src/vault/default-key.js";
import { isReadySource, readSources, computeSlotLabel, type KeySourceSetting } from "../../../src/vault/key-source.js";
import { wrapForOthers } from "../../../src/vault/keyring-changes.js";
import { proveEveryKey } from "../../../src/vault/keyring-proof.js";
import { loadKeyring } from "../../../src/vault/keyring-revisions.js";
import { codeOfAsync, refusalOf } from "../../support/error-code.js";
import { FakeClock } from "../../support/fake-clock.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createVaultRoom, KEY_SOURCE, TASK_ID } from "../../support/vault-room.js";

const LOCKED_FOR: KeySourceSetting = { kind: "age", recipients: ["age1somebody"], identity: "/home/ada/none.txt" };
const SYSTEM: KeySourceSetting = { kind: "system", service: "splashdown", account: "ada" };

function boxOf(seal: AgeBox["seal"]): AgeBox {
  return { seal, open: () => Promise.resolve(undefined), recipientOf: (identity) => Promise.resolve(identity) };
}

describe("a source that cannot be used here", () => {
  it("says which part of this machine it lacks, and stops nobody who has another", async () => {
    const room = createVaultRoom();
    const sources = await readSources([LOCKED_FOR, SYSTEM, KEY_SOURCE], room.ports);
    expect(sources.map((source) => (isReadySource(source) ? "ready" : source.absence))).toEqual([
      "age cannot be used here",
      "the system's keyring cannot be used here",
      "ready",
    ]);
  });

  it("locks for recipients although the identity beside them is not there", async () => {
    const room = createVaultRoom({ loadAge: () => Promise.resolve(boxOf(() => Promise.resolve("armor"))) });
    const [source] = await readSources([LOCKED_FOR], room.ports);
    expect(source).toMatchObject({ secret: { nature: "age", recipients: ["age1somebody"], identities: [] } });
  });

  it("has a label even where its setting names nothing", () => {
    expect(computeSlotLabel({ kind: "age", recipients: [] })).toBe("unnamed");
  });
});

describe("a wrap that cannot be kept", () => {
  it("is refused when it is longer than a slot holds", async () => {
    const secret = (text: string) => ({ box: boxOf(() => Promise.resolve(text)), recipients: ["r"], identities: [] });
    expect(await wrapByAge(secret("x".repeat(16_384)), Buffer.alloc(32), "age file")).toHaveLength(16_384);
    const error = await refusalOf(() => wrapByAge(secret("x".repeat(16_385)), Buffer.alloc(32), "age file"));
    expect([error.code, error.message]).toEqual([
      "KEY_SOURCE_INVALID",
      "the age file names more recipients than a keyring slot holds",
    ]);
  });

  it("V17: is refused when its source does not open it, and when a key stands under a name of no key", async () => {
    const room = createVaultRoom();
    await room.create();
    const keyring = (await loadKeyring(room.store))?.keyring;
    if (keyring === undefined) throw new Error("no keyring was made");
    const id = keyring.header.active;
    const ready = (await readSources([KEY_SOURCE], room.ports)).filter(isReadySource);
    const proof = { ready, added: ready, keys: new Map([[id, Buffer.alloc(32, 9)]]) };
    const useless = await refusalOf(() => proveEveryKey(keyring, proof));
    expect([useless.code, useless.message]).toEqual([
      "KEY_SOURCE_INVALID",
      "the key file /home/ada/keys/default.key does not open what it was just used to seal",
    ]);
    const unknown = { ...proof, keys: new Map([["0000000000000000" as KeyId, Buffer.alloc(32, 9)]]) };
    expect(await codeOfAsync(() => proveEveryKey(keyring, unknown))).toBe("INTERNAL");
  });

  it("is not made for others where the task has no keyring", async () => {
    const { store, ports } = createVaultRoom();
    const options = { taskId: TASK_ID, store, ports, sources: [KEY_SOURCE], clock: new FakeClock() };
    const random = createSeededRandom(1);
    expect(await codeOfAsync(() => wrapForOthers({ ...options, random }, [KEY_SOURCE]))).toBe("KEYRING_CORRUPT");
  });
});

describe("a default key that cannot be drawn", () => {
  it("is a mistake of ours or the machine's, and no reason about its place", async () => {
    const fileSystem = new MemoryFileSystem("/home/ada", "/work/project/outputs");
    const bytes = () => {
      throw new TypeError("no entropy");
    };
    const making = ensureDefaultKeyFile({
      fileSystem,
      configFolder: "/home/ada/.config/splashdown",
      storeFolder: "/work/project/outputs",
      projectFolder: "/work/project",
      hasForeignSealedData: async () => false,
      random: { bytes },
    });
    await expect(making).rejects.toThrow(new TypeError("no entropy"));
  });
});
