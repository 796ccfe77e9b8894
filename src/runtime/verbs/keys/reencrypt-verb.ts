/**
 * `keys rotate --task-key --reencrypt`: a new task key, under which everything of the task is sealed again, so that the
 * old one opens nothing that stays.
 *
 * The order: nobody else lives → claimed → a new generation of the key → history, large values and snapshot files
 * written once more beside the old ones → the record that puts them in force → a look for a higher epoch → the old ones
 * removed, from the oldest segment on → messages, pins and audit trail sealed again → a look → the old generations leave
 * the keyring → what others left under one meanwhile sealed again. Whatever is cut off in between, the task can be read and
 * gone on with, by keys that its keyring has; the same command again makes another key and ends what was begun. Where so
 * many were cut off that the keyring is full, everything is sealed under its newest key first, so that the others go, and
 * then under one that nobody has. Others go on leaving messages meanwhile: control-folder.ts says why none is lost (K5).
 * Deliverables are plain files and are left alone.
 */
import { messageOf, SplashdownError } from "../../../base/errors.js";
import type { JsonObject } from "../../../base/json.js";
import { listSnapshotFiles } from "../../../checkpoint/source.js";
import type { EffectiveSettings } from "../../../definition/settings/settings.js";
import type { Restored } from "../../../recovery/restore.js";
import type { TaskStore } from "../../../store/contract/contract.js";
import { retireKeysBelow, rotateTaskKey, type RotationOptions } from "../../../vault/keyring-changes.js";
import { renewAudit, renewLateAudit } from "./audit-renewal.js";
import { raise } from "../../session/maintenance.js";
import { presenceDeps, takeOver } from "../../session/start-task.js";
import { carryMessages } from "../../mailbox/control-folder.js";
import { listTakenAnswers } from "../../mailbox/control.js";
import { refuse, renewHistory, type RenewedHistory, type HistorySummary } from "./rewrite-history.js";
import type { ReencryptedTask, TaskKeyChange } from "../../views/key-views.js";
import { whileOwning } from "../../session/presence.js";
import { openTask, openWith, readState, type OpenedTask } from "../../tasks/reading.js";
import type { Services } from "../../services/services.js";
import { clearHeaderOf } from "../../session/clear-header.js";
import { levelOf } from "../../session/task-session.js";

const VERB = "keys rotate";
/** Removed after one look. */
const KEYS_AT_ONCE = 200;

export interface ReencryptOptions {
  readonly dropAbsent?: boolean;
}

/**
 * Seals one task again.
 *
 * Errors: REENCRYPT_REFUSED; OWNER_ALIVE, OWNER_UNCLEAR, OWNER_SUPERSEDED; those of `restoreTask`, `rotateTaskKey` and
 * `renewHistory`; the STORE_* codes. What was in force stays in force.
 */
export async function reencryptTask(
  services: Services,
  task: TaskStore,
  options: ReencryptOptions,
): Promise<TaskKeyChange> {
  const made = await sealAgain(services, task, { ...options, isFullKept: true });
  return made.hasNewKey ? made.change : (await sealAgain(services, task, options)).change;
}

interface SealedAgain {
  readonly change: TaskKeyChange;
  /** The keyring had room for one, or needed none. */
  readonly hasNewKey: boolean;
}

async function sealAgain(services: Services, task: TaskStore, options: RotationOptions): Promise<SealedAgain> {
  const watched = { task, verb: `${VERB} --reencrypt` };
  const { folded, ...opened } = await services.audit.watch(watched, readState(services, task));
  if (!opened.vault.encrypted)
    return { change: { task: task.name, changed: false, note: "it is not encrypted" }, hasNewKey: true };
  const definition = folded.state.task?.definition;
  if (definition === undefined) throw refuse(task.name, "nothing was recorded in it");
  const settings = services.settingsOf(definition);
  const taking = { opened, settings, signal: undefined, takeOver: false, acceptLoss: false, isToGoOn: () => true };
  return whileOwning(presenceDeps(services, task), async (presence) => {
    const { state, history, epoch } = await takeOver(services, taking, presence);
    // No more of the state than is asked for: its values would stay in memory beside those of the file being sealed.
    const { checkpoints, questions, atMs } = state;
    const begun = { opened, history, epoch, summary: { checkpoints, questions, atMs }, settings, options };
    return new Reencryption(services, begun).run();
  });
}

interface Begun extends Pick<Restored, "history" | "epoch"> {
  readonly opened: OpenedTask;
  readonly summary: HistorySummary;
  readonly settings: EffectiveSettings;
  readonly options: RotationOptions;
}

class Reencryption {
  readonly #services: Services;
  readonly #task: TaskStore;
  readonly #begun: Begun;

  constructor(services: Services, begun: Begun) {
    this.#services = services;
    this.#task = begun.opened.task;
    this.#begun = begun;
  }

