/**
 * Ends a change of a keyring that is not to hang on one file: it takes something away (a slot, a key), or gives a new key.
 *
 * V19: of what was taken away nothing stays that gives it back, and a new key does not stay in one file only. The revision
 * says in `min_revision` that no older one is to stay; it is written once more, so that two stand as it is, and then those
 * go. Where a process was cut off in between, the keyring tells it, and whoever changes it next or owns the task ends it.
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
 * Does what is left to do of the last change that is to stand in two files.
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
