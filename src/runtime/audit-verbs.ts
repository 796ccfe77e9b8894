/** `audit show` and `audit verify`: who did what to a task, and whether the trail is whole. They write nothing. */
import { EXIT_STATUS } from "../base/error-table.js";
import { sha256Hex } from "../base/digest.js";
import { isErrorCode, messageOf, SplashdownError } from "../base/errors.js";
import { isUuid } from "../base/ids.js";
import type { TaskStore } from "../store/contract.js";
import { loadAnchor } from "../vault/anchor.js";
import type { TaskVault } from "../vault/contract.js";
import { inspectKeyring } from "../vault/keyring-view.js";
import { auditKey, auditNumber, AUDIT_PREFIX, decodeAuditFile, openDetails } from "./audit-file.js";
import { loadBacklog } from "./audit-backlog.js";
import { auditAnchorFolder } from "./audit-trail.js";
import type { CheckView } from "./contract.js";
import type { AuditEntryView, AuditShowView, AuditVerifyView } from "./face-views.js";
import { findTask } from "./finding.js";
import { readTaskId } from "./key-access.js";
import type { Services } from "./services.js";

/** Of one task, or of all; in the order of time. Errors: TASK_NOT_FOUND. A missing key hides the details only. */
export async function showAudit(services: Services, reference: string | undefined): Promise<AuditShowView> {
  const entries: AuditEntryView[] = [];
  const problems: string[] = [];
  await forEachTask(services, reference, async (task) => {
    const vault = await openQuietly(services, task);
    for (const key of await listAudit(task)) {
      try {
        entries.push(...(await readEntries(task, key, vault)));
      } catch (error) {
        if (!(error instanceof SplashdownError)) throw error;
        problems.push(`${task.name}: ${error.message}`);
      }
    }
    entries.push(...(await readBacklog(services, task)));
  });
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

async function readEntries(task: TaskStore, key: string, vault: TaskVault | undefined): Promise<AuditEntryView[]> {
  const file = decodeAuditFile(key, (await task.get(key)) ?? Buffer.alloc(0));
  const { n, by, host, pid } = file.header;
  const isOpen = vault !== undefined || file.seal === undefined;
  const entries = vault === undefined ? file.entries : openDetails(key, file, vault);
  return entries.map(({ at, event, verb, details }) => ({
    task: task.name,
    n,
    at,
    event,
    verb,
    by,
    host,
    pid,
    ...(isOpen ? { details } : {}),
  }));
}

/** Errors: TASK_NOT_FOUND. What is wrong with a trail is in the answer. */
export async function verifyAudit(services: Services, reference: string | undefined): Promise<AuditVerifyView> {
  const checks: CheckView[] = [];
  let files = 0;
  let entries = 0;
  await forEachTask(services, reference, async (task) => {
    const vault = await openQuietly(services, task);
    const found = await verifyTrail(services, task, vault);
    files += found.files;
    entries += found.entries;
    checks.push(...describeTrail(task, vault, found));
  });
  const intact = checks.every(({ ok }) => ok);
  return { intact, exit_status: intact ? EXIT_STATUS.done : EXIT_STATUS.tampered, files, entries, checks };
}

interface Trail {
  readonly files: number;
  readonly entries: number;
  readonly faults: readonly string[];
}

function describeTrail(task: TaskStore, vault: TaskVault | undefined, trail: Trail): CheckView[] {
  if (trail.faults.length > 0) return trail.faults.map((text) => ({ name: task.name, ok: false, text }));
  const how = vault === undefined ? "chain and checksums fit; seals not checked, the key is not at hand" : "whole";
  return [{ name: task.name, ok: true, text: `${trail.entries} entries in ${trail.files} files: ${how}` }];
}

async function verifyTrail(services: Services, task: TaskStore, vault: TaskVault | undefined): Promise<Trail> {
  const keys = await listAudit(task);
  const faults: string[] = [];
  const hashes = new Map<number, string>();
  let entries = 0;
  for (const key of keys) {
    const n = auditNumber(key) ?? 0;
    const bytes = (await task.get(key)) ?? Buffer.alloc(0);
    hashes.set(n, sha256Hex(bytes));
    try {
      const file = decodeAuditFile(key, bytes);
      const opened = vault === undefined ? file.entries : openDetails(key, file, vault);
      entries += opened.length;
      faults.push(...findLinkFaults({ key, n, header: file.header, hashes, taskId: vault?.taskId }));
    } catch (error) {
      if (
        !isErrorCode(
          error,
          "FORMAT_NOT_OURS",
          "FORMAT_VERSION",
          "AUDIT_TAMPERED",
          "KEY_MISSING",
          "KEY_WRONG",
          "SEAL_MISSING",
        )
      )
        throw error;
      faults.push(messageOf(error));
    }
  }
  faults.push(...findGaps(hashes), ...(await compareEnd(services, vault, hashes)));
  return { files: keys.length, entries, faults };
}

interface Link {
  readonly key: string;
  readonly n: number;
  readonly header: { readonly n: number; readonly prev: string | null; readonly workflow_id: string | null };
  readonly hashes: ReadonlyMap<number, string>;
  readonly taskId: string | undefined;
}

function findLinkFaults({ key, n, header, hashes, taskId }: Link): string[] {
  const faults: string[] = [];
  if (header.n !== n) faults.push(`${key} was written as ${auditKey(header.n)}`);
  if (header.workflow_id !== null && taskId !== undefined && header.workflow_id !== taskId)
    faults.push(`${key} belongs to another task`);
  const before = hashes.get(n - 1) ?? null;
  const isAfterGap = n > 1 && before === null;
  if (!isAfterGap && header.prev !== before)
    faults.push(`${key} does not follow ${n === 1 ? "nothing" : auditKey(n - 1)}: that one was changed or exchanged`);
  return faults;
}

function findGaps(hashes: ReadonlyMap<number, string>): string[] {
  const last = Math.max(0, ...hashes.keys());
  const faults: string[] = [];
  for (let n = 1; n <= last; n += 1) if (!hashes.has(n)) faults.push(`${auditKey(n)} is missing`);
  return faults;
}

/** Files cut off at the end are missed only by who remembers them. */
async function compareEnd(
  { fileSystem, environment, store }: Services,
  vault: TaskVault | undefined,
  hashes: ReadonlyMap<number, string>,
): Promise<string[]> {
  if (vault === undefined || !store.manifest.durable) return [];
  const loaded = await loadAnchor({ fileSystem, stateFolder: auditAnchorFolder(environment) }, vault.taskId);
  if (loaded.state !== "known") return [];
  const { n, hash } = loaded.anchor;
  const last = Math.max(0, ...hashes.keys());
  if (n > last)
    return [`${auditKey(n)} was seen on this machine and is missing, with all from ${auditKey(last + 1)} on`];
  return hashes.has(n) && hashes.get(n) !== hash ? [`${auditKey(n)} is not the one that was seen on this machine`] : [];
}

async function listAudit(task: TaskStore): Promise<string[]> {
  return (await task.list(AUDIT_PREFIX)).flatMap(({ key }) => (auditNumber(key) === undefined ? [] : [key]));
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

async function forEachTask(
  services: Services,
  reference: string | undefined,
  act: (task: TaskStore) => Promise<void>,
): Promise<void> {
  const named = reference === undefined ? undefined : await findTask(services, reference, "read");
  const names = named === undefined ? await services.store.tasks() : [named.name];
  for (const name of names) {
    const task = named ?? (await services.store.task(name));
    try {
      if (task !== undefined) await act(task);
    } finally {
      await task?.close();
    }
  }
}
