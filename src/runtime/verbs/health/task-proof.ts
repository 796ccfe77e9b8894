/**
 * Reads every file of a task wholly and names what is damaged, before anybody needs it: `doctor --tasks`.
 *
 * One task at a time, and of it one file at a time beside its journal. Nothing is changed and nothing set aside; what to do
 * about damage is recovery's when the task goes on. Without the key nothing is said but that it is missing.
 *
 * Deliverables are people's own files: one that is not as it was delivered is told, with the way to have it again, and is
 * no damage of the task.
 */
import { writeCommand } from "../../../base/command-text.js";
import { join } from "node:path";
import { formatCount } from "../../../base/plain-text.js";
import { errorCodeOf, messageOf, SplashdownError } from "../../../base/errors.js";
import type { ErrorCode } from "../../../base/error-table.js";
import type { JsonValue } from "../../../base/json.js";
import { LIMITS } from "../../../base/limits.js";
import { createBlobShelf } from "../../../checkpoint/blobs/blobs.js";
import { validateFile } from "../../../checkpoint/format/file-report.js";
import type { EngineEvent } from "../../../engine/model/events.js";
import type { SavedFile } from "../../../engine/model/value-ref.js";
import { readHistory, type Damage, type History, type LostRange } from "../../../journal/history.js";
import { journalLost } from "../../../recovery/evidence.js";
import { readTask } from "../../../recovery/fold.js";
import { formatSegmentName } from "../../../store/contract/segment-name.js";
import { readContent } from "../../../transfer/folder-files.js";
import { decodeKeyring } from "../../../vault/keyring-format.js";
import { readTrail, verifyTrail } from "../../tasks/audit-reading.js";
import type { CheckView } from "../../views/verb-views.js";
import { replaceReferences } from "../value-copies.js";
import { PIN_PREFIX } from "../../../checkpoint/pins.js";
import { decodeControlFile } from "../../mailbox/control-file.js";
import { parseMessage } from "../../mailbox/message-body.js";
import { openTask, whileOpen, type OpenedTask } from "../../tasks/reading.js";
import type { Services } from "../../services/services.js";
import { readBounded } from "../../../store/files/read-bounded.js";
import { computeFileBytesMax } from "../../../checkpoint/format/layout.js";

interface Fault {
  readonly file: string;
  readonly text: string;
  readonly code: ErrorCode;
}

/** Nothing of theirs can be read, and nothing is wrong with that. */
const CLOSED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["TASK_NOT_STARTED", "KEY_SHREDDED"]);

/** Shape: a check for each whole task, one for each damaged file of the others; in the order of names. */
export async function* proveTasks(services: Services): AsyncGenerator<CheckView> {
  const names = await services.store.tasks();
  for (const [at, name] of names.entries()) {
    services.log.info(`checking ${name} (${at + 1} of ${names.length})`);
    yield* await proveTask(services, name);
  }
}

async function proveTask(services: Services, name: string): Promise<CheckView[]> {
  try {
    const task = await services.store.task(name);
    if (task === undefined) return [];
    return await whileOpen(task, async () => new TaskProof(services, await openTask(services, task)).prove());
  } catch (error) {
    const code = codeOf(error);
    if (CLOSED.has(code)) return [{ name, ok: true, skipped: true, text: messageOf(error) }];
    return [viewFault(name, { file: fileIn(error), text: messageOf(error), code })];
  }
}

/** The file that an error names; empty where it names none. */
function fileIn(error: unknown): string {
  const { file, files } = error instanceof SplashdownError ? error.details : {};
  const named = Array.isArray(files) ? (files as readonly JsonValue[])[0] : file;
  return typeof named === "string" ? named : "";
}

function codeOf(error: unknown): ErrorCode {
  const code = errorCodeOf(error);
  if (code === undefined || code === "INTERNAL") throw error;
  return code;
}

function viewFault(name: string, { file, text, code }: Fault): CheckView {
  const details = file === "" ? { task: name } : { task: name, file };
  return {
    name,
    ok: false,
    ...(file === "" ? {} : { file }),
    text: `${file === "" ? "" : `${file}: `}${text} [${code}]`,
    hint: new SplashdownError(code, "", { details }).hint,
  };
}

