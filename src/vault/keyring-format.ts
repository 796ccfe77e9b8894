/**
 * The bytes of a keyring file: four lines, no free byte.
 *
 *     {"format":"splashdown.keyring","version":"1.0",
 *     "header":{…canonical JSON…},
 *     "mac":"<86 characters of base64url>",
 *     "sha256":"<64 hex digits>"}
 *
 * `sha256` covers everything before its line and tells damage from a wrong key, without one. `mac` (HMAC-SHA-512 under
 * a key derived from the active task key) covers the first two lines: nobody without the key can add a recipient or
 * lower the minimum generation. Source: STORAGE sections 1.3 and 2.2.
 *
 * V9: a file is read only if writing what was read gives the same bytes again.
 */
import { createHmac } from "node:crypto";
import { decodeBase64Url, encodeBase64Url, sha256Hex } from "../base/digest.js";
import { SplashdownError } from "../base/errors.js";
import type { JsonObject } from "../base/json.js";
import { canonicalJson } from "../base/json-encoding.js";
import { LIMITS } from "../base/limits.js";
import { validateKeyringHeader, type KeyringHeader, type KeyringKey } from "../schema/generated/keyring.js";
import { deriveDigestKey, isSameBytes } from "./derivation.js";
import { findSlotProblem, sumScryptWork } from "./slot.js";

const VERSION = "1.0";
const FORMAT_START = `{"format":"splashdown.keyring","version":"`;
const FIRST_LINE = `${FORMAT_START}${VERSION}",`;
const HEADER_START = `"header":`;
const MAC_LINE = /^"mac":"([A-Za-z0-9_-]{86})",$/;
const SHA_LINE = /^"sha256":"([0-9a-f]{64})"\}$/;
const LINE_FEED = 0x0a;
const MAC_BYTES = 64;

/** A keyring as read from a file; authentic only after `isKeyringAuthentic`. */
export interface Keyring {
  readonly header: KeyringHeader;
  readonly mac: Uint8Array;
  /** The two lines that the mac covers. */
  readonly authenticated: Uint8Array;
}

function computeMac(authenticated: Uint8Array, taskKey: Uint8Array, task: string): Buffer {
  return createHmac("sha512", deriveDigestKey(taskKey, "keyring", task))
    .update(authenticated)
    .digest();
}

/** The file of a keyring, authenticated by the active task key. */
export function encodeKeyring(header: KeyringHeader, taskKey: Uint8Array): Buffer {
  const authenticated = Buffer.from(
    `${FIRST_LINE}\n${HEADER_START}${canonicalJson(header as unknown as JsonObject)},\n`,
  );
  const mac = computeMac(authenticated, taskKey, header.task);
  const body = Buffer.concat([authenticated, Buffer.from(`"mac":"${encodeBase64Url(mac)}",\n`)]);
  return Buffer.concat([body, Buffer.from(`"sha256":"${sha256Hex(body)}"}\n`)]);
}

/** True when the keyring was written by someone who has the active task key. */
export function isKeyringAuthentic(keyring: Keyring, taskKey: Uint8Array): boolean {
  return isSameBytes(computeMac(keyring.authenticated, taskKey, keyring.header.task), keyring.mac);
}

/**
 * Reads a keyring file without any key.
 *
 * Errors: KEYRING_CORRUPT when it is damaged, FORMAT_VERSION when it is whole and written by a newer version.
 */
export function decodeKeyring(bytes: Uint8Array, file: string): Keyring {
  const whole = checkWhole(bytes);
  if ("text" in whole) requireVersion(whole.text, file);
  const keyring = "text" in whole ? decodeLines(bytes, whole.text) : whole.problem;
  if (typeof keyring !== "string") return keyring;
  throw new SplashdownError("KEYRING_CORRUPT", `the keyring file ${file} ${keyring}`, { details: { file } });
}

/** The text of a file that is as it was written, of whatever version; or what is wrong with it. */
function checkWhole(bytes: Uint8Array): { readonly text: string } | { readonly problem: string } {
  if (bytes.length > LIMITS.keyringBytesMax) return { problem: "is too large" };
  const text = decodeText(bytes);
  if (text === undefined || !text.startsWith(FORMAT_START)) return { problem: "does not begin as a keyring does" };
  const bodyLength = findBodyLength(bytes);
  if (bodyLength === undefined) return { problem: "is cut off" };
  const sum = SHA_LINE.exec(text.slice(text.lastIndexOf("\n", text.length - 2) + 1, -1))?.[1];
  return sum === sha256Hex(bytes.subarray(0, bodyLength)) ? { text } : { problem: "does not match its own checksum" };
}

