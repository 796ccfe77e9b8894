import { beforeAll, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.js";
import {
  auditKey,
  auditNumber,
  decodeAuditFile,
  encodeAuditFile,
  openDetails,
  type AuditEntry,
  type AuditHeader,
} from "../../../src/runtime/audit/audit-file.js";
import type { TaskVault } from "../../../src/vault/contract.js";
import { createPlainVault } from "../../../src/vault/sealing.js";
import { changedBytes, collectOutcomes, cutBytes, outcomesBut, splicedBytes } from "../../support/damaged-bytes.js";
import { codeOf } from "../../support/error-code.js";
import { createVaultRoom, TASK_ID } from "../../support/vault-room.js";

const HEADER: AuditHeader = {
  workflow_id: TASK_ID,
  n: 3,
  prev: "ab".repeat(32),
  session: "s",
  pid: 7,
  host: "here",
  by: "ada",
  app: "0.1.0",
};
const ENTRIES: readonly AuditEntry[] = [
  { at: "2024-01-02T14:35:22.123Z", event: "unlocked", verb: "show", details: { key: "k" } },
  { at: "2024-01-02T14:35:22.124Z", event: "read", verb: "show", details: { secret_step: "pay" } },
];
const KEY = auditKey(3);
/** What damage of a file may be called. */
const DAMAGE = ["AUDIT_TAMPERED", "FORMAT_NOT_OURS", "FORMAT_VERSION"];

describe("an audit file", () => {
  let vault: TaskVault;
  beforeAll(async () => {
    vault = await createVaultRoom().create();
  });

  it("gives back what was written, with the details sealed and the rest in the clear", () => {
    const bytes = Buffer.from(encodeAuditFile(HEADER, ENTRIES, vault));
    const file = decodeAuditFile(KEY, bytes);
    expect(file.header).toEqual(HEADER);
    expect(file.entries.map(({ event, details }) => [event, details])).toEqual([
      ["unlocked", {}],
      ["read", {}],
    ]);
    expect(openDetails(KEY, file, vault)).toEqual(ENTRIES);
    expect(bytes.toString()).toContain('"event":"read"');
    expect(bytes.toString()).not.toContain("secret_step");
  });

  const codeOfReading = (changed: Buffer): string =>
    codeOf(() => openDetails(KEY, decodeAuditFile(KEY, changed), vault));

  it("A3: with any bit flipped it is refused as damaged", async (context) => {
    const bytes = encodeAuditFile(HEADER, ENTRIES, vault);
    expect([...(await collectOutcomes(context, changedBytes(bytes), codeOfReading)).keys()].sort()).toEqual([
      "AUDIT_TAMPERED",
      "FORMAT_NOT_OURS",
    ]);
  });

  it("A3: with any bit flipped and the checksum repaired it is refused, by its seal or before", async (context) => {
    const bytes = Buffer.from(encodeAuditFile(HEADER, ENTRIES, vault));
    const end = bytes.lastIndexOf(',"sha256":"');
    const outcomes = await collectOutcomes(context, changedBytes(bytes.subarray(0, end)), (changed) =>
      codeOfReading(Buffer.from(`${changed.toString("latin1")},"sha256":"${sha256Hex(changed)}"}\n`, "latin1")),
    );
    const byKey = ["KEY_MISSING", "KEYRING_ROLLED_BACK", "KEY_WRONG", "SEAL_MISSING", "TASK_SWAPPED"];
    expect(outcomesBut(outcomes, [...DAMAGE, ...byKey])).toEqual([]);
    expect([...outcomes.keys()]).toContain("AUDIT_TAMPERED");
  });

  it("A3: cut at every length, or with a byte put in, doubled or taken out at every offset, it is refused", async (context) => {
    const bytes = encodeAuditFile(HEADER, ENTRIES, vault);
    for (const damages of [cutBytes(bytes), splicedBytes(bytes)])
      expect(outcomesBut(await collectOutcomes(context, damages, codeOfReading), DAMAGE)).toEqual([]);
  });

  it("A3: clear lines that were changed with a fitting checksum do not fit the seal", () => {
    const text = Buffer.from(encodeAuditFile(HEADER, ENTRIES, vault)).toString();
    for (const [from, to] of [
      ['"by":"ada"', '"by":"eve"'],
      ['"event":"read"', '"event":"open"'],
      ['"n":3', '"n":4'],
    ] as const) {
      const changed = text.replace(from, to);
      const cut = changed.indexOf(',"sha256"');
      const repaired = Buffer.from(`${changed.slice(0, cut)},"sha256":"${sha256Hex(changed.slice(0, cut))}"}\n`);
      const file = decodeAuditFile(KEY, repaired);
      expect([to, codeOf(() => openDetails(KEY, file, vault))]).toEqual([to, "AUDIT_TAMPERED"]);
    }
  });

  it("A3: without a seal it may only say that an unlocking failed", () => {
    const failed: AuditEntry = { at: "t", event: "unlock_failed", verb: "show", details: { code: "KEY_WRONG" } };
    const honest = decodeAuditFile(KEY, encodeAuditFile(HEADER, [failed], undefined));
    expect(openDetails(KEY, honest, vault)).toEqual([failed]);
    const forged = decodeAuditFile(KEY, encodeAuditFile(HEADER, ENTRIES, undefined));
    expect(codeOf(() => openDetails(KEY, forged, vault))).toBe("AUDIT_TAMPERED");
  });

  it("is not accepted plain where the task is encrypted, and opens where it is not", () => {
    const plain = createPlainVault(TASK_ID);
    const file = decodeAuditFile(KEY, encodeAuditFile(HEADER, ENTRIES, plain));
    expect(openDetails(KEY, file, plain)).toEqual(ENTRIES);
    expect(codeOf(() => openDetails(KEY, file, vault))).toBe("SEAL_MISSING");
  });

  it("has a key with its number; other names are none", () => {
    expect(auditNumber(KEY)).toBe(3);
    expect([auditNumber("audit/3.jsonl"), auditNumber("audit/00000003.json"), auditNumber("x/00000003.jsonl")]).toEqual(
      [undefined, undefined, undefined],
    );
  });
});
