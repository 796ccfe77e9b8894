/**
 * A slot: one wrap of a task's key for one source.
 *
 * Owns: how a secret becomes a wrapping key (as it is, by scrypt, by a command), how the task's key is sealed under
 * it, and what each failure to open means. Source: STORAGE section 2.2.
 *
 * V7: the sealed length and the commitment are checked before anything is opened. V8: a slot's clear fields are the
 * associated data of its wrap, so a changed one never opens.
 */
import { scrypt } from "node:crypto";
import { decodeBase64Url, encodeBase64Url } from "../base/digest.js";
import { SplashdownError, unreachable } from "../base/errors.js";
import type { JsonObject } from "../base/json.js";
import { canonicalJson } from "../base/json-encoding.js";
import { LIMITS } from "../base/limits.js";
import type { RandomSource } from "../base/random.js";
import type { KeyringSlot, ScryptKdf } from "../schema/generated/keyring.js";
import { openBytes, sealBytes } from "./aead.js";
import {
  computeFingerprint,
  computeSaltFingerprint,
  deriveSeal,
  isSameBytes,
  KEY_BYTES,
  SALT_BYTES,
  TAG_BYTES,
} from "./derivation.js";
import { unwrapByCommand, wrapByCommand } from "./key-command.js";
import { computeAgeFingerprint, unwrapByAge, wrapByAge } from "./age-wrap.js";
import {
  canOpen,
  computeSlotLabel,
  formatSource,
  type ScryptCost,
  type Secret,
  type SourceState,
} from "./key-source.js";

/** 128 MiB, about half a second. Source: OWASP minimum for scrypt; STORAGE 2.2. */
export const SCRYPT_COST: ScryptCost = { log2n: 17, r: 8, p: 1 };

/** Which key of which task a slot wraps. */
export interface SlotPlace {
  readonly task: string;
  readonly keyId: string;
}

export type SlotOutcome =
  | { readonly state: "opened"; readonly key: Buffer }
  /** The secret is another one. */
  | { readonly state: "wrong" }
  /** The secret is right, and the slot was changed. */
  | { readonly state: "tampered" };

/** True when the cost is within what a reader accepts. Source: STORAGE 1.10. */
export function isScryptCostLegal(cost: ScryptCost): boolean {
  const { log2n, r, p } = cost;
  if (![log2n, r, p].every((part) => Number.isSafeInteger(part) && part >= 1)) return false;
  if (log2n > LIMITS.scryptLog2NMax || r > LIMITS.scryptBlockSizeMax || p > LIMITS.scryptParallelMax) return false;
  return workOf(cost) <= LIMITS.scryptWorkMax;
}

function workOf({ log2n, r, p }: ScryptCost): number {
  return 2 ** log2n * r * p;
}

/** What all passphrases of these slots cost together, each counted once. */
export function sumScryptWork(slots: readonly KeyringSlot[]): number {
  const derivations = new Map<string, number>();
  for (const { kdf } of slots) {
    if (kdf?.name !== "scrypt") continue;
    derivations.set(`${kdf.salt} ${kdf.log2n} ${kdf.r} ${kdf.p}`, workOf(kdf));
  }
  return [...derivations.values()].reduce((sum, work) => sum + work, 0);
}

/** A passphrase in the one form in which equal-looking texts are equal. Source: STORAGE 2.2, Unicode NFKC. */
export function normalisePassphrase(text: string): string {
  return text.normalize("NFKC");
}

