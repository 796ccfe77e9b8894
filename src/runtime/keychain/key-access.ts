/**
 * Which keys are at hand, and the vault of a task: opened for one that exists, made for one that begins.
 *
 * Owns: the order in which sources are looked for. Configured sources (`keys:` in settings) are the only ones when there
 * are any; else `SPLASHDOWN_KEY_FILE`, `SPLASHDOWN_KEY` and `SPLASHDOWN_PASSPHRASE`, else the user's default key file,
 * which a first run makes where that protects (vault/default-key.ts).
 */
import { dirname, relative } from "node:path";
import { isErrorCode, SplashdownError } from "../../base/errors.js";
import type { FileSystem } from "../../base/file-system.js";
import { isUuid } from "../../base/ids.js";
import type { Log } from "../../base/log.js";
import type { RandomSource } from "../../base/random.js";
import type { Clock } from "../../base/clock.js";
import type { ProcessHost } from "../../process/contract.js";
import { loadHome } from "../../recovery/task-home.js";
import type { Store, TaskStore } from "../../store/contract/contract.js";
import { isArriving } from "../../transfer/copy-task.js";
import type { TaskVault } from "../../vault/contract.js";
import { computeDefaultKeyPath, ensureDefaultKeyFile } from "../../vault/default-key.js";
import type { KeyringChangeOptions } from "../../vault/keyring-opening.js";
import { finishRevocation } from "../../vault/keyring-revocation.js";
import { proveCommand } from "../../vault/key-command.js";
import { KEY_BYTES } from "../../vault/derivation.js";
import { readSources, type KeyPorts, type KeySourceSetting, type SourceState } from "../../vault/key-source.js";
import { createTaskVault, openTaskVault, requireReady } from "../../vault/task-vault.js";
import { createPlainVault } from "../../vault/sealing.js";
import { inspectKeyring, type KeyringView } from "../../vault/keyring-view.js";
import { createPassphraseDeriver } from "../../vault/passphrase-derivation.js";
import type { KeyringTrust } from "../../vault/unlocking.js";
import type { Environment } from "../platform/environment.js";
import { findHighestGeneration } from "../mailbox/control-folder.js";
import { loadAge, readSystemSecret } from "./key-packages.js";
import { KeptPassphrases, type AskPassphrase } from "./kept-passphrases.js";
import { createKeyCommandRunner } from "./key-command-runner.js";
import { findLaterKey } from "./key-history.js";
import { findKeyringRollback, KeyMemory, type KnownTask, type SeenKeyring } from "./key-memory.js";
import { KeyOrigins } from "./key-origins.js";
import { openReadable } from "./readable-tasks.js";
import { readShredMark } from "./shred-mark.js";
import { resolveSource, sourcesOfEnvironment } from "./source-settings.js";
import { explainMissing, hasNoRecords, notStarted, readFirstHeader } from "./unopened-task.js";

export interface KeyAccessDeps {
  readonly environment: Environment;
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  readonly store: Store;
  readonly processes: () => ProcessHost;
  /** `keys:` of the settings; empty when none are configured. */
  readonly configured: readonly KeySourceSetting[];
  /** The folder's settings name sources that nobody has trusted: they are not used, and no key is made instead. */
  readonly refusal?: (() => SplashdownError) | undefined;
  /** False only where `encryption: false` was set. */
  readonly encryption: boolean;
  /** Absolute folder of a directory store. */
  readonly storeFolder: string | undefined;
  /** Absent: there is nobody to type a passphrase. */
  readonly askPassphrase?: AskPassphrase | undefined;
  /** Says once that a key was made, with its path and fingerprint. */
  readonly announce: (key: { readonly path: string; readonly fingerprint: string }) => void;
}

/** How a task's keys are opened; by default as of a task that was named. */
export interface OpenKeysOptions {
  /** One of many that are looked at: nothing that costs is tried for a task that this machine has not opened before. */
  readonly isOneOfMany?: boolean;
  /** A person has said so: whoever locked it, with whatever first key, and however old the keyring is. */
  readonly isAccepted?: boolean;
}

interface NamedOpening {
  readonly taskId?: string;
  readonly trust?: KeyringTrust;
}

export class KeyAccess {
  readonly ports: KeyPorts;
  readonly memory: KeyMemory;
  readonly origins: KeyOrigins;
  readonly #deps: KeyAccessDeps;
  readonly #passphrases: KeptPassphrases;

