/** Asks for a passphrase in the terminal. Nothing of it is shown, not even how long it is; leaving the prompt ends the verb. */
import { SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import { formatCount } from "../../base/plain-text.js";
import type { AskPassphrase } from "../../runtime/keychain/kept-passphrases.js";
import type { Streams } from "./deps.js";

const TRIES = 3;

export function askPassphraseOn({ screen }: Streams): AskPassphrase {
  return async ({ isNew }) => {
    const release = screen?.hold();
    try {
      return isNew ? await askTwice() : await askOnce("passphrase", findEmpty);
    } finally {
      release?.();
    }
  };
}

/** So that a slip locks nobody out. */
async function askTwice(): Promise<string> {
  for (let time = 1; time <= TRIES; time += 1) {
    const again = time === 1 ? "" : "they were not the same; ";
    const first = await askOnce(`${again}new passphrase`, findWeakness);
    if ((await askOnce("the same again", findEmpty)) === first) return first;
  }
  throw new SplashdownError("KEY_SOURCE_INVALID", `the new passphrase was typed differently ${TRIES} times`);
}

/** Errors: CANCELLED when the prompt is left. */
async function askOnce(message: string, findFault: (text: string) => string | undefined): Promise<string> {
  const { isCancel, password } = await import("@clack/prompts");
  const text = await password({
    message,
    mask: "",
    validate: (given) => findFault(given ?? ""),
    clearOnError: true,
    output: process.stderr,
  });
  if (!isCancel(text)) return text;
  throw new SplashdownError("CANCELLED", "no passphrase was typed");
}

function findEmpty(text: string): string | undefined {
  return text.trim() === "" ? "nothing was typed" : undefined;
}

function findWeakness(text: string): string | undefined {
  const { length } = Array.from(text.normalize("NFKC"));
  if (length >= LIMITS.passphraseCharsMin) return findEmpty(text);
  return `it needs ${formatCount(LIMITS.passphraseCharsMin, "character")} or more`;
}
