/** Which salt each passphrase at hand is derived with in a keyring, so that its next slot takes the same one. */
import { decodeBase64Url } from "../base/digest.js";
import type { KeyringHeader } from "../schema/generated/keyring.js";
import type { ReadySource, ScryptCost } from "./key-source.js";
import type { PassphraseSalts } from "./slot.js";
import { selectPairs, tryPair } from "./unlocking.js";

/** Shape: only salts of this cost, each of a slot that its passphrase opens. */
export async function findPassphraseSalts(
  header: KeyringHeader,
  ready: readonly ReadySource[],
  cost: ScryptCost,
): Promise<PassphraseSalts> {
  const salts: PassphraseSalts = new Map();
  for (const key of header.keys) {
    for (const pair of selectPairs(key, ready)) {
      const { slot, source } = pair;
      const { kdf } = slot;
      if (source.secret.nature !== "passphrase" || kdf?.name !== "scrypt" || salts.has(source.secret.text)) continue;
      if (!isSameCost(kdf, cost)) continue;
      const attempt = await tryPair(pair, { task: header.task, keyId: key.id });
      const salt = decodeBase64Url(kdf.salt);
      if ("outcome" in attempt && attempt.outcome.state === "opened" && salt !== undefined)
        salts.set(source.secret.text, salt);
    }
  }
  return salts;
}

function isSameCost(first: ScryptCost, second: ScryptCost): boolean {
  return first.log2n === second.log2n && first.r === second.r && first.p === second.p;
}
