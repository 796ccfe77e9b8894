/**
 * The first line of a segment: whose it is, how it is sealed, and which history it continues.
 *
 * J3: history is the chain of `prev` pointers from the highest epoch with a durable header; `prev` names the last record
 *     that counts in the segment before, and whatever stands there after it is off the chain.
 * J13: a segment that continues another writer's begins with that writer's last batch once more: its sync may have failed
 *     though its bytes can be read, and what is built upon must not vanish. The copy counts only where the first is lost.
 * J14: a *whole* segment (whole-segment.ts) repeats every record that is left of the history and continues nothing: the
 *     chain ends with it. It counts from its first own record on; until that is there the epoch was only claimed.
 * J15: a header counts only when its own key has sealed every field of it (`seal`, a tag over the line up to the fields'
 *      end without that one). Anybody can compute the line's hash; the seal takes the key. Without encryption there is none.
 * Source: STORAGE section 1.4, DESIGN section 16.1.
 */
import { decodeBase64Url, encodeBase64Url, sha256 } from "../base/digest.js";
import { SplashdownError, assert } from "../base/errors.js";
import { isUuid, type KeyId } from "../base/ids.js";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../base/json.js";
import { canonicalJson } from "../base/json-encoding.js";
import type { SegmentId } from "../store/contract/contract.js";
import type { FileSealer, SealHeader } from "../vault/contract.js";
import { decodePosition, encodePosition, isCount, type JournalPosition } from "./position.js";
import { HASH_FIELD_BYTES, parseHashField } from "./record-line.js";

export interface SegmentHeader {
  readonly taskId: string;
  readonly id: SegmentId;
  readonly seal: SealHeader;
  /** The history this segment continues; absent where it begins the task. */
  readonly prev: JournalPosition | undefined;
  /** How many records up to `prev` this segment holds once more, before its own (J13). */
  readonly repeats: number;
  /** It repeats the whole history up to `prev`, and what stood before it counts no more (J14). */
  readonly isWhole?: boolean;
  /** The checkpoint its writer restarted from. */
  readonly base: string | undefined;
  readonly timestamp: string;
}

/** What a header's seal is over, and the seal as the line states it; not verified yet. */
export interface HeadSeal {
  readonly text: Buffer;
  readonly tag: Buffer;
}

/** The fields of a header line and its seal. */
export interface ReadHeader {
  readonly header: SegmentHeader;
  readonly seal: HeadSeal;
}

/**
 * A header line as found. `damaged`: the line does not fit its hash; with `read` where the fields can be read, one flipped
 * bit of them set right where that makes the line fit.
 */
export type ParsedHeader =
  | { readonly state: "good"; readonly read: ReadHeader; readonly hashes: readonly Buffer[] }
  | { readonly state: "damaged"; readonly read: ReadHeader | undefined; readonly hashes: readonly Buffer[] };

const FORMAT = '{"format":"splashdown.journal"';
const PREFIX = `${FORMAT},"version":"`;
const VERSION = "1.0";
const START = `${PREFIX}${VERSION}","header":`;
const VERSION_FIELD = /^\{"format":"splashdown\.journal","version":"([^"]{1,16})"/;
const FIELDS = [
  "base",
  "commit",
  "epoch",
  "index",
  "key",
  "prev",
  "repeats",
  "salt",
  "seal",
  "suite",
  "timestamp",
  "workflow_id",
];
/** Only where it is so. */
const WHOLE_FIELD = "whole";
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const BASE64URL = /^[A-Za-z0-9_-]{0,64}$/;
const KEY = /^[0-9a-f]{1,64}$/;

/** The record that the history before this segment ends with; none where it begins, or begins anew (J14). */
export function continuedBy({ isWhole, prev }: SegmentHeader): JournalPosition | undefined {
  return isWhole === true ? undefined : prev;
}

