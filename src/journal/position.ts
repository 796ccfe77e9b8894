/** A place in a task's history: a record, where it stands, and the full chain hash there. */
import { decodeBase64Url } from "../base/digest.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";

export interface JournalPosition {
  /** Record number, global to the task, from 1. */
  readonly n: number;
  readonly epoch: number;
  readonly index: number;
  /** 32 bytes, unpadded base64url. */
  readonly h: string;
}

const HASH_BYTES = 32;

/** Orders by epoch, then record: of two owners the later one is ahead, however far the earlier one wrote. */
export function comparePositions(first: JournalPosition, second: JournalPosition): number {
  return first.epoch - second.epoch || first.n - second.n || first.index - second.index;
}

/** True for the same record with the same history before it. */
export function isSamePosition(first: JournalPosition, second: JournalPosition): boolean {
  return comparePositions(first, second) === 0 && first.h === second.h;
}

export function encodePosition(position: JournalPosition): JsonObject {
  return { n: position.n, epoch: position.epoch, index: position.index, h: position.h };
}

/** The position a JSON value states; `undefined` when it is none. */
export function decodePosition(value: JsonValue | undefined): JournalPosition | undefined {
  if (!isJsonObject(value) || Object.keys(value).length !== 4) return undefined;
  const { n, epoch, index, h } = value;
  if (!isCount(n, 1) || !isCount(epoch, 1) || !isCount(index, 0) || typeof h !== "string") return undefined;
  return decodeBase64Url(h)?.length === HASH_BYTES ? { n, epoch, index, h } : undefined;
}

/** True for a whole number a record, epoch or index can have. */
export function isCount(value: JsonValue | undefined, least: number): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= least;
}
