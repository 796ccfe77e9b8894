/** The audit files of a task as they are found, and which of them count. Reading changes no byte. */
import { sha256Hex } from "../../base/digest.js";
import { isErrorCode, SplashdownError } from "../../base/errors.js";
import type { TaskStore } from "../../store/contract/contract.js";
import { anchoredPosition, loadAnchor } from "../../vault/anchor.js";
import type { TaskVault } from "../../vault/contract.js";
import {
  auditKey,
  auditNumber,
  AUDIT_PREFIX,
  decodeAuditFile,
  openDetails,
  type AuditFile,
} from "../audit/audit-file.js";
import { auditAnchorFolder } from "../audit/audit-trail.js";
import type { Services } from "../services/services.js";
import { readBounded } from "../../store/files/read-bounded.js";
import { LIMITS } from "../../base/limits.js";

export interface FoundAuditFile {
  readonly key: string;
  readonly n: number;
  readonly sha256: string;
  /** What its form or checksum says against it, where it cannot be read. */
  readonly content: AuditFile | SplashdownError;
}

export interface Trail {
  /** From `first` on, in order. */
  readonly files: readonly FoundAuditFile[];
  /** The number that the trail begins with: after the files that others carry (A7). */
  readonly first: number;
  /** Whether what a file says counts: not where a set of carried files was not finished. */
  readonly counts: (file: FoundAuditFile) => boolean;
}

/** Reads every file, one after the other. */
export async function readTrail(task: TaskStore): Promise<Trail> {
  const files: FoundAuditFile[] = [];
  for (const { key } of await task.list(AUDIT_PREFIX)) {
    const n = auditNumber(key);
    if (n === undefined) continue;
    const bytes = (await readBounded(task, key, LIMITS.auditFileBytesMax)) ?? Buffer.alloc(0);
    files.push({ key, n, sha256: sha256Hex(bytes), content: decode(key, bytes) });
  }
  const carriedTo = findCarriedTo(files);
  return {
    files: files.filter(({ n }) => n > carriedTo),
    first: carriedTo + 1,
    counts: ({ content }) => {
      const to = carriesOf(content)?.to;
      return to === undefined || to === carriedTo;
    },
  };
}

function decode(key: string, bytes: Uint8Array): FoundAuditFile["content"] {
  try {
    return decodeAuditFile(key, bytes);
  } catch (error) {
    if (error instanceof SplashdownError) return error;
    throw error;
  }
}

function carriesOf(content: FoundAuditFile["content"]): AuditFile["header"]["carries"] {
  return content instanceof SplashdownError ? undefined : content.header.carries;
}

/** The end of what the latest whole set of carried files says again; 0 when there is none. */
function findCarriedTo(files: readonly FoundAuditFile[]): number {
  const sets = new Map<number, { readonly parts: number; readonly found: Set<number> }>();
  for (const { content } of files) {
    const carries = carriesOf(content);
    if (carries === undefined) continue;
    const known = sets.get(carries.to) ?? { parts: carries.parts, found: new Set<number>() };
    known.found.add(carries.part);
    sets.set(carries.to, known);
  }
  const whole = [...sets].filter(([, { parts, found }]) => found.size === parts).map(([to]) => to);
  return Math.max(0, ...whole);
}

/** What stands against a trail; nothing in a sound one. */
export interface TrailVerdict {
  readonly files: number;
  readonly entries: number;
  readonly faults: readonly string[];
}

const FAULT_CODES = [
  "FORMAT_NOT_OURS",
  "FORMAT_VERSION",
  "AUDIT_TAMPERED",
  "KEY_MISSING",
  "KEY_WRONG",
  "KEYRING_ROLLED_BACK",
  "SEAL_MISSING",
] as const;

/** Checks form, chain, seals and end. Shape: without a vault the seals are not looked at. */
export async function verifyTrail(
  services: Services,
  trail: Trail,
  vault: TaskVault | undefined,
): Promise<TrailVerdict> {
  const faults: string[] = [];
  const hashes = new Map(trail.files.map(({ n, sha256 }) => [n, sha256]));
  const found = trail.files.map((file) => ({ file, opened: openFile(file, vault) }));
  const repeated = new Set(found.flatMap(({ opened }) => originsOf(opened)));
  let entries = 0;
  for (const { file, opened } of found) {
    if (opened instanceof SplashdownError) {
      if (!isErrorCode(opened, "KEY_MISSING") || !repeated.has(file.n)) faults.push(opened.message);
      continue;
    }
    entries += trail.counts(file) ? opened.entries.length : 0;
    faults.push(
      ...findLinkFaults({ ...file, header: opened.header, hashes, first: trail.first, taskId: vault?.taskId }),
    );
  }
  faults.push(...findGaps(trail, hashes), ...(await compareEnd(services, vault, hashes)));
  return { files: trail.files.length, entries, faults };
}

/** Numbers of the files that it says again: under a key that is at hand, which theirs need not be (A8). */
function originsOf(opened: AuditFile | SplashdownError): number[] {
  return opened instanceof SplashdownError ? [] : opened.entries.flatMap(({ origin }) => origin?.n ?? []);
}

/** Errors: none that is a fault of the file. */
function openFile({ key, content }: FoundAuditFile, vault: TaskVault | undefined): AuditFile | SplashdownError {
  if (content instanceof SplashdownError) return content;
  try {
    return vault === undefined ? content : { ...content, entries: openDetails(key, content, vault) };
  } catch (error) {
    if (error instanceof SplashdownError && isErrorCode(error, ...FAULT_CODES)) return error;
    throw error;
  }
}

interface Link {
  readonly key: string;
  readonly n: number;
  readonly header: Pick<AuditFile["header"], "n" | "prev" | "workflow_id">;
  readonly hashes: ReadonlyMap<number, string>;
  readonly first: number;
  readonly taskId: string | undefined;
}

function findLinkFaults({ key, n, header, hashes, first, taskId }: Link): string[] {
  const faults: string[] = [];
  if (header.n !== n) faults.push(`${key} was written as ${auditKey(header.n)}`);
  if (header.workflow_id !== null && taskId !== undefined && header.workflow_id !== taskId)
    faults.push(`${key} belongs to another task`);
  const before = hashes.get(n - 1) ?? null;
  // What came before the first one is carried in it, or told as a gap.
  const isAfterGap = n > 1 && before === null;
  if (n >= first && !isAfterGap && header.prev !== before)
    faults.push(`${key} does not follow ${n === 1 ? "nothing" : auditKey(n - 1)}: that one was changed or exchanged`);
  return faults;
}

function findGaps({ first }: Trail, hashes: ReadonlyMap<number, string>): string[] {
  const last = Math.max(0, ...hashes.keys());
  const faults: string[] = [];
  for (let n = first; n <= last; n += 1) if (!hashes.has(n)) faults.push(`${auditKey(n)} is missing`);
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
  const position = anchoredPosition(loaded);
  if (position === undefined) return [];
  const { n, hash } = position;
  const last = Math.max(0, ...hashes.keys());
  if (n > last)
    return [`${auditKey(n)} was seen on this machine and is missing, with all from ${auditKey(last + 1)} on`];
  return hashes.has(n) && hashes.get(n) !== hash ? [`${auditKey(n)} is not the one that was seen on this machine`] : [];
}
