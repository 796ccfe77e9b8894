/**
 * What the vault gives to its neighbours: seals per file, and nothing of a key.
 *
 * V1: nothing outside this folder touches a key. V2: a (key, nonce) pair is used once: every file has its own 32-byte
 * salt, every record of a file its own counter. V3: the reader of sealed data never accepts plain data (no downgrade)
 * unless it was opened with `allowPlain`.
 * Source: DESIGN section 7, STORAGE section 2.
 */
import type { KeyId } from "../base/ids.js";

/** What a sealed file is for; part of the key derivation. */
export type SealPurpose = "checkpoint" | "journal" | "blob" | "audit" | "keyring" | "control";

/** Clear fields of a sealed file's header, from which a reader finds the key. Text is unpadded base64url. */
export interface SealHeader {
  /** `A256GCM-HKDF-SHA512-KC1`, or `none` where encryption is off. */
  readonly suite: string;
  /** Key generation; absent with suite `none`. */
  readonly key?: KeyId;
  readonly salt: string;
  readonly commit: string;
}

/** Seals the parts of one file. Parts are numbered from 0 and each number is used once. */
export interface FileSealer {
  readonly header: SealHeader;
  seal(part: number, aad: Uint8Array, plain: Uint8Array): Buffer;
}

export interface FileOpener {
  /** Errors: CHECKPOINT_TAMPERED (or the code given) when the tag does not fit. */
  open(part: number, aad: Uint8Array, sealed: Uint8Array): Buffer;
}

export interface TaskVault {
  readonly taskId: string;
  /** The active key generation and a short public fingerprint for messages; `undefined` where encryption is off. */
  readonly keyId: KeyId | undefined;
  readonly encrypted: boolean;
  createSealer(purpose: SealPurpose): FileSealer;
  /** Errors: KEY_MISSING (unknown generation), KEY_WRONG (commitment differs), SEAL_MISSING (plain where sealed is demanded). */
  createOpener(purpose: SealPurpose, header: SealHeader): FileOpener;
  /** A keyed digest for names and equality marks: 32 bytes, never reversible without the key. */
  keyedDigest(label: string, bytes: Uint8Array): Buffer;
}
