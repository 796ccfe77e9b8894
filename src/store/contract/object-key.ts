/**
 * Names inside a store: task names and object keys, and which of them belong to the store itself.
 *
 * Both are checked here once for every store, so that no store accepts what another cannot hold.
 */
import { assert } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import { isDeviceName } from "../../base/portable-name.js";
import type { ObjectEntry } from "./contract.js";

const OBJECT_KEY_BYTES_MAX = 255;

/** One part of a key: no leading dot, no trailing dot (Windows drops it), nothing that a shell or a URL would read. */
const PART = /^[A-Za-z0-9_~-](?:[A-Za-z0-9._~-]*[A-Za-z0-9_~-])?$/;
/** First parts that belong to the store: its log and its presence. */
const RESERVED = /^(?:journal|owner(?:[.-][^/]*)?)(?:\/|$)/i;

function isSafePart(part: string): boolean {
  return PART.test(part) && !isDeviceName(part);
}

/** True for a name that can be a task's folder on every platform. */
export function isTaskName(name: string): boolean {
  return name.length <= LIMITS.taskNameBytesMax && isSafePart(name);
}

/** True for a key that every store can hold. */
export function isObjectKey(key: string): boolean {
  if (key.length > OBJECT_KEY_BYTES_MAX) return false;
  return key.split("/").every(isSafePart) && !RESERVED.test(key);
}

/**
 * Crashes on a key that no store can hold. Keys are made by our own code; one that comes from outside (a bundle, a
 * command line) is checked with `isObjectKey` first.
 */
export function assertObjectKey(key: string): void {
  assert(isObjectKey(key), `not an object key: ${JSON.stringify(key.slice(0, 300))}`);
}

/** Crashes on a prefix that could begin no key; the empty prefix is every object. */
export function assertObjectPrefix(prefix: string): void {
  if (prefix === "") return;
  const probe = prefix.endsWith("/") || prefix.endsWith(".") ? `${prefix}x` : prefix;
  assert(
    probe.length <= OBJECT_KEY_BYTES_MAX && probe.split("/").every((part) => PART.test(part)) && !RESERVED.test(probe),
    `not an object prefix: ${JSON.stringify(prefix.slice(0, 300))}`,
  );
}

/** A list of entries as the text that its digest is of. */
export function encodeEntries(entries: readonly ObjectEntry[]): string {
  return entries.map(({ key, sizeBytes }) => `${key} ${sizeBytes}`).join("\n");
}

/** The folder part of a key or prefix without its slash; empty for the top. */
export function folderOfKey(key: string): string {
  const slash = key.lastIndexOf("/");
  return slash < 0 ? "" : key.slice(0, slash);
}
