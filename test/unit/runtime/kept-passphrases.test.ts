/** Passphrases from files, descriptors and people, and what is asked of whom how often. */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KeptPassphrases, type AskPassphrase } from "../../../src/runtime/keychain/kept-passphrases.js";
import { createTaskVault, openTaskVault } from "../../../src/vault/task-vault.js";
import type { KeySourceSetting } from "../../../src/vault/key-source.js";
import { FakeClock } from "../../support/fake-clock.js";
import { codeOfAsync, refusalOf } from "../../support/error-code.js";
import { MemoryFileSystem } from "../../support/memory-file-system.js";
import { MemoryKeyringObjects } from "../../support/memory-keyring-objects.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { TASK_ID, TEST_SCRYPT } from "../../support/vault-room.js";

const WORDS = "correct horse battery";
const FILE = "/home/ada/words";

/** A process: what it is asked for is answered in turn. */
function createRoom(...typed: readonly string[]) {
  const fileSystem = new MemoryFileSystem("/home/ada");
  const asked: boolean[] = [];
  const answers = [...typed];
  const ask: AskPassphrase = async ({ isNew }) => {
    asked.push(isNew);
    return answers.shift() ?? "nobody knows";
  };
  return { fileSystem, asked, kept: new KeptPassphrases({ fileSystem, ask: typed.length > 0 ? ask : undefined }) };
}

describe("a passphrase in a file", () => {
  it("is its one line, whatever ends it", async () => {
    for (const text of [WORDS, `${WORDS}\n`, `${WORDS}\r\n`]) {
      const { fileSystem, kept } = createRoom();
      fileSystem.addFile(FILE, text);
      expect(await kept.read({ file: FILE })).toBe(WORDS);
    }
  });

  it("is not at hand where there is no file, and refused where others can read it or it has more lines", async () => {
    const { fileSystem, kept } = createRoom();
    expect(await kept.read({ file: "/home/ada/none" })).toBeUndefined();
    fileSystem.addFile(FILE, `${WORDS}\nand more\n`);
    const refusal = await refusalOf(() => kept.read({ file: FILE }));
    expect([refusal.code, refusal.message]).toEqual([
      "KEY_SOURCE_INVALID",
      `the key file ${FILE} holds more than the one line of a passphrase`,
    ]);
    fileSystem.addFile("/home/ada/shared", WORDS, 0o640);
    expect(await codeOfAsync(() => kept.read({ file: "/home/ada/shared" }))).toBe("KEY_SOURCE_INVALID");
  });
});

describe("a passphrase on a descriptor", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "words-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function openOn(text: string): number {
    writeFileSync(join(folder, "words"), text);
    return openSync(join(folder, "words"), "r");
  }

  it("is read once, and known to whoever asks again", async () => {
    const fd = openOn(`${WORDS}\n`);
    const { kept } = createRoom();
    expect(await kept.read({ file: `/dev/fd/${fd}` })).toBe(WORDS);
    // Closed, so that no step can read the passphrase from its owner.
    expect(() => closeSync(fd)).toThrow("EBADF");
    expect(await kept.read({ file: `/dev/fd/${fd}` })).toBe(WORDS);
  });

  it("is refused where nothing is open, and where there is too much of it", async () => {
    const { kept } = createRoom();
    expect(await codeOfAsync(() => kept.read({ file: "/dev/fd/987" }))).toBe("KEY_SOURCE_INVALID");
    const fd = openOn("x".repeat(5000));
    const refusal = await refusalOf(() => kept.read({ file: `/dev/fd/${fd}` }));
    closeSync(fd);
    expect(refusal.message).toBe(`what comes from /dev/fd/${fd} is too long for a passphrase`);
  });
});

describe("a passphrase that is typed", () => {
  const TYPED: KeySourceSetting = { kind: "passphrase", typed: "opens" };

  it("is asked for once, however many tasks it opens; what is added is another one", async () => {
    const { kept, asked } = createRoom(WORDS, "another one is added");
    expect([await kept.read({ typed: "opens" }), await kept.read({ typed: "opens" })]).toEqual([WORDS, WORDS]);
    expect(await kept.read({ typed: "added" })).toBe("another one is added");
    expect(asked).toEqual([false, true]);
  });

  it("is asked for as a new one before something new is sealed with it, once", async () => {
    const { kept, asked } = createRoom("a slip of the hand", WORDS);
    await kept.read({ typed: "opens" });
    kept.beginNew();
    kept.beginNew();
    expect(await kept.read({ typed: "opens" })).toBe(WORDS);
    expect(asked).toEqual([false, true]);
  });

  it("is not at hand where nobody is", async () => {
    const { kept } = createRoom();
    kept.beginNew();
    expect(await kept.read({ typed: "opens" })).toBeUndefined();
  });

  it("opens what it sealed; another one does not, and an empty one is none", async () => {
    const store = new MemoryKeyringObjects();
    const random = createSeededRandom("typed");
    const shared = { taskId: TASK_ID, store, sources: [TYPED], random, scryptCost: TEST_SCRYPT };
    const portsWith = (text: string) => {
      const { fileSystem, kept } = createRoom(text);
      return {
        fileSystem,
        readSecret: () => undefined,
        readPassphrase: (from: Parameters<typeof kept.read>[0]) => kept.read(from),
      };
    };
    await createTaskVault({ ...shared, ports: portsWith(WORDS), clock: new FakeClock() });
    const open = (text: string) => codeOfAsync(() => openTaskVault({ ...shared, ports: portsWith(text) }));
    expect([await open(WORDS), await open("some other words"), await open("  ")]).toEqual([
      "none",
      "KEY_WRONG",
      "KEY_SOURCE_INVALID",
    ]);
    expect(store.objects.get("keyring-1.json")?.toString()).not.toContain("horse");
  });
});
