/**
 * What a vault says of a file it does not open: code, words and details, each in full. The digests were computed with another
 * implementation (Python).
 */
import { describe, expect, it } from "vitest";
import type { KeyId } from "../../../src/base/ids.js";
import { createPlainVault, createSealedVault, type TaskKey } from "../../../src/vault/sealing.js";
import type { TaskVault } from "../../../src/vault/contract.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { TASK_ID } from "../../support/vault-room.js";

const keyOf = (generation: number, fill: number): TaskKey => ({
  id: `${generation}`.padStart(16, "0") as KeyId,
  generation,
  bytes: Buffer.alloc(32, fill),
});
const [first, second] = [keyOf(1, 7), keyOf(2, 9)];

function createVault(keys: readonly TaskKey[], minGeneration = 1, active = keys.at(-1) ?? first): TaskVault {
  const random = createSeededRandom("refused");
  return createSealedVault({ taskId: TASK_ID, active, keys, minGeneration, random, allowPlain: false });
}

const vault = createVault([first]);
const plain = createPlainVault(TASK_ID);
const { header } = vault.createSealer("blob");
const audit = vault.createSealer("audit");
const aad = Buffer.from("head");
const LONG_SUITE = "S".repeat(90);

describe("a vault that refuses a file", () => {
  it.each<[string, () => unknown, string, string, object]>([
    [
      "whose seal is broken",
      () => vault.createOpener("audit", audit.header).open(3, aad, Buffer.alloc(40)),
      "SEAL_BROKEN",
      "the seal of part 3 of an audit file does not fit its content",
      { task: TASK_ID, purpose: "audit", part: 3 },
    ],
    [
      "that is not sealed",
      () => vault.createOpener("journal", plain.createSealer("journal").header),
      "SEAL_MISSING",
      "a journal file is not sealed, but the task's files are",
      { task: TASK_ID, purpose: "journal" },
    ],
    [
      "whose key is not there",
      () => createVault([keyOf(3, 1), second]).createOpener("blob", header),
      "KEY_MISSING",
      `a file needs key ${first.id}, which the keyring did not give`,
      { task: TASK_ID, key: first.id, known: [keyOf(3, 1).id, second.id] },
    ],
    [
      "that names no key",
      () => vault.createOpener("blob", { ...header, key: undefined }),
      "KEY_MISSING",
      "a file needs key none, which the keyring did not give",
      { task: TASK_ID, key: "none", known: [first.id] },
    ],
    [
      "whose key is below the minimum",
      () => createVault([first, second], 2).createOpener("blob", header),
      "KEY_MISSING",
      `a file was sealed with key ${first.id}, which the keyring no longer admits`,
      { task: TASK_ID, key: first.id, known: [first.id, second.id] },
    ],
    [
      "that was sealed with another key of that name",
      () => createVault([{ ...first, bytes: second.bytes }]).createOpener("blob", header),
      "KEY_WRONG",
      `a blob file names key ${first.id}, but was not sealed with it`,
      { task: TASK_ID, purpose: "blob", key: first.id },
    ],
    [
      "of a suite to come, whose name is cut",
      () => vault.createOpener("blob", { ...header, suite: LONG_SUITE }),
      "FORMAT_VERSION",
      `a file was sealed with an unknown suite ${LONG_SUITE.slice(0, 64)}`,
      { task: TASK_ID, suite: LONG_SUITE.slice(0, 64) },
    ],
    [
      "that is sealed, where there is no keyring",
      () => plain.createOpener("control", header),
      "KEY_MISSING",
      `a control file needs key ${first.id}, but the task has no keyring`,
      { task: TASK_ID, purpose: "control", key: first.id },
    ],
    [
      "that is sealed with a key it does not name, where there is no keyring",
      () => plain.createOpener("control", { ...header, key: undefined }),
      "KEY_MISSING",
      "a control file needs key none, but the task has no keyring",
      { task: TASK_ID, purpose: "control", key: "none" },
    ],
  ])("says so of one %s", (_what, act, code, message, details) => {
    expect(act).toThrow(expect.objectContaining({ code, message, details }) as Error);
  });

  it("V2: says of a part that comes again what would happen", () => {
    const sealer = createVault([first]).createSealer("journal");
    sealer.seal(2, aad, aad);
    expect(() => sealer.seal(2, aad, aad)).toThrow("part 2 was sealed already: a nonce would be used twice");
  });
});

describe("the generations of a vault", () => {
  it("begin with the one that seals; older ones follow, the newest first, each once and none below the minimum", () => {
    const keys = [keyOf(1, 1), keyOf(4, 4), keyOf(2, 2), keyOf(3, 3), keyOf(5, 5)];
    const active = keyOf(3, 3);
    expect(createVault(keys, 1, active).generations).toEqual([3, 5, 4, 2, 1]);
    expect(createVault(keys, 3, active).generations).toEqual([3, 5, 4]);
    expect(plain.generations).toEqual([0]);
  });
});

describe("the digest of a task", () => {
  it("is the one it always was, with encryption and without: names of large values hang on it", () => {
    const sealed = "bcfb86cda742cd9bb322c098f55c0a72e2cb5c5fc17a577fc32ff6693eda93aa";
    expect(vault.keyedDigest("blob", Buffer.from("value")).toString("hex")).toBe(sealed);
    expect(plain.keyedDigest("blob", Buffer.from("value")).toString("hex")).toBe(
      "d05be64e383008b543bf06b7867d2ebe000c6f2cd65351c454d9627945ae22d2",
    );
  });
});
