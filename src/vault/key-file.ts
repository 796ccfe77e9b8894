/**
 * The key file: 256 random bits as three lines of text, and nothing else.
 *
 *     splashdown-key/1
 *     <44 characters of base64: 32 bytes>
 *     fingerprint <16 hex digits>
 *
 * The fingerprint line is the check: it finds a damaged or half-copied file before it is taken for a wrong key. It is
 * safe to show and to write down. Every line ends with a line feed; a file with anything more or less is refused.
 *
 * V6: a key file that others can read, that is a link or not a regular file is refused; one is never overwritten.
 */
import { dirname, join } from "node:path";
import { decodeBase64 } from "../base/digest.js";
import { makeFolders, settleNames } from "../base/durable-names.js";
import { errnoOf, SplashdownError } from "../base/errors.js";
import type { FileHandle, FileSystem } from "../base/file-system.js";
import type { KeyId } from "../base/ids.js";
import type { RandomSource } from "../base/random.js";
import { describeFailure, readWhole, writeWhole } from "./private-file.js";
import { computeFingerprint, KEY_BYTES } from "./derivation.js";

const FIRST_LINE = "splashdown-key/1";
const CHECK_PREFIX = "fingerprint ";
const FILE_BYTES_MAX = 4096;
const OTHERS_MASK = 0o077;

export interface KeyFile {
  readonly bytes: Uint8Array;
  readonly fingerprint: KeyId;
}

/** The text of a key file. */
export function formatKeyFile(key: Uint8Array): string {
  const encoded = Buffer.from(key).toString("base64");
  return `${FIRST_LINE}\n${encoded}\n${CHECK_PREFIX}${computeFingerprint(key, "wrapping-key")}\n`;
}

/** The key in a key file's text, or what is wrong with it. */
export function parseKeyFile(text: string): KeyFile | string {
  const lines = text.split("\n");
  if (lines[0] !== FIRST_LINE) return "is not a splashdown key file";
  if (lines.length < 4) return "is cut off";
  if (lines.length > 4 || lines[3] !== "") return "holds more than a key";
  const bytes = decodeBase64(lines[1] ?? "");
  if (bytes?.length !== KEY_BYTES) return "does not hold 32 bytes of base64";
  const fingerprint = computeFingerprint(bytes, "wrapping-key");
  if (lines[2] !== `${CHECK_PREFIX}${fingerprint}`) return "is damaged: its check line does not fit";
  return { bytes, fingerprint };
}

/**
 * Reads a key file.
 *
 * Errors: KEY_SOURCE_INVALID when it is unsafe, unreadable or malformed; an absent file is `undefined`.
 */
export async function loadKeyFile(fileSystem: FileSystem, path: string): Promise<KeyFile | undefined> {
  const text = await readPrivate(fileSystem, path);
  if (text === undefined) return undefined;
  const parsed = parseKeyFile(text);
  if (typeof parsed === "string") throw unusable(path, parsed);
  return parsed;
}

/**
 * The identities in an age identity file: its lines but for empty ones and comments.
 *
 * Errors: KEY_SOURCE_INVALID as for a key file; an absent file is `undefined`.
 */
export async function loadAgeIdentities(fileSystem: FileSystem, path: string): Promise<string[] | undefined> {
  const text = await readPrivate(fileSystem, path);
  if (text === undefined) return undefined;
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const identities = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (identities.length === 0) throw unusable(path, "holds no age identity");
  if (!identities.every((line) => line.startsWith("AGE-SECRET-KEY-"))) throw unusable(path, "is no age identity file");
  return identities;
}

/**
 * The passphrase in a file: its one line.
 *
 * Errors: KEY_SOURCE_INVALID as for a key file; an absent file is `undefined`.
 */
export async function loadPassphraseFile(fileSystem: FileSystem, path: string): Promise<string | undefined> {
  const text = await readPrivate(fileSystem, path);
  return text === undefined ? undefined : parsePassphrase(text, path);
}

