/**
 * Who locked a task: owners sign, recipients only lock.
 *
 * Owns: the signatures in a keyring. Anybody can encrypt to a public recipient, and a key command may wrap without a
 * secret: that such a slot opens says to whom a task was locked, never by whom. So each keyring names its task's keys as
 * a lineage: every generation's key signs the next one, and the first is signed by an origin, a key that only an owner
 * has (made of an age identity, of a key, or kept in the user's settings folder).
 *
 * V21: a keyring that opens by a public recipient or an unproving command alone counts only where its lineage begins at a
 * known origin, or passes through the first key that this machine has seen the task with.
 * V22: the lineage ends at the active key: whoever gives a task another key holds the one before it.
 * Source: RFC 8032 (Ed25519).
 */
import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from "node:crypto";
import { decodeBase64Url, encodeBase64Url, sha256Hex } from "../base/digest.js";
import type { KeyringHeader, KeyringLineage, KeyringOrigin } from "../schema/generated/keyring.js";
import { deriveBytes } from "./derivation.js";
import type { ReadySource, Secret } from "./key-source.js";

const SEED_BYTES = 32;
const PUBLIC_KEY_BYTES = 32;
/** What stands before a seed in PKCS 8, and before a public key in SPKI. Source: RFC 8410 section 7. */
const PRIVATE_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/** A key that signs, by its public name. */
export interface SigningKey {
  /** 32 bytes as unpadded base64url. */
  readonly publicKey: string;
  readonly sign: (text: string) => string;
}

function createSigningKey(secret: Uint8Array, use: string): SigningKey {
  const seed = deriveBytes({ key: secret, salt: new Uint8Array(0) }, `splashdown/v1/${use}\0`, SEED_BYTES);
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, seed]), format: "der", type: "pkcs8" });
  const exported = createPublicKey(key).export({ format: "der", type: "spki" });
  return {
    publicKey: encodeBase64Url(exported.subarray(PUBLIC_PREFIX.length)),
    sign: (text) => encodeBase64Url(sign(null, Buffer.from(text), key)),
  };
}

/** The signing key of one generation of a task's key. */
function signingKeyOf(taskKey: Uint8Array): SigningKey {
  return createSigningKey(taskKey, "lineage");
}

/** The origin that a secret makes: none of a passphrase, which others know too, and none of a command. */
export function originsOf(secret: Secret): SigningKey[] {
  if (secret.nature === "key") return [createSigningKey(secret.bytes, "origin")];
  if (secret.nature !== "age") return [];
  return secret.identities.map((identity) => createSigningKey(Buffer.from(identity), "origin"));
}

/** The origin that a key file in the user's settings folder makes, for those who have no key to sign with. */
export function originOfKeptKey(bytes: Uint8Array): SigningKey {
  return createSigningKey(bytes, "kept-origin");
}

/** True for a secret that must be known to lock with it: what it opens was locked by somebody who has it. */
export function provesLocker({ secret, setting }: ReadySource): boolean {
  if (secret.nature === "command") return setting.kind === "command" && setting.provesOrigin === true;
  return secret.nature !== "age";
}

function textOfOrigin(task: string, first: string): string {
  return `splashdown/v1/origin\0${task}\0${first}`;
}

function textOfNext(task: string, { id, generation, key }: KeyringLineage): string {
  return `splashdown/v1/lineage\0${task}\0${id}\0${generation}\0${key}`;
}

type Generation = { readonly id: string; readonly generation: number; readonly bytes: Uint8Array };

/** The lineage of a new task's first key. */
export function beginLineage({ id, generation, bytes }: Generation): KeyringLineage[] {
  return [{ id, generation, key: signingKeyOf(bytes).publicKey }];
}

/** The lineage with one key more, which the one before it vouches for. */
export function extendLineage(
  { task, lineage }: Pick<KeyringHeader, "task" | "lineage">,
  keys: { readonly active: Generation; readonly next: Generation },
): KeyringLineage[] {
  const { active, next } = keys;
  const entry = { id: next.id, generation: next.generation, key: signingKeyOf(next.bytes).publicKey };
  return [...lineage, { ...entry, proof: signingKeyOf(active.bytes).sign(textOfNext(task, entry)) }];
}

/** What an owner says of a task's first key. */
export function signOrigin(
  { task, lineage }: Pick<KeyringHeader, "task" | "lineage">,
  origin: SigningKey,
): KeyringOrigin | undefined {
  const [first] = lineage;
  return first && { key: origin.publicKey, proof: origin.sign(textOfOrigin(task, first.key)) };
}

/** The first key of a task by its public name: what a machine remembers of it. Shape: 64 hex digits. */
export function firstKeyOf({ lineage }: Pick<KeyringHeader, "lineage">): string {
  return nameOf(lineage[0]?.key ?? "");
}

function nameOf(publicKey: string): string {
  return sha256Hex("splashdown/v1/task-name\0", publicKey);
}

/** True when the lineage leads from one of its keys, by default the first, to the active key. */
export function leadsToActive(header: KeyringHeader, active: Generation, from = firstKeyOf(header)): boolean {
  const { lineage, task } = header;
  const start = lineage.findIndex(({ key }) => nameOf(key) === from);
  const last = lineage.at(-1);
  if (start === -1 || last === undefined || last.id !== active.id || last.generation !== active.generation)
    return false;
  if (last.key !== signingKeyOf(active.bytes).publicKey) return false;
  return lineage.slice(start + 1).every((entry, at) => {
    const before = lineage[start + at];
    return before !== undefined && isSigned(before.key, textOfNext(task, entry), entry.proof);
  });
}

/** True when one of these origins signed the first key. Shape: an empty list knows none. */
export function isOfOrigin(header: KeyringHeader, origins: readonly string[]): boolean {
  const { origin, task } = header;
  if (origin === undefined || !origins.includes(origin.key)) return false;
  return isSigned(origin.key, textOfOrigin(task, header.lineage[0]?.key ?? ""), origin.proof);
}

function isSigned(publicKey: string, text: string, proof: string | undefined): boolean {
  const key = readPublicKey(publicKey);
  const signature = decodeBase64Url(proof ?? "");
  return key !== undefined && signature !== undefined && verify(null, Buffer.from(text), key, signature);
}

function readPublicKey(text: string): KeyObject | undefined {
  const bytes = decodeBase64Url(text);
  if (bytes?.length !== PUBLIC_KEY_BYTES) return undefined;
  try {
    return createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, bytes]), format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}
