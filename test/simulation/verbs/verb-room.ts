/**
 * The real verbs over a simulated disk: everything `openSplashdown` builds, but for the file system, the clock, randomness
 * and processes. One room is one process; a second room over an image of the disk is the process after the crash.
 */
import type { Clock } from "../../../src/base/clock.js";
import type { FileSystem } from "../../../src/base/file-system.js";
import { silentLog } from "../../../src/base/log.js";
import * as templates from "../../../src/definition/templates/templates.js";
import type { ProcessHost } from "../../../src/process/contract.js";
import type { PresencePort } from "../../../src/store/contract/presence-port.js";
import type { Store } from "../../../src/store/contract/contract.js";
import type { StoreParts } from "../../../src/store/contract/store-parts.js";
import { AuditTrail } from "../../../src/runtime/audit/audit-trail.js";
import type { Splashdown } from "../../../src/runtime/contract.js";
import { Emitter } from "../../../src/runtime/platform/emitter.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { KeyAccess } from "../../../src/runtime/keychain/key-access.js";
import type { Services } from "../../../src/runtime/services/services.js";
import { loadSettings } from "../../../src/runtime/services/settings-loading.js";
import { ModelAccess } from "../../../src/runtime/services/model-access.js";
import { createVerbs } from "../../../src/runtime/bind-verbs.js";
import { Workplaces } from "../../../src/runtime/workplaces.js";
import { RushingClock } from "../../support/rushing-clock.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import { createModelParts, createModelStore, MODEL_ROOT } from "../../support/store-places.js";
import { processOf } from "../../support/places.js";

/** Where the room's user keeps settings and state, and works; on the simulated disk. */
export const HOME = "/home/explorer";
export const WORKING_FOLDER = "/work/project";
export const KEY = Buffer.alloc(32, 7).toString("base64");

/** Makes the store of a process from what stores are built from. */
export type StoreOf = (parts: StoreParts) => Store;

export interface VerbRoomOptions {
  readonly fileSystem: FileSystem;
  /** Different for every process: names, salts and ids come from it. */
  readonly seed: string;
  /** Variables; a key unless told otherwise. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly startMs?: number;
  readonly machine?: Machine;
  /** What repeats; nothing does unless told. */
  readonly every?: Clock["every"];
  /** A folder of the simulated disk unless told otherwise. */
  readonly store?: StoreOf | undefined;
}

/** What processes on one running machine know of each other; it ends with the machine. */
export interface Machine {
  readonly presence: PresencePort;
  /** Called when something below a task's folder may have changed. */
  readonly hints: Set<() => void>;
}

export function startMachine(): Machine {
  const doors = new Map<string, () => string>();
  const hints = new Set<() => void>();
  return {
    hints,
    presence: {
      listen: async ({ name }, answer) => {
        doors.set(name, answer);
        return { close: async () => void doors.delete(name) };
      },
      ping: async ({ name }) => {
        const answer = doors.get(name);
        return answer === undefined ? { kind: "refused" } : { kind: "answered", text: answer() };
      },
    },
  };
}

/** Whoever sleeps lets the others look at what changed. */
class HintingClock extends RushingClock {
  constructor(private readonly hints: ReadonlySet<() => void>) {
    super();
  }

  override async sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    await super.sleep(durationMs, signal);
    for (const hint of this.hints) hint();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** Every process that could be there has died. */
const NO_PROCESSES: ProcessHost = {
  self: processOf(1, 1, "boot"),
  spawn: () => Promise.reject(new Error("nothing is spawned in a simulation")),
  groupState: () => Promise.resolve("gone" as const),
  endGroup: () => Promise.resolve(),
  endAbandoned: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

export async function openVerbRoom(options: VerbRoomOptions): Promise<Splashdown> {
  const { fileSystem, seed, variables = { SPLASHDOWN_KEY: KEY }, machine = startMachine() } = options;
  const clock = new HintingClock(machine.hints);
  clock.sleptMs = options.startMs ?? 0;
  if (options.every !== undefined) clock.every = options.every;
  const random = createSeededRandom(seed);
  const log = silentLog;
  const environment = createEnvironment({ HOME, USER: "explorer", ...variables }, WORKING_FOLDER);
  const loaded = await loadSettings(environment, { configFile: undefined, store: `file:${MODEL_ROOT}` });
  const parts = { clock, random: createSeededRandom(`names of ${seed}`), ...partsOf(machine) };
  const store = options.store?.(createModelParts(fileSystem, parts)) ?? createModelStore(fileSystem, { parts });
  const processes = () => NO_PROCESSES;
  const keys = new KeyAccess({
    environment,
    fileSystem,
    clock,
    random,
    log,
    store,
    processes,
    configured: [],
    encryption: true,
    storeFolder: MODEL_ROOT,
    announce: () => undefined,
  });
  const services: Services = {
    environment,
    clock,
    random,
    log,
    fileSystem,
    store,
    openStore: () => store,
    settings: loaded.settings,
    settingsOf: loaded.forWorkflow,
    places: new Workplaces({
      create: (own) => own,
      storeOf: () => undefined,
      hasOthers: false,
    }),
    waiting: undefined,
    keys,
    emitter: new Emitter(log),
    audit: new AuditTrail({ clock, random, log, fileSystem, environment, version: "0", pid: 1, store, keys }),
    memory: () => ({ fraction: 0, residentBytes: 0 }),
    ask: undefined,
    processes,
    templates: async () => {
      await templates.initTemplates();
      return templates;
    },
    models: new ModelAccess({ clock, random, log, environment, settings: loaded.settings, processes }),
    version: "0",
    programs: new Map(),
    running: new Map(),
  };
  return createVerbs(services, {
    storeFolder: MODEL_ROOT,
    config: loaded,
    close: () => store.close(),
  });
}

function partsOf({ presence, hints }: Machine): Pick<StoreParts, "presence" | "watchFolder"> {
  return {
    presence,
    watchFolder: (_watched, hint) => {
      hints.add(hint);
      return () => void hints.delete(hint);
    },
  };
}
