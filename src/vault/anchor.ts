/**
 * The anchor: how far this machine has ever seen a task come, kept outside the task's folder.
 *
 * Owns: `<state folder>/anchors/<task uuid>.json`. A whole folder that was put back to an older state is sealed and
 * chained correctly; only a memory elsewhere can tell. Recovery compares before it claims, the journal's owner raises
 * at each checkpoint and at the end.
 *
 * V15: an anchor is never lowered but by `replaceAnchor`, after a person accepted the loss. V16: a damaged anchor is
 * named, not trusted and not fatal. Source: DESIGN section 7 (Ownership), STORAGE sections 1.2, 1.7.
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

export type LoadedAnchor =
  | { readonly state: "none" }
  | { readonly state: "known"; readonly anchor: AnchorPosition }
  /** `unreadable`: the platform refused, so the anchor may be good. */
  | { readonly state: "damaged"; readonly file: string; readonly problem: string; readonly unreadable?: boolean };

/** Where anchors live and with what they are written. */
export interface AnchorPlace {
  readonly fileSystem: FileSystem;
  /** The user's state folder of this application; absolute. */
  readonly stateFolder: string;
}

const FORMAT = "splashdown.anchor";
const VERSION = "1.0";
const FILE_BYTES_MAX = 4096;
const HASH = /^[A-Za-z0-9_=+/-]{1,128}$/;

/** The anchor's file. */
export function computeAnchorPath(stateFolder: string, taskId: string): string {
  assert(isUuid(taskId), "an anchor was asked for something that is no task id");
  return join(stateFolder, "anchors", `${taskId}.json`);
}

/**
 * Where a task's head stands against the anchor: `behind` means rolled back or lost.
 *
 * Shape: by epoch, then record number; the same position with another hash is `behind` too, for what was acknowledged
 * is not there. `ahead` is the ordinary case after a crash; the reader still checks that the chain passes through the
 * anchor's hash when it meets that record.
 */
export function compareAnchor(anchor: AnchorPosition, head: AnchorPosition): "same" | "ahead" | "behind" {
  const order = comparePosition(head, anchor);
  if (order !== 0) return order > 0 ? "ahead" : "behind";
  return head.hash === anchor.hash ? "same" : "behind";
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
  const file = computeAnchorPath(place.stateFolder, taskId);
  const damaged = (what: string) => ({ state: "damaged" as const, file, problem: `the anchor ${file} ${what}` });
  try {
    const bytes = await readAnchor(place.fileSystem, file);
    if (bytes === undefined) return damaged("is too large");
    const anchor = parseAnchor(Buffer.from(bytes).toString("utf8"), taskId);
    return typeof anchor === "string" ? damaged(anchor) : { state: "known", anchor };
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT" || errno === "ENOTDIR") return { state: "none" };
    return { ...damaged(`cannot be read (${describeFailure(error)})`), unreadable: true };
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

function formatAnchor(taskId: string, position: AnchorPosition): string {
  const { epoch, n, hash } = position;
  const body = canonicalJson({ format: FORMAT, version: VERSION, task: taskId, epoch, n, hash });
  return `${body}\n${sha256Hex(body)}\n`;
}

/** The position in an anchor's text, or what is wrong with it. */
function parseAnchor(text: string, taskId: string): AnchorPosition | string {
  const [body = "", sum, end, ...more] = text.split("\n");
  if (sum !== sha256Hex(body) || end !== "" || more.length > 0) return "does not match its own checksum";
  const value = parseBody(body);
  if (!isJsonObject(value) || value["format"] !== FORMAT || value["version"] !== VERSION)
    return "has an unknown format";
  if (value["task"] !== taskId) return "belongs to another task";
  return readPosition(value) ?? "has a malformed position";
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

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export interface RaiseOptions extends AnchorPlace {
  readonly taskId: string;
  readonly position: AnchorPosition;
  readonly random: RandomSource;
}

/**
 * Remembers a position if it is further than what is remembered; durable on return.
 *
 * Shape: the answer is false when nothing had to be written. A damaged anchor is replaced,
 * one that cannot be read is not: it may be further.
 * Errors: STORE_UNWRITABLE; the caller goes on without, loudly.
 */
export async function raiseAnchor(options: RaiseOptions): Promise<boolean> {
  const loaded = await loadAnchor(options, options.taskId);
  if (loaded.state === "damaged" && loaded.unreadable === true) {
    throw new SplashdownError("STORE_UNWRITABLE", loaded.problem, {
      details: { file: loaded.file, task: options.taskId },
    });
  }
  if (loaded.state === "known" && comparePosition(options.position, loaded.anchor) <= 0) return false;
  await replaceAnchor(options);
  return true;
}

/**
 * Remembers a position even if it is lower: only after a person accepted a roll-back.
 *
 * Errors: STORE_UNWRITABLE.
 */
export async function replaceAnchor(options: RaiseOptions): Promise<void> {
  const { fileSystem, stateFolder, taskId, position, random } = options;
  assert(
    isCount(position.epoch) && isCount(position.n) && HASH.test(position.hash),
    "a malformed position was to be anchored",
  );
  const file = computeAnchorPath(stateFolder, taskId);
  const suffix = Buffer.from(random.bytes(8)).toString("hex");
  try {
    await createFolders(fileSystem, join(stateFolder, "anchors"));
    await replaceWhole(fileSystem, file, { bytes: Buffer.from(formatAnchor(taskId, position)), suffix });
  } catch (error) {
    const reason = describeFailure(error);
    throw new SplashdownError("STORE_UNWRITABLE", `the anchor ${file} cannot be written (${reason})`, {
      details: { file, reason, task: taskId },
      cause: error,
    });
  }
}
