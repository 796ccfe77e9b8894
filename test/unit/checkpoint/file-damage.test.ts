import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import type { TaskId } from "../../../src/base/ids.js";
import type { JsonValue } from "../../../src/base/json.js";
import { canonicalJson } from "../../../src/base/json-encoding.js";
import { encodeLayout, formatHead, readLayout } from "../../../src/checkpoint/format/layout.js";
import { createTimeSlicer, WITHOUT_PAUSES } from "../../../src/checkpoint/format/time-slicer.js";
import { decodeSummary } from "../../../src/checkpoint/format/payload.js";
import { openText } from "../../../src/checkpoint/format/sealed-payload.js";
import { encodeSnapshot, type SnapshotWriterOptions } from "../../../src/checkpoint/format/writer.js";
import type { CheckpointHeader } from "../../../src/schema/generated/checkpoint-header.js";
import type { TaskVault } from "../../../src/vault/contract.js";
import {
  createCheckpointRoom,
  createTaskState,
  positionOf,
  RAW_BYTES_MAX,
  takeCheckpoint,
} from "../../support/checkpoint-room.js";
import { changedBytes, collectOutcomes, cutBytes, outcomesBut, splicedBytes } from "../../support/damaged-bytes.js";
import { codeOfAsync } from "../../support/error-code.js";
import { createOtherKeyVault, createPlainVault, createTestVault, JOURNAL_TASK_ID } from "../../support/journal-room.js";

const OTHER_TASK_ID = "0b0a3f2c-5d7e-4f10-8a9b-1c2d3e4f5a6b" as TaskId;
/** What damage of a file may be called. */
const DAMAGE = ["CHECKPOINT_CORRUPT", "CHECKPOINT_TRUNCATED", "FORMAT_NOT_OURS", "FORMAT_VERSION"];
/** What a change by someone who repairs the checksum may be called. */
const TAMPERING = [
  ...DAMAGE,
  "CHECKPOINT_TAMPERED",
  "TASK_SWAPPED",
  "KEY_WRONG",
  "KEY_MISSING",
  "SEAL_MISSING",
  "VALUE_TOO_LARGE",
];

let vault: TaskVault;
let original: Buffer;
let text: string;

async function encode(extra: Partial<SnapshotWriterOptions> = {}, taskId: TaskId = JOURNAL_TASK_ID): Promise<Buffer> {
  const room = await createCheckpointRoom();
  const options = { ...room.writer, vault, ...extra };
  const taken = takeCheckpoint(createTaskState(taskId));
  const how = { options, pace: createTimeSlicer(options.clock, options.breathe) };
  return (await encodeSnapshot(taken, { position: positionOf(taken.position), prev: undefined }, how)).bytes;
}

/** Reads a file down to its text, as every reader does. */
async function read(bytes: Uint8Array, with_: TaskVault = vault): Promise<string> {
  const layout = await readLayout(bytes, RAW_BYTES_MAX, WITHOUT_PAUSES);
  const opened = await openText({ layout, vault: with_, pace: WITHOUT_PAUSES });
  decodeSummary(opened, layout.header);
  return opened.toString("utf8");
}

function codeOfReading(bytes: Uint8Array): Promise<string> {
  return codeOfAsync(() => read(bytes));
}

/** A file's first three lines with the last one that fits them. */
function withSum(lines: Buffer): Buffer {
  const sum = createHash("sha256").update(lines).digest("hex");
  return Buffer.concat([lines, Buffer.from(`"sha256":"${sum}"}\n`)]);
}

function repairChecksum(bytes: Buffer): Buffer {
  return withSum(bytes.subarray(0, bytes.length - 77));
}

/** The file with another header, its checksum made to fit. */
function withHeader(change: (header: Record<string, JsonValue>) => void, bytes = original): Buffer {
  const [first = "", second = "", third = ""] = bytes.toString("latin1").split("\n");
  const header = JSON.parse(second.slice('"header":'.length, -1)) as Record<string, JsonValue>;
  change(header);
  return withSum(Buffer.from(`${first}\n"header":${canonicalJson(header)},\n${third}\n`));
}

beforeAll(async () => {
  vault = createTestVault("snapshots");
  original = await encode();
  text = await read(original);
});

