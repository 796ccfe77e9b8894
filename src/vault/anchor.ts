/**
 * The anchor: what this machine remembers of a task, kept outside the task's folder.
 *
 * Owns: `<state folder>/anchors/<task uuid>.json` and `.latest.json`, how far the task has come, and `<task uuid>.identity.json`, whose it is:
 * keyring revision and generation, the task's first key, the name and store it acted under. Whoever puts a whole folder
 * back to an older state leaves it sealed and chained correctly; only a memory elsewhere can tell. Two files, because the
 * owner raises the position at every external step while a verb about keys may raise the rest.
 *
 * V15: no field of an anchor is ever lowered or exchanged but by `replaceAnchor`, after a person accepted it. V16: a damaged
 * anchor is named, not trusted and not fatal. Source: DESIGN section 7 (Ownership), section 16.2.
 */
import { join } from "node:path";
import { errnoOf, SplashdownError, assert } from "../base/errors.js";
import { sha256Hex } from "../base/digest.js";
import type { FileSystem } from "../base/file-system.js";
import { isUuid } from "../base/ids.js";
import { isJsonObject, type JsonObject } from "../base/json.js";
import { canonicalJson } from "../base/json-encoding.js";
import type { RandomSource } from "../base/random.js";
import { createFolders, describeFailure, readWhole, replaceWhole } from "./private-file.js";

/** A position in a task's history: the writer's epoch, the record's number, its chain hash as text. */
export interface AnchorPosition {
  readonly epoch: number;
  readonly n: number;
  readonly hash: string;
}

/** How new a keyring is: revision of its file, active generation of the task's key. */
export interface KeyringMark {
  readonly revision: number;
  /** No older revision counts: it would give back what was taken away. */
  readonly minRevision: number;
  readonly generation: number;
}

/** What is remembered of a task; a field that nobody has raised yet is absent. */
export interface Anchor {
  /** The furthest record that was durable while no later owner had claimed: it is on the chain of every later owner. */
  readonly position?: AnchorPosition;
  readonly keyring?: KeyringMark;
  /** Id of the task's first key: another one under the same uuid is another task. */
  readonly firstKey?: string;
  /** Name of the task, and address of the store, under which the task acted. */
  readonly name?: string;
  readonly store?: string;
}

export type LoadedAnchor =
  | { readonly state: "none" }
  | { readonly state: "known"; readonly anchor: Anchor }
  /** `unreadable`: the platform refused, so the anchor may be good. `anchor`: what its other file says. */
  | {
      readonly state: "damaged";
      readonly file: string;
      readonly problem: string;
      readonly unreadable?: boolean;
      readonly anchor?: Anchor;
    };

/** How far the task has come, as far as an anchor tells. */
export function anchoredPosition(loaded: LoadedAnchor): AnchorPosition | undefined {
  return loaded.state === "none" ? undefined : loaded.anchor?.position;
}

/** Where anchors live and with what they are written. */
export interface AnchorPlace {
  readonly fileSystem: FileSystem;
  /** The user's state folder of this application; absolute. */
  readonly stateFolder: string;
}

const FORMAT = "splashdown.anchor";
const VERSION = "1.0";
const FILE_BYTES_MAX = 16_384;
const HASH = /^[A-Za-z0-9_=+/-]{1,128}$/;
const KEY = /^[0-9a-f]{1,64}$/;
const TEXT_CHARS_MAX = 4096;
const PARTS = ["position", "identity"] as const;
type AnchorPart = (typeof PARTS)[number];
/** `latest`: a position that was renamed into place without a sync; after a power cut it may be torn, and then says nothing. */
type AnchorFile = AnchorPart | "latest";

/** The file of the durable position, that of the latest one, or that of the rest. */
export function computeAnchorPath(stateFolder: string, taskId: string, file: AnchorFile = "position"): string {
  assert(isUuid(taskId), "an anchor was asked for something that is no task id");
  return join(stateFolder, "anchors", `${taskId}${file === "position" ? "" : `.${file}`}.json`);
}

function comparePosition(left: AnchorPosition, right: AnchorPosition): number {
  return left.epoch === right.epoch ? left.n - right.n : left.epoch - right.epoch;
}

/**
 * What is remembered of a task.
 *
 * Errors: none of its own; a file that is there and cannot be trusted is `damaged`.
 */
