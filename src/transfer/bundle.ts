/**
 * A bundle: one task in one zip file, to be carried to another machine or put away.
 *
 * `checkpoints/…` holds the files as they lie in a task's folder, sealed as they are, stored without compression, and
 * `checkpoints/carried/…` what the folder holds beside them, sealed too (runtime/verbs/transfer/bundled-files.ts). The last
 * entry, `bundle.json`, names each with its length and SHA-256, so that a bundle cut short is no bundle.
 * Whoever may open it is decided by the keyring in it.
 *
 * T3: nothing of a bundle is believed before it was checked: number, names, lengths, digests. No name of an entry ever
 *     becomes a path; it must be the name of a segment or a key that every store can hold.
 * Source: DESIGN section 7 (gzip), STORAGE section 2.3.
 */
import { Zip, ZipPassThrough } from "fflate";
import { sha256Hex } from "../base/digest.js";
import { SplashdownError } from "../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import { isObjectKey, isTaskName } from "../store/contract/object-key.js";
import { parseSegmentName } from "../store/contract/segment-name.js";
import { readStoredZip, type StoredEntry } from "./stored-zip.js";
import { JOURNAL, nameTaskFile, type TaskFile } from "./copy-task.js";

const FORMAT = "splashdown.bundle";
const VERSION = "1.0";
const MANIFEST = "bundle.json";
/** The first entry of what `--redacted` made: a report, and no bundle. */
const REPORT = "report.json";
const FOLDER = "checkpoints/";

/** What a bundle says of itself. */
export interface BundleFacts {
  readonly task: string;
  readonly workflowId: string;
  /** ISO 8601, UTC. */
  readonly created: string;
  /** Version of the program that made it. */
  readonly app: string;
  readonly encrypted: boolean;
}

interface ListedFile {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

export interface UnpackedBundle {
  readonly facts: BundleFacts;
  /** As `readTaskFiles` gives them. */
  readonly files: readonly TaskFile[];
}

/**
 * The bytes of a bundle, piece by piece.
 *
 * Errors: BUNDLE_TOO_LARGE; those of the files.
 */
export async function* packBundle(
  facts: BundleFacts,
  files: AsyncIterable<TaskFile> | Iterable<TaskFile>,
): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const zip = new Zip((error, piece) => {
    if (error !== null) throw error;
    pieces.push(piece);
  });
  const add = (name: string, bytes: Uint8Array): Uint8Array[] => {
    const entry = new ZipPassThrough(name);
    entry.mtime = dayOf(facts.created);
    zip.add(entry);
    entry.push(bytes, true);
    return pieces.splice(0);
  };
  const listed: ListedFile[] = [];
  let size = 0;
  for await (const file of files) {
    const name = nameTaskFile(file);
    listed.push({ name, size: file.bytes.length, sha256: sha256Hex(file.bytes) });
    size += file.bytes.length;
    requireRoom(size, listed.length);
    yield* add(`${FOLDER}${name}`, file.bytes);
  }
  yield* add(MANIFEST, Buffer.from(formatManifest(facts, listed)));
  zip.end();
  yield* pieces.splice(0);
}

/**
 * The time of an entry: noon of that day, which is the same day and hour on every machine. A zip file states local time
 * without its zone, and its writer takes that from the machine.
 */
export function dayOf(created: string): string {
  return `${created.slice(0, 10)}T12:00:00`;
}

function requireRoom(sizeBytes: number, count: number): void {
  if (sizeBytes <= LIMITS.bundleBytesMax && count <= LIMITS.bundleFilesMax) return;
  throw new SplashdownError(
    "BUNDLE_TOO_LARGE",
    `a bundle holds ${LIMITS.bundleBytesMax} bytes in ${LIMITS.bundleFilesMax} files at most; there are more`,
    { details: { size: sizeBytes, files: count, size_max: LIMITS.bundleBytesMax } },
  );
}

function formatManifest(facts: BundleFacts, files: readonly ListedFile[]): string {
  const { task, workflowId, created, app, encrypted } = facts;
  const head = { format: FORMAT, version: VERSION, task, workflow_id: workflowId, created, app, encrypted };
  return `${JSON.stringify({ ...head, files }, undefined, 1)}\n`;
}

