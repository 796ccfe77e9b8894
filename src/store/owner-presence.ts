/**
 * Who owns a task, and whether they live: one file with facts and a counter, and one socket to knock at.
 *
 * A hint and never a lock: the epoch decides. So failing to announce costs nothing but a slower take-over. The record is
 * synced before it gets its name, so that after a power cut it is whole, tells of the boot before, and nobody has to be
 * asked whether its owner lives; when its name lasts does not matter. The socket that the record names is there as long as the record: it is made before and removed
 * after, so a process that dies in between is seen to be gone, and nobody has to wait or to be asked.
 *
 * alive: the socket was answered. gone: it refused on the kernel the owner ran on, or the owner's machine has booted
 * since. unclear: neither; the counter is then watched by recovery. none: there is no record.
 * Source: DESIGN section 7, "Ownership"; STORAGE section 1.7.
 */
import { join } from "node:path";
import type { FileSystem } from "../base/file-system.js";
import type { RandomSource } from "../base/random.js";
import type { OwnerFacts, OwnerState, PresenceHandle } from "./contract.js";
import {
  decodeOwnerRecord,
  encodeOwnerRecord,
  formatSocketName,
  isSocketName,
  OWNER_BYTES_MAX,
  type OwnerRecord,
} from "./owner-record.js";
import type { PresencePort } from "./presence-port.js";
import { isAbsent, readWhole, type SafeFolders, writeWhole } from "./safe-folders.js";
import { withStoreErrors } from "./store-failure.js";
import { createTempName } from "./temp-name.js";

const OWNER_NAME = "owner";
const SOCKET_RANDOM_BYTES = 8;

export interface OwnerPresenceParts {
  readonly fileSystem: FileSystem;
  readonly folders: SafeFolders;
  readonly random: RandomSource;
  readonly folder: string;
  readonly machine?: { readonly host: string; readonly bootId: string } | undefined;
  readonly presence?: PresencePort | undefined;
}

export class OwnerPresence {
  readonly #parts: OwnerPresenceParts;
  readonly #path: string;

  constructor(parts: OwnerPresenceParts) {
    this.#parts = parts;
    this.#path = join(parts.folder, OWNER_NAME);
  }

  async announce(facts: OwnerFacts): Promise<PresenceHandle> {
    const { presence, folder, random } = this.#parts;
    const before = await this.#listSockets().catch(() => []);
    const isSucceeded = await this.#isSucceeded(facts).catch(() => false);
    const name = formatSocketName(random.bytes(SOCKET_RANDOM_BYTES));
    let record: OwnerRecord = { facts, counter: 1 };
    const listener = await presence?.listen({ folder, name }, () => encodeOwnerRecord(record)).catch(() => undefined);
    record = { ...record, socket: listener === undefined ? undefined : name };
    if (!isSucceeded) {
      await this.#write(record).catch(() => undefined);
      await this.#sweep(before);
    }
    return {
      beat: async () => {
        record = { ...record, counter: record.counter + 1 };
        await this.#beat(record).catch(() => undefined);
      },
      close: async () => {
        await this.#withdraw(record).catch(() => undefined);
        await listener?.close().catch(() => undefined);
      },
    };
  }

  async ownerState(): Promise<OwnerState> {
    const text = await withStoreErrors({ action: "reading", path: this.#path }, () => this.#read());
    if (text === undefined) return { state: "none" };
    const record = decodeOwnerRecord(text);
    if (record === undefined) return { state: "unclear" };
    const seen = { owner: record.facts, counter: record.counter };
    if (this.#hasRebooted(record.facts)) return { state: "gone", ...seen };
    if (record.socket === undefined || this.#parts.presence === undefined) return { state: "unclear", ...seen };
    const knock = await this.#parts.presence.knock({ folder: this.#parts.folder, name: record.socket });
    if (knock.kind === "unreachable") return { state: "unclear", ...seen };
    if (knock.kind === "refused") return { state: this.#isSameKernel(record.facts) ? "gone" : "unclear", ...seen };
    const answer = decodeOwnerRecord(knock.text) ?? record;
    return { state: "alive", owner: answer.facts, counter: answer.counter };
  }

  /** Somebody who has claimed a later epoch shows itself already, and is not hidden behind us. */
  async #isSucceeded({ epoch = 0 }: OwnerFacts): Promise<boolean> {
    const found = decodeOwnerRecord((await this.#read()) ?? "");
    return (found?.facts.epoch ?? 0) > epoch;
  }

  /** The host is the one we are on, and it was started again since: whatever ran then does not run now. */
  #hasRebooted(facts: OwnerFacts): boolean {
    const { machine } = this.#parts;
    return machine !== undefined && machine.host === facts.host && machine.bootId !== facts.bootId;
  }

  /** A socket on a shared folder refuses also when its owner lives on another machine. */
  #isSameKernel(facts: OwnerFacts): boolean {
    const { machine } = this.#parts;
    return machine === undefined || machine.bootId === facts.bootId;
  }

  async #read(): Promise<string | undefined> {
    try {
      const { handle, stat } = await this.#parts.folders.open(this.#path, "read");
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

  async #write(record: OwnerRecord): Promise<void> {
    const { fileSystem, folder, random } = this.#parts;
    const temp = join(folder, createTempName(random));
    const handle = await fileSystem.open(temp, "create");
    try {
      await writeWhole(handle, Buffer.from(encodeOwnerRecord(record)));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await fileSystem.rename(temp, this.#path);
  }

  /** Who was superseded does not write over the record of who came after. */
  async #beat(record: OwnerRecord): Promise<void> {
    const text = await this.#read();
    if (text === undefined || isSameOwner(decodeOwnerRecord(text), record)) await this.#write(record);
  }

  async #withdraw(record: OwnerRecord): Promise<void> {
    const text = await this.#read();
    if (text !== undefined && isSameOwner(decodeOwnerRecord(text), record))
      await this.#parts.fileSystem.unlink(this.#path);
  }

  async #listSockets(): Promise<readonly string[]> {
    const { fileSystem, folder } = this.#parts;
    return (await fileSystem.readdir(folder)).filter(isSocketName);
  }

  /** Sockets of owners before us; whoever still listens there has been superseded by our claim. */
  async #sweep(sockets: readonly string[]): Promise<void> {
    const { fileSystem, folder } = this.#parts;
    for (const name of sockets) await fileSystem.unlink(join(folder, name)).catch(() => undefined);
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