describe("a snapshot file", () => {
  it("is valid JSON in four lines with the seed's structure inside", () => {
    const lines = original.toString("utf8").split("\n");
    expect(lines).toHaveLength(5);
    expect(lines[4]).toBe("");
    const file = JSON.parse(original.toString("utf8")) as { header: CheckpointHeader; format: string; sha256: string };
    expect(file.format).toBe("splashdown.checkpoint");
    expect(file.header).toMatchObject({
      suite: "A256GCM-HKDF-SHA512-KC1",
      seq: 1,
      phase: 1,
      status: "in_progress",
      trigger: "specialist_finished",
      codec: "gzip",
    });
    expect(Object.keys(JSON.parse(text) as object).slice(0, 4)).toEqual([
      "version",
      "checkpoint_id",
      "workflow_id",
      "task",
    ]);
    expect(original.length).toBeLessThan(2600);
  });

  it("shows nothing of the task in the clear", () => {
    const clear = original.toString("latin1");
    for (const word of ["market-report", "why", "/work"]) expect(clear).not.toContain(word);
  });

  it("hides status and trigger with metadata: minimal", async () => {
    const bytes = await encode({ isMinimal: true });
    expect(bytes.toString("latin1")).not.toMatch(/in_progress|specialist_finished/);
    expect(await read(bytes)).toContain('"status":"in_progress"');
  });

  it("C1: is refused with every single bit flipped", async (context) => {
    const outcomes = await collectOutcomes(context, changedBytes(original), codeOfReading);
    expect(outcomesBut(outcomes, DAMAGE)).toEqual([]);
  });

  it("C1: is refused with every single bit flipped and the checksum repaired", async (context) => {
    const changed = changedBytes(original, original.length - 77);
    const outcomes = await collectOutcomes(context, changed, (bytes) => codeOfReading(repairChecksum(bytes)));
    expect(outcomesBut(outcomes, TAMPERING)).toEqual([]);
  });

  it("C1: is refused at every length but its own", async (context) => {
    const outcomes = await collectOutcomes(context, cutBytes(original), codeOfReading);
    expect([...outcomes.keys()]).toEqual(["CHECKPOINT_TRUNCATED"]);
    expect(await codeOfAsync(() => read(Buffer.concat([original, Buffer.from("\n")])))).toBe("CHECKPOINT_CORRUPT");
    expect(await codeOfAsync(() => read(Buffer.concat([original, original])))).toBe("CHECKPOINT_CORRUPT");
  });

  it("C1: is refused with a byte put in, doubled or taken out at every offset", async (context) => {
    const outcomes = await collectOutcomes(context, splicedBytes(original, 11), codeOfReading);
    expect(outcomesBut(outcomes, DAMAGE)).toEqual([]);
    const spliced = splicedBytes(original.subarray(0, -77), 11);
    const forged = await collectOutcomes(context, spliced, (bytes) => codeOfReading(withSum(bytes)));
    expect(outcomesBut(forged, TAMPERING)).toEqual([]);
  });

  it("is told from other files", async () => {
    for (const other of [
      '{"format":"splashdown.journal","version":"1.0","header":{}}\n',
      "{}",
      "\u0000".repeat(2000),
      "hello world, this is another file\n",
    ]) {
      expect(await codeOfAsync(() => read(Buffer.from(other)))).toBe("FORMAT_NOT_OURS");
    }
  });

  it.each(['"999"', '"1"', "null", '"1.1"'])("says that version %s is not one it reads", async (version) => {
    const bytes = Buffer.from(original.toString("latin1").replace('"version":"1.0"', `"version":${version}`), "latin1");
    expect(await codeOfAsync(() => read(repairChecksum(bytes)))).toBe("FORMAT_VERSION");
  });

  it("says so when the version is missing or the layout is another", async () => {
    const bytes = Buffer.from(original.toString("latin1").replace(',"version":"1.0"', ""), "latin1");
    expect(await codeOfAsync(() => read(repairChecksum(bytes)))).toBe("FORMAT_VERSION");
    expect(
      await codeOfAsync(() => read(Buffer.from('{"format":"splashdown.checkpoint","version":"2.0","all":"new"}'))),
    ).toBe("FORMAT_VERSION");
  });
});

