/**
 * The home of a task: under which name, in which store, this machine goes on with it, kept outside the task's folder.
 *
 * Owns: `<state folder>/homes/<task uuid>.json`. Whoever starts a task here, or goes on by hand with one that came from
 * elsewhere, makes its home; a task without one is *new here*, and nobody goes on with it unasked. What a home means for a
 * verb is runtime/residence.ts.
 *
 * R15: a uuid has one home: it is made by exclusive creation, and moved only from the home that was read. So of two copies
 *      of one task, found by two processes at once, one acts. R16: a damaged home counts as none.
 */
import { join } from "node:path";
import { assert, errnoOf, SplashdownError } from "../base/errors.js";
import { sha256Hex } from "../base/digest.js";
import type { FileSystem } from "../base/file-system.js";
import { isUuid } from "../base/ids.js";
import { isJsonObject } from "../base/json.js";
import { canonicalJson } from "../base/json-encoding.js";
import type { RandomSource } from "../base/random.js";
import { createFolders, describeFailure, readWhole, writeWhole } from "../vault/private-file.js";

export interface TaskHome {
  /** Address of the store, its path absolute and without a password. */
  readonly store: string;
  /** Name of the task there. */
  readonly name: string;
  /** It was imported there, and nobody has gone on with it yet. */
  readonly arrived: boolean;
  /** It was begun here without encryption, because its workflow says so. */
  readonly isPlain?: boolean;
}

/** Where homes are kept and with what they are written. */
export interface HomePlace {
  readonly fileSystem: FileSystem;
  readonly random: RandomSource;
  /** The user's state folder of this application; absolute. */
  readonly stateFolder: string;
}

const FORMAT = "splashdown.home";
const VERSION = "1.0";
const FILE_BYTES_MAX = 8192;
const SUFFIX = ".json";

function folderOf({ stateFolder }: Pick<HomePlace, "stateFolder">): string {
  return join(stateFolder, "homes");
}

function pathOf(place: Pick<HomePlace, "stateFolder">, taskId: string): string {
  assert(isUuid(taskId), "a home was asked for something that is no task id");
  return join(folderOf(place), `${taskId}${SUFFIX}`);
}

/** The task's home here; `undefined` when it has none that can be read. Errors: none. */
export async function loadHome(
  place: Pick<HomePlace, "fileSystem" | "stateFolder">,
  taskId: string,
): Promise<TaskHome | undefined> {
  return readHome(place.fileSystem, pathOf(place, taskId), taskId);
}

async function readHome(fileSystem: FileSystem, path: string, taskId: string): Promise<TaskHome | undefined> {
  try {
    const handle = await fileSystem.open(path, "read");
    try {
      const bytes = await readWhole(handle, FILE_BYTES_MAX);
      return bytes === undefined ? undefined : parseHome(Buffer.from(bytes).toString("utf8"), taskId);
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

function formatHome(taskId: string, { store, name, arrived, isPlain }: TaskHome): string {
  const plain = isPlain === true ? { encrypted: false } : {};
  const body = canonicalJson({ format: FORMAT, version: VERSION, task: taskId, store, name, arrived, ...plain });
  return `${body}\n${sha256Hex(body)}\n`;
}

function parseHome(text: string, taskId: string): TaskHome | undefined {
  const [body = "", sum, end] = text.split("\n");
  if (sum !== sha256Hex(body) || end !== "") return undefined;
  const value: unknown = JSON.parse(body);
  if (!isJsonObject(value) || value["format"] !== FORMAT || value["version"] !== VERSION) return undefined;
  const { task, store, name, arrived } = value;
  if (task !== taskId || typeof store !== "string" || typeof name !== "string") return undefined;
  return { store, name, arrived: arrived === true, ...(value["encrypted"] === false ? { isPlain: true } : {}) };
}

/** Every home that can be read. Shape: in no order. Errors: none. */
export async function listHomes(
  place: Pick<HomePlace, "fileSystem" | "stateFolder">,
): Promise<{ readonly taskId: string; readonly home: TaskHome }[]> {
  const files = await place.fileSystem.readdir(folderOf(place)).catch(() => [] as string[]);
  const found = [];
  for (const file of files) {
    const taskId = file.slice(0, -SUFFIX.length);
    const home = file.endsWith(SUFFIX) && isUuid(taskId) ? await loadHome(place, taskId) : undefined;
    if (home !== undefined) found.push({ taskId, home });
  }
  return found;
}

/**
 * Makes a task's home if it has none; durable on return.
 *
 * Shape: false when there is one already, whoever made it. Errors: STORE_UNWRITABLE.
 */
export async function createHome(place: HomePlace, taskId: string, home: TaskHome): Promise<boolean> {
  const path = pathOf(place, taskId);
  return whileWriting(path, async () => {
    await createFolders(place.fileSystem, folderOf(place));
    return publish(place, path, formatHome(taskId, home));
  });
}

/** Whole at once and exclusively: a temporary file, linked to its name. */
async function publish({ fileSystem, random, ...at }: HomePlace, path: string, text: string): Promise<boolean> {
  const folder = folderOf(at);
  const temporary = join(folder, `.${Buffer.from(random.bytes(8)).toString("hex")}.tmp`);
  await writeWhole(fileSystem, temporary, Buffer.from(text));
  try {
    await fileSystem.link(temporary, path);
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await fileSystem.unlink(temporary).catch(() => undefined);
  }
  await fileSystem.syncFolder(folder);
  return true;
}

/**
 * Moves a task's home from where it was seen to be; `undefined`: from one that cannot be read, or from none.
 *
 * Shape: false when it is another one by now. A process that dies in between leaves a task without a home, which is new
 * here. Errors: STORE_UNWRITABLE.
 */
export async function moveHome(
  place: HomePlace,
  taskId: string,
  { from, to }: { readonly from: TaskHome | undefined; readonly to: TaskHome },
): Promise<boolean> {
  const path = pathOf(place, taskId);
  return whileWriting(path, async () => {
    if (!(await takeAway(place, path, { taskId, from }))) return false;
    return createHome(place, taskId, to);
  });
}

/** Ends a home, if it is still the one that was read. Errors: STORE_UNWRITABLE. */
export async function endHome(place: HomePlace, taskId: string, from: TaskHome): Promise<void> {
  const path = pathOf(place, taskId);
  await whileWriting(path, () => takeAway(place, path, { taskId, from }));
}

async function takeAway(
  place: HomePlace,
  path: string,
  { taskId, from }: { readonly taskId: string; readonly from: TaskHome | undefined },
): Promise<boolean> {
  const { fileSystem, random } = place;
  const aside = join(folderOf(place), `.${Buffer.from(random.bytes(8)).toString("hex")}.old`);
  try {
    // Of two who move it one gets it.
    await fileSystem.rename(path, aside);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return from === undefined;
    throw error;
  }
  const found = await readHome(fileSystem, aside, taskId);
  const isSame = isSameHome(found, from);
  if (!isSame) await fileSystem.link(aside, path).catch(() => undefined);
  await fileSystem.unlink(aside);
  return isSame;
}

function isSameHome(first: TaskHome | undefined, second: TaskHome | undefined): boolean {
  if (first === undefined || second === undefined) return first === second;
  return first.store === second.store && first.name === second.name && first.arrived === second.arrived;
}

async function whileWriting<T>(file: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof SplashdownError) throw error;
    const reason = describeFailure(error);
    throw new SplashdownError("STORE_UNWRITABLE", `the home of a task cannot be written: ${file} (${reason})`, {
      details: { file, reason },
      cause: error,
    });
  }
}
