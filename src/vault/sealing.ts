/**
 * The vault of one task, once its keys are at hand: seals files, opens files, makes keyed digests.
 *
 * Owns: the suite, the derivation per file and the numbering of parts. The keyring (task-vault.ts) gives it the keys;
 * file formats own headers, associated data and checksums.
 */
import { createHmac } from "node:crypto";
import { assert, SplashdownError } from "../base/errors.js";
import type { ErrorCode } from "../base/error-table.js";
import { decodeBase64Url, encodeBase64Url } from "../base/digest.js";
import type { KeyId } from "../base/ids.js";
import type { RandomSource } from "../base/random.js";
import { computePartNonce, createSealCipher, HEAD_PART, openBytes, sealBytes, type KeyUse } from "./aead.js";
import type {
  FileOpener,
  FileSealer,
  KeyringStanding,
  PartSealer,
  SealHeader,
  SealPurpose,
  TaskVault,
} from "./contract.js";
import { deriveDigestKey, deriveSeal, isSameBytes, SALT_BYTES, type DerivedSeal } from "./derivation.js";

/** AES-256-GCM, HKDF-SHA-512 per file, key commitment of the first kind. */
export const SEALED_SUITE = "A256GCM-HKDF-SHA512-KC1";
export const PLAIN_SUITE = "none";

/** One unwrapped generation of a task's key. */
export interface TaskKey {
  readonly id: KeyId;
  readonly generation: number;
  readonly bytes: Uint8Array;
}

export interface SealedVaultOptions {
  readonly taskId: string;
  readonly active: TaskKey;
  /** All generations at hand, the active one among them. */
  readonly keys: readonly TaskKey[];
  readonly minGeneration: number;
  readonly random: RandomSource;
  readonly allowPlain: boolean;
  /** Absent where the keys come from no keyring. */
  readonly keyring?: KeyringStanding;
  /** Ids of every key that the task ever had, as its keyring knows; absent with it. */
  readonly lineage?: readonly string[];
}

/** What a tag that does not fit is called, by the file's purpose. */
const BROKEN_CODE: Readonly<Record<SealPurpose, ErrorCode>> = {
  checkpoint: "CHECKPOINT_TAMPERED",
  journal: "JOURNAL_TAMPERED",
  blob: "BLOB_CORRUPT",
  audit: "SEAL_BROKEN",
  keyring: "SEAL_BROKEN",
  control: "SEAL_BROKEN",
};

/** What tells of the task's past: a key that it names was once in the keyring. */
const HISTORY: ReadonlySet<SealPurpose> = new Set<SealPurpose>(["journal", "audit", "control"]);

function describeFile(purpose: SealPurpose): string {
  return `${purpose === "audit" ? "an" : "a"} ${purpose} file`;
}

/** Hands out part numbers: each once, in growing order (V2). */
class PartCounter {
  #next = 0;
  #hasHead = false;