  constructor(deps: KeyAccessDeps) {
    this.#deps = deps;
    this.#passphrases = new KeptPassphrases({ fileSystem: deps.fileSystem, ask: deps.askPassphrase });
    const { fileSystem, random, log } = deps;
    const { stateFolder, configFolder } = deps.environment;
    this.memory = new KeyMemory({ fileSystem, random, log, stateFolder, isDurable: deps.store.manifest.durable });
    this.origins = new KeyOrigins({ fileSystem, random, configFolder });
    this.ports = {
      fileSystem: deps.fileSystem,
      derive: createPassphraseDeriver(),
      readKeptOrigin: () => this.origins.readKept(),
      readSecret: (name) => deps.environment.all[name],
      readPassphrase: (kept) => this.#passphrases.read(kept),
      runCommand: createKeyCommandRunner(deps.processes, deps.environment),
      loadAge: () => loadAge(deps.environment.packagesFolder),
      readSystemSecret: (service, account) => readSystemSecret(deps.environment.packagesFolder, { service, account }),
    };
  }

  /** The default key file of the user, whether it exists or not. */
  get defaultKeyPath(): string {
    return computeDefaultKeyPath(this.#deps.environment.configFolder);
  }

  /** Names of the variables that hold secrets of ours; children never get them. */
  get secretVariables(): string[] {
    return this.sources().flatMap((source) => {
      if (source.kind === "env") return [source.name];
      return source.kind === "passphrase" && "environment" in source ? [source.environment] : [];
    });
  }

  /** True when a person named a source, by settings or by environment. */
  get isConfigured(): boolean {
    return this.#deps.configured.length > 0 || this.#fromEnvironment().length > 0;
  }

  sources(): readonly KeySourceSetting[] {
    if (this.#deps.configured.length > 0) return this.#deps.configured.map((source) => this.resolveSource(source));
    const named = this.#fromEnvironment();
    return named.length > 0 ? named : [{ kind: "keyfile", path: this.defaultKeyPath }];
  }

  /** What the sources give at this moment; a command is tried. Errors: none; a source that is of no use has its problem. */
  async probe(): Promise<SourceState[]> {
    const states = await readSources(this.sources(), this.ports);
    return Promise.all(states.map((state) => this.#prove(state)));
  }

  async #prove(state: SourceState): Promise<SourceState> {
    const { setting, label, secret } = state;
    if (secret?.nature !== "command") return state;
    try {
      await proveCommand(secret, this.#deps.random.bytes(KEY_BYTES));
      return state;
    } catch (error) {
      if (!(error instanceof SplashdownError) || !isErrorCode(error, "KEY_SOURCE_INVALID")) throw error;
      return { setting, label, problem: error };
    }
  }

  /**
   * Writes nothing to the task; remembers how new its keyring is.
   *
   * Errors: TASK_NOT_STARTED; KEYRING_ROLLED_BACK; those of `openTaskVault`, naming the task as people do.
   */
  async open(task: TaskStore, options: OpenKeysOptions = {}): Promise<TaskVault> {
    try {
      return await this.#open(task, options);
    } catch (error) {
      if (isErrorCode(error, "KEY_MISSING", "KEY_WRONG")) this.#requireTrusted();
      if (!(error instanceof SplashdownError) || error.code === "TASK_NOT_STARTED") throw error;
      const { code, message, details } = error;
      throw new SplashdownError(code, `task ${task.name}: ${message}`, {
        details: { ...details, task: task.name },
        cause: error,
      });
    }
  }

  async #open(task: TaskStore, options: OpenKeysOptions): Promise<TaskVault> {
    // Though all of it may be there: whoever imports again makes the place anew (T1).
    if (await isArriving(task)) throw new SplashdownError("IMPORT_UNFINISHED", "its import was not finished");
    const view = await inspectKeyring(task).catch(async (error: unknown) => {
      // Cut off in the midst of writing over it: the mark was there before.
      throw (await readShredMark(task)) === undefined ? error : await explainMissing(task);
    });
    if (view === undefined) return this.#openWithoutKeyring(task);
    const known = await this.memory.load(view.task);
    if (options.isAccepted !== true) await this.#refuseOlder(task, view, known);
    const named = { taskId: view.task, trust: await this.#trustOf(known, options) };
    const first = await this.#openBySources(task, named);
    const isTrustedAsItIs = options.isAccepted === true || options.isOneOfMany === true;
    const vault = isTrustedAsItIs ? first : await this.#requireNewest(task, first, named);
    await this.memory.raise(vault.taskId, vault.keyring);
    return vault;
  }

  async #openWithoutKeyring(task: TaskStore): Promise<TaskVault> {
    const header = await readFirstHeader(task);
    const taskId = header?.taskId;
    if (header?.seal.key !== undefined) throw await explainMissing(task);
    if (taskId !== undefined && (!this.#deps.encryption || (await this.#isPlainHere(taskId))))
      return createPlainVault(taskId);
    if (taskId === undefined && (await hasNoRecords(task))) throw notStarted(task.name);
    if (taskId !== undefined)
      throw new SplashdownError("SEAL_MISSING", "it is not encrypted, and encryption is demanded");
    return this.#openBySources(task, {});
  }

  /** This machine began the task by a workflow whose own settings say `encryption: false`. */
  async #isPlainHere(taskId: string): Promise<boolean> {
    const { fileSystem, environment } = this.#deps;
    return (
      isUuid(taskId) && (await loadHome({ fileSystem, stateFolder: environment.stateFolder }, taskId))?.isPlain === true
    );
  }

  /** Somebody may have made another key since the keyring was read. Errors: KEYRING_ROLLED_BACK. */
  async #requireNewest(task: TaskStore, vault: TaskVault, named: NamedOpening): Promise<TaskVault> {
    if ((await findLaterKey(task, vault)) === undefined) return vault;
    const again = await this.#openBySources(task, named);
    const problem = await findLaterKey(task, again);
    if (problem !== undefined) throw problem;
    return again;
  }

  /** Errors: KEYRING_ROLLED_BACK. Read again before, for somebody may have changed the keyring since it was read. */
  async #refuseOlder(task: TaskStore, view: KeyringView, { keyring: mark }: KnownTask): Promise<void> {
    if (findKeyringRollback(view.task, seenOf(view), mark) === undefined) return;
    const again = await inspectKeyring(task);
    const problem = again && findKeyringRollback(view.task, seenOf(again), mark);
    if (problem !== undefined) throw problem;
  }

  /** What is known of who may have locked a task. */
  async trustOf(taskId: string): Promise<KeyringTrust> {
    return this.#trustOf(await this.memory.load(taskId), {});
  }

  async #trustOf({ firstKey, isKnown }: KnownTask, options: OpenKeysOptions): Promise<KeyringTrust> {
    const { isOneOfMany = false, isAccepted = false } = options;
    return { firstKey, origins: await this.origins.trusted(), isAccepted, isFrugal: isOneOfMany && !isKnown };
  }

  /** Nobody is asked for a passphrase that is not needed. */
  async #openBySources(task: TaskStore, named: NamedOpening): Promise<TaskVault> {
    const { random, log } = this.#deps;
    const openBy = (sources: readonly KeySourceSetting[]): Promise<TaskVault> =>
      openTaskVault({ store: task, sources, ports: this.ports, random, log, ...named });
    const sources = this.sources();
    const untyped = sources.filter((source) => !isTyped(source));
    if (untyped.length === 0 || untyped.length === sources.length) return openBy(sources);
    try {
      return await openBy(untyped);
    } catch (error) {
      if (!isErrorCode(error, "KEY_MISSING", "KEY_WRONG")) throw error;
      return openBy(sources);
    }
  }

