/**
 * Where a task lives, and what that lets a verb do: one uuid acts under one name on one machine.
 *
 * A task's home (recovery/task-home.ts) is compared with the place it was found in. Found elsewhere it was moved or
 * renamed, is a copy beside the original, or lies in another task's place; without a home it is new here. Readers say so;
 * whoever acts asks `requireOneHome` before anything is written and `settleHome` before the claim.
 */
import { writeCommand } from "../../base/command-text.js";
import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import { isUuid } from "../../base/ids.js";
import { hidePassword } from "../../base/store-address.js";
import {
  createHome,
  endHome,
  listHomes,
  loadHome,
  moveHome,
  type HomePlace,
  type TaskHome,
} from "../../recovery/task-home.js";
import type { Store, TaskStore } from "../../store/contract/contract.js";
import { inspectKeyring } from "../../vault/keyring-view.js";
import { readTaskId } from "../keychain/unopened-task.js";
import type { Services } from "../services/services.js";

export type Residence =
  | { readonly kind: "home" }
  /** Never acted on by this machine; `home` where an import left word of it. */
  | { readonly kind: "new_here"; readonly home?: TaskHome }
  /** The whole store is elsewhere, or only this task's name is another; nothing of it is left where it was. */
  | { readonly kind: "moved" | "renamed"; readonly home: TaskHome }
  /** The task is at its home as well. */
  | { readonly kind: "twin"; readonly home: TaskHome }
  /** It stands where another task has its home, or another task stands at its home. */
  | { readonly kind: "exchanged"; readonly home: TaskHome };

type Found = Pick<TaskStore, "name">;

/** Where the task stands against its home. Errors: none of its own. */
export async function judgeResidence(services: Services, found: Found, taskId: string): Promise<Residence> {
  if (!services.store.manifest.durable) return { kind: "home" };
  const home = await loadHome(homePlace(services), taskId);
  if (home === undefined) return { kind: "new_here" };
  const store = addressOf(services);
  const isSameStore = home.store === store || (await isSameFolder(home.store, store));
  if (isSameStore && home.name === found.name) return home.arrived ? { kind: "new_here", home } : { kind: "home" };
  const atHome = await readIdAt(services, isSameStore ? store : home.store, home.name);
  return judgeAway(services, found, { taskId, home, atHome, isSameStore });
}

interface Away {
  readonly taskId: string;
  readonly home: TaskHome;
  /** The id of the task that stands at the home; `undefined` when none does. */
  readonly atHome: string | undefined;
  readonly isSameStore: boolean;
}

/** A task that is not at its home. */
async function judgeAway(services: Services, found: Found, away: Away): Promise<Residence> {
  const { taskId, home, atHome, isSameStore } = away;
  if (atHome === taskId || atHome === UNKNOWN) return { kind: "twin", home };
  const isTaken = isSameStore && atHome !== undefined && !(await isAtHome(services, atHome, home));
  if (isTaken || (await isHomeOfAnother(services, found, taskId))) return { kind: "exchanged", home };
  if (home.arrived) return { kind: "new_here", home };
  return { kind: home.name === found.name ? "moved" : "renamed", home };
}

function homePlace({ fileSystem, random, environment }: Services): HomePlace {
  return { fileSystem, random, stateFolder: environment.stateFolder };
}

/** The address of the store for who may be in another folder, without a password. */
export function addressOf({ store, environment }: Pick<Services, "store" | "environment">): string {
  const { address } = store;
  const [kind, path] = splitAddress(address);
  return isLocal(kind) ? `${kind}:${resolve(environment.workingFolder, path)}` : hidePassword(address);
}

function splitAddress(address: string): [kind: string, path: string] {
  const colon = address.indexOf(":");
  return [address.slice(0, colon), address.slice(colon + 1)];
}

function isLocal(kind: string): boolean {
  return kind === "file" || kind === "sqlite" || kind === "pglite";
}

