/** Key sources behind optional packages: age recipients and identities with the real library, the system's keyring. */
import { generateIdentity, identityToRecipient } from "age-encryption";
import { describe, expect, it } from "vitest";
import { loadAge } from "../../../src/runtime/keychain/key-packages.js";
import type { KeySourceSetting } from "../../../src/vault/key-source.js";
import { addKeySource, removeKeySlots, rewrapKeys, wrapForOthers } from "../../../src/vault/keyring-changes.js";
import { inspectKeyring } from "../../../src/vault/keyring-view.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { FakeClock } from "../../support/fake-clock.js";
import { createVaultRoom, KEY_SOURCE, TASK_ID, TEST_SCRYPT, type VaultRoom } from "../../support/vault-room.js";

const IDENTITY = "/home/ada/age.txt";
const AGE: KeySourceSetting = { kind: "age", recipients: [], identity: IDENTITY };

async function createRoom(): Promise<{ room: VaultRoom; recipient: string }> {
  const room = createVaultRoom({ loadAge: () => loadAge("/work") });
  const identity = await generateIdentity();
  room.fileSystem.addFile(IDENTITY, `# created by a test\n${identity}\n`);
  return { room, recipient: await identityToRecipient(identity) };
}

function changing(room: VaultRoom, sources: readonly KeySourceSetting[]) {
  const { store, ports } = room;
  const random = createSeededRandom(9);
  return { taskId: TASK_ID, store, sources, ports, random, clock: new FakeClock(), scryptCost: TEST_SCRYPT };
}

async function typesOf(room: VaultRoom): Promise<string[]> {
  return (await inspectKeyring(room.store))?.keys.flatMap(({ slots }) => slots.map(({ type }) => type)) ?? [];
}

describe("age", () => {
  it("makes and opens a keyring with an identity", async () => {
    const { room } = await createRoom();
    const made = await room.create([AGE]);
    expect((await room.open([AGE])).keyId).toBe(made.keyId);
    expect(await typesOf(room)).toEqual(["age"]);
  });

  it("locks for a recipient whose identity is elsewhere, which then opens it", async () => {
    const { room, recipient } = await createRoom();
    const made = await room.create();
    const added = await addKeySource(changing(room, [KEY_SOURCE]), { kind: "age", recipients: [recipient] });
    expect(added.added).toEqual([`age ${added.added[0]?.split(" ")[1] ?? ""} (${recipient})`]);
    expect((await room.open([AGE])).keyId).toBe(made.keyId);
    const again = await addKeySource(changing(room, [KEY_SOURCE]), { kind: "age", recipients: [recipient] });
    expect(again.revision).toBeUndefined();
  });

  it("tells another identity from a missing one", async () => {
    const { room } = await createRoom();
    await room.create([AGE]);
    room.fileSystem.addFile("/home/ada/other.txt", await generateIdentity());
    await expect(room.open([{ ...AGE, identity: "/home/ada/other.txt" }])).rejects.toMatchObject({ code: "KEY_WRONG" });
    await expect(room.open([{ ...AGE, identity: "/home/ada/none.txt" }])).rejects.toMatchObject({
      code: "KEY_MISSING",
    });
  });

  it("makes no key that only others could open", async () => {
    const { room, recipient } = await createRoom();
    const locking = room.create([{ kind: "age", recipients: [recipient] }]);
    await expect(locking).rejects.toMatchObject({ code: "KEY_NOT_CREATED" });
    await expect(locking).rejects.toThrow("only locks: it has no identity");
    expect(await room.store.list("keyring-")).toEqual([]);
  });

  it("keeps a recipient when the keys are wrapped anew, and never makes it the last way in", async () => {
    const { room, recipient } = await createRoom();
    await room.create();
    const both: KeySourceSetting[] = [KEY_SOURCE, { kind: "age", recipients: [recipient] }];
    await addKeySource(changing(room, [KEY_SOURCE]), both[1] ?? KEY_SOURCE);
    expect((await rewrapKeys(changing(room, both))).revision).toBe(4);
    expect(await typesOf(room)).toEqual(["keyfile", "age"]);
    await expect(removeKeySlots(changing(room, both), "keyfile")).rejects.toMatchObject({ code: "KEY_LOCKED_OUT" });
    await expect(rewrapKeys(changing(room, [KEY_SOURCE]))).rejects.toMatchObject({ code: "KEY_LOCKED_OUT" });
  });

  it("carries a keyring for recipients alone", async () => {
    const { room, recipient } = await createRoom();
    const made = await room.create();
    const carried = await wrapForOthers(changing(room, [KEY_SOURCE]), [{ kind: "age", recipients: [recipient] }]);
    await room.store.remove("keyring-1.json");
    await room.store.putOnce(carried.key, carried.bytes);
    expect((await room.open([AGE])).keyId).toBe(made.keyId);
    await expect(room.open()).rejects.toMatchObject({ code: "KEY_MISSING" });
  });

  it.each<[string, string, string]>([
    ["a file that others can read", "x", "can be used by others"],
    ["a file without an identity", "# nothing\n", "holds no age identity"],
    ["a file of something else", "ssh-ed25519 AAAA\n", "is no age identity file"],
    ["a damaged identity", "AGE-SECRET-KEY-1QQQQ\n", "cannot be used"],
  ])("refuses %s", async (what, text, message) => {
    const { room } = await createRoom();
    room.fileSystem.addFile("/home/ada/bad.txt", text, what.startsWith("a file that others") ? 0o644 : 0o600);
    const making = room.create([{ ...AGE, identity: "/home/ada/bad.txt" }]);
    await expect(making).rejects.toMatchObject({ code: "KEY_SOURCE_INVALID" });
    await expect(making).rejects.toThrow(message);
  });

  it("refuses a malformed recipient before anything is written", async () => {
    const { room } = await createRoom();
    await room.create();
    const adding = addKeySource(changing(room, [KEY_SOURCE]), { kind: "age", recipients: ["age1nonsense"] });
    await expect(adding).rejects.toMatchObject({ code: "KEY_SOURCE_INVALID" });
    expect(await room.store.list("keyring-")).toHaveLength(1);
  });
});

describe("the system's keyring", () => {
  const SYSTEM: KeySourceSetting = { kind: "system", service: "splashdown", account: "ada" };

  it("gives a key by service and account", async () => {
    const asked: string[] = [];
    const room = createVaultRoom({
      readSystemSecret: async (service, account) => {
        asked.push(`${service}/${account}`);
        return Buffer.alloc(32, 5).toString("base64");
      },
    });
    const made = await room.create([SYSTEM]);
    expect((await room.open([SYSTEM])).keyId).toBe(made.keyId);
    expect(await typesOf(room)).toEqual(["system"]);
    expect(new Set(asked)).toEqual(new Set(["splashdown/ada"]));
  });

  it("is absent without the entry, and refused when that holds no key", async () => {
    const absent = createVaultRoom({ readSystemSecret: () => Promise.resolve(undefined) });
    await expect(absent.create([SYSTEM])).rejects.toThrow("the system's keyring has no such entry");
    const wrong = createVaultRoom({ readSystemSecret: () => Promise.resolve("hunter2") });
    await expect(wrong.create([SYSTEM])).rejects.toMatchObject({ code: "KEY_SOURCE_INVALID" });
  });
});