/** The keyring in a whole file of this version, or what is wrong with it. */
function decodeLines(bytes: Uint8Array, text: string): Keyring | string {
  const [first, second = "", third = "", , end, ...more] = text.split("\n");
  if (first !== FIRST_LINE || end !== "" || more.length > 0) return "does not have four lines";
  const header = decodeHeader(second);
  if (typeof header === "string") return header;
  const mac = decodeBase64Url(MAC_LINE.exec(third)?.[1] ?? "");
  if (mac?.length !== MAC_BYTES) return "has a malformed mac";
  return { header, mac, authenticated: bytes.subarray(0, FIRST_LINE.length + Buffer.byteLength(second) + 2) };
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Where the last line begins; `undefined` when the file does not end with a line feed. */
function findBodyLength(bytes: Uint8Array): number | undefined {
  if (bytes.length < 2 || bytes[bytes.length - 1] !== LINE_FEED) return undefined;
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).lastIndexOf(LINE_FEED, bytes.length - 2) + 1;
  return start > 0 ? start : undefined;
}

function requireVersion(text: string, file: string): void {
  if (text.startsWith(FIRST_LINE)) return;
  const version = /^[0-9.]{1,16}(?=")/.exec(text.slice(FORMAT_START.length))?.[0] ?? "unknown";
  throw new SplashdownError("FORMAT_VERSION", `the keyring file ${file} has version ${version}, known is ${VERSION}`, {
    details: { file, version, known: VERSION },
  });
}

/** The header, or what is wrong with it. */
function decodeHeader(line: string): KeyringHeader | string {
  if (!line.startsWith(HEADER_START) || !line.endsWith(",")) return "has a malformed header line";
  const text = line.slice(HEADER_START.length, -1);
  const value = parseCanonical(text);
  if (value === undefined) return "has a header that is not in canonical form";
  const verdict = validateKeyringHeader(value);
  if (!verdict.ok)
    return `has an invalid header: ${verdict.defects.map(({ path, message }) => `${path} ${message}`).join("; ")}`;
  return findHeaderProblem(verdict.value) ?? verdict.value;
}

function parseCanonical(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return canonicalJson(value as JsonObject) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What the schema cannot say. */
function findHeaderProblem(header: KeyringHeader): string | undefined {
  const { keys } = header;
  const [active, ...others] = keys.filter((key) => key.state === "active");
  if (active === undefined || others.length > 0 || active.id !== header.active)
    return "names an active key that is not its only active one";
  if (active.generation < header.min_generation) return "has an active key below its minimum generation";
  if (new Set(keys.map((key) => key.id)).size !== keys.length) return "names a key twice";
  if (keys.some((key, index) => keys.slice(0, index).some((before) => before.generation >= key.generation))) {
    return "does not have its generations in order";
  }
  if ((header.min_revision ?? 1) > header.rev) return "is below its own minimum revision";
  return findLineageProblem(header, active) ?? findSlotsProblem(keys);
}

/** What is wrong with the line of keys that leads to the active one. */
function findLineageProblem({ lineage }: KeyringHeader, active: KeyringKey): string | undefined {
  if (lineage.some(({ generation }, at) => at > 0 && (lineage[at - 1]?.generation ?? 0) >= generation))
    return "does not have its lineage in order";
  if (lineage.at(-1)?.generation !== active.generation) return "has a lineage that does not end at its active key";
  return undefined;
}

/** What is wrong with the slots of all keys: with how many they are, with one of them, with the work they ask for. */
function findSlotsProblem(keys: readonly KeyringKey[]): string | undefined {
  const slots = keys.flatMap((key) => key.slots);
  if (slots.length > LIMITS.keyringSlotsMax) return `has more than ${LIMITS.keyringSlotsMax} slots`;
  for (const slot of slots) {
    const problem = findSlotProblem(slot);
    if (problem !== undefined) return `has a slot that ${problem}`;
  }
  if (sumScryptWork(slots) > LIMITS.scryptKeyringWorkMax) return "asks for more scrypt work than is allowed";
  return undefined;
}
