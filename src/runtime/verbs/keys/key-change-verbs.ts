/**
 * `keys add|remove|rotate`: who can open tasks. Each task's keyring is changed by itself: what one task refuses does not
 * keep the others from being changed, and is told.
 *
 * None of these owns the task: a keyring revision is created exclusively, and a living owner goes on with the key it has.
 * Only sealing everything again does (reencrypt-verb.ts).
 */
import { EXIT_STATUS } from "../../../base/error-table.js";
import { SplashdownError } from "../../../base/errors.js";
import type { TaskStore } from "../../../store/contract/contract.js";
import type { KeyringChangeOptions } from "../../../vault/keyring-opening.js";
import type { KeySourceSetting } from "../../../vault/key-source.js";
import { formatSource } from "../../../vault/key-source.js";
import {
  addKeySource,
  type KeyringChange,
  removeKeySlots,
  rewrapKeys,
  rotateTaskKey,
} from "../../../vault/keyring-changes.js";
import type { KeyChangeView, KeyTarget, RotateOptions, TaskKeyChange } from "../../views/key-views.js";
import { findTask } from "../../tasks/finding.js";
import { openReadable } from "../../keychain/readable-tasks.js";
import { reencryptTask } from "./reencrypt-verb.js";
import type { Services } from "../../services/services.js";

interface Change {
  readonly verb: string;
  readonly make: (options: KeyringChangeOptions) => Promise<KeyringChange>;
}

/** Errors: KEY_SOURCE_INVALID, TASK_NOT_FOUND; of one named task those of `addKeySource`. */
export function addKeys(services: Services, target: KeyTarget, source: KeySourceSetting): Promise<KeyChangeView> {
  return changeKeys(services, target, {
    verb: "keys add",
    make: (options) => addKeySource(options, services.keys.resolveSource(source)),
  }).then((view) => ({ ...view, source: formatSource(source) }));
}

/** Errors: TASK_NOT_FOUND; of one named task those of `removeKeySlots`. */
export function removeKeys(services: Services, target: KeyTarget, name: string): Promise<KeyChangeView> {
  return changeKeys(services, target, { verb: "keys remove", make: (options) => removeKeySlots(options, name) });
}

/** Errors: TASK_NOT_FOUND; of one named task those of `rewrapKeys`, `rotateTaskKey` and `reencryptTask`. */
export async function rotateKeys(
  services: Services,
  target: KeyTarget,
  options: RotateOptions,
): Promise<KeyChangeView> {
  if (options.reencrypt === true) {
    if (options.taskKey !== true)
      throw new SplashdownError("USAGE_INVALID", "--reencrypt is for a new key of the task: add --task-key");
    return changeEach(services, target, (task) => reencryptTask(services, task, options));
  }
  const rotate = options.taskKey === true ? rotateTaskKey : rewrapKeys;
  return changeKeys(services, target, { verb: "keys rotate", make: (change) => rotate(change, options) });
}

function changeKeys(services: Services, target: KeyTarget, change: Change): Promise<KeyChangeView> {
  return changeEach(services, target, (task) => changeTask(services, task, change));
}

async function changeEach(
  services: Services,
  target: KeyTarget,
  change: (task: TaskStore) => Promise<TaskKeyChange>,
): Promise<KeyChangeView> {
  if (target !== "all") {
    const task = await findTask(services, target.task, "act");
    try {
      return { tasks: [await change(task)], exit_status: EXIT_STATUS.done };
    } finally {
      await task.close();
    }
  }
  const tasks: TaskKeyChange[] = [];
  for await (const task of openReadable(services)) {
    try {
      tasks.push(await change(task));
    } catch (error) {
      if (!(error instanceof SplashdownError)) throw error;
      tasks.push({ task: task.name, changed: false, error: { code: error.code, message: error.message } });
    } finally {
      await task.close();
    }
  }
  const failed = tasks.some(({ error }) => error !== undefined);
  return { tasks, exit_status: failed ? EXIT_STATUS.partial : EXIT_STATUS.done };
}

async function changeTask(services: Services, task: TaskStore, change: Change): Promise<TaskKeyChange> {
  const vault = await services.audit.watch({ task, verb: change.verb }, services.keys.open(task));
  if (!vault.encrypted) return { task: task.name, changed: false, note: "it is not encrypted" };
  const { revision, active, generation, added, removed } = await change.make(services.keys.changing(task, vault));
  const changed = revision !== undefined;
  if (changed) {
    const details = { revision, generation, added: [...added], removed: [...removed] };
    // As it is now: this machine remembers it, and the trail is sealed with the key that was made.
    const now = { task, vault: await services.keys.open(task) };
    await services.audit.note(now, { event: "keys_changed", verb: change.verb, details });
  }
  return { task: task.name, changed, ...(changed ? { revision } : {}), key: active, generation, added, removed };
}