  take(part: number): void {
    assert(part >= this.#next, `part ${part} was sealed already: a nonce would be used twice`);
    assert(part < HEAD_PART, `part ${part} is kept for the head of the file`);
    this.#next = part + 1;
  }

  takeHead(): void {
    assert(!this.#hasHead && this.#next === 0, "the head of a file was sealed already: a nonce would be used twice");
    this.#hasHead = true;
  }
}

const NOTHING = new Uint8Array(0);

function headUse({ key, nonce }: DerivedSeal): KeyUse {
  return { key, nonce: computePartNonce(nonce, HEAD_PART) };
}

class SealedFileSealer implements FileSealer {
  readonly #seal: DerivedSeal;
  readonly #parts = new PartCounter();

  constructor(
    readonly header: SealHeader,
    seal: DerivedSeal,
  ) {
    this.#seal = seal;
  }

  sealHead(text: Uint8Array): Buffer {
    this.#parts.takeHead();
    return sealBytes(headUse(this.#seal), text, NOTHING);
  }

  seal(part: number, aad: Uint8Array, plain: Uint8Array): Buffer {
    return sealBytes(this.#takePart(part), aad, plain);
  }

  sealSlices(part: number, aad: Uint8Array): PartSealer {
    const cipher = createSealCipher(this.#takePart(part), aad);
    return {
      update: (plain) => cipher.update(plain),
      finish: () => Buffer.concat([cipher.final(), cipher.getAuthTag()]),
    };
  }

  #takePart(part: number): KeyUse {
    const nonce = computePartNonce(this.#seal.nonce, part);
    this.#parts.take(part);
    return { key: this.#seal.key, nonce };
  }
}

class SealedFileOpener implements FileOpener {
  readonly #seal: DerivedSeal;
  readonly #purpose: SealPurpose;
  readonly #taskId: string;

  constructor(seal: DerivedSeal, purpose: SealPurpose, taskId: string) {
    this.#seal = seal;
    this.#purpose = purpose;
    this.#taskId = taskId;
  }

  isHeadSealed(text: Uint8Array, tag: Uint8Array): boolean {
    return openBytes(headUse(this.#seal), text, tag)?.length === 0;
  }

  open(part: number, aad: Uint8Array, sealed: Uint8Array): Buffer {
    const { key, nonce } = this.#seal;
    const plain = openBytes({ key, nonce: computePartNonce(nonce, part) }, aad, sealed);
    if (plain !== undefined) return plain;
    throw new SplashdownError(
      BROKEN_CODE[this.#purpose],
      `the seal of part ${part} of ${describeFile(this.#purpose)} does not fit its content`,
      { details: { task: this.#taskId, purpose: this.#purpose, part } },
    );
  }
}

/** Parts as they are; the numbering is kept so that a mistake shows with and without encryption. */
class PlainFileSealer implements FileSealer {
  readonly header: SealHeader = { suite: PLAIN_SUITE, salt: "", commit: "" };
  readonly #parts = new PartCounter();

  sealHead(): Buffer {
    this.#parts.takeHead();
    return Buffer.alloc(0);
  }

  seal(part: number, _aad: Uint8Array, plain: Uint8Array): Buffer {
    this.#parts.take(part);
    return Buffer.from(plain);
  }

  sealSlices(part: number): PartSealer {
    this.#parts.take(part);
    return { update: (plain) => Buffer.from(plain), finish: () => Buffer.alloc(0) };
  }
}

const plainOpener: FileOpener = {
  isHeadSealed: (_text, tag) => tag.length === 0,
  open: (_part, _aad, sealed) => Buffer.from(sealed),
};

function isPlainHeader(header: SealHeader): boolean {
  return header.suite === PLAIN_SUITE;
}

class SealedVault implements TaskVault {
  readonly taskId: string;
  readonly keyId: KeyId;
  readonly encrypted = true;
  readonly keyring: KeyringStanding | undefined;
  readonly generations: readonly number[];
  readonly #options: SealedVaultOptions;
  readonly #digestKey: Buffer;

  constructor(options: SealedVaultOptions) {
    this.#options = options;
    this.taskId = options.taskId;
    this.keyId = options.active.id;
    this.keyring = options.keyring;
    this.generations = orderGenerations(options);
    this.#digestKey = deriveDigestKey(options.active.bytes, "digest", options.taskId);
  }

  createSealer(purpose: SealPurpose): FileSealer {
    const { active, random } = this.#options;
    const salt = random.bytes(SALT_BYTES);
    const seal = deriveSeal({ key: active.bytes, salt }, purpose, this.taskId);
    const header: SealHeader = {
      suite: SEALED_SUITE,
      key: active.id,
      salt: encodeBase64Url(salt),
      commit: encodeBase64Url(seal.commitment),
    };
    return new SealedFileSealer(header, seal);
  }

  createOpener(purpose: SealPurpose, header: SealHeader): FileOpener {
    if (isPlainHeader(header)) return this.#openPlain(purpose);
    requireKnownSuite(header, this.taskId);
    const key = this.#requireKey(header.key, purpose);
    const salt = decodeBase64Url(header.salt);
    const commitment = decodeBase64Url(header.commit);
    if (salt?.length !== SALT_BYTES || commitment === undefined) throw this.#wrongKey(purpose, key.id);
    const seal = deriveSeal({ key: key.bytes, salt }, purpose, this.taskId);
    if (!isSameBytes(seal.commitment, commitment)) throw this.#wrongKey(purpose, key.id);
    return new SealedFileOpener(seal, purpose, this.taskId);
  }

  keyedDigest(label: string, bytes: Uint8Array): Buffer {
    return createHmac("sha256", this.#digestKey).update(`${label}\0`).update(bytes).digest();
  }

  #openPlain(purpose: SealPurpose): FileOpener {
    if (this.#options.allowPlain) return plainOpener;
    throw new SplashdownError("SEAL_MISSING", `${describeFile(purpose)} is not sealed, but the task's files are`, {
      details: { task: this.taskId, purpose },
    });
  }

  #requireKey(id: KeyId | undefined, purpose: SealPurpose): TaskKey {
    const key = this.#options.keys.find((candidate) => candidate.id === id);
    const details = {
      task: this.taskId,
      key: id ?? "none",
      known: this.#options.keys.map((candidate) => candidate.id),
    };
    const { lineage } = this.#options;
    if (key === undefined && id !== undefined && HISTORY.has(purpose) && lineage?.includes(id) === false) {
      throw new SplashdownError(
        "KEYRING_ROLLED_BACK",
        `${describeFile(purpose)} is sealed with key ${id}, which the keyring does not know of: it is older than that file`,
        { details },
      );
    }
    if (key === undefined) {
      throw new SplashdownError("KEY_MISSING", `a file needs key ${details.key}, which the keyring did not give`, {
        details,
      });
    }
    if (key.generation < this.#options.minGeneration) {
      throw new SplashdownError(
        "KEY_MISSING",
        `a file was sealed with key ${key.id}, which the keyring no longer admits`,
        { details },
      );
    }
    return key;
  }

  #wrongKey(purpose: SealPurpose, key: KeyId): SplashdownError {
    return new SplashdownError("KEY_WRONG", `${describeFile(purpose)} names key ${key}, but was not sealed with it`, {
      details: { task: this.taskId, purpose, key },
    });
  }
}

function orderGenerations({ active, keys, minGeneration }: SealedVaultOptions): number[] {
  const older = keys.map(({ generation }) => generation).filter((one) => one >= minGeneration);
  return [...new Set([active.generation, ...older.sort((left, right) => right - left)])];
}

function requireKnownSuite(header: SealHeader, task: string): void {
  if (header.suite === SEALED_SUITE) return;
  throw new SplashdownError("FORMAT_VERSION", `a file was sealed with an unknown suite ${header.suite.slice(0, 64)}`, {
    details: { task, suite: header.suite.slice(0, 64) },
  });
}

class PlainVault implements TaskVault {
  readonly keyId = undefined;
  readonly encrypted = false;
  readonly keyring = undefined;
  readonly generations: readonly number[] = [0];
  readonly #digestKey: Buffer;

  constructor(readonly taskId: string) {
    this.#digestKey = deriveDigestKey(Buffer.from("public"), "digest", taskId);
  }

  createSealer(): FileSealer {
    return new PlainFileSealer();
  }

  createOpener(purpose: SealPurpose, header: SealHeader): FileOpener {
    if (isPlainHeader(header)) return plainOpener;
    requireKnownSuite(header, this.taskId);
    const key = header.key ?? "none";
    throw new SplashdownError("KEY_MISSING", `${describeFile(purpose)} needs key ${key}, but the task has no keyring`, {
      details: { task: this.taskId, purpose, key },
    });
  }

  keyedDigest(label: string, bytes: Uint8Array): Buffer {
    return createHmac("sha256", this.#digestKey).update(`${label}\0`).update(bytes).digest();
  }
}

/** The vault over keys that were unwrapped. Shape: takes the keys over; `active` is among `keys`. */
export function createSealedVault(options: SealedVaultOptions): TaskVault {
  return new SealedVault(options);
}

/** The vault of a task with `encryption: false`: suite `none`, parts in the clear, checksums left to the formats. */
export function createPlainVault(taskId: string): TaskVault {
  return new PlainVault(taskId);
}
