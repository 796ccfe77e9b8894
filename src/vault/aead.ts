/** AES-256-GCM with a 16-byte tag at the end; no plaintext comes out before its tag fits. Source: NIST SP 800-38D. */
import { createCipheriv, createDecipheriv, type CipherGCM } from "node:crypto";
import { assert } from "../base/errors.js";
import { TAG_BYTES } from "./derivation.js";

const OPTIONS = { authTagLength: TAG_BYTES } as const;

/** Part numbers stay far below the 2^32 invocations that one key may serve. */
const PARTS_MAX = 2 ** 32;
/** The part number of the tag over a file's clear head; no other part has it. */
export const HEAD_PART = PARTS_MAX - 1;

/** One use of a key; never two seals under one. */
export interface KeyUse {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
}

/** The nonce of the i-th part: the file's nonce with the number XORed into its last eight bytes. */
export function computePartNonce(nonce: Uint8Array, part: number): Buffer {
  assert(Number.isSafeInteger(part) && part >= 0 && part < PARTS_MAX, `part number ${part} is out of range`);
  const result = Buffer.from(nonce);
  result.writeUInt32BE((result.readUInt32BE(8) ^ part) >>> 0, 8);
  return result;
}

/** Starts a cipher that has taken in the associated data. */
export function createSealCipher({ key, nonce }: KeyUse, aad: Uint8Array): CipherGCM {
  return createCipheriv("aes-256-gcm", key, nonce, OPTIONS).setAAD(aad);
}

/** Ciphertext with its tag. */
export function sealBytes(use: KeyUse, aad: Uint8Array, plain: Uint8Array): Buffer {
  const cipher = createSealCipher(use, aad);
  const body = cipher.update(plain);
  cipher.final();
  return Buffer.concat([body, cipher.getAuthTag()], body.length + TAG_BYTES);
}

/** The plaintext, or `undefined` when the bytes are too short or the tag does not fit. */
export function openBytes({ key, nonce }: KeyUse, aad: Uint8Array, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, OPTIONS).setAAD(aad);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  const plain = decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES));
  try {
    decipher.final();
    return plain;
  } catch {
    plain.fill(0);
    return undefined;
  }
}