export async function loadAnchor(place: AnchorPlace, taskId: string): Promise<LoadedAnchor> {
  const position = await loadPosition(place, taskId);
  const identity = await loadFile(place, taskId, "identity");
  const anchor = { ...position.fields, ...identity.fields };
  const damaged = position.damage ?? identity.damage;
  const isEmpty = Object.keys(anchor).length === 0;
  if (damaged !== undefined) return { state: "damaged", ...damaged, ...(isEmpty ? {} : { anchor }) };
  return isEmpty ? { state: "none" } : { state: "known", anchor };
}

/** The further of the durable position and the latest one. A latest one that is torn never was durable, and is no damage. */
async function loadPosition(place: AnchorPlace, taskId: string): Promise<LoadedFile> {
  const durable = await loadFile(place, taskId, "position");
  const latest = await loadFile(place, taskId, "latest");
  if (latest.damage?.unreadable === true && durable.damage === undefined) return { ...durable, damage: latest.damage };
  return { ...durable, fields: raised(durable.fields, latest.fields) };
}

interface LoadedFile {
  readonly fields: Anchor;
  readonly damage?: { readonly file: string; readonly problem: string; readonly unreadable?: boolean };
}

async function loadFile(place: AnchorPlace, taskId: string, which: AnchorFile): Promise<LoadedFile> {
  const file = computeAnchorPath(place.stateFolder, taskId, which);
  const damaged = (what: string) => ({ file, problem: `the anchor ${file} ${what}` });
  try {
    const bytes = await readAnchor(place.fileSystem, file);
    if (bytes === undefined) return { fields: {}, damage: damaged("is too large") };
    const fields = parseAnchor(Buffer.from(bytes).toString("utf8"), taskId, which);
    return typeof fields === "string" ? { fields: {}, damage: damaged(fields) } : { fields };
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT" || errno === "ENOTDIR") return { fields: {} };
    return { fields: {}, damage: { ...damaged(`cannot be read (${describeFailure(error)})`), unreadable: true } };
  }
}

async function readAnchor(fileSystem: FileSystem, file: string): Promise<Uint8Array | undefined> {
  const handle = await fileSystem.open(file, "read");
  try {
    return await readWhole(handle, FILE_BYTES_MAX);
  } finally {
    await handle.close();
  }
}

/** The part of the fields that stands in a file, as JSON; `undefined` where it has none of them. */
function encodeFields({ position, keyring, firstKey, name, store }: Anchor, which: AnchorFile): JsonObject | undefined {
  if (which !== "identity") return position && { epoch: position.epoch, n: position.n, hash: position.hash };
  const fields: JsonObject = {
    ...(keyring && {
      keyring: { revision: keyring.revision, min_revision: keyring.minRevision, generation: keyring.generation },
    }),
    ...(firstKey !== undefined && { firstKey }),
    ...(name !== undefined && { name }),
    ...(store !== undefined && { store }),
  };
  return Object.keys(fields).length === 0 ? undefined : fields;
}

function formatAnchor(taskId: string, fields: JsonObject): string {
  const body = canonicalJson({ format: FORMAT, version: VERSION, task: taskId, ...fields });
  return `${body}\n${sha256Hex(body)}\n`;
}

/** The fields in an anchor's text, or what is wrong with it. */
function parseAnchor(text: string, taskId: string, which: AnchorFile): Anchor | string {
  const [body = "", sum, end, ...more] = text.split("\n");
  if (sum !== sha256Hex(body) || end !== "" || more.length > 0) return "does not match its own checksum";
  const value = parseBody(body);
  if (!isJsonObject(value) || value["format"] !== FORMAT || value["version"] !== VERSION)
    return "has an unknown format";
  if (value["task"] !== taskId) return "belongs to another task";
  if (which === "identity") return readIdentity(value) ?? "has a malformed field";
  const position = readPosition(value);
  return position === undefined ? "has a malformed position" : { position };
}

function parseBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function readPosition({ epoch, n, hash }: JsonObject): AnchorPosition | undefined {
  if (!isCount(epoch) || !isCount(n) || typeof hash !== "string" || !HASH.test(hash)) return undefined;
  return { epoch, n, hash };
}

function readIdentity({ keyring, firstKey, name, store }: JsonObject): Anchor | undefined {
  const mark = isJsonObject(keyring) ? readMark(keyring) : undefined;
  if ((keyring !== undefined && mark === undefined) || ![name, store].every(isNothingOrText)) return undefined;
  if (firstKey !== undefined && (typeof firstKey !== "string" || !KEY.test(firstKey))) return undefined;
  return {
    ...(mark && { keyring: mark }),
    ...(firstKey !== undefined && { firstKey }),
    ...(typeof name === "string" && { name }),
    ...(typeof store === "string" && { store }),
  };
}

