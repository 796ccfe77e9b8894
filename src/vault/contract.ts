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
  /** `A256GCM-HKDF-SHA512-KC1`, or `none` where encryption is off; `salt` and `commit` are empty then. */
  readonly suite: string;
  /** Key generation; absent with suite `none`. */
  readonly key?: KeyId;
  readonly salt: string;
  readonly commit: string;
}

/** One part sealed in slices; the slices' answers and `finish`'s together are what `seal` would have given. */
export interface PartSealer {
  update(plain: Uint8Array): Buffer;
  /** The rest of the sealed bytes (the tag). The part takes nothing afterwards. */
  finish(): Buffer;
}

/**
 * Seals the parts of one file. Parts are numbered from 0, in growing order, and each number is used once.
 *
 * Errors: INTERNAL when a part number comes again or goes back.
 */
export interface FileSealer {
  readonly header: SealHeader;
  /**
   * The tag over the clear text that a file begins with, under a part number kept for it; empty with suite `none`. At most
   * once, and before all parts.
   */
  sealHead(text: Uint8Array): Buffer;
  seal(part: number, aad: Uint8Array, plain: Uint8Array): Buffer;
  /** Like `seal`, for a value that comes in slices. */
  sealSlices(part: number, aad: Uint8Array): PartSealer;
}

export interface FileOpener {
  /** Whether the tag of `sealHead` fits the text; with suite `none` always, for then nothing can be sealed. */
  isHeadSealed(text: Uint8Array, tag: Uint8Array): boolean;
  /** Errors: CHECKPOINT_TAMPERED, JOURNAL_TAMPERED, BLOB_CORRUPT or SEAL_BROKEN (by purpose) when the tag does not fit. */
  open(part: number, aad: Uint8Array, sealed: Uint8Array): Buffer;
}

/** Where a task's keyring stood when it was opened: what is remembered of it outside the task's folder. */
export interface KeyringStanding {
  readonly revision: number;
  /** No older revision counts: it would give back what was taken away. */
  readonly minRevision: number;
  /** Of the active key. */
  readonly generation: number;
  /** The task's first key by its public name (origin.ts). */
  readonly firstKey: string;
}

export interface TaskVault {
  readonly taskId: string;
  /** `undefined` where encryption is off. */
  readonly keyring: KeyringStanding | undefined;
  /** The active key generation and a short public fingerprint for messages; `undefined` where encryption is off. */
  readonly keyId: KeyId | undefined;
  readonly encrypted: boolean;
  /** Generations of the key that it opens files of, that of new files first, then newest first; 0 alone without encryption. */
  readonly generations: readonly number[];
  createSealer(purpose: SealPurpose): FileSealer;
  /** Errors: KEY_MISSING (unknown generation), KEY_WRONG (commitment differs), SEAL_MISSING (plain where sealed is demanded). */
  createOpener(purpose: SealPurpose, header: SealHeader): FileOpener;
  /**
   * A keyed digest for names and equality marks: 32 bytes, never reversible without the key. Where encryption is off
   * the key is public, and the digest only tells equal from different.
   */
  keyedDigest(label: string, bytes: Uint8Array): Buffer;
}
