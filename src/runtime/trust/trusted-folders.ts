/**
 * Whose settings files a person trusts: by folder, with the digest of what was read, kept in the user's config folder.
 *
 * Owns: `<config folder>/trust/<digest of the folder>.json`. A file that changed since is not trusted any more. What a
 * folder brings along can neither write here nor say of itself that it is trusted; SPLASHDOWN_TRUST is the person's.
 */
import { realpath } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { errnoOf } from "../../base/errors.js";
import { sha256Hex } from "../../base/digest.js";
import type { FileSystem } from "../../base/file-system.js";
import { isJsonObject } from "../../base/json.js";
import { canonicalJson } from "../../base/json-encoding.js";
import type { RandomSource } from "../../base/random.js";
import { createFolders, readWhole, replaceWhole } from "../../vault/private-file.js";
import type { Environment } from "../platform/environment.js";

export interface TrustRecord {
  /** Its real path. */
  readonly folder: string;
  /** The settings file that was shown. */
  readonly file: string;
  /** Over that file and all that it includes. */
  readonly digest: string;
  /** A person who said no is not asked again about the same text. */
  readonly decision: "trusted" | "refused";
  readonly at: string;
}

export interface TrustPlace {
  readonly fileSystem: FileSystem;
  readonly environment: Pick<Environment, "configFolder" | "get" | "workingFolder">;
}

const FILE_BYTES_MAX = 16_384;
const SUFFIX = ".json";
const YES = ["1", "true", "yes", "on"];

/** Digest of the texts that a settings file is made of, by path. */
export function digestOfTexts(texts: ReadonlyMap<string, string>): string {
  return sha256Hex(canonicalJson([...texts].map(([path, text]) => [path, sha256Hex(text)]).sort(compareJoined)));
}

/** By all parts with commas between them: digests that are kept already were made in this order. */
function compareJoined(left: readonly string[], right: readonly string[]): number {
  const [first, second] = [left.join(","), right.join(",")];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

export async function realFolder(folder: string): Promise<string> {
  return realpath(folder).catch(() => resolve(folder));
}

function folderOf({ environment }: TrustPlace): string {
  return join(environment.configFolder, "trust");
}

function pathOf(place: TrustPlace, folder: string): string {
  return join(folderOf(place), `${sha256Hex(folder).slice(0, 32)}${SUFFIX}`);
}

/** Whether the person's environment says so: `1` for the working folder, or a list of folders. */
export async function isTrustedByEnvironment({ environment }: TrustPlace, folder: string): Promise<boolean> {
  const said = environment.get("SPLASHDOWN_TRUST")?.trim() ?? "";
  if (YES.includes(said.toLowerCase())) return folder === (await realFolder(environment.workingFolder));
  for (const each of said.split(delimiter))
    if (each.trim() !== "" && (await realFolder(each.trim())) === folder) return true;
  return false;
}

/** What is remembered of a folder; a record that cannot be read is none. Errors: none. */
export function loadTrust(place: TrustPlace, folder: string): Promise<TrustRecord | undefined> {
  return readRecord(place, pathOf(place, folder));
}

async function readRecord({ fileSystem }: TrustPlace, path: string): Promise<TrustRecord | undefined> {
  try {
    const handle = await fileSystem.open(path, "read");
    try {
      const bytes = await readWhole(handle, FILE_BYTES_MAX);
      return bytes === undefined ? undefined : parseRecord(Buffer.from(bytes).toString("utf8"));
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

function parseRecord(text: string): TrustRecord | undefined {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) return undefined;
  const { folder, file, digest, decision, at } = value;
  if (typeof folder !== "string" || typeof file !== "string" || typeof digest !== "string") return undefined;
  if ((decision !== "trusted" && decision !== "refused") || typeof at !== "string") return undefined;
  return { folder, file, digest, decision, at };
}

/** Remembers what a person decided; durable on return. Errors: those of the platform. */
export async function saveTrust(
  place: TrustPlace & { readonly random: RandomSource },
  record: TrustRecord,
): Promise<void> {
  const suffix = Buffer.from(place.random.bytes(8)).toString("hex");
  await createFolders(place.fileSystem, folderOf(place));
  const bytes = Buffer.from(`${canonicalJson({ ...record })}\n`);
  await replaceWhole(place.fileSystem, pathOf(place, record.folder), { bytes, suffix });
}

/** Shape: false when there was nothing to forget. Errors: those of the platform. */
export async function removeTrust(place: TrustPlace, folder: string): Promise<boolean> {
  try {
    await place.fileSystem.unlink(pathOf(place, folder));
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Every record that can be read, by folder. Errors: none. */
export async function listTrust(place: TrustPlace): Promise<TrustRecord[]> {
  const files = await place.fileSystem.readdir(folderOf(place)).catch(() => [] as string[]);
  const records = await Promise.all(
    files.filter((file) => file.endsWith(SUFFIX)).map((file) => readRecord(place, join(folderOf(place), file))),
  );
  return records.filter((each) => each !== undefined).sort((a, b) => (a.folder < b.folder ? -1 : 1));
}
