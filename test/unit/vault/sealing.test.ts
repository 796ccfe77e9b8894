import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KeyId } from "../../../src/base/ids.js";
import type { SealHeader, SealPurpose, TaskVault } from "../../../src/vault/contract.js";
import {
  createPlainVault,
  createSealedVault,
  PLAIN_SUITE,
  SEALED_SUITE,
  type TaskKey,
} from "../../../src/vault/sealing.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { OTHER_TASK_ID, TASK_ID } from "../../support/vault-room.js";
import { codeOf } from "../../support/error-code.js";

const PURPOSES: readonly SealPurpose[] = ["checkpoint", "journal", "blob", "audit", "keyring", "control"];
const random = createSeededRandom("sealing");
const taskKey = (generation: number, fill: number): TaskKey => ({
  id: `${generation}`.padStart(16, "0") as KeyId,
  generation,
  bytes: Buffer.alloc(32, fill),
});
const first = taskKey(1, 7);
const second = taskKey(2, 9);

function createVault(overrides: Partial<Parameters<typeof createSealedVault>[0]> = {}): TaskVault {
  return createSealedVault({
    taskId: TASK_ID,
    active: first,
    keys: [first],
    minGeneration: 1,
    random,
    allowPlain: false,
    ...overrides,
  });
}

const aad = Buffer.from("header");
const plain = Buffer.from("what an agent said");

describe("sealed vault", () => {
  it("opens what it sealed, for every purpose, part and content", () => {
    const vault = createVault();
    fc.assert(
      fc.property(
        fc.constantFrom(...PURPOSES),
        fc.nat(2 ** 32 - 2),
        fc.uint8Array({ maxLength: 2000 }),
        fc.uint8Array({ maxLength: 50 }),
        (purpose, part, content, associated) => {
          const sealer = vault.createSealer(purpose);
          const sealed = sealer.seal(part, associated, content);
          expect(sealed.length).toBe(content.length + 16);
          const opened = vault.createOpener(purpose, sealer.header).open(part, associated, sealed);
          expect(Buffer.compare(opened, content)).toBe(0);
        },
      ),
    );
  });

  it("seals in slices to the same bytes as at once", () => {
    const left = createVault({ random: createSeededRandom(5) }).createSealer("checkpoint");
    const right = createVault({ random: createSeededRandom(5) }).createSealer("checkpoint");
    const slices = right.sealSlices(3, aad);
    const pieces = [slices.update(plain.subarray(0, 5)), slices.update(plain.subarray(5)), slices.finish()];
    expect(Buffer.concat(pieces)).toEqual(left.seal(3, aad, plain));
  });

  it("names suite, key, a fresh salt and a commitment in the header", () => {
    const vault = createVault();
    const headers = [vault.createSealer("journal").header, vault.createSealer("journal").header];
    expect(headers[0]).toEqual({
      suite: SEALED_SUITE,
      key: first.id,
      salt: expect.stringMatching(/^[\w-]{43}$/) as string,
      commit: expect.stringMatching(/^[\w-]{43}$/) as string,
    });
    expect(headers[0]?.salt).not.toBe(headers[1]?.salt);
    expect(headers[0]?.commit).not.toBe(headers[1]?.commit);
  });

  it("V2: a part number is used once and never goes back", () => {
    const sealer = createVault().createSealer("journal");
    sealer.seal(0, aad, plain);
    sealer.seal(4, aad, plain);
    expect(codeOf(() => sealer.seal(4, aad, plain))).toBe("INTERNAL");
    expect(codeOf(() => sealer.seal(1, aad, plain))).toBe("INTERNAL");
    expect(codeOf(() => sealer.sealSlices(4, aad))).toBe("INTERNAL");
    sealer.sealSlices(5, aad);
    expect(codeOf(() => sealer.seal(5, aad, plain))).toBe("INTERNAL");
  });

  it.each([-1, 0.5, 2 ** 32, Number.NaN])("refuses the part number %s", (part) => {
    expect(codeOf(() => createVault().createSealer("journal").seal(part, aad, plain))).toBe("INTERNAL");
  });

  it.each([
    ["checkpoint", "CHECKPOINT_TAMPERED"],
    ["journal", "JOURNAL_TAMPERED"],
    ["blob", "BLOB_CORRUPT"],
    ["audit", "SEAL_BROKEN"],
    ["keyring", "SEAL_BROKEN"],
    ["control", "SEAL_BROKEN"],
  ] as const)("says of a %s file that its seal is broken, whatever bit was changed", (purpose, code) => {
    const vault = createVault();
    const sealer = vault.createSealer(purpose);
    const sealed = sealer.seal(1, aad, plain);
    const opener = vault.createOpener(purpose, sealer.header);
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(codeOf(() => opener.open(1, aad, changed))).toBe(code);
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(codeOf(() => opener.open(1, aad, sealed.subarray(0, length)))).toBe(code);
    }
    expect(codeOf(() => opener.open(2, aad, sealed))).toBe(code);
    expect(codeOf(() => opener.open(1, Buffer.from("headex"), sealed))).toBe(code);
    expect(opener.open(1, aad, sealed)).toEqual(plain);
  });

  it("says KEY_WRONG when the commitment differs: another key, task, purpose, salt or commitment", () => {
    const vault = createVault();
    const { header } = vault.createSealer("blob");
    const impostor: TaskKey = { ...first, bytes: Buffer.alloc(32, 8) };
    const refused: [TaskVault, SealPurpose, SealHeader][] = [
      [createVault({ active: impostor, keys: [impostor] }), "blob", header],
      [createVault({ taskId: OTHER_TASK_ID }), "blob", header],
      [vault, "journal", header],
      [vault, "blob", { ...header, salt: vault.createSealer("blob").header.salt }],
      [vault, "blob", { ...header, salt: "short" }],
      [vault, "blob", { ...header, salt: `${header.salt}=` }],
      [vault, "blob", { ...header, commit: vault.createSealer("blob").header.commit }],
      [vault, "blob", { ...header, commit: "" }],
      [vault, "blob", { ...header, commit: `${header.commit}!` }],
    ];
    expect(refused.map(([reader, purpose, wrong]) => codeOf(() => reader.createOpener(purpose, wrong)))).toEqual(
      refused.map(() => "KEY_WRONG"),
    );
  });

  it("reads older generations, and refuses unknown ones and those below the minimum", () => {
    const { header } = createVault().createSealer("blob");
    const rotated = createVault({ active: second, keys: [first, second] });
    expect(rotated.keyId).toBe(second.id);
    expect(rotated.createSealer("blob").header.key).toBe(second.id);
    expect(rotated.createOpener("blob", header)).toBeDefined();
    const strict = createVault({ active: second, keys: [first, second], minGeneration: 2 });
    expect(codeOf(() => strict.createOpener("blob", header))).toBe("KEY_MISSING");
    const without = createVault({ active: second, keys: [second] });
    expect(codeOf(() => without.createOpener("blob", header))).toBe("KEY_MISSING");
    expect(codeOf(() => without.createOpener("blob", { ...header, key: undefined }))).toBe("KEY_MISSING");
  });

  it("V3: refuses plain data unless it was opened with allowPlain", () => {
    const header = createPlainVault(TASK_ID).createSealer("blob").header;
    expect(codeOf(() => createVault().createOpener("blob", header))).toBe("SEAL_MISSING");
    expect(createVault({ allowPlain: true }).createOpener("blob", header).open(0, aad, plain)).toEqual(plain);
  });

  it("refuses a suite it does not know", () => {
    const { header } = createVault().createSealer("blob");
    expect(codeOf(() => createVault().createOpener("blob", { ...header, suite: "A256GCM-SIV" }))).toBe(
      "FORMAT_VERSION",
    );
    expect(codeOf(() => createPlainVault(TASK_ID).createOpener("blob", { ...header, suite: "x" }))).toBe(
      "FORMAT_VERSION",
    );
  });

  it("makes digests that depend on key, task, label and bytes", () => {
    const digests = [
      createVault().keyedDigest("blob", plain),
      createVault().keyedDigest("redact", plain),
      createVault().keyedDigest("blob", aad),
      createVault({ taskId: OTHER_TASK_ID }).keyedDigest("blob", plain),
      createVault({ active: second, keys: [second] }).keyedDigest("blob", plain),
      createPlainVault(TASK_ID).keyedDigest("blob", plain),
    ].map((digest) => digest.toString("hex"));
    expect(digests.every((digest) => digest.length === 64)).toBe(true);
    expect(new Set(digests).size).toBe(digests.length);
    expect(createVault().keyedDigest("blob", plain).toString("hex")).toBe(digests[0]);
  });

  it("shows no key when it is printed or turned into JSON", async () => {
    const { inspect } = await import("node:util");
    const sealer = createVault().createSealer("blob");
    for (const subject of [createVault(), sealer, createVault().createOpener("blob", sealer.header)]) {
      expect(inspect(subject, { depth: 9, showHidden: true })).not.toMatch(/07 07 07|7, 7, 7/);
      expect(JSON.stringify(subject)).not.toMatch(/7,7,7/);
    }
  });
});

