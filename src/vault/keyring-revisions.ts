/**
 * The revisions of a task's keyring in its store: which one counts, and how the next one is made.
 *
 * Owns: names, the choice of the highest valid revision, the retry when somebody else was first, and that two
 * revisions are kept. What stands in a revision is decided by `task-vault.ts`.
 *
 * V10: a revision is created exclusively and never changed. V11: a damaged newest revision gives way to the one before
 * it, and this is said; a newer format or a keyring that is whole but not ours never gives way. V19: see
 * keyring-revocation.ts.
 */
import { SplashdownError, isErrorCode } from "../base/errors.js";
import { LIMITS } from "../base/limits.js";
import type { KeyringHeader } from "../schema/generated/keyring.js";
import { decodeKeyring, encodeKeyring, type Keyring } from "./keyring-format.js";

/** The part of a task's store that keyrings need; see TaskStore in store/contract/contract.ts for the promises. */
export interface KeyringObjects {
  putOnce(key: string, bytes: Uint8Array): Promise<"created" | "exists">;
  get(key: string, range?: { readonly offset: number; readonly length: number }): Promise<Uint8Array | undefined>;
  list(prefix: string): Promise<readonly { readonly key: string; readonly sizeBytes: number }[]>;
  remove(key: string): Promise<void>;
}

const PREFIX = "keyring-";
const NAME = /^keyring-([1-9]\d{0,8})\.json$/;
const ATTEMPTS_MAX = 16;

/** A revision that could not be read. */
export interface DamagedRevision {
  readonly file: string;
  readonly problem: string;
}

export interface LoadedKeyring {
  readonly keyring: Keyring;
  readonly file: string;
  /** Newer revisions that are damaged, newest first. */
  readonly damaged: readonly DamagedRevision[];
  /** The highest and the lowest revision number in use, damaged ones counted. */
  readonly revMax: number;
  readonly revMin: number;
}

/** The object key of a revision. */
function computeKeyringName(rev: number): string {
  return `${PREFIX}${rev}.json`;
}

interface FoundRevision {
  readonly rev: number;
  readonly sizeBytes: number;
}

/** Newest first. */
async function findRevisions(objects: KeyringObjects): Promise<FoundRevision[]> {
  const entries = await objects.list(PREFIX);
  const found = entries.map(({ key, sizeBytes }) => ({ rev: Number(NAME.exec(key)?.[1] ?? 0), sizeBytes }));
  return found.filter(({ rev }) => rev > 0).sort((left, right) => right.rev - left.rev);
}

async function listRevisions(objects: KeyringObjects): Promise<number[]> {
  return (await findRevisions(objects)).map(({ rev }) => rev);
}

/**
 * The highest valid revision.
 *
 * Shape: `undefined` when the task has no keyring at all.
 * Errors: KEYRING_CORRUPT when all revisions are damaged, FORMAT_VERSION when the newest readable one is of a newer
 * version.
 */
export async function loadKeyring(objects: KeyringObjects): Promise<LoadedKeyring | undefined> {
  const found = await findRevisions(objects);
  const revisions = found.map(({ rev }) => rev);
  const damaged: DamagedRevision[] = [];
  for (const { rev, sizeBytes } of found.slice(0, LIMITS.keyringRevisionsMax)) {
    const file = computeKeyringName(rev);
    const keyring = await readRevision(objects, { file, rev, sizeBytes });
    if (keyring === undefined) continue;
    if (typeof keyring !== "string") {
      return { keyring, file, damaged, revMax: Math.max(...revisions), revMin: Math.min(...revisions) };
    }
    damaged.push({ file, problem: keyring });
  }
  const [newest] = damaged;
  if (newest === undefined) return undefined;
  const others = damaged.length > 1 ? `, and so ${damaged.length === 2 ? "is the one" : "are all"} before it` : "";
  throw new SplashdownError("KEYRING_CORRUPT", `${newest.problem}${others}`, {
    details: { files: damaged.map(({ file }) => file) },
  });
}

