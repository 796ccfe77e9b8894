/**
 * Opens Splashdown: reads settings and environment, builds the real store, clock, randomness and processes, and gives
 * out the verbs. Nothing of a task is touched before a verb asks; nothing is global, and two may be open side by side.
 */
import { readVersion } from "../base/package-files.js";
import { resolve } from "node:path";
import type { Clock } from "../base/clock.js";
import type { FileSystem } from "../base/file-system.js";
import { silentLog, type Log } from "../base/log.js";
import { createNodeFileSystem } from "../base/node-file-system.js";
import type { Place as Machine } from "../base/place.js";
import { hidePassword } from "../base/store-address.js";
import type { RandomSource } from "../base/random.js";
import type { TemplateEngine } from "../engine/model/input.js";
import { openProcessHost, type ProcessHostOptions, type SystemProcessHost } from "../process/host.js";
import { openProcessRoll } from "./process-roll.js";
import { readPlace } from "../process/place.js";
import type { Store } from "../store/contract/contract.js";
import { openStore } from "../store/open-store.js";
import { RetryingFileSystem } from "../store/files/retrying-file-system.js";
import { AuditTrail } from "./audit/audit-trail.js";
import type { Confinement } from "./services/confinement.js";
import type { Splashdown } from "./contract.js";
import { Emitter, tellNotices } from "./platform/emitter.js";
import { hideVariables, readEnvironment, type Environment } from "./platform/environment.js";
import { guardVerbs } from "./inside-step.js";
import { joinVerbs } from "./joined-verbs.js";
import { KeyAccess } from "./keychain/key-access.js";
import type { AskPassphrase } from "./keychain/kept-passphrases.js";
import { createMemoryGauge } from "./platform/memory-gauge.js";
import { ModelAccess } from "./services/model-access.js";
import type { Services } from "./services/services.js";
import { loadSettings, type LoadedSettings } from "./services/settings-loading.js";
import {
  createTrust,
  describeWaiting,
  findKeyRefusal,
  findStoreRefusal,
  type TrustQuestion,
} from "./trust/folder-settings.js";
import { saveTrust } from "./trust/trusted-folders.js";
import { createWaitingStore } from "./trust/waiting-store.js";
import { systemClock, systemRandom } from "./platform/system-clock.js";
import { createVerbs, type VerbParts } from "./bind-verbs.js";
import { Workplaces, type Place } from "./workplaces.js";
import type { AskPerson } from "./services/ask-person.js";
import type { OpenStoreParts } from "../store/open-store.js";

export interface OpenOptions {
  /** Where tasks are kept: `file:outputs` (default), `memory:`. */
  readonly store?: string;
  /** Settings file; default `splashdown.config.yaml` or `.json` in the working folder, if there is one. */
  readonly configFile?: string;
  /** The program vouches for the settings file of its working folder; else a person has to trust it. */
  readonly trust?: boolean;
  /** Asks a person in the terminal whether to trust the folder's settings; absent: nobody is asked. */
  readonly askTrust?: (question: TrustQuestion) => Promise<boolean>;
  readonly log?: Log;
  /** Asks a person in the terminal; absent: nobody is asked and questions stay open. */
  readonly ask?: AskPerson;
  /** Asks for a passphrase that is typed; absent: sources of that kind are not at hand. */
  readonly askPassphrase?: AskPassphrase;
  /** Workflow files are read below a folder only, and modules only if that is allowed: for agents. */
  readonly confine?: Confinement;
  readonly environment?: Environment;
  readonly fileSystem?: FileSystem;
  readonly clock?: Clock;
  readonly random?: RandomSource;
}