describe("plain vault", () => {
  const vault = createPlainVault(TASK_ID);

  it("leaves parts as they are and marks the file", () => {
    const sealer = vault.createSealer("journal");
    expect(vault.encrypted).toBe(false);
    expect(vault.keyId).toBeUndefined();
    expect(sealer.header).toEqual({ suite: PLAIN_SUITE, salt: "", commit: "" });
    expect(sealer.seal(0, aad, plain)).toEqual(plain);
    const slices = sealer.sealSlices(1, aad);
    expect(Buffer.concat([slices.update(plain), slices.finish()])).toEqual(plain);
    expect(vault.createOpener("journal", sealer.header).open(0, aad, plain)).toEqual(plain);
  });

  it("keeps the numbering of parts", () => {
    const sealer = vault.createSealer("journal");
    sealer.seal(0, aad, plain);
    expect(codeOf(() => sealer.seal(0, aad, plain))).toBe("INTERNAL");
  });

  it("gives a copy, so that a later change of the bytes changes nothing", () => {
    const bytes = Buffer.from("abc");
    const sealed = vault.createSealer("journal").seal(0, aad, bytes);
    bytes.fill(0);
    expect(sealed.toString()).toBe("abc");
  });

  it("says KEY_MISSING of a sealed file", () => {
    const { header } = createVault().createSealer("blob");
    expect(codeOf(() => vault.createOpener("blob", header))).toBe("KEY_MISSING");
    expect(codeOf(() => vault.createOpener("blob", { ...header, key: undefined }))).toBe("KEY_MISSING");
  });
});
