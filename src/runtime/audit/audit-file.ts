/**
 * Audit files: who did what to a task, in the clear as far as it must be, sealed as far as it can be.
 *
 * Layout, LF-terminated JSON lines:
 *
 *     {"format":"splashdown.audit","version":"1.0","header":{workflow_id,n,prev,session,pid,host,by,app,seal}}
 *     {"at":"…","event":"read","verb":"show"}            one or more entries
 *     {"sealed":"<base64>","sha256":"<hex>"}             details of the entries, sealed; checksum of all before it
 *
 * A1: files are numbered without gaps and exclusively created: two processes never write the same number. A2: `prev` is
 *     the SHA-256 of the whole file before, so a changed, removed or reordered one breaks the chain. A3: the seal is an
 *     AES-GCM under HKDF(task key, "audit") whose associated data are the object key and every clear line; it proves who
 *     could write the file, and survives key rotation because the header names its key. A file without a seal may say
 *     one thing only: that an unlocking failed. A7: when the task is sealed again under another key, new files carry every
 *     entry with its origin (`carries`), and the files before them go; a set of them counts when all its parts are there.
 * Source: DESIGN section 7, STORAGE section 1.13.
 */
import { decodeBase64, sha256Hex } from "../../base/digest.js";
import { messageOf, SplashdownError } from "../../base/errors.js";
import type { KeyId } from "../../base/ids.js";
import { isJsonObject, type JsonObject } from "../../base/json.js";
import { canonicalJson } from "../../base/json-encoding.js";
import { LIMITS } from "../../base/limits.js";
import type { FileSealer, SealHeader, TaskVault } from "../../vault/contract.js";

const FORMAT = "splashdown.audit";
const VERSION = "1.0";
export const AUDIT_PREFIX = "audit/";
const KEY = /^audit\/(\d{8})\.jsonl$/;

export function auditKey(n: number): string {
  return `${AUDIT_PREFIX}${String(n).padStart(8, "0")}.jsonl`;
}

