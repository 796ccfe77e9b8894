/**
 * The stores of one opened Splashdown: its own, and those that workflow files name for their tasks.
 *
 * A workflow file is read before the store of its task is opened, so its `checkpoint`, `store`, `storage_path` and
 * `encryption` hold for its tasks alone. Every store has services of its own, with its keys and its audit; verbs that name
 * a task look through all of them (joined-verbs.ts). A store that a flag or the environment names is the only one.
 */
import { resolve } from "node:path";
import { stat } from "node:fs/promises";
import { SplashdownError } from "../base/errors.js";
import { hidePassword } from "../base/store-address.js";
import type { WorkflowDefinition } from "../definition/model/workflow.js";
import type { Store } from "../store/contract/contract.js";
import { requireBelow } from "./services/confinement.js";
import { listKnownStores, rememberStore } from "./known-stores.js";
import type { Places, Services } from "./services/services.js";

export interface WorkplaceParts {
  /** Services over another store, or with another word on encryption. */
  readonly create: (own: Services, place: Place) => Services;
  /** The store that a workflow's settings name; `undefined` where they name none, or something above them does. */
  readonly storeOf: (definition: Pick<WorkflowDefinition, "settings" | "name">) => string | undefined;
  /** False where a flag or the environment names the store: no other counts. */
  readonly hasOthers: boolean;
}

export interface Place {
  readonly store: Store;
  /** Absolute; of stores that lie in a folder here. */
  readonly storeFolder: string | undefined;
  readonly encryption: boolean;
}

export class Workplaces implements Places {
  readonly #parts: WorkplaceParts;
  readonly #stores = new Map<string, Store>();
  readonly #services = new Map<string, Services>();

  constructor(parts: WorkplaceParts) {
    this.#parts = parts;
  }

  /** Where tasks of a workflow are kept. Errors: WORKFLOW_OUTSIDE for an agent; STORE_UNSUPPORTED, STORE_UNWRITABLE. */
  async of(own: Services, definition: Pick<WorkflowDefinition, "settings" | "name">): Promise<Services> {
    const { encryption } = own.settingsOf(definition).checkpoint_config;
    const named = this.#parts.storeOf(definition);
    const address = named === undefined ? undefined : absoluteAddress(named, own.environment.workingFolder);
    const isOwn = address === undefined || address === ownAddress(own);
    if (isOwn && encryption === own.settings.checkpoint_config.encryption) return own;
    if (isOwn) return this.#at(own, { store: own.store, address: ownAddress(own), encryption });
    await requireAllowed(own, address);
    const store = this.#open(own, address);
    if (store.manifest.durable) await rememberStore(placeOf(own), ownAddress(own), address);
    return this.#at(own, { store, address, encryption });
  }

  /** The other stores that have tasks, as far as this process and this machine know. Errors: none; what does not open is told. */
  async others(own: Services): Promise<Services[]> {
    if (!this.#parts.hasOthers) return [];
    const opened = [...this.#stores.keys()];
    const known = await listKnownStores(placeOf(own), ownAddress(own));
    const found: Services[] = [];
    for (const address of new Set([...opened, ...known])) {
      if (!opened.includes(address) && !(await isThere(address))) continue;
      const { encryption } = own.settings.checkpoint_config;
      found.push(this.#at(own, { store: this.#open(own, address), address, encryption }));
    }
    return found;
  }

  async close(): Promise<void> {
    for (const store of this.#stores.values()) await store.close();
  }

  #open(own: Services, address: string): Store {
    const store = this.#stores.get(address) ?? own.openStore(address);
    this.#stores.set(address, store);
    return store;
  }

  #at(own: Services, { store, address, encryption }: { store: Store; address: string; encryption: boolean }): Services {
    const key = `${encryption ? "sealed" : "plain"} ${address}`;
    const [kind, path] = splitAddress(address);
    const storeFolder = isLocal(kind) ? path : undefined;
    const services = this.#services.get(key) ?? this.#parts.create(own, { store, storeFolder, encryption });
    this.#services.set(key, services);
    return services;
  }
}

/** An agent keeps tasks below its root only. */
async function requireAllowed({ confine }: Services, address: string): Promise<void> {
  if (confine === undefined) return;
  const [kind, path] = splitAddress(address);
  if (kind === "memory") return;
  const shown = hidePassword(address);
  if (!isLocal(kind))
    throw new SplashdownError("WORKFLOW_OUTSIDE", `the store ${shown} is not below ${confine.root}`, {
      details: { file: shown, root: confine.root },
    });
  await requireBelow(confine.root, path).catch((error: unknown) => {
    if (error instanceof SplashdownError) throw error;
  });
}

function placeOf({ fileSystem, environment }: Services) {
  return { fileSystem, stateFolder: environment.stateFolder };
}

function ownAddress({ store, environment }: Services): string {
  return absoluteAddress(store.address, environment.workingFolder);
}

function absoluteAddress(address: string, workingFolder: string): string {
  const [kind, path] = splitAddress(address);
  return isLocal(kind) ? `${kind}:${resolve(workingFolder, path)}` : address;
}

function splitAddress(address: string): [kind: string, path: string] {
  const colon = address.indexOf(":");
  return [address.slice(0, colon), address.slice(colon + 1)];
}

function isLocal(kind: string): boolean {
  return kind === "file" || kind === "sqlite" || kind === "pglite";
}

async function isThere(address: string): Promise<boolean> {
  const [kind, path] = splitAddress(address);
  if (!isLocal(kind)) return true;
  return stat(path).then(
    () => true,
    () => false,
  );
}
