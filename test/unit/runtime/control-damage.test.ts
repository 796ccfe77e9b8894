/** Control files and the owner's record, flipped bit by bit and cut: refused with a code, or never what they were not. */
import { describe, expect, it } from "vitest";
import { errorCodeOf } from "../../../src/base/errors.js";
import { decodeControlFile, encodeControlFile } from "../../../src/runtime/people/control-file.js";
import { decodeOwnerRecord, encodeOwnerRecord } from "../../../src/store/owner-record.js";
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

function* flipsOf(bytes: Uint8Array): Generator<Buffer> {
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    yield changed;
  }
}

describe("a control file", () => {
  const vault = createTestVault("control");
  const bytes = encodeControlFile(vault, KEY, BODY);

  it("is read back as it was", () => {
    expect(decodeControlFile(vault, KEY, bytes)).toEqual(BODY);
  });

  it("is refused with a code after a flip of any bit, and at every length but its own", () => {
    const codes = new Set<string>();
    for (const changed of flipsOf(bytes)) codes.add(codeOf(() => decodeControlFile(vault, KEY, changed)));
    for (let size = 0; size < bytes.length; size += 1)
      codes.add(codeOf(() => decodeControlFile(vault, KEY, bytes.subarray(0, size))));
    codes.add(codeOf(() => decodeControlFile(vault, KEY, Buffer.concat([bytes, Buffer.from("\n")]))));
    expect([...codes].filter((code) => code === "opened" || !/^[A-Z]+(_[A-Z]+)+$/.test(code))).toEqual([]);
    expect(codes.size).toBeGreaterThan(3);
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
  const facts = { pid: 7, host: "here", bootId: "b", processStartedAt: "9", since: "2024-01-02T14:35:22.123Z" };
  const text = encodeOwnerRecord({ facts, counter: 3, socket: ".00112233445566aa.sock" });

  it("is a hint: whatever happens to it, it is read as some record or as none, and never throws", () => {
    const found = [...flipsOf(Buffer.from(text))].map((changed) => {
      const record = decodeOwnerRecord(changed.toString("utf8"));
      return record === undefined ? "none" : typeof record.counter;
    });
    expect(new Set(found)).toEqual(new Set(["none", "number"]));
    for (let size = 0; size < text.length - 1; size += 1)
      expect(decodeOwnerRecord(text.slice(0, size))).toBeUndefined();
  });
});