/** The wrapping key of a passphrase. Source: RFC 7914. Runs on the thread pool. */
export async function derivePassphraseKey(text: string, salt: Uint8Array, cost: ScryptCost): Promise<Buffer> {
  const { log2n, r, p } = cost;
  const options = { N: 2 ** log2n, r, p, maxmem: 256 * 2 ** log2n * r + 1024 * r * p + 65_536 };
  return new Promise((resolve, reject) => {
    scrypt(normalisePassphrase(text), salt, KEY_BYTES, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

/** True when a secret of this nature may open the slot: a key opens key slots, wherever it comes from. */
export function isSlotFor(slot: KeyringSlot, secret: Secret): boolean {
  switch (secret.nature) {
    case "key":
      return slot.kdf === undefined;
    case "passphrase":
      return slot.kdf?.name === "scrypt";
    case "command":
      return slot.kdf?.name === "command";
    case "age":
      return slot.kdf?.name === "age" && canOpen(secret);
  }
}

/** What the file tells that must hold besides the schema; `undefined` when it does. */
export function findSlotProblem(slot: KeyringSlot): string | undefined {
  const { type, kdf } = slot;
  if (kdf?.name === "scrypt" && !isScryptCostLegal(kdf)) return "asks for more scrypt work than is allowed";
  const fits: Record<KeyringSlot["type"], boolean> = {
    keyfile: kdf === undefined,
    env: kdf === undefined,
    passphrase: kdf?.name === "scrypt",
    command: kdf?.name === "command",
    age: kdf?.name === "age",
    system: kdf === undefined,
  };
  return fits[type] ? undefined : `is of type ${type} with a derivation that does not belong to it`;
}

export interface NewSlotOptions extends SlotPlace {
  readonly source: SourceState;
  readonly secret: Secret;
  readonly key: Uint8Array;
  readonly random: RandomSource;
  readonly scryptCost: ScryptCost;
  /** Of passphrases that slots of this keyring were made for: a passphrase is derived once for all its slots. */
  readonly derivations?: PassphraseSalts;
}

/** By passphrase, the salt of its derivation in one keyring. */
export type PassphraseSalts = Map<string, Uint8Array>;

/**
 * Wraps a task's key for one source.
 *
 * Errors: KEY_SOURCE_INVALID when a new passphrase is too weak, or the key command fails.
 */
export async function createSlot(options: NewSlotOptions): Promise<KeyringSlot> {
  const { source, secret, random, scryptCost } = options;
  const salt = random.bytes(SALT_BYTES);
  const clear = { type: source.setting.kind, label: computeSlotLabel(source.setting), salt: encodeBase64Url(salt) };
  switch (secret.nature) {
    case "key":
      return sealSlot(
        { ...clear, fingerprint: computeFingerprint(secret.bytes, "wrapping-key") },
        secret.bytes,
        options,
      );
    case "passphrase": {
      requireStrongPassphrase(secret.text, source);
      const derived = options.derivations?.get(secret.text) ?? random.bytes(SALT_BYTES);
      options.derivations?.set(secret.text, derived);
      const wrappingKey = await deriveFor(secret, derived, scryptCost);
      const kdf: ScryptKdf = { name: "scrypt", ...scryptCost, salt: encodeBase64Url(derived) };
      return sealSlot({ ...clear, fingerprint: computeSaltFingerprint(derived), kdf }, wrappingKey, options);
    }
    case "command": {
      const wrappingKey = random.bytes(KEY_BYTES);
      const fingerprint = computeSaltFingerprint(salt);
      const wrapped = await wrapByCommand(secret, wrappingKey, { task: options.task, slot: fingerprint });
      return sealSlot({ ...clear, fingerprint, kdf: { name: "command", wrapped } }, wrappingKey, options);
    }
    case "age": {
      const wrappingKey = random.bytes(KEY_BYTES);
      const fingerprint = computeAgeFingerprint(secret);
      const wrapped = await wrapByAge(secret, wrappingKey, source.label);
      return sealSlot({ ...clear, fingerprint, kdf: { name: "age", wrapped } }, wrappingKey, options);
    }
    default:
      return unreachable(secret);
  }
}

function deriveFor(
  { text, derive = derivePassphraseKey }: Extract<Secret, { nature: "passphrase" }>,
  salt: Uint8Array,
  { log2n, r, p }: ScryptCost,
): Promise<Uint8Array> {
  return derive(text, salt, { log2n, r, p });
}

type ClearSlot = Omit<KeyringSlot, "commit" | "wrap">;

function sealSlot(clear: ClearSlot, wrappingKey: Uint8Array, options: NewSlotOptions): KeyringSlot {
  const salt = Buffer.from(clear.salt, "base64url");
  const seal = deriveSeal({ key: wrappingKey, salt }, "wrap", options.task, options.keyId, clear.type);
  const committed = { ...clear, commit: encodeBase64Url(seal.commitment) };
  const wrap = sealBytes(seal, encodeSlotAad(committed), options.key);
  return { ...committed, wrap: encodeBase64Url(wrap) };
}

/** The canonical slot without its wrap. */
function encodeSlotAad(slot: Omit<KeyringSlot, "wrap"> & { readonly wrap?: string }): Buffer {
  const { wrap: _wrap, ...clear } = slot;
  return Buffer.from(canonicalJson(clear as unknown as JsonObject));
}

function requireStrongPassphrase(text: string, source: SourceState): void {
  const problem = findPassphraseProblem(text);
  if (problem === undefined) return;
  throw new SplashdownError("KEY_SOURCE_INVALID", `the ${formatSource(source.setting)} ${problem}`, {
    details: { source: source.label },
  });
}

function findPassphraseProblem(text: string): string | undefined {
  const normal = normalisePassphrase(text);
  if (normal.trim() === "") return "is empty";
  if (normal.trim() !== normal) return "begins or ends with white space, which is easily lost";
  if (/\p{Cc}/u.test(normal)) return "holds a control character";
  if (Array.from(normal).length < LIMITS.passphraseCharsMin)
    return `is shorter than ${LIMITS.passphraseCharsMin} characters`;
  return undefined;
}

/**
 * Tries one secret on one slot.
 *
 * Shape: the slot passed `findSlotProblem` and is one for this secret.
 * Errors: KEY_SOURCE_INVALID when a key command fails; a wrong secret is an outcome.
 */
export async function openSlot(slot: KeyringSlot, secret: Secret, place: SlotPlace): Promise<SlotOutcome> {
  const salt = decodeBase64Url(slot.salt);
  const commitment = decodeBase64Url(slot.commit);
  const wrap = decodeBase64Url(slot.wrap);
  if (salt?.length !== SALT_BYTES || commitment?.length !== KEY_BYTES) return { state: "tampered" };
  if (wrap?.length !== KEY_BYTES + TAG_BYTES) return { state: "tampered" };
  const wrappingKey = await computeWrappingKey(slot, secret, place);
  if (wrappingKey === undefined) return { state: "tampered" };
  const seal = deriveSeal({ key: wrappingKey, salt }, "wrap", place.task, place.keyId, slot.type);
  if (!isSameBytes(seal.commitment, commitment)) {
    return { state: isNamedByFingerprint(slot, secret) ? "tampered" : "wrong" };
  }
  const key = openBytes(seal, encodeSlotAad(slot), wrap);
  return key === undefined ? { state: "tampered" } : { state: "opened", key };
}

/** The slot names this very key, so that only a change can explain a commitment that does not fit. */
function isNamedByFingerprint(slot: KeyringSlot, secret: Secret): boolean {
  return secret.nature === "key" && slot.fingerprint === computeFingerprint(secret.bytes, "wrapping-key");
}

/** The key of a passphrase with the slot's own salt; `undefined` where that is none. */
async function deriveBySalt(
  secret: Extract<Secret, { readonly nature: "passphrase" }>,
  kdf: ScryptKdf,
): Promise<Uint8Array | undefined> {
  const salt = decodeBase64Url(kdf.salt);
  return salt?.length === SALT_BYTES ? deriveFor(secret, salt, kdf) : undefined;
}

async function computeWrappingKey(
  slot: KeyringSlot,
  secret: Secret,
  place: Pick<SlotPlace, "task">,
): Promise<Uint8Array | undefined> {
  const { kdf } = slot;
  if (secret.nature === "key") return secret.bytes;
  if (secret.nature === "passphrase" && kdf?.name === "scrypt") return deriveBySalt(secret, kdf);
  if (secret.nature === "command" && kdf?.name === "command") {
    return unwrapByCommand(secret, kdf.wrapped, { task: place.task, slot: slot.fingerprint });
  }
  // What it was not locked for it does not open: a key that fits nothing says so.
  if (secret.nature === "age" && kdf?.name === "age")
    return (await unwrapByAge(secret, kdf.wrapped)) ?? Buffer.alloc(KEY_BYTES);
  throw new SplashdownError("INTERNAL", `a ${secret.nature} was tried on a slot that is not for it`);
}