/** The keyring, or what is wrong with its file; of one that is too large nothing is read. `undefined`: it is gone. */
async function readRevision(
  objects: KeyringObjects,
  { file, rev, sizeBytes }: FoundRevision & { readonly file: string },
): Promise<Keyring | string | undefined> {
  if (sizeBytes > LIMITS.keyringBytesMax) return `the keyring file ${file} is too large`;
  const bytes = await objects.get(file, { offset: 0, length: LIMITS.keyringBytesMax + 1 });
  return bytes === undefined ? undefined : tryDecode(bytes, { file, rev });
}

/** The keyring, or what is wrong with its file. */
function tryDecode(
  bytes: Uint8Array,
  { file, rev }: { readonly file: string; readonly rev: number },
): Keyring | string {
  try {
    const keyring = decodeKeyring(bytes, file);
    if (keyring.header.rev === rev) return keyring;
    return `the keyring file ${file} says that it is revision ${keyring.header.rev}`;
  } catch (error) {
    if (error instanceof SplashdownError && isErrorCode(error, "KEYRING_CORRUPT")) return error.message;
    throw error;
  }
}

/** A revision that is ready but for its number. */
export interface KeyringDraft {
  readonly header: Omit<KeyringHeader, "rev">;
  readonly activeKey: Uint8Array;
  /** It is not to hang on one file, and the revisions before it are to go (V19). */
  readonly isDoubled?: boolean;
}

/**
 * Proves a finished file before it gets its name.
 *
 * Errors: whatever keeps it from being opened; then nothing is written.
 */
export type KeyringProof = (keyring: Keyring) => Promise<void>;

/** Creates the first revision; `false` when there is a keyring already. */
export async function saveFirstRevision(
  objects: KeyringObjects,
  draft: KeyringDraft,
  prove: KeyringProof,
): Promise<boolean> {
  const revisions = await listRevisions(objects);
  return revisions.length === 0 && saveRevision(objects, { ...draft, rev: 1 }, prove);
}

async function saveRevision(
  objects: KeyringObjects,
  { header, activeKey, isDoubled, rev }: KeyringDraft & { readonly rev: number },
  prove: KeyringProof,
): Promise<boolean> {
  const file = computeKeyringName(rev);
  const bytes = encodeKeyring({ ...header, rev, ...(isDoubled === true ? { min_revision: rev } : {}) }, activeKey);
  await prove(decodeKeyring(bytes, file));
  return (await objects.putOnce(file, bytes)) === "created";
}

/**
 * Creates the next revision from the one that counts now, and again from theirs when somebody else was faster.
 *
 * Shape: `change` is asked anew for each attempt; `undefined` means that nothing is to be changed.
 * Errors: KEYRING_CORRUPT when there is none to start from; STORE_BUSY when others were faster every time.
 */
export async function saveNextRevision(
  objects: KeyringObjects,
  change: (current: LoadedKeyring) => Promise<KeyringDraft | undefined>,
  prove: KeyringProof,
): Promise<number | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const current = await loadKeyring(objects);
    if (current === undefined) throw new SplashdownError("KEYRING_CORRUPT", "the task has no keyring to change");
    const draft = await change(current);
    if (draft === undefined) return undefined;
    const rev = current.revMax + 1;
    if (!(await saveRevision(objects, { ...draft, rev }, prove))) continue;
    await removeRevisionsBelow(objects, current.keyring.header.rev);
    return rev;
  }
  throw new SplashdownError("STORE_BUSY", `the keyring was changed by others ${ATTEMPTS_MAX} times in a row`);
}

/** What a change that is to stand in two files and was cut off has left: one copy only, or files from before it (V19). */
export function isUnfinished({ keyring: { header }, revMin }: LoadedKeyring): boolean {
  const { rev, min_revision: lowest } = header;
  return lowest !== undefined && (rev === lowest || revMin < lowest);
}

/** Keeps the new revision, the valid one before it and what lies between them. */
export async function removeRevisionsBelow(objects: KeyringObjects, rev: number): Promise<void> {
  for (const older of await listRevisions(objects)) {
    if (older < rev) await objects.remove(computeKeyringName(older));
  }
}
