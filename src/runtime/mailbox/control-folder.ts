/**
 * Messages in `control/` and the objects they stand in.
 *
 * A message is about something (an answer about a question, a pin about a checkpoint). Its object is named by that and by
 * the generation of the task's key it is sealed with, `control/answer-<hash>~2`, and created exclusively.
 *
 * K5: of a message in several generations that of the newest counts. Whoever leaves one looks at the keyring afterwards: it
 *     is left only when its generation was still that of new files then, else it is left under the newer one as well. Whoever
 *     lets older generations go carries what there is over first, after the newer one was made. So nothing that somebody was
 *     told of goes with a key, and of two who leave the same, one is told that the other was first.
 */
import { isErrorCode, SplashdownError } from "../../base/errors.js";
import { createUuid } from "../../base/ids.js";
import type { JsonObject } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { RandomSource } from "../../base/random.js";
import { setObjectAside } from "../../checkpoint/quarantine.js";
import type { TaskStore } from "../../store/contract/contract.js";
import type { TaskVault } from "../../vault/contract.js";
import { decodeControlFile, encodeControlFile } from "./control-file.js";
import { readBounded } from "../../store/files/read-bounded.js";

export const CONTROL_PREFIX = "control/";
const KEY = /^(control\/.+)~(0|[1-9]\d{0,8})$/;

export interface ControlFolder {
  readonly task: Pick<TaskStore, "name" | "get" | "putOnce" | "list" | "remove">;
  readonly vault: TaskVault;
}

/** Where messages can be left: with the vault as the keyring is by now. */
export interface WritableMailbox extends ControlFolder {
  readonly task: TaskStore;
  readonly keys: { renew(task: TaskStore, vault: TaskVault): Promise<TaskVault> };
  readonly random: RandomSource;
}

export interface Message {
  readonly body: JsonObject;
  readonly generation: number;
}

export interface ControlKey {
  readonly about: string;
  readonly generation: number;
}

export function controlKey({ about, generation }: ControlKey): string {
  return `${about}~${generation}`;
}

/** `undefined` for what is no message of ours. */
export function parseControlKey(key: string): ControlKey | undefined {
  const [, about, generation] = KEY.exec(key) ?? [];
  return about === undefined ? undefined : { about, generation: Number(generation) };
}

/** The generation that new files are of. */
function currentOf({ generations }: TaskVault): number {
  return generations[0] ?? 0;
}

/**
 * The message that counts of all that the vault opens. A file that does not open is no message (K3).
 *
 * Errors: as `readMessage`.
 */
export async function loadMessage(folder: ControlFolder, about: string): Promise<Message | undefined> {
  return (await readMessage(folder, about)).message;
}

/** A file of a message that is damaged, or that somebody put there without the task's key. */
export interface DamagedMessage {
  readonly key: string;
  readonly error: SplashdownError;
}

/** What the file's own bytes are to blame for. Other failures (storage, a newer version) may pass. */
const DAMAGE_CODES = ["FORMAT_NOT_OURS", "SEAL_BROKEN", "SEAL_MISSING", "TASK_SWAPPED", "KEY_WRONG"] as const;

/**
 * As `loadMessage`, with the files that are no message because they do not open.
 *
 * Errors: KEY_MISSING, FORMAT_VERSION; the STORE_* codes.
 */
export async function readMessage(
  { task, vault }: ControlFolder,
  about: string,
): Promise<{ readonly message: Message | undefined; readonly damaged: readonly DamagedMessage[] }> {
  const damaged = new Map<string, DamagedMessage>();
  // Once more the newest at the end: it may have been carried over while the older ones were looked for.
  const generations = vault.generations.length > 1 ? [...vault.generations, currentOf(vault)] : vault.generations;
  for (const generation of generations) {
    const key = controlKey({ about, generation });
    const bytes = await readBounded(task, key, LIMITS.controlFileBytesMax);
    if (bytes === undefined) continue;
    try {
      return { message: { body: decodeControlFile(vault, key, bytes), generation }, damaged: [...damaged.values()] };
    } catch (error) {
      if (!(error instanceof SplashdownError) || !isErrorCode(error, ...DAMAGE_CODES)) throw error;
      damaged.set(key, { key, error });
    }
  }
  return { message: undefined, damaged: [...damaged.values()] };
}

