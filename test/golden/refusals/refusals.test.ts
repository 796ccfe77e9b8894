/**
 * What is said of every format's file that is not as it was written: the code and the words, frozen. A person who meets
 * such a file has nothing else to go by. `vitest -u` writes the table anew; read every line of it that changes.
 */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { errorCodeOf, messageOf } from "../../../src/base/errors.js";
import type { TaskVault } from "../../../src/vault/contract.js";
import { createOtherKeyVault, createPlainVault, createTestVault, JOURNAL_TASK_ID } from "../../support/journal-room.js";
import { noteTried } from "../../support/tried.js";
import { OTHER_TASK_ID } from "../../support/vault-room.js";
import { loadGolden } from "../formats/golden-files.js";
import { FORMATS } from "../formats/golden-formats.js";
import type { GoldenFormat } from "../formats/golden-parts.js";

const SHOWN_CHARS = 240;
/** Those that are read with the task's key; keyrings have tests of their own for every wrong key. */
const SEALED = /^(?:segment|whole-segment|snapshot|blob|audit-[1c]|answer-1|request|pin|unpin|bundle)/;

interface Wrong {
  readonly what: string;
  /** The file as it is found; `undefined` where a file of this format cannot be wrong in this way. */
  readonly bytes: (original: Buffer, name: string) => Buffer | undefined;
  readonly reader?: () => TaskVault;
}

const same = (original: Buffer): Buffer => original;

const WRONGS: readonly Wrong[] = [
  { what: "empty", bytes: () => Buffer.alloc(0) },
  { what: "of another program", bytes: () => Buffer.from("hello world, this is another file\n") },
  {
    what: "another of our files",
    bytes: (_original, name) => loadGolden(name === "keyring-1.0.json" ? "snapshot-1.0.json" : "keyring-1.0.json"),
  },
  { what: "of a version to come", bytes: (original) => rewritten(original, '"version":"1.0"', '"version":"2.0"') },
  { what: "cut in half", bytes: (original) => original.subarray(0, original.length >> 1) },
  { what: "with a bit flipped", bytes: flipped },
  { what: "with a bit flipped, the checksum repaired", bytes: (original) => repaired(flipped(original)) },
  { what: "sealed with another key", bytes: same, reader: createOtherKeyVault },
  { what: "of another task", bytes: same, reader: () => createTestVault("golden", OTHER_TASK_ID) },
  { what: "sealed, where there is no key", bytes: same, reader: () => createPlainVault(JOURNAL_TASK_ID) },
];

function flipped(original: Buffer): Buffer {
  const bytes = Buffer.from(original);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  return bytes;
}

function rewritten(original: Buffer, from: string, to: string): Buffer | undefined {
  const text = original.toString("latin1");
  if (!text.includes(from)) return undefined;
  const bytes = Buffer.from(text.replace(from, to), "latin1");
  return repaired(bytes) ?? bytes;
}

/** With the checksum that fits what stands before it; `undefined` where there is none. */
function repaired(bytes: Buffer): Buffer | undefined {
  const text = bytes.toString("latin1");
  const [, body] = /^([^]*\n)[0-9a-f]{64}\n$/.exec(text) ?? [];
  if (body !== undefined)
    return Buffer.from(`${body}${createHash("sha256").update(body, "latin1").digest("hex")}\n`, "latin1");
  const at = text.search(/[\n,]"sha256":"[0-9a-f]{64}"/);
  if (at < 0) return undefined;
  const end = text[at] === "\n" ? at + 1 : at;
  const sum = createHash("sha256").update(bytes.subarray(0, end)).digest("hex");
  return Buffer.from(`${text.slice(0, at + 11)}${sum}${text.slice(at + 75)}`, "latin1");
}

async function describeReading(format: GoldenFormat, { bytes, reader }: Wrong): Promise<string | undefined> {
  const found = bytes(loadGolden(format.name), format.name);
  if (found === undefined || (reader !== undefined && !SEALED.test(format.name))) return undefined;
  try {
    const told = await (reader === undefined ? format.read(found) : format.read(found, reader()));
    const isAsItWas = JSON.stringify(told) === JSON.stringify(format.tells);
    return isAsItWas ? "reads as it was" : `reads ${(JSON.stringify(told) ?? "nothing").slice(0, SHOWN_CHARS)}`;
  } catch (error) {
    return `${errorCodeOf(error) ?? "NO CODE"}: ${messageOf(error)}`;
  }
}

describe("a file that is not as it was written", () => {
  it("is told by the same code and words as ever, format by format", async (context) => {
    const lines: string[] = [];
    for (const format of FORMATS) {
      lines.push(`\n${format.name}`);
      for (const wrong of WRONGS) {
        const outcome = await describeReading(format, wrong);
        if (outcome !== undefined) lines.push(`  ${wrong.what}\n    ${outcome}`);
      }
    }
    const outcomes = lines.filter((line) => line.startsWith("  "));
    noteTried(context, outcomes.length);
    expect(outcomes.filter((line) => /NO CODE|INTERNAL/.test(line))).toEqual([]);
    await expect(`${lines.join("\n").trimStart()}\n`).toMatchFileSnapshot("refusals.txt");
  });
});
