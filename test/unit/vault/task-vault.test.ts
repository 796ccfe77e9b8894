import { describe, expect, it } from "vitest";
import { createVaultRoom, KEY_PATH, KEY_SOURCE, OTHER_TASK_ID, TASK_ID } from "../../support/vault-room.js";
import { codeOfAsync, refusalOf } from "../../support/error-code.js";
import { formatKeyFile, parseKeyFile } from "../../../src/vault/key-file.js";

const aad = Buffer.from("aad");

describe("createTaskVault", () => {
  it("writes one keyring that opens again with the same key file", async () => {
    const room = createVaultRoom();
    const vault = await room.create();
    expect([...room.store.objects.keys()]).toEqual(["keyring-1.json"]);
    const sealer = vault.createSealer("journal");
    const sealed = sealer.seal(0, aad, Buffer.from("hello"));
    const again = await room.open();
    expect(again.taskId).toBe(TASK_ID);
    expect(again.keyId).toBe(vault.keyId);
    expect(again.createOpener("journal", sealer.header).open(0, aad, sealed).toString()).toBe("hello");
  });

  it("opens the keyring of whoever was faster", async () => {
    const room = createVaultRoom();
    const vault = await room.create();
    expect((await room.create()).keyId).toBe(vault.keyId);
    const raced = createVaultRoom();
    raced.store.beforePut = () => {
      raced.store.beforePut = () => undefined;
      for (const [key, bytes] of room.store.objects) raced.store.objects.set(key, bytes);
    };
    expect((await raced.create()).keyId).toBe(vault.keyId);
    expect(await codeOfAsync(() => room.create([KEY_SOURCE], OTHER_TASK_ID))).toBe("TASK_SWAPPED");
  });
});

describe("openTaskVault", () => {
  it("names both fingerprints when the key file is another one", async () => {
    const room = createVaultRoom();
    await room.create();
    const own = parseKeyFile(room.fileSystem.text(KEY_PATH) ?? "");
    room.fileSystem.addFile(KEY_PATH, formatKeyFile(Buffer.alloc(32, 1)));
    const other = parseKeyFile(room.fileSystem.text(KEY_PATH) ?? "");
    if (typeof own === "string" || typeof other === "string") throw new Error("no key file");
    const error = await refusalOf(() => room.open());
    expect(error.code).toBe("KEY_WRONG");
    expect(error.message).toContain(own.fingerprint);
    expect(error.message).toContain(other.fingerprint);
    expect(error.details).toMatchObject({ task: TASK_ID, needed: [own.fingerprint], given: [other.fingerprint] });
  });
});