/** The number of an audit file; `undefined` for what is none. */
export function auditNumber(key: string): number | undefined {
  const [, digits] = KEY.exec(key) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export type AuditEvent =
  | "unlocked"
  | "unlock_failed"
  | "started"
  | "resumed"
  | "recovered"
  | "read"
  /** A step asked for what only a person may do. */
  | "refused"
  | "answered"
  | "guided"
  | "loss_accepted"
  | "changes_accepted"
  | "taken_over"
  | "quarantined"
  | "pruned"
  | "trashed"
  | "restored"
  | "pinned"
  | "unpinned"
  | "rolled_back"
  | "keys_changed"
  | "keys_accepted"
  | "exported"
  | "imported"
  | "shredded";

export interface AuditEntry {
  readonly at: string;
  readonly event: AuditEvent;
  readonly verb: string;
  /** What it was about; sealed where the task is. */
  readonly details: JsonObject;
  /** Of a carried entry: the file it stood in, and who wrote that. */
  readonly origin?: AuditOrigin;
}

export type AuditOrigin = Pick<AuditHeader, "n" | "session" | "pid" | "host" | "by" | "app">;

/** A file that says again what files up to `to` said; one of several parts, from 1. */
export interface AuditCarry {
  readonly to: number;
  readonly part: number;
  readonly parts: number;
}

export interface AuditHeader {
  readonly workflow_id: string | null;
  readonly n: number;
  /** SHA-256 of the file before; null in the first. */
  readonly prev: string | null;
  /** One per opened Splashdown. */
  readonly session: string;
  readonly pid: number;
  readonly host: string;
  readonly by: string;
  readonly app: string;
  readonly carries?: AuditCarry;
}

/** `vault` is absent where the task could not be unlocked: then the details stay in the clear. */
export function encodeAuditFile(
  header: AuditHeader,
  entries: readonly AuditEntry[],
  vault: TaskVault | undefined,
): Uint8Array {
  const sealer = vault?.createSealer("audit");
  const { carries, ...fields } = header;
  const first = canonicalJson({
    format: FORMAT,
    version: VERSION,
    header: {
      ...fields,
      ...(carries === undefined ? {} : { carries: { ...carries } }),
      seal: sealer === undefined ? null : { ...sealer.header },
    },
  });
  const lines = entries.map(({ at, event, verb, details, origin }) =>
    canonicalJson({
      at,
      event,
      verb,
      ...(origin === undefined ? {} : { origin: { ...origin } }),
      ...(sealer === undefined ? { details } : {}),
    }),
  );
  const clear = `${[first, ...lines].join("\n")}\n`;
  const end = `{"sealed":${sealer === undefined ? "null" : JSON.stringify(sealDetails(sealer, entries, { header, clear }))}`;
  return Buffer.from(`${clear}${end},"sha256":"${sha256Hex(clear, end)}"}\n`, "utf8");
}

function sealDetails(
  sealer: FileSealer,
  entries: readonly AuditEntry[],
  { header, clear }: { readonly header: AuditHeader; readonly clear: string },
): string {
  const plain = Buffer.from(JSON.stringify(entries.map(({ details }) => details)), "utf8");
  return sealer.seal(0, associatedData(header.n, clear), plain).toString("base64");
}

function associatedData(n: number, clear: string): Uint8Array {
  return Buffer.from(`${auditKey(n)}\n${clear}`, "utf8");
}

export interface AuditFile {
  readonly header: AuditHeader;
  /** Details are empty until `openDetails` opened them. */
  readonly entries: readonly AuditEntry[];
  readonly seal: SealHeader | undefined;
  readonly sealed: string | undefined;
  readonly clear: string;
}

/** Reads structure and checksum, without a key. Errors: FORMAT_NOT_OURS, FORMAT_VERSION, AUDIT_TAMPERED (the checksum). */
export function decodeAuditFile(key: string, bytes: Uint8Array): AuditFile {
  if (bytes.length > LIMITS.auditFileBytesMax) throw notOurs(key, "it is too large");
  const text = Buffer.from(bytes).toString("utf8");
  const [, clear, end, sealed, sum] =
    /^((?:\{.*\}\n)+)(\{"sealed":(null|"[A-Za-z0-9+/=]*")),"sha256":"([0-9a-f]{64})"\}\n$/.exec(text) ?? [];
  if (clear === undefined || end === undefined) throw notOurs(key, "its lines do not have the form of one");
  if (sha256Hex(clear, end) !== sum) throw tampered(key, "its checksum does not fit its content");
  const [first, ...rest] = clear
    .trimEnd()
    .split("\n")
    .map((line) => parseLine(key, line));
  if (first === undefined || first["format"] !== FORMAT) throw notOurs(key, "its format is another");
  if (first["version"] !== VERSION) {
    throw new SplashdownError(
      "FORMAT_VERSION",
      `${key} has version ${JSON.stringify(first["version"])}, this program reads ${VERSION}`,
      {
        details: { file: key },
      },
    );
  }
  const { header, seal } = parseHeader(key, first["header"]);
  const entries = rest.map((line) => parseEntry(key, line));
  return { header, entries, seal, sealed: sealed === "null" ? undefined : sealed?.slice(1, -1), clear };
}

/** The entries with their details. Errors: AUDIT_TAMPERED when the seal does not fit; KEY_*, SEAL_MISSING. */
export function openDetails(key: string, file: AuditFile, vault: TaskVault): readonly AuditEntry[] {
  const { seal, sealed, header, clear, entries } = file;
  if (seal === undefined || sealed === undefined) {
    const claim = entries.find(({ event }) => event !== "unlock_failed");
    if (claim !== undefined && vault.encrypted) throw tampered(key, `it claims ${claim.event} without a seal`);
    return entries;
  }
  const payload = decodeBase64(sealed);
  if (payload === undefined) throw tampered(key, "its sealed part is not base64");
  let details: unknown;
  try {
    const opened = vault.createOpener("audit", seal).open(0, associatedData(header.n, clear), payload);
    details = JSON.parse(opened.toString("utf8"));
  } catch (error) {
    if (error instanceof SplashdownError && error.code !== "SEAL_BROKEN") throw error;
    throw tampered(key, `its seal does not fit its lines: ${messageOf(error)}`);
  }
  if (!Array.isArray(details) || details.length !== entries.length) throw tampered(key, "its entries do not fit");
  const found: readonly unknown[] = details;
  return entries.map((entry, at) => {
    const own = found[at];
    return isJsonObject(own) ? { ...entry, details: own } : entry;
  });
}

function parseLine(key: string, line: string): JsonObject {
  try {
    const value: unknown = JSON.parse(line);
    if (isJsonObject(value)) return value;
  } catch {
    // Told below.
  }
  throw notOurs(key, "one of its lines is no JSON object");
}

function parseHeader(key: string, value: unknown): { header: AuditHeader; seal: SealHeader | undefined } {
  if (!isJsonObject(value)) throw notOurs(key, "it has no header");
  const { workflow_id: taskId, n, prev, session, pid, host, by, app, carries, seal } = value;
  const isWhole =
    (taskId === null || typeof taskId === "string") &&
    (prev === null || typeof prev === "string") &&
    typeof n === "number" &&
    typeof pid === "number";
  const carried = parseCarry(carries);
  if (!isWhole || (carries !== undefined && carried === undefined)) throw notOurs(key, "its header is incomplete");
  const header = {
    workflow_id: taskId,
    n,
    prev,
    session: textOf(session),
    pid,
    host: textOf(host),
    by: textOf(by),
    app: textOf(app),
    ...(carried === undefined ? {} : { carries: carried }),
  };
  return { header, seal: parseSeal(seal) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

function parseCarry(value: unknown): AuditCarry | undefined {
  if (!isJsonObject(value)) return undefined;
  const [to, part, parts] = [count(value["to"]), count(value["part"]), count(value["parts"])];
  return to > 0 && part > 0 && part <= parts ? { to, part, parts } : undefined;
}

function parseOrigin(value: unknown): AuditOrigin | undefined {
  if (!isJsonObject(value)) return undefined;
  const { n, session, pid, host, by, app } = value;
  return {
    n: count(n),
    session: textOf(session),
    pid: count(pid),
    host: textOf(host),
    by: textOf(by),
    app: textOf(app),
  };
}

function parseSeal(value: unknown): SealHeader | undefined {
  if (!isJsonObject(value)) return undefined;
  const { suite, salt, commit, key } = value;
  if (typeof suite !== "string" || typeof salt !== "string" || typeof commit !== "string") return undefined;
  return { suite, salt, commit, ...(typeof key === "string" ? { key: key as KeyId } : {}) };
}

function parseEntry(key: string, value: JsonObject): AuditEntry {
  const { at, event, verb, details } = value;
  if (typeof at !== "string" || typeof event !== "string" || typeof verb !== "string")
    throw notOurs(key, "one of its entries is incomplete");
  const origin = parseOrigin(value["origin"]);
  const own = { at, event: event as AuditEvent, verb, details: isJsonObject(details) ? details : {} };
  return origin === undefined ? own : { ...own, origin };
}

function notOurs(key: string, why: string): SplashdownError {
  return new SplashdownError("FORMAT_NOT_OURS", `${key} is not an audit file: ${why}`, { details: { file: key } });
}

function tampered(key: string, why: string): SplashdownError {
  return new SplashdownError("AUDIT_TAMPERED", `${key} was changed: ${why}`, { details: { file: key } });
}