function readMark({ revision, min_revision: minRevision, generation }: JsonObject): KeyringMark | undefined {
  if (!isCount(revision) || !isCount(minRevision) || !isCount(generation)) return undefined;
  return { revision, minRevision, generation };
}

function isNothingOrText(value: unknown): boolean {
  return value === undefined || (typeof value === "string" && value.length <= TEXT_CHARS_MAX);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export interface RaiseOptions extends AnchorPlace {
  readonly taskId: string;
  /** Only what is known now. */
  readonly fields: Anchor;
  readonly random: RandomSource;
  /** `false`: renamed into place without a sync; enough against whoever writes to the task while the machine runs. */
  readonly isSynced?: boolean;
  /**
   * The position as this process wrote it last, and no later owner had claimed since: nobody else can have raised it, so it
   * is not read again. An owner raises at every external step.
   */
  readonly lastRaised?: AnchorPosition | undefined;
}

/**
 * Remembers what goes beyond what is remembered; durable on return.
 *
 * Shape: a position that is further, a revision and a generation that are higher, a first key, name and store where none is
 * known. The answer is false when nothing had to be written. A damaged file is replaced, one that cannot be read is not:
 * it may be further.
 * Errors: STORE_UNWRITABLE; the caller goes on without, loudly.
 */
export async function raiseAnchor(options: RaiseOptions): Promise<boolean> {
  return change(options, raised);
}

/**
 * Remembers the given fields even if they are lower or others: only after a person accepted that. The rest stays.
 *
 * Errors: STORE_UNWRITABLE.
 */
export async function replaceAnchor(options: RaiseOptions): Promise<void> {
  await change(options, (known, fields) => ({ ...known, ...fields }));
  const position = encodeFields(options.fields, "position");
  if (position !== undefined) await write(options, "latest", formatAnchor(options.taskId, position));
}

function raised(known: Anchor, fields: Anchor): Anchor {
  const { position, keyring } = fields;
  return {
    ...fields,
    ...known,
    ...(position && (known.position === undefined || comparePosition(position, known.position) > 0) && { position }),
    ...(keyring && {
      keyring: {
        revision: Math.max(keyring.revision, known.keyring?.revision ?? 0),
        minRevision: Math.max(keyring.minRevision, known.keyring?.minRevision ?? 0),
        generation: Math.max(keyring.generation, known.keyring?.generation ?? 0),
      },
    }),
  };
}

async function change(options: RaiseOptions, merge: (known: Anchor, fields: Anchor) => Anchor): Promise<boolean> {
  let hasWritten = false;
  for (const which of PARTS) {
    if (encodeFields(options.fields, which) === undefined) continue;
    const { fields: known, damage } = await loadBefore(options, which);
    if (damage?.unreadable === true) {
      throw new SplashdownError("STORE_UNWRITABLE", damage.problem, {
        details: { file: damage.file, task: options.taskId },
      });
    }
    const fields = encodeFields(merge(known, options.fields), which) ?? {};
    const before = encodeFields(known, which);
    if (before !== undefined && canonicalJson(before) === canonicalJson(fields)) continue;
    const file = which === "position" && options.isSynced === false ? "latest" : which;
    await write(options, file, formatAnchor(options.taskId, fields));
    hasWritten = true;
  }
  return hasWritten;
}

async function loadBefore(options: RaiseOptions, which: AnchorPart): Promise<LoadedFile> {
  const { lastRaised, taskId } = options;
  if (which === "identity") return loadFile(options, taskId, which);
  return lastRaised === undefined ? loadPosition(options, taskId) : { fields: { position: lastRaised } };
}

async function write(options: RaiseOptions, which: AnchorFile, text: string): Promise<void> {
  const { fileSystem, stateFolder, taskId, random, isSynced = true } = options;
  assert(typeof parseAnchor(text, taskId, which) !== "string", "a malformed anchor was to be written");
  const file = computeAnchorPath(stateFolder, taskId, which);
  const suffix = Buffer.from(random.bytes(8)).toString("hex");
  try {
    if (isSynced) await createFolders(fileSystem, join(stateFolder, "anchors"));
    await replaceWhole(fileSystem, file, { bytes: Buffer.from(text), suffix, isSynced });
  } catch (error) {
    // The folder may not be there yet: it is made with all that belongs to it.
    if (!isSynced && errnoOf(error) === "ENOENT") return write({ ...options, isSynced: true }, which, text);
    const reason = describeFailure(error);
    throw new SplashdownError("STORE_UNWRITABLE", `the anchor ${file} cannot be written (${reason})`, {
      details: { file, reason, task: taskId },
      cause: error,
    });
  }
}