/** Errors: SETTING_INVALID, STORE_UNSUPPORTED. */
export async function openSplashdown(options: OpenOptions = {}): Promise<Splashdown> {
  const environment = options.environment ?? readEnvironment();
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const emitter = new Emitter(options.log ?? silentLog);
  const log = tellNotices(options.log ?? silentLog, emitter);
  const plainFiles = options.fileSystem ?? createNodeFileSystem();
  // Keys, anchors and deliverables wait out a scanner as the store does.
  const fileSystem = new RetryingFileSystem({ fileSystem: plainFiles, clock, platform: environment.platform });
  const loaded = await readSettings({ fileSystem, environment, random, clock }, options);
  const { settings, waiting } = loaded;
  for (const note of loaded.notes) log.warn(note);
  const version = readVersion();
  const place = readPlace(environment.get("SPLASHDOWN_MACHINE_ID"));
  const openOther = (address: string): Store =>
    openStore(address, createStoreParts({ environment, fileSystem: plainFiles, clock, random, place }));
  const store = await openOwnStore(loaded, openOther, { clock, log });
  const roll = openProcessRoll({ fileSystem, log, stateFolder: environment.stateFolder });
  const processes = new LazyProcesses({ clock, place, roll });
  const storeFolder = folderOf(loaded.store, environment.workingFolder);
  const keysAt = (at: Place): KeyAccess =>
    new KeyAccess({
      environment,
      fileSystem,
      clock,
      random,
      log,
      ...at,
      processes: () => processes.get(),
      configured: loaded.keys,
      refusal: findKeyRefusal(waiting),
      askPassphrase: options.askPassphrase,
      announce: (key) => log.warn(describeNewKey(key)),
    });
  const keys = keysAt({ store, storeFolder, encryption: settings.checkpoint_config.encryption });
  const auditOf = (of: Pick<Services, "store" | "keys">): AuditTrail =>
    new AuditTrail({ clock, random, log, fileSystem, environment, version, pid: process.pid, ...of });
  const places = createPlaces(loaded, keysAt, auditOf);
  const services: Services = {
    environment,
    clock,
    random,
    log,
    fileSystem,
    store,
    openStore: openOther,
    settings,
    settingsOf: loaded.forWorkflow,
    waiting,
    keys,
    emitter,
    audit: auditOf({ store, keys }),
    places,
    memory: createMemoryGauge(clock),
    ask: options.ask,
    processes: () => processes.get(),
    templates: loadTemplates,
    models: new ModelAccess({ clock, random, log, environment, settings, processes: () => processes.get() }),
    version,
    confine: options.confine,
    running: new Map(),
    programs: new Map(),
  };
  if (!settings.checkpoint_config.encryption) log.warn("encryption is off: what is written can be read by anybody");
  hideVariables(keys.secretVariables);
  return createAllVerbs(services, { storeFolder, config: loaded }, () => processes.close());
}

function createPlaces(
  { storeOfWorkflow, mayMove }: LoadedSettings,
  keysAt: (at: Place) => KeyAccess,
  auditOf: (of: Pick<Services, "store" | "keys">) => AuditTrail,
): Workplaces {
  const create = (own: Services, at: Place): Services => {
    const parts = { store: at.store, keys: keysAt(at) };
    return { ...own, ...parts, audit: auditOf(parts) };
  };
  return new Workplaces({ create, storeOf: storeOfWorkflow, hasOthers: mayMove });
}

/** The verbs over every store, guarded. */
function createAllVerbs(
  services: Services,
  parts: Omit<VerbParts, "close">,
  closeProcesses: () => Promise<void>,
): Splashdown {
  const close = async (): Promise<void> => {
    await closeProcesses();
    await services.places.close();
    await services.store.close();
  };
  const create = (at: Services): Splashdown => createVerbs(at, { ...parts, close });
  return guardVerbs(services, joinVerbs(services, create(services), create));
}

function describeNewKey({ fingerprint, path }: { readonly fingerprint: string; readonly path: string }): string {
  return `made key ${fingerprint} in ${path}; back it up: without it the checkpoints cannot be read (then: splashdown keys ack)`;
}