/** Errors: KEY_SOURCE_INVALID when there is more than one line. */
export function parsePassphrase(text: string, path: string): string {
  const line = text.replace(/\r?\n$/, "");
  if (/[\r\n]/.test(line)) throw unusable(path, "holds more than the one line of a passphrase");
  return line;
}

async function readPrivate(fileSystem: FileSystem, path: string): Promise<string | undefined> {
  const handle = await openKeyFile(fileSystem, path);
  if (handle === undefined) return undefined;
  try {
    await requirePrivate(handle, path);
    const bytes = await readWhole(handle, FILE_BYTES_MAX);
    if (bytes === undefined) throw unusable(path, "is too large for a key file");
    return Buffer.from(bytes).toString("utf8");
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    await handle.close().catch(() => undefined);
  }
}

function unreadable(path: string, error: unknown): SplashdownError {
  if (error instanceof SplashdownError) return error;
  return unusable(path, `cannot be read (${describeFailure(error)})`, error);
}

async function openKeyFile(fileSystem: FileSystem, path: string): Promise<FileHandle | undefined> {
  try {
    const { kind } = await fileSystem.lstat(path);
    if (kind === "link") throw unusable(path, "is a link");
    if (kind !== "file") throw unusable(path, "is not a regular file");
    return await fileSystem.open(path, "read");
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT" || errno === "ENOTDIR") return undefined;
    if (errno === "ELOOP") throw unusable(path, "is a link");
    throw unreadable(path, error);
  }
}

async function requirePrivate(handle: FileHandle, path: string): Promise<void> {
  const { kind, mode } = await handle.stat();
  if (kind !== "file") throw unusable(path, "is not a regular file");
  if ((mode & OTHERS_MASK) !== 0) {
    throw unusable(path, `can be used by others (mode ${(mode & 0o777).toString(8)}); make it private with chmod 600`);
  }
}

function unusable(path: string, what: string, cause?: unknown): SplashdownError {
  return new SplashdownError("KEY_SOURCE_INVALID", `the key file ${path} ${what}`, { details: { file: path }, cause });
}

export interface KeyFileOptions {
  readonly fileSystem: FileSystem;
  readonly path: string;
  readonly random: RandomSource;
}

export interface CreatedKeyFile {
  readonly path: string;
  readonly fingerprint: KeyId;
}

/**
 * Makes a new key file, 0600, with every missing folder above it 0700; durable on return, with all it lies in.
 *
 * Shape: the whole file appears at once or not at all. `undefined` when something is there already.
 * Errors: KEY_NOT_CREATED when the place cannot be written.
 */
export async function createKeyFile(options: KeyFileOptions): Promise<CreatedKeyFile | undefined> {
  const { fileSystem, path, random } = options;
  const key = random.bytes(KEY_BYTES);
  const temporary = join(dirname(path), `.${Buffer.from(random.bytes(8)).toString("hex")}.tmp`);
  try {
    const made = await makeFolders(fileSystem, dirname(path));
    await writeWhole(fileSystem, temporary, Buffer.from(formatKeyFile(key)));
    if (!(await publish(fileSystem, temporary, path))) return undefined;
    await settleNames(fileSystem, path, { made: [...made, path] });
    return { path, fingerprint: computeFingerprint(key, "wrapping-key") };
  } catch (error) {
    const reason = describeFailure(error);
    throw new SplashdownError("KEY_NOT_CREATED", `the key file ${path} cannot be written (${reason})`, {
      details: { file: path, reason },
      cause: error,
    });
  } finally {
    key.fill(0);
  }
}

/** Gives the finished file its name without replacing anything; `false` when the name is taken. */
async function publish(fileSystem: FileSystem, temporary: string, path: string): Promise<boolean> {
  try {
    await fileSystem.link(temporary, path);
  } catch (error) {
    await fileSystem.unlink(temporary);
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
  await fileSystem.unlink(temporary);
  return true;
}
