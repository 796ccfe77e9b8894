/**
 * Origins in the user's settings folder: the one that signs where no source at hand does, and those of others that a person
 * trusts (vault/origin.ts).
 *
 * Layout: `keys/origin.key`, a key file that opens nothing; `keys/origins/<name>`, one public key a file.
 */
import { join } from "node:path";
import { sha256Hex } from "../../base/digest.js";
import { errnoOf, isErrorCode } from "../../base/errors.js";
import type { FileSystem } from "../../base/file-system.js";
import type { RandomSource } from "../../base/random.js";
import { createKeyFile, loadKeyFile } from "../../vault/key-file.js";
import { isReadySource, type SourceState } from "../../vault/key-source.js";
import { originsOf, provesLocker } from "../../vault/origin.js";
import { createFolders, readWhole, writeWhole } from "../../vault/private-file.js";

export interface KeyOriginsDeps {
  readonly fileSystem: FileSystem;
  readonly random: RandomSource;
  readonly configFolder: string;
}

const PUBLIC_KEY = /^[A-Za-z0-9_-]{43}$/;
const FILE_BYTES_MAX = 256;
const TRUSTED_MAX = 1000;

export class KeyOrigins {
  readonly #deps: KeyOriginsDeps;
  #trusted: Promise<string[]> | undefined;

  constructor(deps: KeyOriginsDeps) {
    this.#deps = deps;
  }

  get #keptPath(): string {
    return join(this.#deps.configFolder, "keys", "origin.key");
  }

  /** Errors: none; one that cannot be used signs nothing and proves nothing. */
  async readKept(): Promise<Uint8Array | undefined> {
    try {
      return (await loadKeyFile(this.#deps.fileSystem, this.#keptPath))?.bytes;
    } catch (error) {
      if (isErrorCode(error, "KEY_SOURCE_INVALID")) return undefined;
      throw error;
    }
  }

  /** Makes the one that signs, where sources lock that prove nothing and none of them signs. Errors: none; it is then absent. */
  async ensureKept(sources: readonly SourceState[]): Promise<void> {
    const ready = sources.filter(isReadySource);
    if (ready.every(provesLocker) || ready.some(({ secret }) => originsOf(secret).length > 0)) return;
    const { fileSystem, random } = this.#deps;
    await createKeyFile({ fileSystem, random, path: this.#keptPath }).catch((error: unknown) => {
      if (!isErrorCode(error, "KEY_NOT_CREATED")) throw error;
    });
  }

  /** Public keys of others. Errors: none; what cannot be read is not trusted. */
  trusted(): Promise<string[]> {
    this.#trusted ??= this.#readTrusted();
    return this.#trusted;
  }

  get #folder(): string {
    return join(this.#deps.configFolder, "keys", "origins");
  }

  async #readTrusted(): Promise<string[]> {
    const names = await this.#deps.fileSystem.readdir(this.#folder).catch(() => []);
    const found: string[] = [];
    for (const name of names.slice(0, TRUSTED_MAX)) {
      const key = await this.#readOne(join(this.#folder, name));
      if (key !== undefined) found.push(key);
    }
    return found;
  }

  async #readOne(path: string): Promise<string | undefined> {
    try {
      const handle = await this.#deps.fileSystem.open(path, "read");
      try {
        const bytes = await readWhole(handle, FILE_BYTES_MAX);
        const text = Buffer.from(bytes ?? [])
          .toString("utf8")
          .trim();
        return PUBLIC_KEY.test(text) ? text : undefined;
      } finally {
        await handle.close();
      }
    } catch {
      return undefined;
    }
  }

  /** Trusts an origin from now on. Errors: the platform's. */
  async trust(publicKey: string): Promise<void> {
    const { fileSystem } = this.#deps;
    await createFolders(fileSystem, this.#folder);
    const path = join(this.#folder, sha256Hex(publicKey).slice(0, 32));
    try {
      await writeWhole(fileSystem, path, Buffer.from(`${publicKey}\n`));
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
    await fileSystem.syncFolder(this.#folder);
    this.#trusted = undefined;
  }
}
