/**
 * Every key that is derived from another, in one place, with its label.
 *
 * Owns: HKDF with the labels that separate purposes, public fingerprints of keys, constant-time comparison. Files have
 * one derivation each (STORAGE 2.1); wraps of a task key have one per slot (STORAGE 2.2).
 *
 * V4: no two uses share a label: `splashdown/v1/<use>` ‖ 0x00 ‖ context parts separated by 0x00, none of which can
 * hold a zero byte.
 */
import { createHash, hkdfSync, timingSafeEqual } from "node:crypto";
import { assert } from "../base/errors.js";
import type { KeyId } from "../base/ids.js";

export const KEY_BYTES = 32;
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;
export const SALT_BYTES = 32;
const COMMITMENT_BYTES = 32;
const FINGERPRINT_CHARS = 16;
const NO_SALT = new Uint8Array(0);

/** What one HKDF gives for one file or slot. */
export interface DerivedSeal {
  readonly key: Buffer;
  readonly nonce: Buffer;
  readonly commitment: Buffer;
}

/** What HKDF starts from. */
export interface DerivationInput {
  readonly key: Uint8Array;
  readonly salt: Uint8Array;
}

/** HKDF-SHA-512. Source: RFC 5869. */
export function deriveBytes(input: DerivationInput, info: string | Uint8Array, length: number): Buffer {
  return Buffer.from(hkdfSync("sha512", input.key, input.salt, info, length));
}

function labelOf(use: string, context: readonly string[]): string {
  for (const part of context) assert(!part.includes("\0"), "a derivation context holds a zero byte");
  return `splashdown/v1/${use}\0${context.join("\0")}`;
}

/** Key, nonce and commitment of a file (`use` is its purpose, the context its task) or of a slot's wrap. */
export function deriveSeal(input: DerivationInput, use: string, ...context: readonly string[]): DerivedSeal {
  const bytes = deriveBytes(input, labelOf(use, context), KEY_BYTES + NONCE_BYTES + COMMITMENT_BYTES);
  return {
    key: bytes.subarray(0, KEY_BYTES),
    nonce: bytes.subarray(KEY_BYTES, KEY_BYTES + NONCE_BYTES),
    commitment: bytes.subarray(KEY_BYTES + NONCE_BYTES),
  };
}

/** A key for one keyed digest. */
export function deriveDigestKey(key: Uint8Array, use: string, ...context: readonly string[]): Buffer {
  return deriveBytes({ key, salt: NO_SALT }, labelOf(use, context), 64);
}

/**
 * The public name of a 256-bit key: the start of a digest of a commitment that is used for nothing else.
 *
 * Never for a passphrase: its fingerprint is that of the salt.
 */
export function computeFingerprint(key: Uint8Array, use: "task-key" | "wrapping-key"): KeyId {
  const commitment = deriveBytes({ key, salt: NO_SALT }, labelOf("fingerprint", [use]), COMMITMENT_BYTES);
  return shortHex(commitment);
}

/** The public name of a slot whose secret must not be told of: made from its salt alone. */
export function computeSaltFingerprint(salt: Uint8Array): KeyId {
  return shortHex(Buffer.concat([Buffer.from("splashdown/v1/salt-fingerprint\0"), salt]));
}

function shortHex(bytes: Uint8Array): KeyId {
  return createHash("sha256").update(bytes).digest("hex").slice(0, FINGERPRINT_CHARS) as KeyId;
}

/** Compares in a time that depends on the lengths only. */
export function isSameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