/** Builds a header line, sealed by the segment's own sealer. Shape: `h` is the first record's prior hash, as text. */
export function encodeSegmentHeader(
  header: Omit<SegmentHeader, "seal">,
  sealer: Pick<FileSealer, "header" | "sealHead">,
): { line: Buffer; h: string } {
  const fields = headerToJson({ ...header, seal: sealer.header });
  assert(fieldsToHeader(fields) !== undefined, "a segment header would not be readable");
  const seal = encodeBase64Url(sealer.sealHead(sealedText(fields)));
  const hashed = `${START}${canonicalJson({ ...fields, seal })}`;
  const h = encodeBase64Url(sha256(hashed));
  return { line: Buffer.from(`${hashed},"h":"${h}"}`), h };
}

function sealedText(fields: JsonObject): Buffer {
  return Buffer.from(`${START}${canonicalJson(fields)}`);
}

function headerToJson(header: SegmentHeader): JsonObject {
  return {
    workflow_id: header.taskId,
    epoch: header.id.epoch,
    index: header.id.index,
    suite: header.seal.suite,
    key: header.seal.key ?? null,
    salt: header.seal.salt,
    commit: header.seal.commit,
    prev: header.prev === undefined ? null : encodePosition(header.prev),
    repeats: header.repeats,
    base: header.base ?? null,
    timestamp: header.timestamp,
    ...(header.isWhole === true ? { [WHOLE_FIELD]: true } : {}),
  };
}

/**
 * Reads a header line (without its newline). Never guesses: a line that does not fit its hash is `damaged`, and its
 * fields, if they can be read at all, need proof from elsewhere.
 *
 * Errors: FORMAT_NOT_OURS, FORMAT_VERSION for an intact line of another format or version; JOURNAL_TAMPERED for a line
 * that fits its hash but is not what this program writes.
 */
export function parseSegmentHeader(line: Buffer): ParsedHeader {
  const hashedEnd = line.length - HASH_FIELD_BYTES;
  const stated = hashedEnd > 0 ? parseHashField(line, hashedEnd, line.length) : undefined;
  const hashed = line.subarray(0, Math.max(0, hashedEnd));
  const computed = sha256(hashed);
  const text = hashed.toString("utf8");
  if (stated?.equals(computed) !== true) {
    refuseOtherVersion(line.toString("utf8"), text, stated);
    const hashes = stated === undefined ? [computed] : [stated, computed];
    const repaired = stated === undefined ? undefined : repairBit(hashed, stated);
    const read = repaired === undefined ? decodeHeader(repairVersion(text), false) : decodeHeader(repaired, true);
    return { state: "damaged", read, hashes };
  }
  requireVersion(text);
  const read = decodeHeader(text, true);
  if (read === undefined)
    throw new SplashdownError("JOURNAL_TAMPERED", "a segment's header fits its hash but is not of our form");
  return { state: "good", read, hashes: [stated] };
}

/** True for a header line that is whole: what it states is the hash of the rest. */
export function fitsOwnHash(line: Buffer): boolean {
  const hashedEnd = line.length - HASH_FIELD_BYTES;
  const stated = hashedEnd > 0 ? parseHashField(line, hashedEnd, line.length) : undefined;
  return stated !== undefined && stated.equals(sha256(line.subarray(0, hashedEnd)));
}

function requireVersion(text: string): void {
  if (text.startsWith(START)) return;
  if (!text.startsWith(FORMAT)) throw new SplashdownError("FORMAT_NOT_OURS", "the file is not a journal segment");
  throw unsupportedVersion(text);
}

/**
 * Of a line that does not fit its hash: another version may hash otherwise, so it is refused, not called damaged, unless
 * one flipped bit of the version explains it all.
 */
function refuseOtherVersion(line: string, hashed: string, stated: Buffer | undefined): void {
  if (!line.startsWith(FORMAT) || line.startsWith(START)) return;
  const repaired = repairVersion(hashed);
  const isOnlyVersion = repaired !== hashed && stated !== undefined && sha256(repaired).equals(stated);
  if (!isOnlyVersion) throw unsupportedVersion(line);
}