  /**
   * The vault as the keyring is now: the same one, unless the task has another key since it was opened.
   *
   * Errors: those of `open`.
   */
  async renew(task: TaskStore, vault: TaskVault): Promise<TaskVault> {
    if (!vault.encrypted) return vault;
    const active = (await inspectKeyring(task))?.keys.find((key) => key.active);
    return active === undefined || active.id === vault.keyId ? vault : this.open(task);
  }

  /** What a change of the task's keyring takes. The vault was opened, so that what it says of the first key is trusted. */
  changing(task: TaskStore, { taskId, keyring }: Pick<TaskVault, "taskId" | "keyring">): KeyringChangeOptions {
    this.#requireTrusted();
    const { random, clock, log } = this.#deps;
    const highestNamed = () => findHighestGeneration(task);
    const trust: KeyringTrust = { firstKey: keyring?.firstKey };
    return { taskId, store: task, sources: this.sources(), ports: this.ports, random, clock, log, highestNamed, trust };
  }

  /** Ends a change of the task's keyring that was cut off (V19), where every generation of it opens here. */
  async settle(task: TaskStore, vault: TaskVault): Promise<void> {
    if (!vault.encrypted) return;
    const { log } = this.#deps;
    try {
      const revision = await finishRevocation(this.changing(task, vault));
      if (revision !== undefined)
        log.info(`ended a change of the keys of ${task.name} that was cut off: revision ${revision}`);
    } catch (error) {
      if (!(error instanceof SplashdownError)) throw error;
      log.warn(`a change of the keys of ${task.name} was cut off and could not be ended: ${error.message}`);
    }
  }

