/**
 * The key of a first run without a configured one, and the person's word that it is backed up.
 *
 * Owns: where a key file may come into being. A key that is made silently in the wrong place is worse than none: beside
 * the data it protects nothing, on a volume that vanishes it takes the data along, and where data of another key is
 * present it only hides that the right one is missing. `key-file.ts` owns the file itself.
 *
 * V14: none is made where sealed data of another key is present, on a more volatile volume than the store's, or inside
 * the outputs tree or the project; where the default place cannot be written, one is named that can be. Source: DESIGN section 7, STORAGE section 2.6.
 */
import { writeCommand } from "../base/command-text.js";
import { dirname, isAbsolute, join, relative } from "node:path";
import { settleNames } from "../base/durable-names.js";
import { errnoOf, SplashdownError } from "../base/errors.js";
import type { FileSystem } from "../base/file-system.js";
import type { RandomSource } from "../base/random.js";
import { quoteArgument } from "../base/shell-text.js";
import { createKeyFile, loadKeyFile, type CreatedKeyFile } from "./key-file.js";
import { describeFailure, writeWhole } from "./private-file.js";

export interface DefaultKeyOptions {
  readonly fileSystem: FileSystem;
  /** The user's settings folder of this application; absolute. */
  readonly configFolder: string;
  /** The outputs tree; absolute. `undefined` for a store that is no folder. */
  readonly storeFolder?: string;
  /** The project's folder, where a key must not lie either. */
  readonly projectFolder?: string;
  /** Where a person could keep a key instead, most fitting first; absolute. One that is as lasting as the store is named. */
  readonly keptFolders?: readonly string[];
  /** Whether sealed data is present that no key at hand opens. Asked where there is no key only: it looks at every task. */
  readonly hasForeignSealedData: () => Promise<boolean>;
  readonly random: RandomSource;
}

export interface DefaultKeyFile extends CreatedKeyFile {
  /** True when it was made by this call: then it is announced, once. */
  readonly created: boolean;
}

const KEY_NAME = "splashdown.key";

/** Magic number of overlayfs: kept as long as the container, no longer. Source: Linux, include/uapi/linux/magic.h. */
const OVERLAY_MAGIC = 0x794c7630;

/** Where the key of a first run lies. */
export function computeDefaultKeyPath(configFolder: string): string {
  return join(configFolder, "keys", "default.key");
}

/**
 * Gives the default key file, making it when there is none.
 *
 * Errors: KEY_NOT_CREATED with the two commands that fix it (`details.commands`); KEY_SOURCE_INVALID when one is there
 * that is unusable.
 */
export async function ensureDefaultKeyFile(options: DefaultKeyOptions): Promise<DefaultKeyFile> {
  const { fileSystem, configFolder, random } = options;
  const path = computeDefaultKeyPath(configFolder);
  const present = await loadDurable(options, path);
  if (present !== undefined) return present;
  const refuse = (reason: string, cause?: unknown): Promise<SplashdownError> =>
    explain(options, path, { reason, cause, isUnwritable: cause !== undefined });
  if (await options.hasForeignSealedData()) throw await refuse("sealed data of another key is present");
  const objection = await findObjection(options, path);
  if (objection !== undefined) throw await refuse(objection);
  const made = await createKeyFile({ fileSystem, path, random }).catch(async (error: unknown) => {
    if (!(error instanceof SplashdownError)) throw error;
    const { reason } = error.details;
    throw await refuse(typeof reason === "string" ? reason : error.message, error);
  });
  if (made !== undefined) return { ...made, created: true };
  const theirs = await loadDurable(options, path);
  if (theirs === undefined) throw await refuse("it was there and is gone again");
  return theirs;
}

/** Who made it may have died before its name was durable, and what is sealed with it would die with it. */
async function loadDurable(options: DefaultKeyOptions, path: string): Promise<DefaultKeyFile | undefined> {
  const present = await loadKeyFile(options.fileSystem, path);
  if (present === undefined) return undefined;
  try {
    await settleNames(options.fileSystem, path);
  } catch (cause) {
    const reason = `the one that is there cannot be made durable (${describeFailure(cause)})`;
    throw await explain(options, path, { reason, cause });
  }
  return { path, fingerprint: present.fingerprint, created: false };
}

/** Why a key must not come into being at a path. */
async function findObjection(options: DefaultKeyOptions, path: string): Promise<string | undefined> {
  const { fileSystem, storeFolder, projectFolder } = options;
  if (storeFolder !== undefined && isInside(storeFolder, path)) return "it would lie inside the outputs tree";
  if (projectFolder !== undefined && isInside(projectFolder, path)) return "it would lie inside the project";
  if (storeFolder === undefined) return undefined;
  try {
    const [keys, store] = [await rankVolume(fileSystem, path), await rankVolume(fileSystem, storeFolder)];
    return keys < store ? "its file system is more volatile than the store's" : undefined;
  } catch (error) {
    return `it is unclear how lasting its file system is (${describeFailure(error)})`;
  }
}

interface Refusal {
  readonly reason: string;
  readonly cause?: unknown;
  /** The default place could not be written: another one is tried before it is named. */
  readonly isUnwritable?: boolean;
}