/**
 * Checks a bundle and takes it apart.
 *
 * Errors: BUNDLE_CORRUPT, BUNDLE_TOO_LARGE, FORMAT_NOT_OURS, FORMAT_VERSION.
 */
export function unpackBundle(zip: Uint8Array): UnpackedBundle {
  const entries = unzip(zip);
  const manifest = entries.get(MANIFEST);
  if (manifest === undefined) throw new SplashdownError("FORMAT_NOT_OURS", `there is no ${MANIFEST} in the zip file`);
  if (manifest.length > LIMITS.bundleListBytesMax)
    throw corrupt(`${MANIFEST} is over ${LIMITS.bundleListBytesMax} bytes`);
  const { facts, listed } = parseManifest(Buffer.from(manifest).toString("utf8"));
  if (entries.size !== listed.length + 1)
    throw corrupt(`it lists ${listed.length} files and holds ${entries.size - 1}`);
  const files = listed.map(({ name, size, sha256 }): TaskFile => {
    const bytes = entries.get(`${FOLDER}${name}`);
    if (bytes === undefined) throw corrupt(`${name} is missing`);
    if (bytes.length !== size || sha256Hex(bytes) !== sha256) throw corrupt(`${name} is damaged`);
    return { ...placeOf(name), bytes };
  });
  return { facts, files };
}

function unzip(zip: Uint8Array): Map<string, Uint8Array> {
  const names = new Set<string>();
  let size = 0;
  const admit = ({ name, sizeBytes, storedBytes, isCompressed }: StoredEntry): void => {
    if (names.has(name)) throw corrupt(`${JSON.stringify(name)} is in it twice`);
    if (name === REPORT) throw new SplashdownError("BUNDLE_CORRUPT", "a redacted report holds no task to import");
    if (isCompressed) throw corrupt("its files are compressed, which those of a bundle never are");
    names.add(name);
    size += Math.max(sizeBytes, storedBytes);
    requireRoom(size, names.size);
  };
  return readStoredZip(zip, { admit, refuse: corrupt });
}

/** The place a listed name stands for. Errors: BUNDLE_CORRUPT. */
function placeOf(name: string): Omit<TaskFile, "bytes"> {
  const segment = name.startsWith(JOURNAL) ? parseSegmentName(name.slice(JOURNAL.length)) : undefined;
  if (segment !== undefined) return { segment };
  if (isObjectKey(name)) return { key: name };
  throw corrupt(`${JSON.stringify(name.slice(0, 100))} is no name of a task's file`);
}

function parseManifest(text: string): { readonly facts: BundleFacts; readonly listed: readonly ListedFile[] } {
  const value = parseJson(text);
  if (!isJsonObject(value) || value["format"] !== FORMAT)
    throw new SplashdownError("FORMAT_NOT_OURS", `${MANIFEST} is not of a bundle of ours`);
  const { version, files } = value;
  if (version !== VERSION) {
    throw new SplashdownError(
      "FORMAT_VERSION",
      `the bundle has version ${JSON.stringify(version)}, this program reads ${VERSION}`,
      {
        details: { version: version ?? null, supported: VERSION },
      },
    );
  }
  if (!Array.isArray(files)) throw corrupt(`${MANIFEST} lists no files`);
  const facts = readFacts(value);
  return { facts, listed: (files as readonly JsonValue[]).map(readListed) };
}

function readFacts({ task, workflow_id: workflowId, created, app, encrypted }: JsonObject): BundleFacts {
  const isWhole =
    typeof task === "string" &&
    isTaskName(task) &&
    typeof workflowId === "string" &&
    typeof created === "string" &&
    typeof app === "string" &&
    typeof encrypted === "boolean";
  if (!isWhole) throw corrupt(`${MANIFEST} does not say which task it is`);
  return { task, workflowId, created, app, encrypted };
}

function readListed(value: JsonValue): ListedFile {
  if (isJsonObject(value)) {
    const { name, size, sha256 } = value;
    if (typeof name === "string" && Number.isSafeInteger(size) && typeof sha256 === "string")
      return { name, size: size as number, sha256 };
  }
  throw corrupt(`${MANIFEST} has a malformed entry`);
}

function corrupt(what: string): SplashdownError {
  return new SplashdownError("BUNDLE_CORRUPT", `the bundle is damaged: ${what}`);
}
