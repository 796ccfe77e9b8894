/**
 * Passphrases that are in no variable: in a file, on a descriptor, or typed. Each is read once per process, for a descriptor
 * gives it once, and nobody likes to type it for every task.
 */
import { createReadStream } from "node:fs";
import { SplashdownError } from "../../base/errors.js";
import type { FileSystem } from "../../base/file-system.js";
import { loadPassphraseFile, parsePassphrase } from "../../vault/key-file.js";
import type { KeptPassphrase } from "../../vault/key-source.js";

/**
 * Asks a person for a passphrase, without showing it.
 *
 * Shape: `isNew`: nothing is sealed with it yet, so that a slip would lock its owner out. Errors: CANCELLED.
 */
export type AskPassphrase = (wanted: { readonly isNew: boolean }) => Promise<string>;

const DESCRIPTOR = /^\/dev\/(?:fd\/(\d{1,4})|stdin)$/;
const BYTES_MAX = 4096;
const STDERR = 2;

export class KeptPassphrases {
  readonly #fileSystem: FileSystem;
  readonly #ask: AskPassphrase | undefined;
  readonly #read = new Map<string, Promise<string | undefined>>();
  #isTypedTwice = false;

  constructor({ fileSystem, ask }: { readonly fileSystem: FileSystem; readonly ask: AskPassphrase | undefined }) {
    this.#fileSystem = fileSystem;
    this.#ask = ask;
  }

  /** Shape: `undefined` where the file is not there, or nobody can be asked. Errors: KEY_SOURCE_INVALID, CANCELLED. */
  read(kept: KeptPassphrase): Promise<string | undefined> {
    if ("file" in kept) return this.#once(kept.file, () => this.#load(kept.file));
    return this.#once(kept.typed, async () => this.#ask?.({ isNew: kept.typed === "added" }));
  }

  /** Something new is to be sealed with what is typed: once more, unless that was done. */
  beginNew(): void {
    if (this.#isTypedTwice || this.#ask === undefined) return;
    this.#isTypedTwice = true;
    this.#read.delete("opens");
    void this.#once("opens", async () => this.#ask?.({ isNew: true })).catch(() => undefined);
  }

  #once(name: string, read: () => Promise<string | undefined>): Promise<string | undefined> {
    const known = this.#read.get(name) ?? read();
    this.#read.set(name, known);
    return known;
  }

  async #load(path: string): Promise<string | undefined> {
    const [isDescriptor, number = "0"] = DESCRIPTOR.exec(path) ?? [];
    if (isDescriptor === undefined) return loadPassphraseFile(this.#fileSystem, path);
    return parsePassphrase(await readDescriptor(Number(number), path), path);
  }
}

/** A descriptor of one's own is closed when it was read: as long as it is open, others of the same user may read it too. */
async function readDescriptor(fd: number, path: string): Promise<string> {
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const part of createReadStream("", { fd, autoClose: fd > STDERR })) {
      parts.push(part as Buffer);
      sizeBytes += (part as Buffer).length;
      if (sizeBytes > BYTES_MAX) break;
    }
  } catch (error) {
    throw new SplashdownError("KEY_SOURCE_INVALID", `the passphrase on ${path} cannot be read`, {
      details: { file: path },
      cause: error,
    });
  }
  if (sizeBytes <= BYTES_MAX) return Buffer.concat(parts).toString("utf8");
  throw new SplashdownError("KEY_SOURCE_INVALID", `what comes from ${path} is too long for a passphrase`, {
    details: { file: path },
  });
}
