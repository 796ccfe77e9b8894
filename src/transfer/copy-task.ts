/**
 * Copies a whole task from one store to another, byte by byte: sealed as it is, nothing opened.
 *
 * T1: a copy that was interrupted is no task. A marker stands in the new place from before the first byte until after
 *     the last one, and the keyring, without which nothing can be opened, comes last of all the rest.
 * T2: a copy has the epochs and segments of its origin, so every position and every seal in it still fits. Who goes on
 *     with it claims the epoch after them.
 * Errors: the STORE_* codes of both stores.
 */
import { SplashdownError } from "../base/errors.js";
import type { JsonObject } from "../base/json.js";
import type { SegmentId, TaskStore } from "../store/contract/contract.js";
import { formatSegmentName } from "../store/contract/segment-name.js";

/** Stands in a place whose copy is not finished. */
export const ARRIVING_KEY = "arriving.json";
/** What is no part of the task: moved aside, or of this place only. */
const LEFT_BEHIND = [ARRIVING_KEY, "quarantine/"];
const KEYRING = "keyring-";
/** Where segments are named to be. */
export const JOURNAL = "journal/";

/** The part of a task that a copy is made of. */
export type TaskBytes = Pick<TaskStore, "segments" | "read" | "list" | "get">;

/** One file of a task, by the name it has below its checkpoints. */
export interface TaskFile {
  readonly segment?: SegmentId;
  /** Of an object. */
  readonly key?: string;
  readonly bytes: Uint8Array;
}

/** A file's name below `checkpoints/`. */
export function nameTaskFile({ segment, key }: TaskFile): string {
  return segment === undefined ? (key ?? "") : `${JOURNAL}${formatSegmentName(segment)}`;
}

/**
 * Every file that belongs to the task as it is now; what goes away meanwhile is left out.
 *
 * Shape: segments oldest first, then objects, keyrings last. With a living owner the last line of the last segment may be
 * half written; it is left out.
 */
export async function* readTaskFiles(from: TaskBytes): AsyncGenerator<TaskFile> {
  for (const { epoch, index, sizeBytes } of await from.segments()) {
    if (sizeBytes === 0) continue;
    const bytes = cutToLines(await from.read({ epoch, index }));
    if (bytes.length > 0) yield { segment: { epoch, index }, bytes };
  }
  const keys = (await from.list("")).map(({ key }) => key).filter((key) => !isLeftBehind(key));
  const last = keys.filter((key) => key.startsWith(KEYRING));
  for (const key of [...keys.filter((each) => !each.startsWith(KEYRING)), ...last]) {
    const bytes = await from.get(key);
    if (bytes !== undefined) yield { key, bytes };
  }
}

function isLeftBehind(key: string): boolean {
  return LEFT_BEHIND.some((name) => key === name || (name.endsWith("/") && key.startsWith(name)));
}

function cutToLines(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
}

export interface Arriving {
  /** What the marker says: where the copy comes from. */
  readonly mark: JsonObject;
  /** What belongs to the task outside the store; done before the marker goes. */
  readonly finish?: () => Promise<void>;
}

/** Writes the files into a place that was just created. Errors: STORE_FAILED when a file is not what it should be. */
export async function writeTask(
  to: TaskStore,
  files: AsyncIterable<TaskFile> | Iterable<TaskFile>,
  { mark, finish }: Arriving,
): Promise<void> {
  await to.putOnce(ARRIVING_KEY, Buffer.from(JSON.stringify(mark)));
  const log = new CopiedLog(to);
  for await (const { segment, key, bytes } of files) {
    if (segment !== undefined) await log.write(segment, bytes);
    else if (key !== undefined && (await to.putOnce(key, bytes)) === "exists") {
      throw new SplashdownError("STORE_FAILED", `${key} is there already; somebody else writes to ${to.name}`, {
        details: { task: to.name, key },
      });
    }
  }
  await log.removeFillers();
  await finish?.();
  await to.remove(ARRIVING_KEY);
}

/** Epochs and segments are given out in order only; what the origin lacks is made, and removed again at the end. */
class CopiedLog {
  readonly #to: TaskStore;
  readonly #fillers: SegmentId[] = [];
  #epoch = 0;
  #nextIndex = 0;

  constructor(to: TaskStore) {
    this.#to = to;
  }

  async write({ epoch, index }: SegmentId, bytes: Uint8Array): Promise<void> {
    while (this.#epoch < epoch) await this.#claim(epoch);
    for (; this.#nextIndex < index; this.#nextIndex += 1) {
      await this.#open([FILLER]);
      this.#fillers.push({ epoch, index: this.#nextIndex });
    }
    await this.#open(splitLines(bytes));
    this.#nextIndex += 1;
  }

  async removeFillers(): Promise<void> {
    for (const id of this.#fillers) await this.#to.removeSegment(id);
  }

  async #claim(wanted: number): Promise<void> {
    this.#epoch = await this.#to.claim(this.#epoch);
    this.#nextIndex = 0;
    if (this.#epoch < wanted) this.#fillers.push({ epoch: this.#epoch, index: 0 });
  }

  async #open([header = FILLER, ...lines]: readonly Uint8Array[]): Promise<void> {
    const writer = await this.#to.openSegment(this.#epoch, header, lines);
    await writer.close();
  }
}

const FILLER = Buffer.from("{}");

function splitLines(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start);
    if (end < 0) break;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

/** True for a place in which a copy was begun and not finished. */
export async function isArriving(task: Pick<TaskStore, "list">): Promise<boolean> {
  return (await task.list(ARRIVING_KEY)).length > 0;
}
