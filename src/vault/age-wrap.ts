/**
 * Wrapping keys for age recipients: people lock for others whose identities they do not have.
 *
 * Owns: what a slot says of recipients and how a wrapping key is locked. The format is that of the age tool, armored, so
 * that `age --decrypt` opens it too; the library comes through a port, for it is an optional package.
 * Source: C2SP age.md; STORAGE section 2.2.
 */
import { sha256Hex } from "../base/digest.js";
import { messageOf, SplashdownError } from "../base/errors.js";
import type { KeyId } from "../base/ids.js";
import { KEY_BYTES } from "./derivation.js";

const FINGERPRINT_CHARS = 16;
/** Armor of 32 bytes for a few recipients is some hundred bytes; post-quantum ones take 2 KB each. */
const WRAPPED_CHARS_MAX = 16_384;

/** The age library as far as it is needed. */
export interface AgeBox {
  /** Shape: armored text. Errors: the library's, for a malformed recipient. */
  readonly seal: (bytes: Uint8Array, recipients: readonly string[]) => Promise<string>;
  /** Shape: `undefined` when none of the identities fits. Errors: the library's, for damage. */
  readonly open: (armored: string, identities: readonly string[]) => Promise<Uint8Array | undefined>;
  /** The recipient of an identity. Errors: the library's, for a malformed one. */
  readonly recipientOf: (identity: string) => Promise<string>;
}

export interface AgeSecret {
  readonly box: AgeBox;
  /** Sorted, each once. */
  readonly recipients: readonly string[];
  /** Empty: it only locks. */
  readonly identities: readonly string[];
}

/** The secret, or what is wrong with what was given. The owners of the identities are recipients too. */
export async function readAgeSecret({ box, recipients, identities }: AgeSecret): Promise<AgeSecret | string> {
  try {
    const own: string[] = [];
    for (const identity of identities) own.push(await box.recipientOf(identity));
    const all = [...new Set([...recipients, ...own])].sort();
    // Tells a malformed recipient now, and not when the key of a task is to be wrapped.
    await box.seal(Buffer.alloc(1), all);
    return { box, recipients: all, identities };
  } catch (error) {
    return `cannot be used: ${messageOf(error)}`;
  }
}

/** The name of a set of recipients: public, as they are. */
export function computeAgeFingerprint({ recipients }: Pick<AgeSecret, "recipients">): KeyId {
  return sha256Hex("splashdown/v1/age-recipients\0", recipients.join(" ")).slice(0, FINGERPRINT_CHARS) as KeyId;
}

/** Errors: KEY_SOURCE_INVALID. */
export async function wrapByAge(secret: AgeSecret, key: Uint8Array, label: string): Promise<string> {
  const wrapped = await secret.box.seal(key, secret.recipients);
  if (wrapped.length <= WRAPPED_CHARS_MAX) return wrapped;
  throw new SplashdownError("KEY_SOURCE_INVALID", `the ${label} names more recipients than a keyring slot holds`, {
    details: { source: label },
  });
}

/** Shape: `undefined` for what was locked for others, and for what is damaged. */
export async function unwrapByAge(secret: AgeSecret, wrapped: string): Promise<Uint8Array | undefined> {
  const key = await secret.box.open(wrapped, secret.identities).catch(() => undefined);
  return key?.length === KEY_BYTES ? key : undefined;
}