/** The text with one flipped bit of its version set right; the text itself where that is not the matter. */
function repairVersion(text: string): string {
  const at = PREFIX.length;
  const found = text.slice(at, at + VERSION.length);
  let bits = 0;
  for (let place = 0; place < VERSION.length; place += 1) {
    bits += bitCount(found.charCodeAt(place) ^ VERSION.charCodeAt(place));
  }
  return bits === 1 && text.startsWith(PREFIX) ? `${PREFIX}${VERSION}${text.slice(at + VERSION.length)}` : text;
}

/** A longer line than this is none of ours. */
const HEADER_BYTES_MAX = 4096;

/** The text with the one bit flipped that makes it fit its hash; `undefined` where no single one does. */
function repairBit(hashed: Buffer, stated: Buffer): string | undefined {
  if (hashed.length > HEADER_BYTES_MAX) return undefined;
  const tried = Buffer.from(hashed);
  for (let at = 0; at < tried.length; at += 1) {
    const byte = tried.readUInt8(at);
    for (let bit = 1; bit < 256; bit <<= 1) {
      tried[at] = byte ^ bit;
      if (sha256(tried).equals(stated)) return tried.toString("utf8");
    }
    tried[at] = byte;
  }
  return undefined;
}

function bitCount(value: number): number {
  let count = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

function unsupportedVersion(text: string): SplashdownError {
  const version = VERSION_FIELD.exec(text)?.[1];
  const found = version === undefined ? "no version" : `version ${version}`;
  return new SplashdownError("FORMAT_VERSION", `the journal has ${found}, this program reads ${VERSION}`, {
    details: { version: version ?? null, supported: VERSION },
  });
}

function decodeHeader(text: string, isCanonical: boolean): ReadHeader | undefined {
  const open = text.indexOf("{", 1);
  if (open < 0) return undefined;
  const value = parseJson(text.slice(open));
  if (!isJsonObject(value) || (isCanonical && `${START}${canonicalJson(value)}` !== text)) return undefined;
  const names = Object.keys(value).filter((name) => name !== WHOLE_FIELD);
  if (names.sort().join() !== FIELDS.join()) return undefined;
  const { seal, ...fields } = value;
  const header = fieldsToHeader(fields);
  if (header === undefined || !isText(seal, BASE64URL)) return undefined;
  const tag = decodeBase64Url(seal);
  return tag === undefined ? undefined : { header, seal: { text: sealedText(fields), tag } };
}

function fieldsToHeader(value: JsonObject): SegmentHeader | undefined {
  const { workflow_id: taskId, epoch, index, base, timestamp } = value;
  const seal = decodeSeal(value);
  const continued = decodeContinued(value);
  if (seal === undefined || continued === undefined || !isCount(epoch, 1) || !isCount(index, 0)) return undefined;
  if (!isUuidText(taskId) || !isText(timestamp, TIMESTAMP) || (base !== null && !isUuidText(base))) return undefined;
  return { taskId, id: { epoch, index }, seal, ...continued, base: base ?? undefined, timestamp };
}

function decodeContinued(fields: JsonObject): Pick<SegmentHeader, "prev" | "repeats" | "isWhole"> | undefined {
  const { prev: value, repeats, [WHOLE_FIELD]: whole } = fields;
  const prev = decodePosition(value);
  if (prev === undefined && value !== null) return undefined;
  if (!isCount(repeats, 0) || repeats > (prev?.n ?? 0)) return undefined;
  if (whole === undefined) return { prev, repeats };
  return whole === true && repeats > 0 ? { prev, repeats, isWhole: true } : undefined;
}

function isUuidText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && isUuid(value);
}

function decodeSeal(value: JsonObject): SealHeader | undefined {
  const { suite, key, salt, commit } = value;
  if (typeof suite !== "string" || suite.length > 64 || !isText(salt, BASE64URL) || !isText(commit, BASE64URL))
    return undefined;
  if (key === null) return { suite, salt, commit };
  return isText(key, KEY) ? { suite, key: key as KeyId, salt, commit } : undefined;
}

function isText(value: JsonValue | undefined, form: RegExp): value is string {
  return typeof value === "string" && form.test(value);
}
