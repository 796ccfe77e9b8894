/**
 * Who owns a task, and whether they live: for each epoch one file with facts and a counter, and one socket to ping. The
 * record of the highest epoch tells; an announcement takes those of lower ones away.
 *
 * A hint and never a lock: the epoch decides. So failing to announce costs nothing but a slower take-over. The record is
 * synced before it gets its name, so that after a power cut it is whole, tells of the boot before, and nobody has to be
 * asked whether its owner lives; when its name lasts does not matter. The socket that the record names is there as long as the record: it is made before and removed
 * after, so a process that dies in between is seen to be gone, and nobody has to wait or to be asked.
 *
 * alive: the socket was answered. gone: it refused on the kernel the owner ran on, or this kernel says that its process has
 * ended. unclear: neither, as on another machine; the counter is then watched by recovery, also where the owner's machine was
 * booted since, which is proof only while nothing moves it. none: there is no record.
 * Source: DESIGN section 7, "Ownership"; STORAGE section 1.7.
 */
import { join } from "node:path";
import type { FileSystem } from "../../base/file-system.js";
import { isSameKernel, isSamePlace } from "../../base/place.js";
import type { RandomSource } from "../../base/random.js";
import type { OwnerFacts, OwnerState, PresenceHandle } from "../contract/contract.js";
import {
  decodeOwnerRecord,
  encodeOwnerRecord,
  formatOwnerName,
  formatSocketName,
  OWNER_BYTES_MAX,
  type OwnerRecord,
  parseOwnerName,
  parseSocketName,
  settleOwner,
} from "./owner-record.js";
import type { PresencePort } from "../contract/presence-port.js";
import { isAbsent, readWhole, type SafeFolders, writeWhole } from "../files/safe-folders.js";
import { withStoreErrors } from "../contract/store-failure.js";
import type { Machine } from "../contract/store-parts.js";
import { createTempName } from "../files/temp-name.js";

const SOCKET_RANDOM_BYTES = 8;

export interface OwnerPresenceParts {
  readonly fileSystem: FileSystem;
  readonly folders: SafeFolders;
  readonly random: RandomSource;
  readonly folder: string;
  readonly machine?: Machine | undefined;
  readonly presence?: PresencePort | undefined;
}

export class OwnerPresence {
  readonly #parts: OwnerPresenceParts;

  constructor(parts: OwnerPresenceParts) {
    this.#parts = parts;
  }

  async announce(facts: OwnerFacts): Promise<PresenceHandle> {
    const { presence, folder, random } = this.#parts;
    const { epoch = 0 } = facts;
    const before = await this.#listNames().catch(() => []);
    const path = join(folder, formatOwnerName(epoch));
    const name = formatSocketName(epoch, random.bytes(SOCKET_RANDOM_BYTES));
    let record: OwnerRecord = { facts, counter: 1 };
    const listener = await presence?.listen({ folder, name }, () => encodeOwnerRecord(record)).catch(() => undefined);
    record = { ...record, socket: listener === undefined ? undefined : name };
    await this.#write(path, record).catch(() => undefined);
    await this.#sweep(before, epoch);
    return {
      beat: async () => {
        record = { ...record, counter: record.counter + 1 };
        await this.#beat(path, record).catch(() => undefined);
      },
      close: async () => {
        await this.#withdraw(path, record).catch(() => undefined);
        await listener?.close().catch(() => undefined);
      },
    };
  }

  async ownerState(): Promise<OwnerState> {
    return settleOwner(await this.#look(), this.#parts.machine);
  }

  async #look(): Promise<OwnerState> {
    const { folder } = this.#parts;
    const text = await withStoreErrors({ action: "reading the owner in", path: folder }, () => this.#readNewest());
    if (text === undefined) return { state: "none" };
    const record = decodeOwnerRecord(text);
    if (record === undefined) return { state: "unclear" };
    const seen = { owner: record.facts, counter: record.counter };
    if (record.socket === undefined || this.#parts.presence === undefined) return { state: "unclear", ...seen };
    const pinged = await this.#parts.presence.ping({ folder: this.#parts.folder, name: record.socket });
    if (pinged.kind === "unreachable") return { state: "unclear", ...seen };
    if (pinged.kind === "refused") return { state: await this.#judgeRefusal(record.facts), ...seen };
    const answer = decodeOwnerRecord(pinged.text) ?? record;
    return { state: "alive", owner: answer.facts, counter: answer.counter };
  }

  /**
   * A socket on a shared folder refuses also when its owner lives on another machine, or has the folder by another mount
   * of the same server: where the process can be looked up, it is.
   */
  async #judgeRefusal(facts: OwnerFacts): Promise<"gone" | "unclear"> {
    const { machine } = this.#parts;
    if (machine === undefined) return "gone";
    if (!isSameKernel(facts, machine)) return "unclear";
    if (machine.hasEnded === undefined || !isSamePlace(facts, machine)) return "gone";
    return (await machine.hasEnded(facts)) ? "gone" : "unclear";
  }

  async #readNewest(): Promise<string | undefined> {
    const records = (await this.#listNames()).filter((name) => parseOwnerName(name) !== undefined).sort();
    for (const name of records.reverse()) {
      const text = await this.#read(join(this.#parts.folder, name));
      if (text !== undefined) return text;
    }
    return undefined;
  }

  async #read(path: string): Promise<string | undefined> {
    try {
      const { handle, stat } = await this.#parts.folders.open(path, "read");
      try {
        if (stat.sizeBytes > OWNER_BYTES_MAX) return "";
        return Buffer.from(await readWhole(handle, stat.sizeBytes)).toString("utf8");
      } finally {
        await handle.close();
      }
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  async #write(path: string, record: OwnerRecord): Promise<void> {
    const { fileSystem, folder, random } = this.#parts;
    const temp = join(folder, createTempName(random));
    const handle = await fileSystem.open(temp, "create");
    try {
      await writeWhole(handle, Buffer.from(encodeOwnerRecord(record)));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await fileSystem.rename(temp, path);
  }

  /** An owner of the same epoch, after a bundle or a fork was undone, is another one. */
  async #beat(path: string, record: OwnerRecord): Promise<void> {
    const text = await this.#read(path);
    if (text === undefined || isSameOwner(decodeOwnerRecord(text), record)) await this.#write(path, record);
  }

  async #withdraw(path: string, record: OwnerRecord): Promise<void> {
    const text = await this.#read(path);
    if (text !== undefined && isSameOwner(decodeOwnerRecord(text), record)) await this.#parts.fileSystem.unlink(path);
  }

  async #listNames(): Promise<readonly string[]> {
    try {
      return await this.#parts.fileSystem.readdir(this.#parts.folder);
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  }

  /** Sockets and records of owners before us: whoever still listens there has been superseded by our claim. */
  async #sweep(names: readonly string[], epoch: number): Promise<void> {
    const { fileSystem, folder } = this.#parts;
    const isOld = (name: string): boolean =>
      (parseOwnerName(name) ?? Infinity) < epoch || (parseSocketName(name) ?? Infinity) <= epoch;
    for (const name of names.filter(isOld)) await fileSystem.unlink(join(folder, name)).catch(() => undefined);
  }
}

function isSameOwner(found: OwnerRecord | undefined, own: OwnerRecord): boolean {
  if (found === undefined) return true;
  const { facts } = found;
  return (
    found.socket === own.socket &&
    facts.pid === own.facts.pid &&
    facts.host === own.facts.host &&
    facts.processStartedAt === own.facts.processStartedAt &&
    facts.since === own.facts.since
  );
}
