/** Bundles: what was packed comes out again, and nothing hostile does. */
import { strToU8, unzipSync, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.js";
import { errorCodeOf } from "../../../src/base/errors.js";
import { LIMITS } from "../../../src/base/limits.js";
import { packBundle, unpackBundle } from "../../../src/transfer/bundle.js";
import type { TaskFile } from "../../../src/transfer/copy-task.js";

const FACTS = {
  task: "story",
  workflowId: "0f9b6c1e-7c59-4a6e-9a3e-0d8f7a1b2c3d",
  created: "2026-11-28T06:00:00.000Z",
  app: "0.1.0",
  encrypted: true,
};
const FILES: readonly TaskFile[] = [
  { segment: { epoch: 1, index: 0 }, bytes: Buffer.from("header\nline\n") },
  { key: "blobs/ab/abc.bin", bytes: Buffer.alloc(1000, 7) },
  { key: "empty.json", bytes: Buffer.alloc(0) },
  { key: "keyring-1.json", bytes: Buffer.from("{}") },
];

async function pack(files: readonly TaskFile[] = FILES): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of packBundle(FACTS, files)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** A zip file that lists what is in it, right or wrong. */
function forge(entries: Readonly<Record<string, string>>, manifest: object = {}, level: 0 | 6 = 0): Buffer {
  const files = Object.entries(entries).map(([name, text]) => ({
    name: name.replace(/^checkpoints\//, ""),
    size: Buffer.byteLength(text),
    sha256: sha256Hex(text),
  }));
  const { task, workflowId: workflow_id, created, app, encrypted } = FACTS;
  const head = { format: "splashdown.bundle", version: "1.0", task, workflow_id, created, app, encrypted };
  const all = { ...entries, "bundle.json": JSON.stringify({ ...head, files, ...manifest }) };
  const bytes = Object.fromEntries(Object.entries(all).map(([name, text]) => [name, strToU8(text)]));
  return Buffer.from(zipSync(bytes, { level }));
}

function refusalOf(zip: Uint8Array): [string | undefined, string] {
  try {
    unpackBundle(zip);
  } catch (error) {
    return [errorCodeOf(error), error instanceof Error ? error.message : ""];
  }
  return [undefined, "accepted"];
}

describe("a bundle", () => {
  it("gives back what was packed, in its order", async () => {
    const { facts, files } = unpackBundle(await pack());
    expect(facts).toEqual(FACTS);
    expect(files.map(({ bytes, ...place }) => ({ ...place, bytes: Buffer.from(bytes) }))).toEqual(FILES);
  });

  it("is laid out as a task's folder, for any zip program", async () => {
    expect(Object.keys(unzipSync(await pack()))).toEqual([
      "checkpoints/journal/00000001-0000.jsonl",
      "checkpoints/blobs/ab/abc.bin",
      "checkpoints/empty.json",
      "checkpoints/keyring-1.json",
      "bundle.json",
    ]);
  });

  it("is the same, byte by byte, when it is packed again", async () => {
    expect(sha256Hex(await pack())).toBe(sha256Hex(await pack()));
  });

  it("has the same time on every machine: noon of the day it was made, wherever that is", async () => {
    const zip = await pack(FILES.slice(-1));
    const directory = zip.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]));
    const [time, date] = [zip.readUInt16LE(directory + 12), zip.readUInt16LE(directory + 14)];
    expect([time, date]).toEqual([12 << 11, ((2026 - 1980) << 9) | (11 << 5) | 28]);
    expect([zip.readUInt16LE(10), zip.readUInt16LE(12)]).toEqual([time, date]);
  });

  it("T3: cut anywhere, it is refused", async () => {
    const whole = await pack();
    for (let length = 0; length < whole.length; length += 1)
      expect([length, refusalOf(whole.subarray(0, length))[0]]).toEqual([length, "BUNDLE_CORRUPT"]);
  });

  it("T3: with any byte of a file in it changed, it is refused", async () => {
    const whole = await pack([{ key: "a.json", bytes: Buffer.from("some sealed bytes") }]);
    const at = whole.indexOf("some sealed bytes");
    for (let byte = at; byte < at + 17; byte += 1) {
      const changed = Buffer.from(whole);
      changed[byte] = (changed[byte] ?? 0) ^ 1;
      expect(refusalOf(changed)).toEqual(["BUNDLE_CORRUPT", "the bundle is damaged: a.json is damaged"]);
    }
  });

  it("T3: with any bit of it flipped it gives what was packed or is refused, and never another error", async () => {
    const small = FILES.slice(-1);
    const whole = await pack(small);
    // Every third bit: all places of a byte, a third of the time.
    for (let bit = 0; bit < whole.length * 8; bit += 3) {
      const changed = Buffer.from(whole);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const [code] = refusalOf(changed);
      if (code === undefined)
        expect(unpackBundle(changed).files.map(({ bytes }) => Buffer.from(bytes))).toEqual(
          small.map(({ bytes }) => bytes),
        );
      else expect(["BUNDLE_CORRUPT", "FORMAT_NOT_OURS", "FORMAT_VERSION", "BUNDLE_TOO_LARGE"]).toContain(code);
    }
  });

  it.each([
    "checkpoints/../../escape",
    "checkpoints/journal/../x",
    "checkpoints//etc/passwd",
    "checkpoints/a\\b",
    "checkpoints/owner-00000001",
    "checkpoints/journal/1.jsonl",
    "checkpoints/.hidden",
    "checkpoints/nul",
  ])("T3: refuses the name %s", (name) => {
    const [code, message] = refusalOf(forge({ [name]: "x" }));
    expect(code).toBe("BUNDLE_CORRUPT");
    expect(message).toContain("is no name of a task's file");
  });

  it.each<[string, Buffer, string]>([
    ["a file that is not listed", forge({ "checkpoints/a": "x" }, { files: [] }), "it lists 0 files and holds 1"],
    ["a listed file that is not there", forge({ "checkpoints/a": "x", other: "y" }), "other is missing"],
    ["compressed files", forge({ "checkpoints/a": "x".repeat(9000) }, {}, 6), "are compressed"],
    ["no list", forge({}, { files: "all" }), "lists no files"],
    ["a malformed entry", forge({}, { files: [{ name: 1 }] }), "has a malformed entry"],
    ["another task's name", forge({}, { task: "../x" }), "does not say which task"],
    ["no zip file at all", Buffer.from("PK but not really".repeat(20)), "cannot be read as a zip file"],
    ["an empty file", Buffer.alloc(0), "cannot be read as a zip file"],
  ])("refuses %s", (_what, zip, message) => {
    const [code, said] = refusalOf(zip);
    expect(code).toBe("BUNDLE_CORRUPT");
    expect(said).toContain(message);
  });

  it("tells a zip file of somebody else, and a later version, from damage", () => {
    expect(refusalOf(Buffer.from(zipSync({ "notes.txt": strToU8("x") }, { level: 0 })))[0]).toBe("FORMAT_NOT_OURS");
    expect(refusalOf(forge({}, { format: "other" }))[0]).toBe("FORMAT_NOT_OURS");
    expect(refusalOf(forge({}, { version: "2.0" }))[0]).toBe("FORMAT_VERSION");
  });

  it("believes no length that a zip file states", () => {
    const zip = forge({ "checkpoints/a": "x" });
    const directory = zip.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]));
    zip.writeUInt32LE(0xfffffff0, directory + 24);
    expect(refusalOf(zip)[0]).toBe("BUNDLE_TOO_LARGE");
  });

  /** One place of `bytes` zeros that the directory names so often, as the reported bomb does. */
  function bomb(bytes: number, times: number, changes: { sizeBytes?: number; headerAt?: (at: number) => number } = {}) {
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    const rows = Array.from({ length: times }, (_row, at) => {
      const name = Buffer.from(`checkpoints/k${at}`);
      const row = Buffer.alloc(46 + name.length);
      row.writeUInt32LE(0x02014b50, 0);
      row.writeUInt32LE(bytes, 20);
      row.writeUInt32LE(changes.sizeBytes ?? bytes, 24);
      row.writeUInt16LE(name.length, 28);
      row.writeUInt32LE(changes.headerAt?.(at) ?? 0, 42);
      name.copy(row, 46);
      return row;
    });
    const directory = Buffer.concat(rows);
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(times, 8);
    end.writeUInt16LE(times, 10);
    end.writeUInt32LE(directory.length, 12);
    end.writeUInt32LE(30 + bytes, 16);
    return Buffer.concat([local, Buffer.alloc(bytes), directory, end]);
  }

  it("[security M2] refuses the bomb whose sizes are said to be 0, by the file that has another one, and takes no room", () => {
    const zip = bomb(16 * 1024 * 1024, 150, { sizeBytes: 0 });
    const before = process.memoryUsage.rss();
    const [code, said] = refusalOf(zip);
    expect([code, said]).toEqual([
      "BUNDLE_CORRUPT",
      expect.stringContaining('"checkpoints/k0" is said to have 0 bytes'),
    ]);
    expect(process.memoryUsage.rss() - before).toBeLessThan(32 * 1024 * 1024);
  });

  it("[security M2 kin] refuses files that lie over each other, with honest sizes too", () => {
    expect(refusalOf(bomb(1024, 150))).toEqual([
      "BUNDLE_CORRUPT",
      expect.stringContaining("lies over another file in it"),
    ]);
  });

  it("[security M2 kin] refuses sizes that add up to more than a bundle may have, before any is looked at", () => {
    expect(refusalOf(bomb(16 * 1024 * 1024, 150))[0]).toBe("BUNDLE_TOO_LARGE");
  });

  it("[security M2 kin] refuses files that stand nowhere, in the directory, or beyond the end", () => {
    for (const headerAt of [1, 1_024, 1_100, 0xffff_fff0])
      expect([headerAt, refusalOf(bomb(1024, 1, { headerAt: () => headerAt }))[0]]).toEqual([
        headerAt,
        "BUNDLE_CORRUPT",
      ]);
  });

  it("[security M2 kin] refuses a directory with more rows than the file has room for, before the first", () => {
    const zip = bomb(0, 1);
    zip.writeUInt16LE(0xffff, zip.length - 12);
    expect(refusalOf(zip)).toEqual(["BUNDLE_CORRUPT", expect.stringContaining("its directory is not in it")]);
  });

  it("[security M2 kin] refuses a list that is larger than any list of that many files", () => {
    const [code, said] = refusalOf(forge({}, { more: "x".repeat(LIMITS.bundleListBytesMax) }));
    expect([code, said]).toEqual(["BUNDLE_CORRUPT", expect.stringContaining("bundle.json is over")]);
  });

  it("refuses to pack more than it would unpack", async () => {
    const many = (function* () {
      for (let at = 0; at <= LIMITS.bundleFilesMax; at += 1) yield { key: `k${at}`, bytes: Buffer.alloc(0) };
    })();
    const packing = async () => {
      let size = 0;
      for await (const piece of packBundle(FACTS, many)) size += piece.length;
      return size;
    };
    await expect(packing()).rejects.toMatchObject({ code: "BUNDLE_TOO_LARGE" });
  });
});
