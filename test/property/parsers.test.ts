/**
 * Every reader of a format on changed, mixed and random bytes: what it takes is what was written, byte for byte, and what it
 * refuses is refused by a code. `SPLASHDOWN_PROOF_FACTOR` multiplies the runs.
 */
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { errorCodeOf, messageOf } from "../../src/base/errors.js";
import { readLayout } from "../../src/checkpoint/format/layout.js";
import { createTimeSlicer, WITHOUT_PAUSES } from "../../src/checkpoint/format/time-slicer.js";
import { openText } from "../../src/checkpoint/format/sealed-payload.js";
import { encodeSnapshot } from "../../src/checkpoint/format/writer.js";
import { readHistory } from "../../src/journal/history.js";
import {
  auditKey,
  decodeAuditFile,
  encodeAuditFile,
  openDetails,
  type AuditHeader,
} from "../../src/runtime/audit/audit-file.js";
import { decodeControlFile, encodeControlFile } from "../../src/runtime/mailbox/control-file.js";
import {
  createCheckpointRoom,
  createTaskState,
  positionOf,
  RAW_BYTES_MAX,
  takeCheckpoint,
} from "../support/checkpoint-room.js";
import {
  createJournalRoom,
  createSegmentsTask,
  createTestVault,
  notedEvent,
  textsOf,
} from "../support/journal-room.js";
import { createSeededNumbers, type SeededNumbers } from "../support/seeded-random.js";
import { noteTried, runsOf } from "../support/tried.js";
import { createVaultRoom, type VaultRoom } from "../support/vault-room.js";

const RUNS = 2_000;
const AUDIT = auditKey(3);
const CONTROL = "control/answer-x";
const KEYRING = "keyring-1.json";

interface Format {
  readonly original: Buffer;
  /** What was read, as text; throws what it refuses. */
  readonly read: (bytes: Buffer) => Promise<string>;
}

const vault = createTestVault("parsers");
const formats = new Map<string, Format>();

beforeAll(async () => {
  formats.set("checkpoint", await createCheckpoint());
  formats.set("segment", await createSegment());
  formats.set("keyring", await createKeyring(createVaultRoom()));
  formats.set("audit file", createAudit());
  formats.set("control file", createControl());
});

async function createCheckpoint(): Promise<Format> {
  const { writer } = await createCheckpointRoom(vault);
  const taken = takeCheckpoint(createTaskState());
  const how = { options: writer, pace: createTimeSlicer(writer.clock, writer.breathe) };
  const written = await encodeSnapshot(taken, { position: positionOf(taken.position), prev: undefined }, how);
  const read = async (bytes: Buffer) => {
    const layout = await readLayout(bytes, RAW_BYTES_MAX, WITHOUT_PAUSES);
    return (await openText({ layout, vault, pace: WITHOUT_PAUSES })).toString("latin1");
  };
  return { original: Buffer.from(written.bytes), read };
}

async function createSegment(): Promise<Format> {
  const room = await createJournalRoom(vault);
  const writer = await room.take();
  writer.append([notedEvent(1), notedEvent(2), notedEvent(3)]);
  await writer.close();
  const read = async (bytes: Buffer) => {
    const history = await readHistory({ task: createSegmentsTask(new Map([["1-0", bytes]])), vault });
    const texts = textsOf(history).join();
    // Of a journal a part may be read, as long as the rest is named; nothing else than what was written ever is.
    const isPrefix = "note 1,note 2,note 3".startsWith(texts) && history.lost.length === 0;
    return isPrefix || (history.lost.length > 0 && isSelection(texts)) ? "read" : `${texts} of the journal`;
  };
  return { original: await room.bytes(), read };
}

function isSelection(texts: string): boolean {
  const all = ["note 1", "note 2", "note 3"];
  const some = texts === "" ? [] : texts.split(",");
  return some.every((text, at) => all.includes(text) && all.indexOf(text) >= at);
}

async function createKeyring(room: VaultRoom): Promise<Format> {
  await room.create();
  const original = Buffer.from(room.store.objects.get(KEYRING) ?? new Uint8Array());
  const read = async (bytes: Buffer) => {
    room.store.objects.set(KEYRING, bytes);
    await room.open();
    return "opened";
  };
  return { original, read };
}