/** The same folder or file by two paths: a link to it, or another mount. */
async function isSameFolder(first: string, second: string): Promise<boolean> {
  const [kind, path] = splitAddress(first);
  const [otherKind, otherPath] = splitAddress(second);
  if (kind !== otherKind || !isLocal(kind)) return false;
  try {
    if ((await realpath(path)) === (await realpath(otherPath))) return true;
    const [one, other] = [await stat(path), await stat(otherPath)];
    return one.dev === other.dev && one.ino === other.ino;
  } catch {
    return false;
  }
}

/** A store that cannot be asked from here may hold the task. */
const UNKNOWN = "unknown";

/** The id of the task in a place of this or another store; `undefined` when no task is there. */
async function readIdAt(services: Services, address: string, name: string): Promise<string | undefined> {
  const [kind, path] = splitAddress(address);
  if (isLocal(kind) && !(await isThere(path))) return undefined;
  return withStore(services, address, async (store) => {
    const task = await store.task(name);
    if (task === undefined) return undefined;
    try {
      return await readIdOf(task);
    } finally {
      await task.close();
    }
  });
}

/** Asks this store or another one of this machine; `UNKNOWN` where it cannot be asked. Errors: none. */
async function withStore<T>(
  services: Services,
  address: string,
  ask: (store: Store) => Promise<T>,
): Promise<T | typeof UNKNOWN> {
  const isHere = address === addressOf(services);
  if (!isHere && !isLocal(splitAddress(address)[0])) return UNKNOWN;
  let store: Store | undefined;
  try {
    store = isHere ? services.store : services.openStore(address);
    return await ask(store);
  } catch (error) {
    services.log.debug(`${address} cannot be asked: ${messageOf(error)}`);
    return UNKNOWN;
  } finally {
    if (!isHere) await store?.close();
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** As its keyring or its journal says, unproved; `undefined` where nothing of a task is left. */
export async function readIdOf(task: TaskStore): Promise<string | undefined> {
  const view = await inspectKeyring(task).catch(() => undefined);
  return view?.task ?? readTaskId(task);
}

/** Whether the place is rightly that task's: then its name was merely free again. */
async function isAtHome(services: Services, taskId: string, { store, name }: TaskHome): Promise<boolean> {
  const home = isUuid(taskId) ? await loadHome(homePlace(services), taskId) : undefined;
  return home?.name === name && home.store === store;
}

async function isHomeOfAnother(services: Services, { name }: Found, taskId: string): Promise<boolean> {
  const store = addressOf(services);
  const homes = await listHomes(homePlace(services));
  return homes.some((each) => each.taskId !== taskId && each.home.name === name && each.home.store === store);
}

/** What people are told of it; `undefined` where all is as it should be. */
export function describeResidence(residence: Residence, { name }: Found): string | undefined {
  const resume = writeCommand("resume", [name]);
  switch (residence.kind) {
    case "home":
    case "moved":
      return undefined;
    case "new_here":
      return `new here: this machine never ran it; to continue it: ${resume}`;
    case "renamed":
      return `it was ${residence.home.name} until now; to continue under the name ${name}: ${resume}`;
    case "twin":
      return `it is the same task as ${whereIs(residence.home)}, which is continued there alone`;
    case "exchanged":
      return `it lies in another task's place: its own is ${whereIs(residence.home)}`;
  }
}

function whereIs({ name, store }: TaskHome): string {
  return `${name} in ${store}`;
}

/** The fields of a summary. */
export function viewResidence(residence: Residence, found: Found) {
  const text = describeResidence(residence, found);
  return {
    ...(residence.kind === "new_here" ? { new_here: true as const } : {}),
    ...(residence.kind === "twin" || residence.kind === "exchanged" || residence.kind === "renamed"
      ? { lives_as: { task: residence.home.name, store: residence.home.store } }
      : {}),
    ...(text === undefined ? {} : { residence: text }),
  };
}

/** Errors: TASK_SWAPPED for a copy beside the original, and for a task in another one's place. */
export async function requireOneHome(services: Services, task: TaskStore): Promise<void> {
  const taskId = await readIdOf(task);
  if (taskId === undefined) return;
  const residence = await judgeResidence(services, task, taskId);
  if (residence.kind === "twin" || residence.kind === "exchanged") throw swapped(residence, task);
}

/**
 * The only word of an exchange that a machine has which knows neither task: the name it was started under is another's.
 *
 * Errors: TASK_DISPLACED, TASK_TWIN; a mere other name is said.
 */
export async function requireOwnName(
  services: Services,
  { name, taskId, startedAs }: FoundTask & { readonly startedAs: string },
): Promise<void> {
  if (startedAs === name || !services.store.manifest.durable) return;
  if ((await loadHome(homePlace(services), taskId)) !== undefined) return;
  const store = addressOf(services);
  const there = await readIdAt(services, store, startedAs);
  const home = { store, name: startedAs, arrived: false };
  if (there !== undefined) throw swapped({ kind: there === taskId ? "twin" : "exchanged", home }, { name });
  services.log.warn(`task ${name} was started as ${startedAs}`);
}

export interface FoundTask extends Found {
  readonly taskId: string;
  /** `recover --new-here`: for this once as if the setting said `resume`. */
  readonly newHere?: boolean | undefined;
}

/** Whether `recover` and `run` may go on with a task that nobody named. Shape: why not. */
export async function findReserve(services: Services, found: FoundTask): Promise<string | undefined> {
  const residence = await judgeResidence(services, found, found.taskId);
  if (residence.kind === "new_here" && isWelcome(services, found)) return undefined;
  return describeResidence(residence, found);
}

function isWelcome({ settings }: Services, { newHere }: Pick<FoundTask, "newHere">): boolean {
  return newHere === true || settings.recovery_config.new_here === "resume";
}

export interface Settling {
  readonly task: TaskStore;
  readonly taskId: string;
  /** A person named the task, or it begins at this moment; else nobody did. */
  readonly byPerson: boolean;
  /** It begins at this moment, without encryption. */
  readonly isPlain?: boolean;
  readonly newHere?: boolean | undefined;
  /** A person says that the task lives here from now on, wherever it did. */
  readonly here?: boolean | undefined;
}

/**
 * Makes or moves the home of a task that is about to act; called before the claim.
 *
 * Errors: TASK_SWAPPED; TASK_NEW_HERE for what nobody asked for; STORE_UNWRITABLE.
 */
export async function settleHome(services: Services, settling: Settling): Promise<void> {
  const { task, taskId } = settling;
  const residence = await judgeResidence(services, task, taskId);
  if (residence.kind === "home") return;
  requireMay(services, residence, settling);
  if (residence.kind === "twin") await requireNotAlive(services, residence.home);
  const from = "home" in residence ? residence.home : undefined;
  const home = homeHere(services, settling, from);
  const isSettled = await move(services, { taskId, from, to: home });
  if (!isSettled) {
    // Somebody else made it meanwhile: here, or elsewhere.
    const now = await judgeResidence(services, task, taskId);
    if (now.kind !== "home") throw swapped({ kind: "twin", home: "home" in now && now.home ? now.home : home }, task);
  }
  const text = describeResidence(residence, task);
  if (residence.kind === "moved")
    services.log.info(`task ${task.name} was in ${residence.home.store}; it is continued here`);
  else if (residence.kind !== "new_here" && text !== undefined) services.log.warn(`task ${task.name}: ${text}`);
}

function homeHere(services: Services, { task, isPlain }: Settling, from: TaskHome | undefined): TaskHome {
  const plain = isPlain === true || from?.isPlain === true ? { isPlain: true } : {};
  return { store: addressOf(services), name: task.name, arrived: false, ...plain };
}

/** Errors: OWNER_ALIVE while the other copy runs. */
async function requireNotAlive(services: Services, { store: address, name }: TaskHome): Promise<void> {
  const isRunning = await withStore(services, address, async (store) => {
    const task = await store.task(name);
    if (task === undefined) return false;
    try {
      return (await task.ownerState()).state === "alive";
    } finally {
      await task.close();
    }
  });
  if (isRunning === true)
    throw new SplashdownError("OWNER_ALIVE", `the same task runs as ${name} in ${address}`, {
      details: { task: name },
    });
}

function requireMay(services: Services, residence: Exclude<Residence, { kind: "home" }>, settling: Settling): void {
  const { task, byPerson, here } = settling;
  if (here === true || residence.kind === "moved") return;
  if (residence.kind === "twin" || residence.kind === "exchanged") throw swapped(residence, task);
  if (byPerson) return;
  if (residence.kind === "new_here" && isWelcome(services, settling)) return;
  throw new SplashdownError("TASK_NEW_HERE", `task ${task.name}: ${describeResidence(residence, task) ?? ""}`, {
    details: { task: task.name },
  });
}

interface Moving {
  readonly taskId: string;
  readonly from: TaskHome | undefined;
  readonly to: TaskHome;
}

/** Where no home can be written, a task begins or goes on without one, loudly; nothing is moved. */
async function move(services: Services, { taskId, from, to }: Moving): Promise<boolean> {
  const place = homePlace(services);
  try {
    if (from !== undefined) return await moveHome(place, taskId, { from, to });
    return (await createHome(place, taskId, to)) || (await replaceUnreadable(place, taskId, to));
  } catch (error) {
    if (from !== undefined || !isErrorCode(error, "STORE_UNWRITABLE")) throw error;
    services.log.warn(`${messageOf(error)}; task ${to.name} will be new here to whoever comes next`);
    return true;
  }
}

async function replaceUnreadable(place: HomePlace, taskId: string, to: TaskHome): Promise<boolean> {
  if ((await loadHome(place, taskId)) !== undefined) return false;
  return moveHome(place, taskId, { from: undefined, to });
}

/**
 * An import says where it put a task, and nobody goes on with it unasked; one that lives elsewhere still keeps its home.
 *
 * Errors: STORE_UNWRITABLE.
 */
export async function recordArrival(services: Services, found: Found, taskId: string): Promise<void> {
  if (!services.store.manifest.durable) return;
  const place = homePlace(services);
  const to = { store: addressOf(services), name: found.name, arrived: true };
  // The place was empty a moment ago: nobody else is at home in it.
  for (const { taskId: other, home } of await listHomes(place))
    if (other !== taskId && home.store === to.store && home.name === to.name) await endHome(place, other, home);
  const residence = await judgeResidence(services, found, taskId);
  if (residence.kind === "twin") return;
  await move(services, { taskId, from: "home" in residence ? residence.home : await loadHome(place, taskId), to });
}

/** The task goes to the trash: its name is free, and a copy of it may live elsewhere. Errors: none; it is a memory only. */
export async function leaveHome(services: Services, task: TaskStore): Promise<void> {
  const taskId = services.store.manifest.durable ? await readIdOf(task).catch(() => undefined) : undefined;
  const home = taskId === undefined ? undefined : await loadHome(homePlace(services), taskId);
  if (taskId === undefined || home?.name !== task.name || home.store !== addressOf(services)) return;
  await endHome(homePlace(services), taskId, home).catch((error: unknown) => services.log.warn(messageOf(error)));
}

/** A person brought it back here. Errors: none. */
export async function returnHome(services: Services, task: TaskStore): Promise<void> {
  const taskId = services.store.manifest.durable ? await readIdOf(task).catch(() => undefined) : undefined;
  if (taskId === undefined) return;
  const home = { store: addressOf(services), name: task.name, arrived: false };
  await createHome(homePlace(services), taskId, home).catch((error: unknown) => services.log.warn(messageOf(error)));
}

function swapped(residence: Extract<Residence, { kind: "twin" | "exchanged" }>, { name }: Found): SplashdownError {
  const { home } = residence;
  return new SplashdownError(
    residence.kind === "twin" ? "TASK_TWIN" : "TASK_DISPLACED",
    `task ${name} is not touched: ${describeResidence(residence, { name }) ?? ""}`,
    { details: { task: name, home: home.name, store: home.store } },
  );
}
