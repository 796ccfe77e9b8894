/** `audit show` and `audit verify`: who did what to a task, and whether the trail is whole. They write nothing. */
import { formatCount } from "../../base/plain-text.js";
import { EXIT_STATUS } from "../../base/error-table.js";
import { SplashdownError } from "../../base/errors.js";
import { isUuid } from "../../base/ids.js";
import type { TaskStore } from "../../store/contract/contract.js";
import type { TaskVault } from "../../vault/contract.js";
import { inspectKeyring } from "../../vault/keyring-view.js";
import { openDetails } from "../audit/audit-file.js";
import { loadBacklog } from "../audit/audit-backlog.js";
import { readTrail, verifyTrail, type FoundAuditFile, type TrailVerdict } from "../tasks/audit-reading.js";
import type { CheckView } from "../views/verb-views.js";
import type { AuditEntryView, AuditShowView, AuditVerifyView } from "../views/face-views.js";
import { findTask } from "../tasks/finding.js";
import { whileOpen } from "../tasks/reading.js";
import { readTaskId } from "../keychain/unopened-task.js";
import type { Services } from "../services/services.js";

/** Of one task, or of all; in the order of time. Errors: TASK_NOT_FOUND. A missing key hides the details only. */
export async function showAudit(services: Services, reference: string | undefined): Promise<AuditShowView> {
  const entries: AuditEntryView[] = [];
  const problems: string[] = [];
  const onTrouble = (name: string, { message }: SplashdownError) => void problems.push(`${name}: ${message}`);
  const act = async (task: TaskStore) => {
    const vault = await openQuietly(services, task);
    const trail = await readTrail(task);
    for (const file of trail.files.filter(trail.counts)) {
      try {
        entries.push(...viewEntries(task, file, vault));
      } catch (error) {
        if (!(error instanceof SplashdownError)) throw error;
        problems.push(`${task.name}: ${error.message}`);
      }
    }
    entries.push(...(await readBacklog(services, task)));
  };
  await forEachTask(services, reference, { act, onTrouble });
  entries.sort((left, right) => (left.at === right.at ? left.n - right.n : left.at < right.at ? -1 : 1));
  return { entries, problems };
}

/** What looks and refusals on this machine said since somebody acted on the task last; it is in no file of it yet. */
async function readBacklog(services: Services, task: TaskStore): Promise<AuditEntryView[]> {
  const { environment, fileSystem, random } = services;
  const taskId = (await inspectKeyring(task).catch(() => undefined))?.task ?? (await readTaskId(task));
  if (taskId === undefined || !isUuid(taskId) || !services.store.manifest.durable) return [];
  const entries = await loadBacklog({ fileSystem, random, stateFolder: environment.stateFolder }, taskId);
  return entries.map(({ at, event, verb, details }) => ({
    task: task.name,
    n: 0,
    at,
    event,
    verb,
    by: typeof details["by"] === "string" ? details["by"] : environment.user,
    host: environment.host,
    pid: typeof details["pid"] === "number" ? details["pid"] : 0,
    details,
  }));
}

/** Errors: what its file says against itself, and those of `openDetails`. */
function viewEntries(
  task: TaskStore,
  { key, content }: FoundAuditFile,
  vault: TaskVault | undefined,
): readonly AuditEntryView[] {
  if (content instanceof SplashdownError) throw content;
  const isOpen = vault !== undefined || content.seal === undefined;
  const entries = vault === undefined ? content.entries : openDetails(key, content, vault);
  return entries.map(({ at, event, verb, details, origin }) => {
    const { n, by, host, pid } = origin ?? content.header;
    return { task: task.name, n, at, event, verb, by, host, pid, ...(isOpen ? { details } : {}) };
  });
}

/** Errors: TASK_NOT_FOUND. What is wrong with a trail is in the answer. */
export async function verifyAudit(services: Services, reference: string | undefined): Promise<AuditVerifyView> {
  const checks: CheckView[] = [];
  let files = 0;
  let entries = 0;
  let isTampered = false;
  const act = async (task: TaskStore) => {
    const vault = await openQuietly(services, task);
    const found = await verifyTrail(services, await readTrail(task), vault);
    files += found.files;
    entries += found.entries;
    isTampered ||= found.faults.length > 0;
    checks.push(...describeTrail(task, vault, found));
  };
  const onTrouble = (name: string, { message, hint }: SplashdownError) =>
    void checks.push({ name, ok: false, text: `cannot be read: ${message}`, hint });
  await forEachTask(services, reference, { act, onTrouble });
  const intact = checks.every(({ ok }) => ok);
  const failed = isTampered ? EXIT_STATUS.tampered : EXIT_STATUS.failed;
  return { intact, exit_status: intact ? EXIT_STATUS.done : failed, files, entries, checks };
}

function describeTrail(task: TaskStore, vault: TaskVault | undefined, trail: TrailVerdict): CheckView[] {
  if (trail.faults.length > 0) return trail.faults.map((text) => ({ name: task.name, ok: false, text }));
  const how = vault === undefined ? "chain and checksums fit; seals not checked, the key is not at hand" : "whole";
  return [
    {
      name: task.name,
      ok: true,
      text: `${formatCount(trail.entries, "entry", "entries")} in ${formatCount(trail.files, "file")}: ${how}`,
    },
  ];
}

/** A key that is not at hand hides the details and no more. */
async function openQuietly(services: Services, task: TaskStore): Promise<TaskVault | undefined> {
  try {
    return await services.keys.open(task);
  } catch (error) {
    if (!(error instanceof SplashdownError)) throw error;
    return undefined;
  }
}

interface EachTask {
  readonly act: (task: TaskStore) => Promise<void>;
  /** Told of a task that cannot be read where all are looked at: it stops no other (R12). */
  readonly onTrouble: (name: string, error: SplashdownError) => void;
}

async function forEachTask(services: Services, reference: string | undefined, each: EachTask): Promise<void> {
  if (reference !== undefined) return whileOpen(await findTask(services, reference, "read"), each.act);
  for (const name of await services.store.tasks()) {
    let task: TaskStore | undefined;
    try {
      task = await services.store.task(name);
      if (task !== undefined) await each.act(task);
    } catch (error) {
      if (!(error instanceof SplashdownError) || error.code === "INTERNAL") throw error;
      each.onTrouble(name, error);
    } finally {
      await task?.close();
    }
  }
}
