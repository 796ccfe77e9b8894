/**
 * Stores that workflow files of a project name, so that a later command finds their tasks without the file.
 *
 * Owns: `<state folder>/stores/<digest of the own store>/<digest of the other>.json`, one file for each other store, made by
 * the first run that uses it. The state folder belongs to the user: nothing in a project folder can name a store here.
 * An address is kept without its password; the database's own variables or password file give it again.
 */
import { join } from "node:path";
import { sha256Hex } from "../base/digest.js";
import { errnoOf, SplashdownError } from "../base/errors.js";
import type { FileSystem } from "../base/file-system.js";
import { isJsonObject } from "../base/json.js";
import { hidePassword } from "../base/store-address.js";
import { createFolders, describeFailure, readWhole, writeWhole } from "../vault/private-file.js";

export interface KnownStoresPlace {
  readonly fileSystem: FileSystem;
  /** Absolute. */
  readonly stateFolder: string;
}

const FORMAT = "splashdown.store";
const FILE_BYTES_MAX = 8192;

function folderOf({ stateFolder }: KnownStoresPlace, own: string): string {
  return join(stateFolder, "stores", sha256Hex(own));
}

/** Remembers a store beside the own one; durable on return. Errors: STORE_UNWRITABLE. */
export async function rememberStore(place: KnownStoresPlace, own: string, other: string): Promise<void> {
  const folder = folderOf(place, own);
  const store = hidePassword(other);
  const file = join(folder, `${sha256Hex(store)}.json`);
  try {
    await createFolders(place.fileSystem, folder);
    await writeWhole(place.fileSystem, file, Buffer.from(`${JSON.stringify({ format: FORMAT, store })}\n`));
    await place.fileSystem.syncFolder(folder);
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return;
    const reason = describeFailure(error);
    throw new SplashdownError("STORE_UNWRITABLE", `which stores there are cannot be written: ${file} (${reason})`, {
      details: { file, reason },
      cause: error,
    });
  }
}

/** Addresses of the stores that were used beside the own one, sorted. Errors: none; a damaged file counts as none. */
export async function listKnownStores(place: KnownStoresPlace, own: string): Promise<string[]> {
  const folder = folderOf(place, own);
  const files = await place.fileSystem.readdir(folder).catch(() => [] as string[]);
  const found = await Promise.all(files.map((file) => readStore(place, join(folder, file))));
  return found.filter((store) => store !== undefined).sort();
}

async function readStore({ fileSystem }: KnownStoresPlace, path: string): Promise<string | undefined> {
  try {
    const handle = await fileSystem.open(path, "read");
    try {
      const bytes = await readWhole(handle, FILE_BYTES_MAX);
      const value: unknown = JSON.parse(Buffer.from(bytes ?? []).toString("utf8"));
      const store = isJsonObject(value) && value["format"] === FORMAT ? value["store"] : undefined;
      return typeof store === "string" ? store : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}