  async run(): Promise<SealedAgain> {
    const { log, audit } = this.#services;
    const { history, options } = this.#begun;
    const change = this.#services.keys.changing(this.#task, this.#begun.opened.vault);
    const rotated = await rotateTaskKey(change, options);
    const fresh = openWith(this.#services, this.#task, await this.#services.keys.open(this.#task));
    const { keyId: key = rotated.active, generations } = fresh.vault;
    const [generation = rotated.generation] = generations;
    log.info(`sealing ${history.records.length} records of ${this.#task.name} again under key ${key}`);
    const renewed = await this.#renew(fresh, { key, generation });
    await this.#confirm();
    await raise(this.#services, fresh, { position: renewed.position, confirm: () => this.#confirm() });
    for (const { file, reason } of renewed.left) log.warn(`${file} of ${this.#task.name} goes: ${reason}`);
    const removed = await this.#removeOld(renewed);
    await this.#carry(fresh);
    await renewAudit(this.#services, fresh);
    await this.#confirm();
    const { revision, added, removed: slots } = await retireKeysBelow(change, generation);
    // Whoever began before the new key was made may have ended after they were carried over.
    await this.#carry(fresh);
    await renewLateAudit(this.#services, fresh);
    const reencrypted: ReencryptedTask = {
      records: renewed.records,
      snapshots: renewed.snapshots.size,
      blobs: renewed.blobs.size,
      removed,
      left: renewed.left.map(({ file, reason }) => `${file}: ${reason}`),
    };
    const details = {
      revision: revision ?? null,
      generation,
      reencrypted: JSON.parse(JSON.stringify(reencrypted)) as JsonObject,
    };
    const last = await openTask(this.#services, this.#task);
    await audit.note(last, { event: "keys_changed", verb: `${VERB} --reencrypt`, details });
    const lists = { added: [...rotated.added, ...added], removed: [...rotated.removed, ...slots] };
    const made = { task: this.#task.name, changed: true, key, generation, ...lists, reencrypted };
    return {
      change: { ...made, ...(revision === undefined ? {} : { revision }) },
      hasNewKey: rotated.revision !== undefined,
    };
  }

  #renew(opened: OpenedTask, facts: JsonObject): Promise<RenewedHistory> {
    const { summary, history, epoch } = this.#begun;
    const { clock, environment } = this.#services;
    const { settings } = this.#begun;
    const { checkpoint_config: config } = settings;
    return renewHistory(this.#services, {
      opened,
      history,
      summary,
      epoch,
      writer: {
        rawBytesMax: config.checkpoint_size_limit_mb * 1024 * 1024,
        ...levelOf(settings),
        ...clearHeaderOf(config, this.#services.store),
      },
      conclusion: {
        type: "noted",
        atMs: Math.max(clock.nowMs(), summary.atMs),
        text: `sealed again under another key by ${environment.user}`,
        facts,
      },
    });
  }

  /** The look before every act that nothing brings back. Errors: OWNER_SUPERSEDED. */
  async #confirm(): Promise<void> {
    const { epoch } = this.#begun;
    if (await this.#task.confirm(epoch)) return;
    throw new SplashdownError(
      "OWNER_SUPERSEDED",
      `another process claimed task ${this.#task.name} after epoch ${epoch}`,
      {
        details: { task: this.#task.name, epoch },
      },
    );
  }

  async #removeOld({ position, snapshots, blobs }: RenewedHistory): Promise<ReencryptedTask["removed"]> {
    const task = this.#task;
    const old = (await task.segments()).filter(({ epoch }) => epoch < position.epoch);
    for (const { epoch, index } of old) {
      await this.#confirm();
      await task.removeSegment({ epoch, index });
    }
    const files = (await listSnapshotFiles(task)).map(({ entry }) => entry.key).filter((key) => !snapshots.has(key));
    const values = (await task.list("blobs/")).map(({ key }) => key).filter((key) => !blobs.has(key));
    const quarantined = (await task.list("quarantine/")).map(({ key }) => key);
    const taken = await listTakenAnswers(task, this.#begun.summary);
    const going = [...files, ...values, ...quarantined, ...taken];
    for (let at = 0; at < going.length; at += KEYS_AT_ONCE) {
      await this.#confirm();
      await task.remove(...going.slice(at, at + KEYS_AT_ONCE));
    }
    const counts = { segments: old.length, snapshots: files.length, blobs: values.length };
    return { ...counts, quarantined: quarantined.length, control: taken.length };
  }

  /** What does not open is left as it is: a pin holds all the same, and of the others nobody was told that they count. */
  async #carry(folder: OpenedTask): Promise<void> {
    for (const { key, error } of await carryMessages(folder))
      this.#services.log.warn(`${key} of ${this.#task.name} is not sealed again: ${messageOf(error)}`);
  }
}