function viewChanged(name: string, { file, sizeBytes }: SavedFile, sizeNow: number | undefined): CheckView {
  const is = sizeNow === undefined ? "is not there any more" : "was changed since it was delivered";
  const now = sizeNow === undefined ? "" : `, ${formatCount(sizeNow, "byte")} now`;
  return {
    name,
    ok: true,
    skipped: true,
    file,
    text: `${file} ${is}: ${formatCount(sizeBytes, "byte")} then${now}; the task is whole`,
    hint: `to have it as it was delivered: ${writeCommand("fork", [name], { "--from": "latest" })}, and resume the new task`,
  };
}

class TaskProof {
  readonly #services: Services;
  readonly #opened: OpenedTask;
  readonly #faults: Fault[] = [];
  /** Of snapshot files, as the journal says they were written. */
  readonly #written = new Map<string, string>();
  /** Large values that the journal refers to. */
  readonly #blobs = new Set<string>();
  #delivers = false;

  constructor(services: Services, opened: OpenedTask) {
    this.#services = services;
    this.#opened = opened;
  }

  async prove(): Promise<CheckView[]> {
    const { name } = this.#opened.task;
    await this.#proveKeyrings();
    const records = await this.#proveJournal();
    const snapshots = await this.#proveSnapshots();
    if (this.#faults.length === 0) await this.#proveState();
    const blobs = await this.#proveBlobs();
    await this.#proveControl();
    const entries = await this.#proveTrail();
    const told = this.#faults.slice(0, LIMITS.damagedFilesToldMax).map((fault) => viewFault(name, fault));
    const untold = this.#faults.length - told.length;
    if (untold > 0) told.push({ name, ok: false, text: formatCount(untold, "more damaged place") });
    if (told.length > 0) return told;
    const changed = this.#delivers ? await this.#compareDeliverables() : [];
    const text = `whole: ${formatCount(records, "record")}, ${formatCount(snapshots, "snapshot file")}, ${formatCount(blobs, "large value")}, ${formatCount(entries, "audit entry", "audit entries")}`;
    return [{ name, ok: true, text }, ...changed];
  }

  /** Nothing of a task that runs: what it delivers last may not be written yet. */
  async #compareDeliverables(): Promise<CheckView[]> {
    const { task } = this.#opened;
    if ((await task.ownerState()).state === "alive") return [];
    const { state } = await readTask(this.#opened);
    const views: CheckView[] = [];
    for (const saved of state.deliverables.values()) {
      const content = await readContent(this.#services.fileSystem, join(task.deliverablesFolder, saved.file));
      if (content?.sha256 !== saved.sha256) views.push(viewChanged(task.name, saved, content?.sizeBytes));
    }
    return views;
  }

  /** Also those that a newer one stands for: they count where it is damaged. */
  async #proveKeyrings(): Promise<void> {
    const { task } = this.#opened;
    for (const { key } of await task.list("keyring-"))
      await this.#attempt(key, async () => {
        const bytes = await readBounded(task, key, LIMITS.keyringBytesMax);
        if (bytes !== undefined) decodeKeyring(bytes, key);
      });
  }

  async #proveJournal(): Promise<number> {
    const { task, vault } = this.#opened;
    const history = await this.#attempt("journal", () => readHistory({ task, vault }));
    if (history === undefined) return 0;
    for (const damage of history.damage) this.#blame(fileOf(damage.segment), describeDamage(damage), "JOURNAL_CORRUPT");
    if (history.damage.length === 0)
      for (const { from, to } of lostByDamage(history))
        this.#blame("journal", `records ${from} to ${to ?? "the end"} are lost`, "JOURNAL_CORRUPT");
    for (const record of history.records) {
      const { epoch, index } = record.position;
      const file = `${fileOf(`${epoch}-${index}`)} record ${record.n}`;
      const event = await this.#attempt(file, async () => record.decode());
      if (event !== undefined) await this.#note(event);
    }
    return history.records.length;
  }

  /** What only the whole tells: records that files beside the journal speak of, and that are not there (R17). */
  async #proveState(): Promise<void> {
    const folded = await this.#attempt("journal", () => readTask(this.#opened));
    if (folded === undefined) return;
    if (folded.evidence.length > 0) {
      const { message } = journalLost(this.#opened.task.name, folded.evidence, undefined);
      this.#blame("journal", message, "JOURNAL_MISSING");
      return;
    }
    for (const { from, to } of folded.lost)
      this.#blame("journal", `records ${from} to ${to ?? "the end"} are lost`, "JOURNAL_CORRUPT");
  }

  async #note(event: EngineEvent): Promise<void> {
    if ("saved" in event && (event.saved?.length ?? 0) > 0) this.#delivers = true;
    if (event.type === "snapshot_written") this.#written.set(event.file, event.sha256);
    await replaceReferences(event as unknown as JsonValue, async (ref) => {
      this.#blobs.add(ref.key);
      return ref;
    });
  }

  async #proveSnapshots(): Promise<number> {
    const { task, vault, snapshots } = this.#opened;
    const rawBytesMax = this.#services.settings.checkpoint_config.checkpoint_size_limit_mb * 1024 * 1024;
    const entries = await snapshots.list();
    for (const { file } of entries) {
      const bytes = await this.#attempt(file, () => readBounded(task, file, computeFileBytesMax(rawBytesMax)));
      // Removed by its owner meanwhile.
      if (bytes === undefined) continue;
      const { checks, sha256 } = await validateFile(bytes, { name: file, vault, rawBytesMax });
      const failed = checks.find(({ result }) => result === "failed");
      const written = this.#written.get(file);
      if (failed !== undefined) this.#blame(file, failed.message ?? failed.check, failed.code ?? "CHECKPOINT_CORRUPT");
      else if (written !== undefined && written !== sha256)
        this.#blame(file, "it is not the file that the journal says was written", "CHECKPOINT_TAMPERED");
    }
    return entries.length;
  }

  async #proveBlobs(): Promise<number> {
    const { task, vault } = this.#opened;
    const shelf = createBlobShelf({ store: task, vault });
    const there = new Set((await task.list("blobs/")).map(({ key }) => key));
    for (const key of there) await this.#attempt(key, () => shelf.prove(key));
    for (const key of this.#blobs)
      if (!there.has(key)) this.#blame(key, "it is not there, and the journal refers to it", "BLOB_CORRUPT");
    return there.size;
  }

  async #proveControl(): Promise<void> {
    const { task, vault } = this.#opened;
    for (const { key } of await task.list("control/"))
      await this.#attempt(key, async () => {
        const bytes = await readBounded(task, key, LIMITS.controlFileBytesMax);
        if (bytes === undefined) return;
        const body = decodeControlFile(vault, key, bytes);
        const message = key.startsWith(PIN_PREFIX) ? undefined : parseMessage(body);
        if (message?.kind === "unread") this.#blame(key, message.why, "FORMAT_VERSION");
      });
  }

  async #proveTrail(): Promise<number> {
    const { task, vault } = this.#opened;
    const verdict = await this.#attempt("audit", async () => verifyTrail(this.#services, await readTrail(task), vault));
    for (const fault of verdict?.faults ?? []) this.#blame("audit", fault, "AUDIT_TAMPERED");
    return verdict?.entries ?? 0;
  }

  #blame(file: string, text: string, code: ErrorCode): void {
    this.#faults.push({ file, text, code });
  }

  async #attempt<T>(file: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#blame(file, messageOf(error), codeOf(error));
      return undefined;
    }
  }
}

/** What was lost against everybody's will: records that `prune --history` removed are not. */
function lostByDamage({ lost, prunedBefore }: Pick<History, "lost" | "prunedBefore">): readonly LostRange[] {
  return lost
    .map(({ from, to }) => ({ from: Math.max(from, prunedBefore), to }))
    .filter(({ from, to }) => to === undefined || to >= from);
}

/** `epoch-index` as the file it stands in. */
function fileOf(segment: string): string {
  const [epoch = 0, index = 0] = segment.split("-").map(Number);
  return `journal/${formatSegmentName({ epoch, index })}`;
}

const DAMAGES: Readonly<Record<Damage["what"], string>> = {
  header: "its header is damaged",
  hash: "is not what its chain says",
  form: "has not the form of a record",
  stray_bytes: "holds bytes that are no record",
  missing: "it is not there, and a later segment continues it",
  unsealed: "its header was not written with the task's key, so it is no part of the history",
};

function describeDamage({ what, line }: Damage): string {
  return line === undefined ? DAMAGES[what] : `line ${line} ${DAMAGES[what]}`;
}
