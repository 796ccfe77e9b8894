/** What must hold of a keyring before it replaces the one that counts. */
import { SplashdownError } from "../base/errors.js";
import type { KeyringKey } from "../schema/generated/keyring.js";
import { computeAgeFingerprint } from "./age-wrap.js";
import type { Keyring } from "./keyring-format.js";
import { canOpen, type ReadySource } from "./key-source.js";
import { opensKey } from "./task-vault.js";

export interface KeyringProof {
  readonly ready: readonly ReadySource[];
  /** These must open it, each of them. */
  readonly added: readonly ReadySource[];
  readonly keys: ReadonlyMap<string, Uint8Array>;
  /** Nobody here needs to be able to open it. */
  readonly isForOthers?: boolean;
}

/**
 * Opens every key of a keyring that is to be written, as a reader would, from its own bytes (V13, V17).
 *
 * Errors: KEY_SOURCE_INVALID when a source does not open what was made for it; KEY_LOCKED_OUT when none opens a key.
 */
export async function proveEveryKey(
  { header }: Keyring,
  { ready, added, keys, isForOthers = false }: KeyringProof,
): Promise<void> {
  for (const entry of header.keys) {
    const key = keys.get(entry.id);
    if (key === undefined) throw new SplashdownError("INTERNAL", `a keyring with an unknown key ${entry.id} was built`);
    const opening: ReadySource[] = [];
    for (const source of ready) if (await opensKey(entry, source, { task: header.task, key })) opening.push(source);
    const useless = added.find((source) => !opening.includes(source) && !isLockedFor(entry, source));
    if (useless !== undefined) {
      throw new SplashdownError(
        "KEY_SOURCE_INVALID",
        `the ${useless.label} does not open what it was just used to seal`,
        {
          details: { source: useless.label },
        },
      );
    }
    if (opening.length === 0 && !isForOthers) throw lockedOut("none of the configured sources would open it any more");
  }
}

/** True when a slot names these age recipients: whether they open it nobody here can try. */
export function isLockedFor(entry: KeyringKey, { secret }: ReadySource): boolean {
  if (canOpen(secret) || secret.nature !== "age") return false;
  const fingerprint = computeAgeFingerprint(secret);
  return entry.slots.some((slot) => slot.type === "age" && slot.fingerprint === fingerprint);
}

/** For a change that would keep somebody from opening the task. */
export function lockedOut(reason: string, slots: readonly string[] = []): SplashdownError {
  return new SplashdownError("KEY_LOCKED_OUT", reason, { details: { slots: [...slots] } });
}
