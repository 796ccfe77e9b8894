/**
 * One at a time begins a task of one definition and inputs: who is looking whether there is one already keeps the others
 * waiting until its own has begun, so two runs at one moment do not begin twins.
 *
 * Shape: every process that wants to begin puts a file of its own into the user's state folder, under the digest of what
 * it begins. Of those that want the same, the one whose file comes first in order goes first: who sees a file before its own
 * withdraws and waits; who sees files after its own waits until they are withdrawn, or until their owner has begun. Either
 * of two sees the other, as both look after they have put their file. The file of a process that has ended counts as none.
 * A store in memory has one process, which keeps the order itself.
 */
import { join } from "node:path";
import { sha256Hex } from "../../base/digest.js";
import { errnoOf, messageOf } from "../../base/errors.js";
import { createUuid } from "../../base/ids.js";
import { isJsonObject, type JsonObject } from "../../base/json.js";
import { canonicalJson } from "../../base/json-encoding.js";
import { isSamePlace } from "../../base/place.js";
import type { OwnerFacts, Store } from "../../store/contract/contract.js";
import { createFolders, readWhole, writeWhole } from "../../vault/private-file.js";
import type { Services } from "../services/services.js";
import { describeSelf } from "./presence.js";
import type { Wanted } from "../tasks/workflow-loading.js";

const POLL_MS = 20;
/** Of a process that cannot be asked whether it lives: longer than any look at a store takes. */
const UNCLEAR_MS_MAX = 30_000;
const FILE_BYTES_MAX = 4096;

/** Leaves the queue; a second call does nothing. */
export type Leave = () => Promise<void>;

/** Waits for its turn. Errors: CANCELLED by the signal. A state folder that cannot be written keeps nobody from starting. */
export async function joinStartQueue(services: Services, wanted: Wanted, signal?: AbortSignal): Promise<Leave> {
  const digest = digestOf(services.store, wanted);
  if (!services.store.manifest.durable) return joinInProcess(services.store, digest);
  const { clock, environment } = services;
  const self = describeSelf({ clock, self: services.processes().self }, 0);
  const place: QueuePlace = { services, folder: join(environment.stateFolder, "starts"), digest, self };
  try {
    return await joinInFolder(place, signal);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    const why = `${place.folder} cannot be used: ${messageOf(error)}`;
    services.log.warn(`two runs at the same moment may begin the same twice: ${why}`);
    return () => Promise.resolve();
  }
}

/** What is begun, where. Nobody reads from it what the inputs were. */
function digestOf({ address }: Store, { workflow, inputs }: Wanted): string {
  return sha256Hex(canonicalJson({ store: address, definition: workflow.definition.fingerprint, inputs }));
}

/** By store, the last of those who begin the same. */
const inProcess = new WeakMap<Store, Map<string, Promise<void>>>();

async function joinInProcess(store: Store, digest: string): Promise<Leave> {
  const lines = inProcess.get(store) ?? new Map<string, Promise<void>>();
  inProcess.set(store, lines);
  const before = lines.get(digest);
  let leave!: () => void;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  lines.set(digest, left);
  await before;
  return () => {
    if (lines.get(digest) === left) lines.delete(digest);
    leave();
    return Promise.resolve();
  };
}

interface QueuePlace {
  readonly services: Services;
  readonly folder: string;
  readonly digest: string;
  readonly self: OwnerFacts;
}

async function joinInFolder(place: QueuePlace, signal: AbortSignal | undefined): Promise<Leave> {
  const { services, folder, digest, self } = place;
  const { fileSystem, clock, random } = services;
  const name = `${digest}-${createUuid(random)}`;
  const path = join(folder, name);
  const sinceMs = clock.monotonicMs();
  const look = (): Promise<string[]> => listOthers(place, name, clock.monotonicMs() - sinceMs);
  const isBefore = (other: string): boolean => other < name;
  await createFolders(fileSystem, folder);
  for (;;) {
    await writeWhole(fileSystem, path, Buffer.from(JSON.stringify(self), "utf8"));
    let others: string[];
    try {
      for (others = await look(); others.length > 0 && !others.some(isBefore); others = await look())
        await clock.sleep(POLL_MS, signal);
    } catch (error) {
      await withdraw(place, name);
      throw error;
    }
    if (others.length === 0) return () => withdraw(place, name);
    await withdraw(place, name);
    for (; others.some(isBefore); others = await look()) await clock.sleep(POLL_MS, signal);
  }
}

/** Those who want to begin the same, and live as far as can be told. */
async function listOthers(place: QueuePlace, name: string, waitedMs: number): Promise<string[]> {
  const { services, folder, digest } = place;
  const names = await services.fileSystem.readdir(folder);
  const found: string[] = [];
  for (const other of names.filter((each) => each.startsWith(`${digest}-`) && each !== name)) {
    const owner = await readOwner(place, other);
    if (owner === "gone") continue;
    if (await isOver(place, owner, waitedMs)) await withdraw(place, other);
    else found.push(other);
  }
  return found;
}

/** Who runs beside this process is waited for however long it takes; who cannot be asked, for a while. */
async function isOver({ self }: QueuePlace, owner: OwnerFacts | undefined, waitedMs: number): Promise<boolean> {
  if (owner === undefined) return waitedMs >= UNCLEAR_MS_MAX;
  const { isOwnerGone } = await import("../platform/owner-liveness.js");
  if (isOwnerGone(owner)) return true;
  const isBeside = self.namespace !== "" && isSamePlace(owner, self);
  return !isBeside && waitedMs >= UNCLEAR_MS_MAX;
}

/** `undefined` of a file that is being written, or was left half. */
async function readOwner({ services, folder }: QueuePlace, name: string): Promise<OwnerFacts | "gone" | undefined> {
  try {
    const handle = await services.fileSystem.open(join(folder, name), "read");
    try {
      const bytes = await readWhole(handle, FILE_BYTES_MAX);
      return parseOwner(Buffer.from(bytes ?? []).toString("utf8"));
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "gone";
    throw error;
  }
}

function parseOwner(text: string): OwnerFacts | undefined {
  try {
    const value = JSON.parse(text) as JsonObject;
    return isJsonObject(value) && typeof value["pid"] === "number" ? (value as OwnerFacts) : undefined;
  } catch {
    return undefined;
  }
}

async function withdraw({ services, folder }: QueuePlace, name: string): Promise<void> {
  await services.fileSystem.unlink(join(folder, name)).catch((error: unknown) => {
    if (errnoOf(error) !== "ENOENT") services.log.debug(`${name} could not be removed: ${messageOf(error)}`);
  });
}
