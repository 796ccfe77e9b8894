/**
 * Writes the audit trail of tasks: before an answer is given or an act goes on, what was done is durable beside the task.
 *
 * A file per thing said, not one per process at its end: what a process did must be there although it was killed the next
 * moment, and stored objects are never appended to. The first file of a process says `unlocked` too.
 * A8: what is said is sealed with a key that stays: a process that had opened the task before it got another one says the
 *     same once more under that, with where it stood, since its first file may not open for long.
 * A4: the trail never stops a verb: where it cannot be written (a folder that may only be read), that is said and the
 *     verb goes on. A5: one process that reads the same thing again is told once.
 * A look and a refusal write nothing here (A6, audit-backlog.ts): the next one who acts on the task brings them along. So
 * does it what could not be written when it was said.
 */
import type { Clock } from "../../base/clock.js";
import { sha256Hex } from "../../base/digest.js";
import { errorCodeOf, isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import type { FileSystem } from "../../base/file-system.js";
import { createUuid, isUuid } from "../../base/ids.js";
import type { JsonObject } from "../../base/json.js";
import type { Log } from "../../base/log.js";
import type { RandomSource } from "../../base/random.js";
import type { StoreManifest, TaskStore } from "../../store/contract/contract.js";
import { raiseAnchor } from "../../vault/anchor.js";
import type { TaskVault } from "../../vault/contract.js";
import { inspectKeyring } from "../../vault/keyring-view.js";
import {
  auditKey,
  auditNumber,
  AUDIT_PREFIX,
  encodeAuditFile,
  type AuditCarry,
  type AuditEntry,
  type AuditEvent,
} from "./audit-file.js";
import { addToBacklog, clearBacklog, loadBacklog } from "./audit-backlog.js";
import type { Environment } from "../platform/environment.js";
import { formatTime } from "../views/views.js";
import { readBounded } from "../../store/files/read-bounded.js";
import { LIMITS } from "../../base/limits.js";

export interface AuditTrailDeps {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  readonly fileSystem: FileSystem;
  readonly environment: Environment;
  readonly version: string;
  readonly pid: number;
  readonly store: { readonly manifest: Pick<StoreManifest, "durable"> };
  /** The vault as the keyring is by now. */
  readonly keys: { renew(task: TaskStore, vault: TaskVault): Promise<TaskVault> };
}

/** What changes nothing of a task. */
const LOOKS: ReadonlySet<AuditEvent> = new Set<AuditEvent>(["unlocked", "unlock_failed", "read", "refused"]);

/** Where a task is opened, as far as the trail needs it. */
export interface AuditedTask {
  readonly task: TaskStore;
  readonly vault: TaskVault;
}

export interface AuditNote {
  readonly event: AuditEvent;
  readonly verb: string;
  readonly details?: JsonObject;
}

const KEY_PROBLEMS = [
  "KEY_MISSING",
  "KEY_WRONG",
  "KEY_SOURCE_INVALID",
  "KEYRING_TAMPERED",
  "KEYRING_ROLLED_BACK",
  "KEYRING_UNPROVEN",
  "KEYRING_FOREIGN",
] as const;
const TRIES = 100;

/** Where the last audit file that this machine has seen is remembered; beside the anchors of journals. */
export function auditAnchorFolder(environment: Pick<Environment, "stateFolder">): string {
  return `${environment.stateFolder}/audit`;
}

export class AuditTrail {
  readonly #deps: AuditTrailDeps;
  readonly #session: string;
  readonly #said = new Set<string>();
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: AuditTrailDeps) {
    this.#deps = deps;
    this.#session = createUuid(deps.random);
  }

  /** Durable on return, or said that it is not. */
  async note(opened: AuditedTask, ...notes: readonly AuditNote[]): Promise<void> {
    const { task, vault } = opened;
    const news = notes.filter((note) => note.event !== "read" || this.#isNew(task, note));
    const [first] = news;
    if (first === undefined) return;
    const unlocked: AuditNote = { event: "unlocked", verb: first.verb, details: { key: vault.keyId ?? null } };
    await this.#write({ task, vault }, this.#isNew(task, { ...unlocked, verb: "" }) ? [unlocked, ...news] : news);
  }

  /** Waits for the opening of a task; when its key is missing or wrong, that is noted before the error goes on. */
  async watch<T>({ task, verb }: { readonly task: TaskStore; readonly verb: string }, opening: Promise<T>): Promise<T> {
    try {
      return await opening;
    } catch (error) {
      const note: AuditNote = { event: "unlock_failed", verb, details: { code: errorCodeOf(error) ?? "" } };
      if (isErrorCode(error, ...KEY_PROBLEMS) && this.#isNew(task, note))
        await this.#write({ task, vault: undefined }, [note]);
      throw error;
    }
  }

  /** Keeps that a verb was refused to a step: no key is needed to note it. */
  async refused(task: TaskStore, { verb, by }: { readonly verb: string; readonly by: string }): Promise<void> {
    await this.#write({ task, vault: undefined }, [{ event: "refused", verb, details: { step_of: by } }]);
  }

  /** Writes what files up to `to` said once more, under the vault's key (A7). Errors: the STORE_* codes. */
  async carry(opened: AuditedTask, to: number, parts: readonly (readonly AuditEntry[])[]): Promise<void> {
    for (const [at, entries] of parts.entries())
      await this.#put(opened, entries, { to, part: at + 1, parts: parts.length });
  }

  #isNew(task: TaskStore, { event, verb, details }: AuditNote): boolean {
    const text = JSON.stringify([task.name, event, verb, details ?? {}]);
    if (this.#said.has(text)) return false;
    this.#said.add(text);
    return true;
  }

  #write(opened: { task: TaskStore; vault: TaskVault | undefined }, notes: readonly AuditNote[]): Promise<void> {
    const { clock, log } = this.#deps;
    const at = formatTime(clock.nowMs());
    const entries = notes.map(({ event, verb, details = {} }) => ({ at, event, verb, details }));
    this.#writing = this.#writing
      .then(() => this.#keep(opened, entries))
      .catch((error: unknown) =>
        log.warn(`the audit trail of ${opened.task.name} could not be written: ${messageOf(error)}`),
      );
    return this.#writing;
  }

  async #keep(
    opened: { readonly task: TaskStore; readonly vault: TaskVault | undefined },
    entries: readonly AuditEntry[],
  ): Promise<void> {
    const taskId = opened.vault?.taskId ?? (await readClaimedId(opened.task));
    const { store, environment, pid } = this.#deps;
    // A store that ends with its process has no state to keep anything in.
    if (taskId === undefined || !store.manifest.durable) return this.#append(opened, entries);
    const place = { ...this.#deps, stateFolder: environment.stateFolder };
    const by = { by: environment.user, pid };
    const said = entries.map((entry) => ({ ...entry, details: { ...by, ...entry.details } }));
    if (entries.every(({ event }) => LOOKS.has(event))) return addToBacklog(place, taskId, said);
    const backlog = await loadBacklog(place, taskId);
    try {
      await this.#append(opened, [...backlog, ...entries]);
    } catch (error) {
      await addToBacklog(place, taskId, said);
      throw error;
    }
    if (backlog.length > 0) await clearBacklog(place, taskId);
  }

  /** Sealed with the key of new files; where another one was made meanwhile, said once more under that (A8). */
  async #append(
    { task, vault }: { task: TaskStore; vault: TaskVault | undefined },
    entries: readonly AuditEntry[],
  ): Promise<void> {
    let sealing = await this.#renew(task, vault);
    let n = await this.#put({ task, vault: sealing }, entries);
    for (;;) {
      const renewed = await this.#renew(task, sealing);
      if (renewed === sealing) return;
      const { workflow_id: _id, ...origin } = { n, ...this.#origin(undefined) };
      sealing = renewed;
      n = await this.#put(
        { task, vault: sealing },
        entries.map((entry) => ({ origin, ...entry })),
      );
    }
  }

  /** Whose keyring cannot be read any more, or opens no more, is gone: the key at hand must do. */
  async #renew(task: TaskStore, vault: TaskVault | undefined): Promise<TaskVault | undefined> {
    return vault === undefined ? undefined : this.#deps.keys.renew(task, vault).catch(() => vault);
  }

  /** Takes the next number; when another process was faster, the one after it. Shape: the number. */
  async #put(
    { task, vault }: { task: TaskStore; vault: TaskVault | undefined },
    entries: readonly AuditEntry[],
    carries?: AuditCarry,
  ): Promise<number> {
    const taskId = vault?.taskId ?? (await readClaimedId(task));
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const last = await readLast(task);
      const header = {
        ...this.#origin(taskId),
        n: last.n + 1,
        prev: last.hash,
        ...(carries === undefined ? {} : { carries }),
      };
      const bytes = encodeAuditFile(header, entries, vault);
      if ((await task.putOnce(auditKey(header.n), bytes)) !== "created") continue;
      if (taskId !== undefined) await this.#remember(taskId, header.n, sha256Hex(bytes));
      return header.n;
    }
    throw new SplashdownError("STORE_FAILED", `${TRIES} other processes were faster`, {
      details: { task: task.name },
    });
  }

  #origin(taskId: string | undefined) {
    const { environment, version, pid } = this.#deps;
    return {
      workflow_id: taskId ?? null,
      session: this.#session,
      pid,
      host: environment.host,
      by: environment.user,
      app: version,
    };
  }

  /** What outlives the process is remembered outside the task's folder, so that a trail cut off at its end is missed. */
  async #remember(taskId: string, n: number, hash: string): Promise<void> {
    const { fileSystem, random, environment, log, store } = this.#deps;
    if (!store.manifest.durable) return;
    const stateFolder = auditAnchorFolder(environment);
    await raiseAnchor({ fileSystem, random, stateFolder, taskId, fields: { position: { epoch: 0, n, hash } } }).catch(
      (error: unknown) => log.debug(`the end of the audit trail is not remembered: ${messageOf(error)}`),
    );
  }
}

/** Of a task that could not be unlocked, what its keyring says without a key. */
async function readClaimedId(task: TaskStore): Promise<string | undefined> {
  const view = await inspectKeyring(task).catch(() => undefined);
  return view !== undefined && isUuid(view.task) ? view.task : undefined;
}

async function readLast(task: TaskStore): Promise<{ readonly n: number; readonly hash: string | null }> {
  const numbers = (await task.list(AUDIT_PREFIX)).flatMap(({ key }) => auditNumber(key) ?? []);
  const n = Math.max(0, ...numbers);
  if (n === 0) return { n, hash: null };
  const bytes = await readBounded(task, auditKey(n), LIMITS.auditFileBytesMax);
  return { n, hash: bytes === undefined ? null : sha256Hex(bytes) };
}
