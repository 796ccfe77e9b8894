/** Control files and the owner's record, flipped bit by bit and cut: refused with a code, or never what they were not. */
import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.js";
import { errorCodeOf } from "../../../src/base/errors.js";
import { decodeControlFile, encodeControlFile } from "../../../src/runtime/mailbox/control-file.js";
import { decodeOwnerRecord, encodeOwnerRecord } from "../../../src/store/presence/owner-record.js";
import { changedBytes, collectOutcomes, cutBytes, splicedBytes } from "../../support/damaged-bytes.js";
import { createPlainVault, createTestVault, JOURNAL_TASK_ID } from "../../support/journal-room.js";

const KEY = "control/answer-0123456789abcdef";
const BODY = { kind: "answer", question: "q", answer: "yes", by: "a person", at: "2024-01-02T14:35:22.123Z" };

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return errorCodeOf(error) ?? `untyped: ${String(error)}`;
  }
  return "opened";
}

describe("a control file", () => {
  const vault = createTestVault("control");
  const bytes = encodeControlFile(vault, KEY, BODY);

  it("is read back as it was", () => {
    expect(decodeControlFile(vault, KEY, bytes)).toEqual(BODY);
  });

  const codeOfReading = (changed: Buffer): string => codeOf(() => decodeControlFile(vault, KEY, changed));
  const isCode = (outcome: string): boolean => outcome !== "opened" && /^[A-Z]+(_[A-Z]+)+$/.test(outcome);

  it("is told as damaged after a flip of any bit, in the clear as well", async (context) => {
    const outcomes = await collectOutcomes(context, changedBytes(bytes), codeOfReading);
    expect([...outcomes.keys()]).toEqual(["FORMAT_NOT_OURS"]);
    const open = createPlainVault(JOURNAL_TASK_ID);
    const clear = encodeControlFile(open, KEY, BODY);
    expect(decodeControlFile(open, KEY, clear)).toEqual(BODY);
    const plain = await collectOutcomes(context, changedBytes(clear), (changed) =>
      codeOf(() => decodeControlFile(open, KEY, changed)),
    );
    expect([...plain.keys()]).toEqual(["FORMAT_NOT_OURS"]);
  });

  it("is refused with a code after a flip of any bit by somebody who repairs the checksum", async (context) => {
    const body = Buffer.from(bytes).subarray(0, bytes.length - 65);
    const outcomes = await collectOutcomes(context, changedBytes(body), (changed) =>
      codeOfReading(Buffer.concat([changed, Buffer.from(`${sha256Hex(changed)}\n`)])),
    );
    expect([...outcomes].filter(([outcome]) => !isCode(outcome))).toEqual([]);
    expect(outcomes.size).toBeGreaterThan(3);
  });

  it("is refused with a code cut at every length, and with a byte put in, doubled or taken out at every offset", async (context) => {
    for (const damages of [cutBytes(bytes), splicedBytes(bytes)]) {
      const outcomes = await collectOutcomes(context, damages, codeOfReading);
      expect([...outcomes].filter(([outcome]) => !isCode(outcome))).toEqual([]);
    }
  });

  it("is refused under another name, in another task, and plain where the task is sealed", () => {
    expect(codeOf(() => decodeControlFile(vault, `${KEY}0`, bytes))).not.toBe("opened");
    const other = createTestVault("control", "7f9619ff-8b86-4d01-b42d-00cf4fc964ff");
    expect(codeOf(() => decodeControlFile(other, KEY, bytes))).toBe("TASK_SWAPPED");
    const plain = encodeControlFile(createPlainVault(JOURNAL_TASK_ID), KEY, BODY);
    expect(codeOf(() => decodeControlFile(vault, KEY, plain))).not.toBe("opened");
  });
});

describe("an owner's record", () => {
  const facts = {
    pid: 7,
    host: "here",
    machineId: "m",
    bootId: "b",
    namespace: "pid:[1]",
    processStartedAt: "9",
    since: "2024-01-02T14:35:22.123Z",
  };
  const text = encodeOwnerRecord({ facts, counter: 3, socket: ".00112233445566aa.sock" });

  it("is a hint: whatever happens to it, it is read as some record or as none, and never throws", async (context) => {
    const found = await collectOutcomes(context, changedBytes(Buffer.from(text)), (changed) => {
      const record = decodeOwnerRecord(changed.toString("utf8"));
      return record === undefined ? "none" : typeof record.counter;
    });
    expect(new Set(found.keys())).toEqual(new Set(["none", "number"]));
    for (let size = 0; size < text.length - 1; size += 1)
      expect(decodeOwnerRecord(text.slice(0, size))).toBeUndefined();
  });
});
