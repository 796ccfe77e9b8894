/**
 * `keys rotate --task-key --reencrypt`: a new task key, under which everything of the task is sealed again, so that the
 * old one opens nothing that stays.
 *
 * The order: nobody else lives → claimed → a new generation of the key → history, large values and snapshot files
 * written once more beside the old ones → the record that puts them in force → a look for a higher epoch → the old ones
 * removed, from the oldest segment on → pins and audit trail sealed again → the old generations leave the keyring.
 * Whatever is cut off in between, the task can be read and gone on with, by keys that its keyring has; the same command
 * again makes another key and ends what was begun. Deliverables are plain files and are left alone.
 * What an owner has yet to take from `control/` is bound to its name and cannot be moved safely: such a task is refused.
 */
import { SplashdownError } from "../../base/errors.js";
import type { JsonObject } from "../../base/json.js";
import { PIN_PREFIX } from "../../checkpoint/pins.js";
import { listSnapshotFiles } from "../../checkpoint/source.js";
import type { EffectiveSettings } from "../../definition/settings/settings.js";
import type { TaskState } from "../../engine/state/state.js";
import type { Restored } from "../../recovery/restore.js";
import type { TaskStore } from "../../store/contract.js";
import type { TaskVault } from "../../vault/contract.js";
import { retireOlderKeys, rotateTaskKey, type KeyringChangeOptions } from "../../vault/keyring-changes.js";
import { renewAudit } from "./audit-renewal.js";
import { raise } from "../run/caretaking.js";
import { presenceDeps, takeOver } from "../run/conduct.js";
import { decodeControlFile, encodeControlFile } from "../people/control-file.js";
import { listControl } from "../people/control.js";
import { refuse, renewHistory, type RenewedHistory } from "./history-renewal.js";
import type { ReencryptedTask, TaskKeyChange } from "./key-views.js";
import { whileOwning } from "../run/presence.js";
import { openTask, openWith, readState, type OpenedTask } from "../reading.js";
import type { Services } from "../services.js";
import { levelOf } from "../run/task-session.js";

const VERB = "keys rotate";

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
  const { folded, ...opened } = await readState(services, task);
  if (!opened.vault.encrypted) return { task: task.name, changed: false, note: "it is not encrypted" };
  const definition = folded.state.task?.definition;
  if (definition === undefined) throw refuse(task.name, "nothing was recorded in it");
  const settings = services.settingsOf(definition);
  const isToGoOn = async (state: TaskState): Promise<boolean> => {
    await requireNothingUntaken(task, state);
    return true;
  };
  const taking = { opened, settings, signal: undefined, takeOver: false, acceptLoss: false, isToGoOn };
  return whileOwning(presenceDeps(services, task), async (presence) => {
    const restored = await takeOver(services, taking, presence);
    return new Reencryption(services, { opened, restored, settings, options }).run();
  });
}

async function requireNothingUntaken(task: TaskStore, state: TaskState): Promise<void> {
  const { untaken } = await listControl(task, state);
  if (untaken.length > 0)
    throw refuse(task.name, `${untaken.join(", ")} waits to be taken; first: splashdown resume ${task.name}`);
}

interface Begun {
  readonly opened: OpenedTask;
  readonly restored: Restored;
  readonly settings: EffectiveSettings;
  readonly options: ReencryptOptions;
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

