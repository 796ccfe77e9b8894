/** Opens a keyring for a change: every generation in it, by what is at hand. */
import type { Clock } from "../base/clock.js";
import { assert, SplashdownError } from "../base/errors.js";
import { silentLog, type Log } from "../base/log.js";
import type { RandomSource } from "../base/random.js";
import type { KeyringHeader } from "../schema/generated/keyring.js";
import type { KeyringObjects, LoadedKeyring } from "./keyring-revisions.js";
import { type KeyPorts, type KeySourceSetting, type ReadySource, readSources, type ScryptCost } from "./key-source.js";
import type { TaskKey } from "./sealing.js";
import { requireReady, requireTask, withKeptOrigin } from "./task-vault.js";
import { unlockKeyring, type KeyringTrust } from "./unlocking.js";

export interface KeyringChangeOptions {
  readonly taskId?: string;
  readonly store: KeyringObjects;
  /** The configured sources: what the keyring is opened with. */
  readonly sources: readonly KeySourceSetting[];
  readonly ports: KeyPorts;
  readonly random: RandomSource;
  readonly clock: Pick<Clock, "nowMs">;
  readonly scryptCost?: ScryptCost;
  readonly log?: Log;
  /** The highest generation that anything of the task is named after; 0 for none. */
  readonly highestNamed?: () => Promise<number>;
  readonly trust?: KeyringTrust;
}

export interface OpenedKeyring {
  readonly header: KeyringHeader;
  /** Every generation, in the order of the header. */
  readonly keys: readonly TaskKey[];
  readonly ready: readonly ReadySource[];
  /** How many newer revisions there were that cannot be read. */
  readonly lostRevisions: number;
}

/** Errors: those of `openTaskVault`; KEY_MISSING for a generation that nothing at hand opens. */
export async function openAll(options: KeyringChangeOptions, loaded: LoadedKeyring): Promise<OpenedKeyring> {
  requireTask(loaded, options.taskId);
  const { keyring, file } = loaded;
  const sources = await readSources(options.sources, options.ports);
  const trust = await withKeptOrigin(options.trust, options.ports);
  const { keys } = await unlockKeyring({ keyring, file, sources, trust });
  const missing = keyring.header.keys.filter((entry) => !keys.some((key) => key.id === entry.id));
  if (missing.length > 0) {
    throw new SplashdownError(
      "KEY_MISSING",
      `the keyring file ${file} holds older keys that the configured sources do not open: ${missing.map(({ id }) => id).join(", ")}`,
      { details: { file, keys: missing.map(({ id }) => id) } },
    );
  }
  const ordered = keyring.header.keys.flatMap((entry) => keys.filter((key) => key.id === entry.id));
  const ready = requireReady(sources, options.log ?? silentLog);
  return { header: keyring.header, keys: ordered, ready, lostRevisions: loaded.revMax - keyring.header.rev };
}

export function requireActive({ header, keys }: OpenedKeyring): TaskKey {
  const active = keys.find((key) => key.id === header.active);
  assert(active !== undefined, "a keyring was opened without its active key");
  return active;
}
