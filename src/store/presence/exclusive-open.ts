/**
 * Lets one process at a time open something that two would ruin.
 *
 * As with epochs: who opens takes the next number by giving a folder that nobody has a name to, and looks afterwards
 * whether somebody took a higher one. In the folder stands who it is, with a socket to ping. The highest folder is
 * never removed, so no number is given twice.
 * Source: FAULTS 25.
 */
import { join } from "node:path";
import { SplashdownError } from "../../base/errors.js";
import type { FileSystem } from "../../base/file-system.js";
import type { OwnerFacts } from "../contract/contract.js";
import { OwnerPresence } from "./owner-presence.js";
import { formatOwnerName } from "./owner-record.js";
import { SafeFolders } from "../files/safe-folders.js";
import { hasErrno, withStoreErrors } from "../contract/store-failure.js";
import type { StoreParts } from "../contract/store-parts.js";
import { createTempName } from "../files/temp-name.js";

const NAME = /^opening-([1-9]\d{0,14})$/;
const MARK = "closed";
/** Each number has a folder of its own. */
const NO_EPOCH = 0;
const TAKEN = new Set(["EEXIST", "ENOTEMPTY"]);

export interface ExclusiveOpenParts {
  /** Absolute folder of the numbered ones; made when it is missing. */
  readonly root: string;
  /** What is opened, for the refusal. */
  readonly place: string;
  readonly facts: OwnerFacts;
  readonly store: StoreParts;
}

/**
 * Takes the right to open until the answer is called.
 *
 * Errors: STORE_BUSY when another process has it, or may have it; the STORE_* codes.
 */
export function openExclusively(parts: ExclusiveOpenParts): Promise<() => Promise<void>> {
  return withStoreErrors({ action: "opening", path: parts.root }, () => new SingleOpener(parts).take());
}

class SingleOpener {
  readonly #parts: ExclusiveOpenParts;
  readonly #files: FileSystem;
  readonly #folders: SafeFolders;

  constructor(parts: ExclusiveOpenParts) {
    const { fileSystem, userId, platform } = parts.store;
    this.#parts = parts;
    this.#files = fileSystem;
    this.#folders = new SafeFolders({ fileSystem, userId, isWindows: platform === "win32" });
  }

  async take(): Promise<() => Promise<void>> {
    const { root, store, facts } = this.#parts;
    await this.#folders.ensureRoot(root);
    const highest = await this.#readHighest();
    if (highest > 0) await this.#requireGone(highest);
    const temp = join(root, createTempName(store.random));
    await this.#folders.ensureFolder(temp);
    const mark = await this.#files.open(join(temp, MARK), "create");
    await mark.close();
    const handle = await this.#presenceIn(temp).announce(facts);
    const own = highest + 1;
    const folder = join(root, `opening-${own}`);
    try {
      await this.#files.rename(temp, folder);
    } catch (error) {
      await handle.close();
      await this.#remove(temp);
      throw hasErrno(error, TAKEN) ? this.#refuse("another process") : error;
    }
    const release = async () => {
      // The record was written under the folder's first name.
      await this.#files.unlink(join(folder, formatOwnerName(NO_EPOCH))).catch(() => undefined);
      await handle.close();
    };
    try {
      if ((await this.#readHighest()) !== own) throw this.#refuse("another process");
      await this.#sweepBelow(own);
      return release;
    } catch (error) {
      await release();
      throw error;
    }
  }

  #presenceIn(folder: string): OwnerPresence {
    const { fileSystem, random, machine, presence } = this.#parts.store;
    return new OwnerPresence({ fileSystem, folders: this.#folders, random, folder, machine, presence });
  }

  async #requireGone(number: number): Promise<void> {
    const { state, owner } = await this.#presenceIn(join(this.#parts.root, `opening-${number}`)).ownerState();
    if (state === "gone" || state === "none") return;
    const who = owner === undefined ? "another process" : `process ${owner.pid} on ${owner.host}`;
    throw this.#refuse(state === "alive" ? who : `${who}, of which it is unclear whether it lives,`);
  }

  #refuse(who: string): SplashdownError {
    const { place } = this.#parts;
    return new SplashdownError("STORE_BUSY", `${who} has ${place} open, and it takes one process at a time`, {
      details: { store: place },
    });
  }

  async #readHighest(): Promise<number> {
    let highest = 0;
    for (const name of await this.#files.readdir(this.#parts.root)) {
      highest = Math.max(highest, Number(NAME.exec(name)?.[1] ?? 0));
    }
    return highest;
  }

  async #sweepBelow(own: number): Promise<void> {
    for (const name of await this.#files.readdir(this.#parts.root)) {
      const number = Number(NAME.exec(name)?.[1] ?? own);
      if (number < own) await this.#remove(join(this.#parts.root, name));
    }
  }

  /** What cannot be removed stays, in nobody's way. */
  async #remove(folder: string): Promise<void> {
    try {
      for (const name of await this.#files.readdir(folder)) await this.#files.unlink(join(folder, name));
      await this.#files.rmdir(folder);
    } catch {
      // Gone already, or the next opener tries again.
    }
  }
}
