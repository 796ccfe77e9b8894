/**
 * What this machine remembers of tasks' keys, in their anchors: how new the keyring was, and with which key a task began.
 *
 * Owns: the judgement that a keyring is older than one that was in force (KEYRING_ROLLED_BACK), and when that is asked: by
 * everybody who opens a keyring or only looks at it. vault/anchor.ts has the files, vault/origin.ts what a first key is.
 */
import { SplashdownError } from "../../base/errors.js";
import type { FileSystem } from "../../base/file-system.js";
import type { Log } from "../../base/log.js";
import type { RandomSource } from "../../base/random.js";
import { loadAnchor, raiseAnchor, replaceAnchor, type Anchor, type KeyringMark } from "../../vault/anchor.js";
import type { KeyringStanding } from "../../vault/contract.js";

export interface KeyMemoryDeps {
  readonly fileSystem: FileSystem;
  readonly random: RandomSource;
  readonly stateFolder: string;
  readonly log: Log;
  /** False for a store that does not outlive the process: nothing is remembered of its tasks. */
  readonly isDurable: boolean;
}

export interface KnownTask extends Pick<Anchor, "keyring" | "firstKey"> {
  /** This machine has opened, made or run the task before. */
  readonly isKnown: boolean;
}

/** Where a keyring stands as its file says; authentic or not, an older one is older. */
export interface SeenKeyring extends Omit<KeyringStanding, "firstKey"> {
  readonly file: string;
  /** The highest revision that is there, readable or not. */
  readonly revisionMax: number;
}

type Mark = Omit<KeyringStanding, "firstKey"> & Partial<Pick<KeyringStanding, "firstKey">>;

/** Beyond every revision and generation (schemas/keyring.schema.json). */
const DESTROYED = 1_000_000_000;

export class KeyMemory {
  readonly #deps: KeyMemoryDeps;

  constructor(deps: KeyMemoryDeps) {
    this.#deps = deps;
  }

  /** Errors: none; a damaged memory is none, and is said by whoever judges positions. */
  async load(taskId: string): Promise<KnownTask> {
    const { fileSystem, stateFolder, isDurable } = this.#deps;
    if (!isDurable) return { isKnown: true };
    const loaded = await loadAnchor({ fileSystem, stateFolder }, taskId);
    return { ...(loaded.state === "none" ? {} : loaded.anchor), isKnown: loaded.state !== "none" };
  }

  /** Remembers a keyring that was opened, made or changed here. Errors: none; that it cannot be remembered is said. */
  async raise(taskId: string, standing: Mark | undefined): Promise<void> {
    if (standing === undefined || !this.#deps.isDurable) return;
    await raiseAnchor(this.#write(taskId, standing)).catch((error: unknown) => {
      if (!(error instanceof SplashdownError)) throw error;
      this.#deps.log.warn(`${error.message}; that an older keyring was put back goes unnoticed`);
    });
  }

  /** A person has said that this keyring is meant, though it is older or another one. Errors: STORE_UNWRITABLE. */
  async accept(taskId: string, standing: KeyringStanding): Promise<void> {
    if (this.#deps.isDurable) await replaceAnchor(this.#write(taskId, standing));
  }

  /** Remembers that a task's keys were destroyed: no keyring counts any more. Errors: none; that it cannot be is said. */
  async raiseToDestroyed(taskId: string): Promise<void> {
    await this.raise(taskId, { revision: DESTROYED, minRevision: DESTROYED, generation: DESTROYED });
  }

  #write(taskId: string, { firstKey, ...keyring }: Mark) {
    const { fileSystem, random, stateFolder } = this.#deps;
    const fields: Anchor = firstKey === undefined ? { keyring } : { firstKey, keyring };
    return { fileSystem, random, stateFolder, taskId, fields };
  }
}

/**
 * What is wrong with a keyring against what is remembered; `undefined` where it is as new.
 *
 * Shape: newer revisions that are damaged excuse an older one, as long as nothing was taken away since it (V11).
 */
export function findKeyringRollback(
  task: string,
  seen: SeenKeyring,
  mark: KeyringMark | undefined,
): SplashdownError | undefined {
  if (mark === undefined) return undefined;
  const isOlder = seen.revision < mark.revision;
  const isDamage = isOlder && seen.revisionMax >= mark.revision && seen.revision >= mark.minRevision;
  if (seen.generation >= mark.generation && (!isOlder || isDamage)) return undefined;
  if (mark.revision === DESTROYED) {
    return new SplashdownError(
      "KEYRING_ROLLED_BACK",
      `the keys of the task were destroyed on this machine, and the keyring file ${seen.file} was put back`,
      { details: { task, file: seen.file, revision: seen.revision, generation: seen.generation } },
    );
  }
  return new SplashdownError(
    "KEYRING_ROLLED_BACK",
    `the keyring file ${seen.file} is revision ${seen.revision} with generation ${seen.generation} of the key, but this machine has seen revision ${mark.revision} with generation ${mark.generation}`,
    {
      details: {
        task,
        file: seen.file,
        revision: seen.revision,
        generation: seen.generation,
        known_revision: mark.revision,
        known_generation: mark.generation,
      },
    },
  );
}