/** The refusal, with the commands that fix it: typed as printed they make a key and use it. */
async function explain(
  options: DefaultKeyOptions,
  path: string,
  { reason, cause, isUnwritable = false }: Refusal,
): Promise<SplashdownError> {
  const kept = await selectKeptPath(options, path, isUnwritable);
  const commands = await listCommands(options, kept);
  return new SplashdownError("KEY_NOT_CREATED", `no key is configured, and none is made at ${path}: ${reason}`, {
    details: { file: path, reason, commands },
    cause,
  });
}

async function listCommands(options: DefaultKeyOptions, kept: string | undefined): Promise<string[]> {
  // No folder here takes a key: then it is kept by whoever sets the variable.
  if (kept === undefined) return [`export SPLASHDOWN_KEY="$(head -c 32 /dev/urandom | base64)"`];
  const make = writeCommand("keys init", [], { "--key-file": kept });
  return (await options.hasForeignSealedData())
    ? [writeCommand("keys verify"), make]
    : [make, `export SPLASHDOWN_KEY_FILE=${quoteArgument(kept)}`];
}

/** A person may put a key anywhere; where nothing better is known, the default place is as good as theirs. */
async function selectKeptPath(
  options: DefaultKeyOptions,
  path: string,
  isUnwritable: boolean,
): Promise<string | undefined> {
  for (const folder of options.keptFolders ?? []) {
    const candidate = join(folder, KEY_NAME);
    if (candidate === path || (await findObjection(options, candidate)) !== undefined) continue;
    if (!isUnwritable || (await isWritable(options, folder))) return candidate;
  }
  return isUnwritable ? undefined : path;
}

/** Whether a file can be made in a folder: one is made there, and goes. */
async function isWritable({ fileSystem, random }: DefaultKeyOptions, folder: string): Promise<boolean> {
  const probe = join(folder, `.${Buffer.from(random.bytes(8)).toString("hex")}.tmp`);
  try {
    await writeWhole(fileSystem, probe, Buffer.alloc(1));
    await fileSystem.unlink(probe);
    return true;
  } catch {
    return false;
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !/^\.\.[\\/]/.test(way) && !isAbsolute(way);
}

/** 0 memory, 1 a container's layer, 2 a disk; judged where the path is or will be. */
async function rankVolume(fileSystem: FileSystem, path: string): Promise<number> {
  try {
    const { type, volatile } = await fileSystem.volumeOf(path);
    if (type === OVERLAY_MAGIC) return 1;
    return volatile ? 0 : 2;
  } catch (error) {
    const errno = errnoOf(error);
    if ((errno !== "ENOENT" && errno !== "ENOTDIR") || dirname(path) === path) throw error;
    return rankVolume(fileSystem, dirname(path));
  }
}

/**
 * Makes a key file where a person asked for it; containers use this.
 *
 * Errors: KEY_NOT_CREATED when something is there already or the place cannot be written.
 */
export async function initKeyFile(options: {
  readonly fileSystem: FileSystem;
  readonly path: string;
  readonly random: RandomSource;
}): Promise<CreatedKeyFile> {
  const made = await createKeyFile(options);
  if (made !== undefined) return made;
  throw new SplashdownError("KEY_NOT_CREATED", `the key file ${options.path} exists and is never overwritten`, {
    details: { file: options.path, reason: "exists", commands: [writeCommand("keys show")] },
  });
}

/** The marker holds the fingerprint, so that a word given for an older key does not count for a newer one. */
function computeMarkerPath(keyPath: string): string {
  return `${keyPath}.acknowledged`;
}

/** True when a person has said that this very key is backed up. */
export async function isKeyAcknowledged(fileSystem: FileSystem, key: CreatedKeyFile): Promise<boolean> {
  const said = await readMarker(fileSystem, computeMarkerPath(key.path));
  return said === `${key.fingerprint}\n`;
}

async function readMarker(fileSystem: FileSystem, path: string): Promise<string | undefined> {
  try {
    const handle = await fileSystem.open(path, "read");
    try {
      return Buffer.from(await handle.read(0, 64)).toString("utf8");
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

/**
 * Records that a person has backed the key up; the reminders end.
 *
 * Errors: KEY_SOURCE_INVALID when there is no such key file; KEY_NOT_CREATED when the marker cannot be written.
 */
export async function acknowledgeKey(fileSystem: FileSystem, keyPath: string): Promise<CreatedKeyFile> {
  const key = await loadKeyFile(fileSystem, keyPath);
  if (key === undefined) {
    throw new SplashdownError("KEY_SOURCE_INVALID", `the key file ${keyPath} does not exist`, {
      details: { file: keyPath },
    });
  }
  const named = { path: keyPath, fingerprint: key.fingerprint };
  if (!(await isKeyAcknowledged(fileSystem, named))) await writeMarker(fileSystem, named);
  return named;
}

async function writeMarker(fileSystem: FileSystem, key: CreatedKeyFile): Promise<void> {
  const path = computeMarkerPath(key.path);
  try {
    await fileSystem.unlink(path).catch((error: unknown) => {
      if (errnoOf(error) !== "ENOENT") throw error;
    });
    await writeWhole(fileSystem, path, Buffer.from(`${key.fingerprint}\n`));
    await fileSystem.syncFolder(dirname(path));
  } catch (error) {
    const reason = describeFailure(error);
    throw new SplashdownError("KEY_NOT_CREATED", `the marker ${path} cannot be written (${reason})`, {
      details: { file: path, reason },
      cause: error,
    });
  }
}