  /**
   * Shape: where somebody was faster, the vault is theirs, and so is its `taskId`. Errors: KEY_NOT_CREATED,
   * KEY_SOURCE_INVALID; those of `open` for a keyring that is there.
   */
  async create(task: TaskStore, taskId: string): Promise<TaskVault> {
    const { encryption, random, clock, log } = this.#deps;
    if (!encryption) return createPlainVault(taskId);
    await this.ensureKey();
    const options = { taskId, store: task, sources: this.sources(), ports: this.ports, random, clock, log };
    const vault = await createTaskVault(options).catch((error: unknown) => {
      if (!isErrorCode(error, "TASK_SWAPPED")) throw error;
      return this.open(task);
    });
    await this.memory.raise(vault.taskId, vault.keyring);
    return vault;
  }

  /**
   * Sees to it that there is a key, before anything of a new task exists: a configured one, or the default key, which is
   * made where there is none.
   *
   * Errors: KEY_NOT_CREATED, KEY_SOURCE_INVALID.
   */
  async ensureKey(): Promise<void> {
    const { encryption, environment, fileSystem, log, random, storeFolder, announce } = this.#deps;
    if (!encryption) return;
    this.#requireTrusted();
    if (this.isConfigured) {
      if (this.sources().some(isTyped)) this.#passphrases.beginNew();
      const ready = requireReady(await readSources(this.sources(), this.ports), log);
      await this.origins.ensureKept(ready);
      return;
    }
    const key = await ensureDefaultKeyFile({
      fileSystem,
      configFolder: environment.configFolder,
      ...(isAtOrAbove(environment.workingFolder, environment.homeFolder)
        ? {}
        : { projectFolder: environment.workingFolder }),
      keptFolders: [environment.homeFolder, ...[storeFolder, environment.workingFolder].flatMap(parentOf)],
      hasForeignSealedData: () => this.#hasForeignSealedData(),
      random,
      ...(storeFolder === undefined ? {} : { storeFolder }),
    });
    if (key.created) announce(key);
  }

  /** Sources of the person's own environment do without those of the folder. Errors: FOLDER_NOT_TRUSTED. */
  #requireTrusted(): void {
    const { refusal } = this.#deps;
    if (refusal !== undefined && this.#fromEnvironment().length === 0) throw refusal();
  }

  /** Sealed data of another key beside which a new key would only hide that the right one is missing. */
  async #hasForeignSealedData(): Promise<boolean> {
    for await (const task of openReadable(this.#deps)) {
      try {
        if ((await task.list("keyring-")).length > 0) await this.open(task);
      } catch (error) {
        if (isErrorCode(error, "KEY_MISSING", "KEY_WRONG", "KEY_SOURCE_INVALID")) return true;
      } finally {
        await task.close();
      }
    }
    return false;
  }

  #fromEnvironment(): KeySourceSetting[] {
    return sourcesOfEnvironment(this.#deps.environment);
  }

  /** The source with its path absolute, from the working folder. */
  resolveSource(source: KeySourceSetting): KeySourceSetting {
    return resolveSource(source, this.#deps.environment.workingFolder);
  }
}

/** Where a keyring stands as its file says. */
export function seenOf(view: KeyringView): SeenKeyring {
  const { file, revision, minRevision, revisionMax, keys } = view;
  return { file, revision, minRevision, revisionMax, generation: keys.find(({ active }) => active)?.generation ?? 0 };
}

function isTyped(source: KeySourceSetting): boolean {
  return source.kind === "passphrase" && "typed" in source;
}

function parentOf(folder: string | undefined): string[] {
  return folder === undefined ? [] : [dirname(folder)];
}

/** Whoever works in the home folder, or above it, has no project there that a key could lie in. */
function isAtOrAbove(folder: string, home: string): boolean {
  return !relative(folder, home).startsWith("..");
}
