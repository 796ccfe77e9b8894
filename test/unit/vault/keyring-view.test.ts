import { describe, expect, it } from "vitest";
import { formatKeyFile } from "../../../src/vault/key-file.js";
import type { KeySourceSetting } from "../../../src/vault/key-source.js";
import { inspectKeyring, verifyKeyring, type KeyringVerdict } from "../../../src/vault/keyring-view.js";
import { sha256Hex } from "../../../src/base/digest.js";
import { createVaultRoom, KEY_PATH, KEY_SOURCE, TASK_ID, type VaultRoom } from "../../support/vault-room.js";
import { createWrappingCommand } from "../../support/wrapping-command.js";

const PASSPHRASE: KeySourceSetting = { kind: "passphrase", environment: "TEAM_PASSPHRASE" };
const COMMAND: KeySourceSetting = { kind: "command", argv: ["/usr/bin/wrap-key"] };
const ALL = [KEY_SOURCE, PASSPHRASE, COMMAND];

async function createRoom(): Promise<VaultRoom> {
  const room = createVaultRoom({ runCommand: createWrappingCommand() });
  room.secrets.set("TEAM_PASSPHRASE", "correct horse battery");
  await room.create(ALL);
  return room;
}

async function verify(room: VaultRoom, sources: readonly KeySourceSetting[] = ALL): Promise<KeyringVerdict> {
  const verdict = await verifyKeyring({ store: room.store, sources, ports: room.ports });
  if (verdict === undefined) throw new Error("no keyring");
  return verdict;
}

const verdictsOf = (verdict: KeyringVerdict): string[] => verdict.slots.map((slot) => slot.verdict);

function rewrite(room: VaultRoom, change: (text: string) => string): void {
  const lines = change(Buffer.from(room.store.objects.get("keyring-1.json") ?? []).toString()).split("\n");
  const body = `${lines.slice(0, 3).join("\n")}\n`;
  room.store.objects.set("keyring-1.json", Buffer.from(`${body}"sha256":"${sha256Hex(body)}"}\n`));
}

describe("inspectKeyring", () => {
  it("tells of keys and slots without any key", async () => {
    const room = await createRoom();
    const view = await inspectKeyring(room.store);
    expect(view).toMatchObject({ file: "keyring-1.json", task: TASK_ID, revision: 1, minGeneration: 1, damaged: [] });
    expect(view?.keys.map(({ generation, active, createdAt }) => [generation, active, createdAt])).toEqual([
      [1, true, "2024-01-02T14:35:22.123Z"],
    ]);
    expect(view?.keys[0]?.slots.map(({ type, label, derivation }) => [type, label, derivation])).toEqual([
      ["keyfile", "default.key", undefined],
      ["passphrase", "TEAM_PASSPHRASE", "scrypt 2^4, r 1, p 1"],
      ["command", "wrap-key", "command"],
    ]);
  });

  it("tells nothing of a task without a keyring", async () => {
    const room = createVaultRoom();
    expect(await inspectKeyring(room.store)).toBeUndefined();
    expect(await verifyKeyring({ store: room.store, sources: ALL, ports: room.ports })).toBeUndefined();
  });
});

describe("verifyKeyring", () => {
  it("says of every slot that it opens, and that the keyring is ours", async () => {
    const verdict = await verify(await createRoom());
    expect(verdictsOf(verdict)).toEqual(["opens", "opens", "opens"]);
    expect(verdict.authentic).toBe(true);
    expect(verdict.problems).toEqual([]);
    expect(verdict.slots[0]?.source).toBe(`key file ${KEY_PATH}`);
  });

  it("tells absent, wrong and failing secrets apart", async () => {
    const room = await createRoom();
    expect(verdictsOf(await verify(room, [KEY_SOURCE]))).toEqual(["opens", "absent", "absent"]);
    room.secrets.set("TEAM_PASSPHRASE", "another passphrase");
    room.fileSystem.addFile(KEY_PATH, formatKeyFile(Buffer.alloc(32, 1)));
    const failing = {
      ...room.ports,
      runCommand: async () => ({ exitCode: 1, stdout: "", stderrTail: "", timedOut: false }),
    };
    const verdict = await verifyKeyring({ store: room.store, sources: ALL, ports: failing });
    expect(verdict?.slots.map((slot) => slot.verdict)).toEqual(["wrong", "wrong", "failed"]);
    expect(verdict?.slots[2]?.reason).toBe("the key command /usr/bin/wrap-key exited with status 1");
    expect(verdict?.authentic).toBeUndefined();
    const none = await verify(room, []);
    expect(verdictsOf(none)).toEqual(["absent", "absent", "absent"]);
  });

  it("finds a changed slot, and a changed keyring around good slots", async () => {
    const slot = await createRoom();
    rewrite(slot, (text) => text.replace(`"label":"default.key"`, `"label":"default.kez"`));
    expect(verdictsOf(await verify(slot))).toEqual(["tampered", "opens", "opens"]);
    const around = await createRoom();
    rewrite(around, (text) => text.replace(`"created":"2024`, `"created":"2025`));
    const verdict = await verify(around);
    expect(verdictsOf(verdict)).toEqual(["opens", "opens", "opens"]);
    expect(verdict.authentic).toBe(false);
  });

  it("names sources that are unusable", async () => {
    const room = await createRoom();
    room.fileSystem.addFile(KEY_PATH, "not a key");
    const verdict = await verify(room);
    expect(verdict.problems).toEqual([`the key file ${KEY_PATH} is not a splashdown key file`]);
    expect(verdictsOf(verdict)).toEqual(["absent", "opens", "opens"]);
  });
});
