/**
 * What those have to say who must change nothing: readers, and whoever had not the right key. Also what an act had to say
 * whose write into the trail failed.
 *
 * A6: a look and a refusal change no byte of a task's folder. What they say is kept in the user's state folder until
 *     somebody acts on the task, who takes it into the trail, sealed. Equal sayings are counted, so that a `show` in a loop
 *     costs one entry; when there are too many the oldest go.
 * Losing this file loses who looked, nothing of the task; two processes at once may lose one count.
 */
import { join } from "node:path";
import { errnoOf } from "../../base/errors.js";
import type { FileSystem } from "../../base/file-system.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { canonicalJson } from "../../base/json-encoding.js";
import type { RandomSource } from "../../base/random.js";
import { createFolders, readWhole, replaceWhole } from "../../vault/private-file.js";
import type { AuditEntry, AuditEvent } from "./audit-file.js";

export interface BacklogPlace {
  readonly fileSystem: FileSystem;
  readonly random: RandomSource;
  /** The user's state folder of this application; absolute. */
  readonly stateFolder: string;
}

const FORMAT = "splashdown.audit-backlog";
const VERSION = "1.0";
const FILE_BYTES_MAX = 1024 * 1024;
const ENTRIES_MAX = 200;

function backlogPath({ stateFolder }: BacklogPlace, taskId: string): string {
  return join(stateFolder, "audit", "backlog", `${taskId}.json`);
}

/** Shape: in the order of their first time. Errors: none of its own; what cannot be read is empty. */
export async function loadBacklog(place: BacklogPlace, taskId: string): Promise<readonly AuditEntry[]> {
  try {
    const handle = await place.fileSystem.open(backlogPath(place, taskId), "read");
    try {
      const bytes = await readWhole(handle, FILE_BYTES_MAX);
      return bytes === undefined ? [] : parseBacklog(Buffer.from(bytes).toString("utf8"));
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}

function parseBacklog(text: string): readonly AuditEntry[] {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return [];
  }
  if (!isJsonObject(value) || value["format"] !== FORMAT || value["version"] !== VERSION) return [];
  const { entries } = value;
  return Array.isArray(entries) ? entries.flatMap(parseEntry) : [];
}

function parseEntry(value: JsonValue): AuditEntry[] {
  if (!isJsonObject(value)) return [];
  const { at, event, verb, details } = value;
  if (typeof at !== "string" || typeof event !== "string" || typeof verb !== "string") return [];
  return [
    { at, event: event as AuditEvent, verb, details: isJsonObject(details ?? null) ? (details as JsonObject) : {} },
  ];
}

/** Adds what was said; the same as before is counted. Errors: those of the platform. */
export async function addToBacklog(place: BacklogPlace, taskId: string, said: readonly AuditEntry[]): Promise<void> {
  const entries = new Map((await loadBacklog(place, taskId)).map((entry) => [identify(entry), entry]));
  for (const entry of said) {
    const before = entries.get(identify(entry));
    entries.set(identify(entry), before === undefined ? entry : countAgain(before, entry.at));
  }
  const path = backlogPath(place, taskId);
  await createFolders(place.fileSystem, join(place.stateFolder, "audit", "backlog"));
  const kept = [...entries.values()].slice(-ENTRIES_MAX);
  await replaceWhole(place.fileSystem, path, {
    bytes: Buffer.from(`${JSON.stringify({ format: FORMAT, version: VERSION, entries: kept })}\n`),
    suffix: Buffer.from(place.random.bytes(8)).toString("hex"),
  });
}

function identify({ event, verb, details }: AuditEntry): string {
  const { times: _times, last_at: _lastAt, pid: _pid, ...same } = details;
  return canonicalJson([event, verb, same]);
}

function countAgain(entry: AuditEntry, lastAt: string): AuditEntry {
  const { times } = entry.details;
  return {
    ...entry,
    details: { ...entry.details, times: (typeof times === "number" ? times : 1) + 1, last_at: lastAt },
  };
}

/** It is in the trail now. Errors: those of the platform, but for one that is gone already. */
export async function clearBacklog(place: BacklogPlace, taskId: string): Promise<void> {
  await place.fileSystem.unlink(backlogPath(place, taskId)).catch((error: unknown) => {
    if (errnoOf(error) !== "ENOENT") throw error;
  });
}
