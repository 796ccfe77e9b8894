/**
 * Derives from passphrases one at a time and each once: a keyring of a stranger costs one derivation's memory, never
 * several at once, and what several slots ask for alike is derived for all of them.
 */
import { createHash } from "node:crypto";
import type { PassphraseDeriver } from "./key-source.js";
import { derivePassphraseKey } from "./slot.js";

/** More than one keyring holds; the oldest goes. */
const KEPT_MAX = 64;

/** All derivations of the process, whoever asks: the memory is the machine's. */
let lastDerivation: Promise<unknown> = Promise.resolve();

/** Shape: what is kept lives as long as the deriver. `derive` does the work. */
export function createPassphraseDeriver(derive: PassphraseDeriver = derivePassphraseKey): PassphraseDeriver {
  const kept = new Map<string, Promise<Uint8Array>>();
  return (text, salt, cost) => {
    const name = createHash("sha256")
      .update(`${cost.log2n} ${cost.r} ${cost.p}\0`)
      .update(salt)
      .update("\0")
      .update(text)
      .digest("hex");
    const known = kept.get(name);
    if (known !== undefined) return known;
    const deriving = lastDerivation.then(() => derive(text, salt, cost));
    lastDerivation = deriving.catch(() => undefined);
    kept.set(name, deriving);
    deriving.catch(() => kept.delete(name));
    const [oldest] = kept.keys();
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
    return deriving;
  };
}
