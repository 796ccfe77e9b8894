/** Optional packages behind key sources: age, and the system's keyring. Loaded when a source asks for them. */
import { SplashdownError } from "../../base/errors.js";
import { importOptional } from "../../base/optional-package.js";
import type { AgeBox } from "../../vault/age-wrap.js";

interface AgeModule {
  readonly Encrypter: new () => {
    addRecipient(recipient: string): void;
    encrypt(bytes: Uint8Array): Promise<Uint8Array>;
  };
  readonly Decrypter: new () => {
    addIdentity(identity: string): void;
    decrypt(file: Uint8Array): Promise<Uint8Array>;
  };
  readonly identityToRecipient: (identity: string) => Promise<string>;
  readonly armor: { encode(file: Uint8Array): string; decode(text: string): Uint8Array };
}

/** What the library says when a file is locked for others. */
const NOT_OURS = /no identity matched/i;

/** Errors: KEY_SOURCE_INVALID with the command that installs the package. */
export async function loadAge(folder: string | undefined): Promise<AgeBox> {
  const age = (await requirePackage("age-encryption", "0.3.1", folder)) as unknown as AgeModule;
  return {
    seal: async (bytes, recipients) => {
      const encrypter = new age.Encrypter();
      for (const recipient of recipients) encrypter.addRecipient(recipient);
      return age.armor.encode(await encrypter.encrypt(bytes));
    },
    open: async (armored, identities) => {
      const decrypter = new age.Decrypter();
      for (const identity of identities) decrypter.addIdentity(identity);
      try {
        return await decrypter.decrypt(age.armor.decode(armored));
      } catch (error) {
        if (error instanceof Error && NOT_OURS.test(error.message)) return undefined;
        throw error;
      }
    },
    recipientOf: (identity) => age.identityToRecipient(identity),
  };
}

interface KeyringModule {
  /** Not its sister that blocks: a locked keyring asks the person for a password first. */
  readonly AsyncEntry: new (
    service: string,
    account: string,
    options?: { readonly linux: { readonly store: "secret-service" } },
  ) => { getPassword(): Promise<string | null> };
}

/**
 * The text of an entry; `undefined` when there is none.
 *
 * Errors: KEY_SOURCE_INVALID when the package is missing, or the system refuses. Where no Secret Service can be reached the
 * package looks into the kernel's keyring instead, and finds nothing: then why it cannot is the refusal.
 */
export async function readSystemSecret(
  folder: string | undefined,
  entry: { readonly service: string; readonly account: string },
): Promise<string | undefined> {
  const { AsyncEntry } = (await requirePackage("@napi-rs/keyring", "2.1.2", folder)) as unknown as KeyringModule;
  const place = `${entry.service}/${entry.account}`;
  try {
    const { service, account } = entry;
    const found = await new AsyncEntry(service, account).getPassword();
    const pinned = { linux: { store: "secret-service" } } as const;
    return found ?? (await new AsyncEntry(service, account, pinned).getPassword()) ?? undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : "it does not say why";
    throw new SplashdownError("KEY_SOURCE_INVALID", `the system's keyring refuses the entry ${place}: ${why}`, {
      details: { source: place },
      cause: error,
    });
  }
}

async function requirePackage(
  name: string,
  version: string,
  folder: string | undefined,
): Promise<Record<string, unknown>> {
  const module = await importOptional(name, folder);
  if (module !== undefined) return module;
  const install = `npm install ${name}@${version}`;
  throw new SplashdownError(
    "KEY_SOURCE_INVALID",
    `a key source needs a package that is not installed beside splashdown: ${install}`,
    {
      details: { install },
    },
  );
}