  async run(): Promise<TaskKeyChange> {
    const { log, audit } = this.#services;
    const { restored, options } = this.#begun;
    const change = this.#changeOptions();
    const rotated = await rotateTaskKey(change, options);
    const fresh = openWith(this.#services, this.#task, await this.#services.keys.open(this.#task));
    log.info(
      `sealing ${restored.history.records.length} records of ${this.#task.name} again under key ${rotated.active}`,
    );
    const renewed = await this.#renew(fresh, { key: rotated.active, generation: rotated.generation });
    await this.#confirm();
    await raise(this.#services, fresh, renewed);
    for (const { file, reason } of renewed.left) log.warn(`${file} of ${this.#task.name} goes: ${reason}`);
    const removed = await this.#removeOld(renewed);
    await this.#resealPins(fresh.vault);
    await renewAudit(this.#services, fresh);
    const { revision, added, removed: slots } = await retireOlderKeys(change);
    const reencrypted: ReencryptedTask = {
      records: renewed.records,
      snapshots: renewed.snapshots.size,
      blobs: renewed.blobs.size,
      removed,
      left: renewed.left.map(({ file, reason }) => `${file}: ${reason}`),
    };
    const { active: key, generation } = rotated;
    const details = {
      revision: revision ?? null,
      generation,
      reencrypted: JSON.parse(JSON.stringify(reencrypted)) as JsonObject,
    };
    const last = await openTask(this.#services, this.#task);
    await audit.note(last, { event: "keys_changed", verb: `${VERB} --reencrypt`, details });
    const lists = { added: [...rotated.added, ...added], removed: [...rotated.removed, ...slots] };
    return {
      task: this.#task.name,
      changed: true,
      ...(revision === undefined ? {} : { revision }),
      key,
      generation,
      ...lists,
      reencrypted,
    };
  }

  #changeOptions(): KeyringChangeOptions {
    const { keys, random, clock, log } = this.#services;
    const { taskId } = this.#begun.opened.vault;
    return { taskId, store: this.#task, sources: keys.sources(), ports: keys.ports, random, clock, log };
  }

  #renew(opened: OpenedTask, facts: JsonObject): Promise<RenewedHistory> {
    const { state, history, epoch } = this.#begun.restored;
    const { clock, environment } = this.#services;
    const { settings } = this.#begun;
    const { checkpoint_config: config } = settings;
    return renewHistory(this.#services, {
      opened,
      history,
      state,
      epoch,
      writer: {
        rawBytesMax: config.checkpoint_size_limit_mb * 1024 * 1024,
        ...levelOf(settings),
        isMinimal: config.metadata === "minimal",
      },
      conclusion: {
        type: "noted",
        atMs: Math.max(clock.nowMs(), state.atMs),
        text: `sealed again under another key by ${environment.user}`,
        facts,
      },
    });
  }

  /** The look before every act that nothing brings back. Errors: OWNER_SUPERSEDED. */
  async #confirm(): Promise<void> {
    const { epoch } = this.#begun.restored;
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
    const { taken } = await listControl(task, this.#begun.restored.state);
    for (const key of [...files, ...values, ...quarantined, ...taken]) {
      await this.#confirm();
      await task.remove(key);
    }
    const counts = { segments: old.length, snapshots: files.length, blobs: values.length };
    return { ...counts, quarantined: quarantined.length, control: taken.length };
  }

  /** Under a second name first: a pin holds throughout (checkpoint/pins.ts). */
  async #resealPins(vault: TaskVault): Promise<void> {
    const task = this.#task;
    const pins = (await task.list(PIN_PREFIX)).map(({ key }) => key);
    for (const key of new Set(pins.map((pin) => pin.replace(/~$/, "")))) {
      const second = `${key}~`;
      const body = await this.#readPin(vault, pins.includes(key) ? key : second);
      await task.remove(pins.includes(key) ? second : key);
      if (pins.includes(key)) await task.putOnce(second, encodeControlFile(vault, second, body));
      await task.remove(key);
      await task.putOnce(key, encodeControlFile(vault, key, body));
      await task.remove(second);
    }
  }

  /** One that does not open holds all the same. */
  async #readPin(vault: TaskVault, key: string): Promise<JsonObject> {
    try {
      return decodeControlFile(vault, key, (await this.#task.get(key)) ?? Buffer.alloc(0));
    } catch (error) {
      if (error instanceof SplashdownError) return { kind: "pin" };
      throw error;
    }
  }
}