/** The store of the settings, or one that refuses while its address waits for a person's trust. */
function openOwnStore(
  { waiting, merged, settings, store }: Awaited<ReturnType<typeof readSettings>>,
  open: (address: string) => Store,
  deps: Pick<Services, "clock" | "log">,
): Promise<Store> {
  const refusal = findStoreRefusal(waiting, merged.origins);
  if (refusal === undefined) return openInFront(open(store), settings.cache, deps);
  return Promise.resolve(createWaitingStore(store, refusal));
}

/** The settings in force, with a note on those that wait for a person's trust. Errors: SETTING_INVALID. */
async function readSettings(
  place: Pick<Services, "fileSystem" | "environment" | "random" | "clock">,
  options: OpenOptions,
): Promise<LoadedSettings> {
  const isTrusted = options.trust === true ? async () => true : createTrust(place, deciding(place, options));
  const { configFile, store } = options;
  const loaded = await loadSettings(place.environment, { configFile, store, isTrusted });
  if (loaded.waiting === undefined) return loaded;
  return { ...loaded, notes: [...loaded.notes, describeWaiting(loaded.waiting)] };
}

/** A person in the terminal is asked once for each text of the file. */
function deciding(
  place: Pick<Services, "fileSystem" | "environment" | "random" | "clock">,
  { askTrust }: Pick<OpenOptions, "askTrust">,
): ((question: TrustQuestion) => Promise<boolean>) | undefined {
  if (askTrust === undefined) return undefined;
  return async (question) => {
    const isTrusted = await askTrust(question);
    const { folder, file, digest } = question;
    const at = new Date(place.clock.nowMs()).toISOString();
    await saveTrust(place, { folder, file, digest, decision: isTrusted ? "trusted" : "refused", at });
    return isTrusted;
  };
}

/** The store, with the cache of the settings before it where there is one; that it does not answer is told once. */
async function openInFront(
  store: Store,
  cache: string | undefined,
  { clock, log }: Pick<Services, "clock" | "log">,
): Promise<Store> {
  if (cache === undefined) return store;
  const { openCachedStore } = await import("../store/cache/cached-store.js");
  let isTold = false;
  const onTrouble = (reason: string): void => {
    if (!isTold) log.warn(`the cache ${hidePassword(cache)} is left out, and reading is slower: ${reason}`);
    isTold = true;
  };
  return openCachedStore(cache, { store, clock, onTrouble });
}

/** What every store of this process is built from. */
function createStoreParts(
  given: Pick<Services, "environment" | "fileSystem" | "clock" | "random"> & { readonly place: Machine },
): OpenStoreParts {
  const { environment, place, ...ports } = given;
  return {
    ...ports,
    platform: environment.platform,
    userId: process.getuid?.(),
    machine: {
      ...place,
      // Seldom asked, and not loaded until then.
      hasEnded: async (owner) => (await import("./platform/owner-liveness.js")).isOwnerGone(owner),
    },
    workingFolder: environment.workingFolder,
  };
}

/** The process host starts with its first child. */
class LazyProcesses {
  #host: SystemProcessHost | undefined;

  constructor(private readonly options: ProcessHostOptions) {}

  get(): SystemProcessHost {
    this.#host ??= openProcessHost(this.options);
    return this.#host;
  }

  async close(): Promise<void> {
    await this.#host?.close();
  }
}

async function loadTemplates(): Promise<TemplateEngine> {
  const { evaluateCondition, initTemplates, renderText, renderValue } =
    await import("../definition/templates/templates.js");
  await initTemplates();
  return { renderValue, renderText, evaluateCondition };
}

/** The folder or file that holds a store; none for stores that are not here. */
function folderOf(address: string, workingFolder: string): string | undefined {
  const [kind, path] = [address.slice(0, address.indexOf(":")), address.slice(address.indexOf(":") + 1)];
  return ["file", "sqlite", "pglite"].includes(kind) ? resolve(workingFolder, path) : undefined;
}
