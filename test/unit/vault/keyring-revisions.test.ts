import { describe, expect, it } from "vitest";
import type { KeyringHeader } from "../../../src/schema/generated/keyring.js";
import {
  loadKeyring,
  saveFirstRevision,
  saveNextRevision,
  type KeyringDraft,
  type LoadedKeyring,
} from "../../../src/vault/keyring-revisions.js";
import { beginLineage } from "../../../src/vault/origin.js";
import { codeOfAsync, refusalOf } from "../../support/error-code.js";
import { MemoryKeyringObjects } from "../../support/memory-keyring-objects.js";
import { TASK_ID } from "../../support/vault-room.js";

const activeKey = Buffer.alloc(32, 1);
const ID = "0123456789abcdef";
const SLOT = {
  type: "keyfile",
  label: "a.key",
  fingerprint: ID,
  salt: "A".repeat(43),
  commit: "A".repeat(43),
  wrap: "A".repeat(64),
} as const;

function draftOf(labels: readonly string[]): KeyringDraft {
  const slots = labels.map((label) => ({ ...SLOT, label }));
  const key = { id: ID, generation: 1, state: "active", created: "2024-01-02T14:35:22.123Z", slots } as const;
  const lineage = beginLineage({ id: ID, generation: 1, bytes: activeKey });
  return { header: { task: TASK_ID, active: ID, min_generation: 1, lineage, keys: [key] }, activeKey };
}

const labelsOf = (header: Pick<KeyringHeader, "keys">): string[] =>
  (header.keys[0]?.slots ?? []).map(({ label }) => label);
const prove = async (): Promise<void> => undefined;
const addLabel =
  (label: string) =>
  async ({ keyring }: LoadedKeyring): Promise<KeyringDraft> =>
    draftOf([...labelsOf(keyring.header), label]);

async function createStore(): Promise<MemoryKeyringObjects> {
  const store = new MemoryKeyringObjects();
  expect(await saveFirstRevision(store, draftOf(["first"]), prove)).toBe(true);
  return store;
}

describe("keyring revisions", () => {
  it("V10: creates the first one once", async () => {
    const store = await createStore();
    expect(await saveFirstRevision(store, draftOf(["other"]), prove)).toBe(false);
    expect(labelsOf((await loadKeyring(store))?.keyring.header ?? { keys: [] })).toEqual(["first"]);
  });

  it("keeps two and takes the highest, by number and not by name", async () => {
    const store = await createStore();
    for (let rev = 2; rev <= 11; rev += 1) expect(await saveNextRevision(store, addLabel(`r${rev}`), prove)).toBe(rev);
    expect([...store.objects.keys()]).toEqual(["keyring-10.json", "keyring-11.json"]);
    const loaded = await loadKeyring(store);
    expect([loaded?.file, loaded?.revMax, loaded?.keyring.header.rev]).toEqual(["keyring-11.json", 11, 11]);
  });

  it("starts again from theirs when somebody was faster", async () => {
    const store = await createStore();
    const changes: string[][] = [];
    const change = async (current: LoadedKeyring): Promise<KeyringDraft> => {
      changes.push(labelsOf(current.keyring.header));
      if (changes.length <= 2) {
        await saveNextRevision(store, addLabel(`theirs${changes.length}`), prove);
      }
      return addLabel("ours")(current);
    };
    expect(await saveNextRevision(store, change, prove)).toBe(4);
    expect(changes).toEqual([["first"], ["first", "theirs1"], ["first", "theirs1", "theirs2"]]);
    expect(labelsOf((await loadKeyring(store))?.keyring.header ?? { keys: [] })).toEqual([
      "first",
      "theirs1",
      "theirs2",
      "ours",
    ]);
  });

  it("gives up with a code when others are faster every time", async () => {
    const store = await createStore();
    store.putOnce = async () => "exists";
    expect(await codeOfAsync(() => saveNextRevision(store, addLabel("ours"), prove))).toBe("STORE_BUSY");
  });

  it("writes nothing when nothing is to be changed, when there is none, or when the proof fails", async () => {
    const store = await createStore();
    expect(await saveNextRevision(store, async () => undefined, prove)).toBeUndefined();
    expect(await codeOfAsync(() => saveNextRevision(new MemoryKeyringObjects(), addLabel("x"), prove))).toBe(
      "KEYRING_CORRUPT",
    );
    await expect(saveNextRevision(store, addLabel("x"), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect([...store.objects.keys()]).toEqual(["keyring-1.json"]);
  });

  it("V11: takes the one before a damaged one, numbers on above it, and keeps both valid ones", async () => {
    const store = await createStore();
    await saveNextRevision(store, addLabel("second"), prove);
    store.objects.set("keyring-3.json", Buffer.from("{}"));
    const loaded = await loadKeyring(store);
    expect([loaded?.file, loaded?.revMax]).toEqual(["keyring-2.json", 3]);
    expect(loaded?.damaged.map(({ file }) => file)).toEqual(["keyring-3.json"]);
    expect(await saveNextRevision(store, addLabel("fourth"), prove)).toBe(4);
    expect([...store.objects.keys()].sort()).toEqual(["keyring-2.json", "keyring-3.json", "keyring-4.json"]);
    expect((await loadKeyring(store))?.damaged).toEqual([]);
  });

  it("V11: refuses when all are damaged, and never steps back before a newer version", async () => {
    const store = await createStore();
    await saveNextRevision(store, addLabel("second"), prove);
    const good = Buffer.from(store.objects.get("keyring-2.json") ?? []).toString();
    for (const file of ["keyring-1.json", "keyring-2.json"]) store.objects.set(file, Buffer.from(good.slice(0, -9)));
    const error = await refusalOf(() => loadKeyring(store));
    expect([error.code, error.message]).toEqual([
      "KEYRING_CORRUPT",
      "the keyring file keyring-2.json is cut off, and so is the one before it",
    ]);
    expect(error.details["files"]).toEqual(["keyring-2.json", "keyring-1.json"]);
    store.objects.set("keyring-3.json", Buffer.from("x"));
    expect((await refusalOf(() => loadKeyring(store))).message).toContain("and so are all before it");
    store.objects.delete("keyring-1.json");
    store.objects.delete("keyring-2.json");
    expect((await refusalOf(() => loadKeyring(store))).message).toBe(
      "the keyring file keyring-3.json does not begin as a keyring does",
    );
  });

  it("takes a file under another number for damage, and other objects for nothing", async () => {
    const store = await createStore();
    const bytes = store.objects.get("keyring-1.json") ?? new Uint8Array();
    store.objects.set("keyring-7.json", bytes);
    for (const name of ["keyring-01.json", "keyring-x.json", "keyring-8.json.bak", "keyring-0.json"])
      store.objects.set(name, bytes);
    const loaded = await loadKeyring(store);
    expect(loaded?.file).toBe("keyring-1.json");
    expect(loaded?.damaged).toEqual([
      { file: "keyring-7.json", problem: "the keyring file keyring-7.json says that it is revision 1" },
    ]);
  });

  it("goes on when a listed revision is gone before it is read", async () => {
    const store = await createStore();
    const list = store.list.bind(store);
    store.list = async (prefix) => [...(await list(prefix)), { key: "keyring-2.json", sizeBytes: 1 }];
    expect((await loadKeyring(store))?.file).toBe("keyring-1.json");
  });
});