describe("a snapshot file of someone else", () => {
  it("is refused with the wrong key, by name", async () => {
    expect(await codeOfAsync(() => read(original, createOtherKeyVault()))).toBe("KEY_WRONG");
  });

  it("is refused with a key generation that is not at hand", async () => {
    const bytes = withHeader((header) => (header["key"] = "fedcba9876543210"));
    expect(await codeOfAsync(() => read(bytes))).toBe("KEY_MISSING");
  });

  it("is refused in another task's folder", async () => {
    const other = createTestVault("other task", OTHER_TASK_ID);
    expect(await codeOfAsync(() => read(original, other))).toBe("TASK_SWAPPED");
    const relabelled = withHeader((header) => (header["workflow_id"] = OTHER_TASK_ID));
    expect(TAMPERING).toContain(await codeOfAsync(() => read(relabelled, other)));
  });

  it("is refused with any header field changed", async () => {
    const changes: ((header: Record<string, JsonValue>) => void)[] = [
      (header) => (header["seq"] = 2),
      (header) => (header["epoch"] = 9),
      (header) => (header["phase"] = 7),
      (header) => (header["status"] = "completed"),
      (header) => (header["app"] = "9.9.9"),
      (header) => (header["timestamp"] = "2030-01-01T00:00:00.000Z"),
      (header) => (header["journal"] = { ...positionOf(3) }),
      (header) => (header["prev"] = { checkpoint_id: "550e8400-e29b-41d4-a716-000000000009", sha256: "0".repeat(64) }),
      (header) => (header["raw"] = 10),
      (header) => (header["schema"] = 2),
    ];
    for (const change of changes) expect(await codeOfAsync(() => read(withHeader(change)))).toBe("CHECKPOINT_TAMPERED");
  });

  it("is refused with a header that is not canonical, too deep or has other keys", async () => {
    const [first = "", second = "", third = ""] = original.toString("latin1").split("\n");
    const rewrite = (header: string): Buffer => withSum(Buffer.from(`${first}\n"header":${header},\n${third}\n`));
    const json = second.slice('"header":'.length, -1);
    for (const header of [
      json.replace("{", "{ "),
      json.replace('"seq":1', '"seq":1.0'),
      json.replace('"seq":1', '"seq":1,"seq":1'),
      json.replace("{", '{"__proto__":{},'),
      json.replace("{", '{"a":1,'),
      `${"[".repeat(1500)}${"]".repeat(1500)}`,
      "7",
      "{",
      `{"a":"${"x".repeat(5000)}"}`,
    ]) {
      expect(await codeOfAsync(() => read(rewrite(header)))).toBe("CHECKPOINT_CORRUPT");
    }
  });

  it("FAULTS 40: is refused where plain data stands in for sealed data", async () => {
    const plain = await encode({ vault: createPlainVault(JOURNAL_TASK_ID) });
    expect(await read(plain, createPlainVault(JOURNAL_TASK_ID))).toBe(text);
    expect(await codeOfAsync(() => read(plain))).toBe("SEAL_MISSING");
    const lowered = withHeader((header) => {
      Object.assign(header, { suite: "none", salt: "", commit: "" });
      delete header["key"];
    });
    expect(["SEAL_MISSING", "CHECKPOINT_CORRUPT"]).toContain(await codeOfAsync(() => read(lowered)));
    const unknown = withHeader((header) => (header["suite"] = "ROT13"));
    expect(await codeOfAsync(() => read(unknown))).toBe("CHECKPOINT_CORRUPT");
    const version = Buffer.from(original.toString("latin1").replace('"version":"1.0"', '"version":"0.9"'), "latin1");
    expect(await codeOfAsync(() => read(repairChecksum(version)))).toBe("FORMAT_VERSION");
  });

  it("FAULTS 40: an unencrypted task does not open a sealed file without its key", async () => {
    expect(await codeOfAsync(() => read(original, createPlainVault(JOURNAL_TASK_ID)))).toBe("KEY_MISSING");
  });
});

describe("a snapshot file that would swell", () => {
  /** A file whose payload is anything, sealed with the right key. */
  async function seal(
    encoded: Buffer,
    sizes: { raw: number; size?: number; codec?: "gzip" | "none" },
  ): Promise<Buffer> {
    const template = (await readLayout(original, RAW_BYTES_MAX, WITHOUT_PAUSES)).header;
    const sealer = vault.createSealer("checkpoint");
    const header = {
      ...template,
      ...sealer.header,
      raw: sizes.raw,
      size: sizes.size ?? encoded.length,
      codec: sizes.codec ?? "gzip",
    } as CheckpointHeader;
    const head = formatHead(header);
    return (await encodeLayout(head, sealer.seal(0, head, encoded), WITHOUT_PAUSES)).bytes;
  }

  it("is stopped at the promised length", async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    expect(await codeOfAsync(async () => read(await seal(bomb, { raw: 1000 })))).toBe("CHECKPOINT_CORRUPT");
  });

  it("is refused when it promises more than the limit", async () => {
    const bomb = gzipSync(Buffer.alloc(1024));
    expect(await codeOfAsync(async () => read(await seal(bomb, { raw: RAW_BYTES_MAX + 1 })))).toBe("VALUE_TOO_LARGE");
  });

  it("is refused when it holds less than promised, or is cut, or is not gzip", async () => {
    const zip = gzipSync(Buffer.from("{}"));
    expect(await codeOfAsync(async () => read(await seal(zip, { raw: 3 })))).toBe("CHECKPOINT_CORRUPT");
    expect(await codeOfAsync(async () => read(await seal(zip.subarray(0, -3), { raw: 2 })))).toBe("CHECKPOINT_CORRUPT");
    expect(await codeOfAsync(async () => read(await seal(Buffer.from("nonsense"), { raw: 2 })))).toBe(
      "CHECKPOINT_CORRUPT",
    );
    expect(await codeOfAsync(async () => read(await seal(zip, { raw: 2, codec: "none" })))).toBe("CHECKPOINT_CORRUPT");
  });

  it("is refused by its size before it is read", async () => {
    expect(await codeOfAsync(() => readLayout(Buffer.alloc(200_000), 1000, WITHOUT_PAUSES))).toBe("VALUE_TOO_LARGE");
  });

  it("is refused when its content is not a checkpoint", async () => {
    for (const content of ["{}", "{}\n", '{"version":"1.0",\n"state":{}}', "x\ny"]) {
      const zip = gzipSync(Buffer.from(content));
      expect(await codeOfAsync(async () => read(await seal(zip, { raw: Buffer.byteLength(content) })))).toBe(
        "CHECKPOINT_CORRUPT",
      );
    }
  });
});
