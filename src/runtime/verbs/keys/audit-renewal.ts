/**
 * The audit trail of a task once more under its new key (A7): new files carry what all files said so far, then those go.
 *
 * What was wrong with the trail before can be seen no more afterwards; so it is said in it, in an entry of its own.
 */
import { SplashdownError } from "../../../base/errors.js";
import { auditKey, auditNumber, AUDIT_PREFIX, openDetails, type AuditEntry } from "../../audit/audit-file.js";
import { readTrail, verifyTrail, type FoundAuditFile } from "../../tasks/audit-reading.js";
import type { OpenedTask } from "../../tasks/reading.js";
import type { Services } from "../../services/services.js";
import { formatTime } from "../../views/views.js";

/** Of the entries in one file; a third more when it is sealed, and well under LIMITS.auditFileBytesMax. */
const PART_BYTES = 256 * 1024;

/** Errors: the STORE_* codes. */
export async function renewAudit(services: Services, { task, vault }: OpenedTask): Promise<void> {
  const trail = await readTrail(task);
  const last = trail.files.at(-1);
  if (last === undefined) return;
  const { faults } = await verifyTrail(services, trail, vault);
  const entries = trail.files.filter(trail.counts).flatMap((file) => carry(file, vault));
  const resealed: AuditEntry = {
    at: formatTime(services.clock.nowMs()),
    event: "keys_changed",
    verb: "keys rotate --reencrypt",
    details: { carried: { files: trail.files.length, last: last.sha256, faults } },
  };
  await services.audit.carry({ task, vault }, last.n, cutIntoParts([...entries, resealed]));
  const numbers = (await task.list(AUDIT_PREFIX)).flatMap(({ key }) => auditNumber(key) ?? []);
  for (const n of numbers.sort((first, second) => first - second)) if (n <= last.n) await task.remove(auditKey(n));
}

/** The same for what others wrote under an older key while it was done. Errors: the STORE_* codes. */
export async function renewLateAudit(services: Services, opened: OpenedTask): Promise<void> {
  const { files } = await readTrail(opened.task);
  const isLate = ({ content }: FoundAuditFile): boolean =>
    !(content instanceof SplashdownError) && content.seal?.key !== undefined && content.seal.key !== opened.vault.keyId;
  if (files.some(isLate)) await renewAudit(services, opened);
}

/** What a file says, with where it stood. Of one that does not open: what stands in the clear, or nothing. */
function carry({ key, content }: FoundAuditFile, vault: OpenedTask["vault"]): AuditEntry[] {
  if (content instanceof SplashdownError) return [];
  const { n, session, pid, host, by, app } = content.header;
  const origin = { n, session, pid, host, by, app };
  return open(key, content, vault).map((entry) => ({ origin, ...entry }));
}

function open(key: string, content: Exclude<FoundAuditFile["content"], SplashdownError>, vault: OpenedTask["vault"]) {
  try {
    return openDetails(key, content, vault);
  } catch (error) {
    if (error instanceof SplashdownError) return content.entries;
    throw error;
  }
}

function cutIntoParts(entries: readonly AuditEntry[]): AuditEntry[][] {
  const parts: AuditEntry[][] = [[]];
  let sizeBytes = 0;
  for (const entry of entries) {
    const entryBytes = Buffer.byteLength(JSON.stringify(entry));
    if (sizeBytes > 0 && sizeBytes + entryBytes > PART_BYTES) {
      parts.push([]);
      sizeBytes = 0;
    }
    parts.at(-1)?.push(entry);
    sizeBytes += entryBytes;
  }
  return parts;
}
