/**
 * Ends a change that takes something away from a keyring: a slot, or a key.
 *
 * V19: of such a change nothing stays that gives it back. Its revision says in `min_revision` that no older one is to stay;
 * it is written once more, so that two stand without them, and then those go. Where a process was cut off in between, the
 * keyring tells it, and whoever changes it next or owns the task ends it.
 */
import { proveEveryKey, type KeyringProof } from "./keyring-proof.js";
import {
  isUnfinished,
  loadKeyring,
  removeRevisionsBelow,
  saveNextRevision,
  type KeyringDraft,
} from "./keyring-revisions.js";
import { openAll, requireActive, type KeyringChangeOptions } from "./keyring-opening.js";

/**
 * Does what is left to do of the last change that took something away.
 *
 * Shape: the revision that counts then; `undefined` when nothing was left. Errors: those of `openTaskVault`, KEY_MISSING
 * when the sources do not open every generation; the STORE_* codes.
 */
export async function finishRevocation(options: KeyringChangeOptions): Promise<number | undefined> {
  const loaded = await loadKeyring(options.store);
  if (loaded === undefined || !isUnfinished(loaded)) return undefined;
  const { rev, min_revision: lowest = rev } = loaded.keyring.header;
  if (rev === lowest) return repeatRevision(options);
  await removeRevisionsBelow(options.store, lowest);
  return rev;
}

/** The revision that counts, once more; those before it go. */
async function repeatRevision(options: KeyringChangeOptions): Promise<number | undefined> {
  let proof: KeyringProof = { ready: [], added: [], keys: new Map() };
  return saveNextRevision(
    options.store,
    async (loaded): Promise<KeyringDraft> => {
      const opened = await openAll(options, loaded);
      const keys = new Map(opened.keys.map((key) => [key.id, key.bytes]));
      proof = { ready: opened.ready, added: [], keys };
      const { rev: _rev, ...header } = opened.header;
      return { header, activeKey: requireActive(opened).bytes };
    },
    (keyring) => proveEveryKey(keyring, proof),
  );
}