/** Moves a damaged file to quarantine with the reason, so that its message can be left again. Shape: where it is now. */
export async function setMessageAside(task: ControlFolder["task"], { key, error }: DamagedMessage): Promise<string> {
  return setObjectAside(task, key, `${error.code}: ${error.message}`);
}

const TRIES = 100;

/**
 * Leaves a message, unless there is one about the same. Durable on return, under the key that new files are sealed with.
 *
 * Shape: false when somebody else was first. Errors: STORE_BUSY when the keys are changed all the time; those of
 * `loadMessage`, and of opening the keyring as it is by now.
 */
export async function postMessage(desk: WritableMailbox, about: string, body: JsonObject): Promise<boolean> {
  const { task, keys } = desk;
  const mark = createUuid(desk.random);
  const left = new Set<string>();
  let { vault } = desk;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const key = controlKey({ about, generation: currentOf(vault) });
    const { message: standing, damaged } = await readMessage({ task, vault }, about);
    // What stands in the way of a message is none.
    for (const one of damaged) await setMessageAside(task, one);
    if (standing !== undefined && standing.body["mark"] !== mark) return withdraw(task, left, false);
    if (standing?.generation !== currentOf(vault)) {
      if ((await task.putOnce(key, encodeControlFile(vault, key, { ...body, mark }))) === "exists") continue;
      left.add(key);
    }
    const renewed = await keys.renew(task, vault);
    if (renewed === vault) {
      left.delete(key);
      return withdraw(task, left, true);
    }
    vault = renewed;
  }
  throw new SplashdownError("STORE_BUSY", `others change control files or keys of ${task.name} all the time`, {
    details: { task: task.name },
  });
}

async function withdraw<T>(task: ControlFolder["task"], keys: Iterable<string>, outcome: T): Promise<T> {
  for (const key of keys) await task.remove(key);
  return outcome;
}

/**
 * The message as it stands under the key of new files; an older one is carried over first, so that nobody's later one can
 * stand beside it.
 *
 * Errors: as `loadMessage`.
 */
export async function takeMessage(folder: ControlFolder, about: string): Promise<Message | undefined> {
  const { task, vault } = folder;
  const found = await loadMessage(folder, about);
  if (found === undefined || found.generation === currentOf(vault)) return found;
  const key = controlKey({ about, generation: currentOf(vault) });
  await task.putOnce(key, encodeControlFile(vault, key, found.body));
  return loadMessage(folder, about);
}

/** The objects of messages, in the order of their names. */
export async function listMessages(
  task: Pick<TaskStore, "list">,
  prefix = CONTROL_PREFIX,
): Promise<(ControlKey & { readonly key: string })[]> {
  const listed = await task.list(prefix);
  return listed.flatMap(({ key }) => {
    const parsed = parseControlKey(key);
    return parsed === undefined ? [] : [{ key, ...parsed }];
  });
}

/** Of the task's key, as far as messages tell; 0 where there is none. A number that no key was ever near is none of ours. */
export async function findHighestGeneration(task: Pick<TaskStore, "list">): Promise<number> {
  const generations = (await listMessages(task)).map(({ generation }) => generation);
  return Math.max(0, ...generations.filter((generation) => generation <= LIMITS.keyGenerationMax));
}

/** Removes a message in every generation. */
export async function removeMessage(task: Pick<TaskStore, "list" | "remove">, about: string): Promise<boolean> {
  let isThere = false;
  for (;;) {
    // Again, for what is carried over meanwhile.
    const keys = (await listMessages(task, about)).filter((message) => message.about === about);
    if (keys.length === 0) return isThere;
    isThere = true;
    for (const { key } of keys) await task.remove(key);
  }
}

/**
 * Seals every message of an older generation again and removes what it stood in.
 *
 * Shape: what did not open and was left as it was, with the reason. Errors: the STORE_* codes.
 */
export async function carryMessages(
  folder: ControlFolder,
): Promise<{ readonly key: string; readonly error: unknown }[]> {
  const { task, vault } = folder;
  const left: { key: string; error: unknown }[] = [];
  for (const { key, about, generation } of await listMessages(task)) {
    if (generation >= currentOf(vault)) continue;
    try {
      const [damage] = (await readMessage(folder, about)).damaged.filter((one) => one.key === key);
      if (damage !== undefined) throw damage.error;
      await takeMessage(folder, about);
      await task.remove(key);
    } catch (error) {
      if (!(error instanceof SplashdownError) || error.code.startsWith("STORE_")) throw error;
      left.push({ key, error });
    }
  }
  return left;
}
