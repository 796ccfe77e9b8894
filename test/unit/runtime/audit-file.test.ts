import { beforeAll, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.js";
import { SplashdownError } from "../../../src/base/errors.js";
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
import { codeOf } from "../../support/error-code.js";
import { createVaultRoom, TASK_ID } from "../../support/vault-room.js";
import { noteTried } from "../../support/tried.js";

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

  it("A3: with any bit flipped it is refused, with the checksum repaired or not", (context) => {
    const bytes = Buffer.from(encodeAuditFile(HEADER, ENTRIES, vault));
    noteTried(context, bytes.length * 9);
    const read = (changed: Buffer): unknown => openDetails(KEY, decodeAuditFile(KEY, changed), vault);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => read(changed), `bit ${bit}`).toThrow(SplashdownError);
    }
    for (let at = 0; at < bytes.length; at += 1) {
      expect(() => read(bytes.subarray(0, at)), `cut at ${at}`).toThrow(SplashdownError);
    }
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
