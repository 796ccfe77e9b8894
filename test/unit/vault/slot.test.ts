import { describe, expect, it } from "vitest";
import type { KeyringSlot } from "../../../src/schema/generated/keyring.js";
import {
  createSlot,
  derivePassphraseKey,
  findSlotProblem,
  isScryptCostLegal,
  openSlot,
  SCRYPT_COST,
} from "../../../src/vault/slot.js";
import type { Secret, SourceState } from "../../../src/vault/key-source.js";
import { codeOfAsync } from "../../support/error-code.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { KEY_SOURCE, OTHER_TASK_ID, TASK_ID, TEST_SCRYPT } from "../../support/vault-room.js";

const place = { task: TASK_ID, keyId: "0123456789abcdef" };
const key = Buffer.alloc(32, 6);
const secret: Secret = { nature: "key", bytes: Buffer.alloc(32, 2) };
const source: SourceState = { setting: KEY_SOURCE, label: "key file", secret };
const create = (): Promise<KeyringSlot> =>
  createSlot({ ...place, source, secret, key, random: createSeededRandom(3), scryptCost: TEST_SCRYPT });

describe("isScryptCostLegal", () => {
  it.each([
    [SCRYPT_COST, true],
    [{ log2n: 18, r: 8, p: 1 }, true],
    [{ log2n: 17, r: 8, p: 2 }, true],
    [{ log2n: 18, r: 8, p: 2 }, false],
    [{ log2n: 19, r: 1, p: 1 }, false],
    [{ log2n: 20, r: 8, p: 4 }, false],
    [{ log2n: 4, r: 9, p: 1 }, false],
    [{ log2n: 4, r: 1, p: 3 }, false],
    [{ log2n: 0, r: 1, p: 1 }, false],
    [{ log2n: 4.5, r: 1, p: 1 }, false],
  ])("of %j is %s", (cost, verdict) => expect(isScryptCostLegal(cost)).toBe(verdict));

  it("keeps the cost of new slots at the recommended 2^17, r 8, p 1", () => {
    expect(SCRYPT_COST).toEqual({ log2n: 17, r: 8, p: 1 });
  });
});

describe("createSlot", () => {
  it.each([
    ["", "is empty"],
    ["  ", "is empty"],
    [" correct horse battery", "white space"],
    ["correct horse\u0007battery", "control character"],
    ["short", "is shorter than"],
  ])("refuses the new passphrase %j", async (text, problem) => {
    const weak: Secret = { nature: "passphrase", text };
    const setting = { kind: "passphrase", environment: "P" } as const;
    const options = { ...place, source: { setting, label: "P", secret: weak }, secret: weak, key };
    const work = createSlot({ ...options, random: createSeededRandom(1), scryptCost: TEST_SCRYPT });
    await expect(work).rejects.toThrow(problem);
  });

  it("passes on what scrypt itself refuses", async () => {
    const cost = { log2n: 0, r: 1, p: 1 };
    await expect(derivePassphraseKey("correct horse battery", Buffer.alloc(32), cost)).rejects.toThrow(/scrypt/i);
  });
});

describe("findSlotProblem", () => {
  it("refuses work over the ceilings and derivations that do not belong to the type", async () => {
    const slot = await create();
    const scrypt = { name: "scrypt", log2n: 17, r: 8, p: 1, salt: "A".repeat(43) } as const;
    const wrapped = { name: "command", wrapped: "x" } as const;
    expect(findSlotProblem(slot)).toBeUndefined();
    expect(findSlotProblem({ ...slot, type: "env" })).toBeUndefined();
    expect(findSlotProblem({ ...slot, type: "env", kdf: scrypt })).toContain("of type env");
    expect(findSlotProblem({ ...slot, type: "passphrase", kdf: scrypt })).toBeUndefined();
    expect(findSlotProblem({ ...slot, type: "command", kdf: wrapped })).toBeUndefined();
    expect(findSlotProblem({ ...slot, type: "passphrase", kdf: { ...scrypt, log2n: 20, r: 16 } })).toContain(
      "more scrypt work",
    );
    expect(findSlotProblem({ ...slot, kdf: scrypt })).toContain("of type keyfile");
    expect(findSlotProblem({ ...slot, type: "command" })).toContain("of type command");
    expect(findSlotProblem({ ...slot, type: "env", kdf: wrapped })).toContain("of type env");
  });
});

describe("openSlot", () => {
  it("opens what was sealed, for this task and key only", async () => {
    const slot = await create();
    expect(await openSlot(slot, secret, place)).toEqual({ state: "opened", key });
    expect(await openSlot(slot, { nature: "key", bytes: Buffer.alloc(32, 3) }, place)).toEqual({ state: "wrong" });
    expect(await openSlot(slot, secret, { ...place, task: OTHER_TASK_ID })).toEqual({ state: "tampered" });
    expect(await openSlot(slot, secret, { ...place, keyId: "0123456789abcdee" })).toEqual({ state: "tampered" });
  });

  it("V7: looks at lengths before anything else", async () => {
    const slot = await create();
    for (const changed of [
      { ...slot, salt: slot.salt.slice(1) },
      { ...slot, commit: slot.commit.slice(2) },
      { ...slot, wrap: slot.wrap.slice(4) },
      { ...slot, wrap: `${slot.wrap}AAAA` },
    ]) {
      expect(await openSlot(changed, secret, place)).toEqual({ state: "tampered" });
    }
  });

  it("V8: does not open with any clear field changed", async () => {
    const slot = await create();
    for (const changed of [
      { ...slot, label: "other" },
      { ...slot, fingerprint: "0000000000000000" },
      { ...slot, type: "env" as const },
      { ...slot, kdf: undefined, extra: 1 },
    ]) {
      expect((await openSlot(changed, secret, place)).state).toBe("tampered");
    }
  });

  it("refuses our own mistake of trying a secret on a slot that is not for it", async () => {
    const slot = await create();
    const passphrase: Secret = { nature: "passphrase", text: "correct horse battery" };
    expect(await codeOfAsync(() => openSlot(slot, passphrase, place))).toBe("INTERNAL");
  });
});