function createAudit(): Format {
  const header: AuditHeader = {
    workflow_id: vault.taskId,
    n: 3,
    prev: "ab".repeat(32),
    session: "s",
    pid: 7,
    host: "here",
    by: "ada",
    app: "0.1.0",
  };
  const entry = { at: "2024-01-02T14:35:22.123Z", event: "unlocked", verb: "show", details: { key: "k" } } as const;
  const original = Buffer.from(encodeAuditFile(header, [entry], vault));
  return {
    original,
    read: async (bytes) => JSON.stringify(openDetails(AUDIT, decodeAuditFile(AUDIT, bytes), vault)),
  };
}

function createControl(): Format {
  const original = Buffer.from(encodeControlFile(vault, CONTROL, { kind: "answer", question: "q", answer: "yes" }));
  return { original, read: async (bytes) => JSON.stringify(decodeControlFile(vault, CONTROL, bytes)) };
}

const PIECES = [
  "\n",
  '"',
  "{",
  "}",
  "=",
  "\0",
  "AAAA",
  '"version":"1.0"',
  "\\u0000",
  "null",
  "-1",
  "1e999",
  "__proto__",
];

/** Cuts, doubles, moves, puts in or turns over; now and then random from end to end. */
function change(bytes: Buffer, numbers: SeededNumbers): Buffer {
  if (numbers.next(50) === 0) return Buffer.from(Array.from({ length: numbers.next(400) }, () => numbers.next(256)));
  let changed = bytes;
  for (let count = 1 + numbers.next(3); count > 0; count -= 1) changed = changeOnce(changed, bytes, numbers);
  return numbers.next(2) === 0 ? changed : repairSum(changed);
}

function changeOnce(bytes: Buffer, original: Buffer, numbers: SeededNumbers): Buffer {
  const [at, from] = [numbers.next(bytes.length + 1), numbers.next(original.length)];
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (numbers.next(5)) {
    case 0: {
      const flipped = Buffer.from(bytes);
      if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << numbers.next(8));
      return flipped;
    }
    case 1:
      return Buffer.concat([head, tail.subarray(numbers.next(80))]);
    case 2:
      return Buffer.concat([head, original.subarray(from, from + numbers.next(120)), tail]);
    case 3:
      return Buffer.concat([head, Buffer.from(PIECES[numbers.next(PIECES.length)] ?? ""), tail]);
    default:
      return Buffer.concat([head, Buffer.alloc(numbers.next(64)), tail.subarray(numbers.next(64))]);
  }
}

/** What somebody does who knows the formats, but no key. */
function repairSum(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf('"sha256":"');
  if (end < 0) return bytes;
  const body = bytes.subarray(0, end);
  return Buffer.concat([body, Buffer.from(`"sha256":"${createHash("sha256").update(body).digest("hex")}"}\n`)]);
}

describe("a reader", () => {
  it.for(["checkpoint", "segment", "keyring", "audit file", "control file"])(
    "of a %s takes what was written and nothing else, and refuses by a code",
    async (name, context) => {
      noteTried(context, runsOf(RUNS));
      expect(await tryFormat(name)).toEqual([]);
    },
  );
});

/** The first few things that were read otherwise, or refused without a code. */
async function tryFormat(name: string): Promise<readonly string[]> {
  const format = formats.get(name);
  if (format === undefined) throw new Error(`there is no format ${name}`);
  const numbers = createSeededNumbers(20_240_102);
  const truth = await format.read(format.original);
  const wrong: string[] = [];
  for (let run = 0; run < runsOf(RUNS); run += 1) {
    const bytes = change(format.original, numbers);
    const found = await readOrRefuse(format, bytes);
    const isRight =
      found.code === undefined ? found.text === truth && mayBeRead(name, bytes, format) : isTyped(found.code);
    if (!isRight) wrong.push(`run ${run}: ${found.code ?? "read"} ${found.text.slice(0, 300)}`);
  }
  return wrong.slice(0, 5);
}

/** A journal heals; every other file is read only as it was written. */
function mayBeRead(name: string, bytes: Buffer, { original }: Format): boolean {
  return name === "segment" || bytes.equals(original);
}

function isTyped(code: string): boolean {
  return code !== "INTERNAL" && code !== "untyped";
}

async function readOrRefuse({ read }: Format, bytes: Buffer): Promise<{ code?: string; text: string }> {
  try {
    return { text: await read(bytes) };
  } catch (error) {
    return { code: errorCodeOf(error) ?? "untyped", text: messageOf(error) };
  }
}
