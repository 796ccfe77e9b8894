/**
 * `checkpoints export|import`: a task in one file, for another machine, another person, or a drawer.
 *
 * An export copies the sealed bytes and, where recipients are named, puts in a keyring that only they can open; it reads
 * the task and does not own it. An import is proved in memory first: opened, its whole history folded, its files and
 * large values unsealed. Only then is a place for it made, and its deliverables are written as the history holds them.
 */
import { writeCommand } from "../../../base/command-text.js";
import { resolve } from "node:path";
import { errnoOf, isErrorCode, messageOf, SplashdownError } from "../../../base/errors.js";
import { LIMITS } from "../../../base/limits.js";
import { quoteArgument } from "../../../base/shell-text.js";
import { createBlobShelf } from "../../../checkpoint/blobs/blobs.js";
import { MemorySpace, MemoryStore } from "../../../store/memory/memory-store.js";
import type { TaskStore } from "../../../store/contract/contract.js";
import { packBundle, unpackBundle, type UnpackedBundle } from "../../../transfer/bundle.js";
import { isArriving, readTaskFiles, writeTask, type TaskFile } from "../../../transfer/copy-task.js";
import { contentOf, isFolderPath, type FileContent } from "../../../transfer/folder-files.js";
import { raiseAnchor } from "../../../vault/anchor.js";
import { inspectKeyring } from "../../../vault/keyring-view.js";
import { type CarriedKeyring, wrapForOthers } from "../../../vault/keyring-changes.js";
import { readWhole } from "../../../vault/private-file.js";
import type { ExportOptions, ExportView, ImportOptions, ImportView } from "../../views/bundle-views.js";
import { encodeDeliverable } from "../../session/deliverables.js";
import { arrive, openArrivalPlace } from "./import-target.js";
import { createFile } from "./bundle-file.js";
import { CarriedPack, openCarried, withoutCarried } from "./bundled-files.js";
import { listPrograms } from "../../tasks/programs.js";
import { findTask } from "../../tasks/finding.js";
import { packReport } from "./redacted-report.js";
import { openWith, readState, resolveValue, whileOpen, type OpenedTask } from "../../tasks/reading.js";
import { recordArrival } from "../../tasks/residence.js";
import { readTask, type KnownTask } from "../../../recovery/fold.js";
import type { Services } from "../../services/services.js";
import { formatTime } from "../../views/views.js";

/** Errors: TASK_NOT_FOUND, KEY_SOURCE_INVALID, BUNDLE_TOO_LARGE; USAGE_INVALID when there is such a file; STORE_UNWRITABLE. */
export async function exportTask(services: Services, reference: string, options: ExportOptions): Promise<ExportView> {
  return whileOpen(await findTask(services, reference, "tend"), async (task) => {
    const watched = { task, verb: "checkpoints export" };
    const opened = await services.audit.watch(watched, readState(services, task));
    const { history } = opened.folded;
    const path = resolve(services.environment.workingFolder, options.file);
    if (options.redacted === true) return exportReport(services, opened, path);
    const keyrings = await listKeyrings(task);
    const others = await wrapFor(services, opened, options);
    const pack = new CarriedPack({
      fileSystem: services.fileSystem,
      folder: task.deliverablesFolder,
      vault: opened.vault,
      deliverables: opened.folded.state.deliverables,
      withFiles: options.withoutFiles !== true,
    });
    const files = pack.files(underKeys(task, keyrings, withKeyring(readTaskFiles(task), others)));
    const facts = {
      task: task.name,
      workflowId: opened.vault.taskId,
      created: formatTime(services.clock.nowMs()),
      app: services.version,
      encrypted: opened.vault.encrypted,
    };
    await services.audit.note(opened, {
      event: "exported",
      verb: "checkpoints export",
      details: { recipients: [...(others?.slots ?? [])], records: history.head?.n ?? 0 },
    });
    const size = await createFile(services, path, packBundle(facts, files));
    return {
      task: task.name,
      workflow_id: opened.vault.taskId,
      file: path,
      size,
      records: history.head?.n ?? 0,
      deliverables: opened.folded.state.deliverables.size,
      carried: pack.carried.length,
      left_out: pack.leftOut,
      opened_by: others?.slots ?? (await listSlots(task)),
      next: writeCommand("checkpoints import", [path]),
    };
  });
}

async function exportReport(services: Services, opened: OpenedTask & KnownTask, path: string): Promise<ExportView> {
  const { task, vault, folded } = opened;
  const { version, store, clock } = services;
  const facts = {
    app: version,
    platform: `${process.platform} ${process.arch}, Node ${process.versions.node}`,
    store: store.manifest.kind,
    created: formatTime(clock.nowMs()),
  };
  const zip = packReport(facts, folded.history, vault);
  const records = folded.history.head?.n ?? 0;
  const details = { redacted: true, records };
  await services.audit.note(opened, { event: "exported", verb: "checkpoints export", details });
  const size = await createFile(services, path, [zip]);
  return {
    task: task.name,
    workflow_id: vault.taskId,
    file: path,
    size,
    records,
    deliverables: 0,
    carried: 0,
    left_out: [],
    opened_by: [],
    redacted: true,
    next: `unzip -p ${quoteArgument(path)} events.jsonl`,
  };
}

async function wrapFor(
  services: Services,
  { task, vault }: OpenedTask,
  { recipients = [] }: ExportOptions,
): Promise<CarriedKeyring | undefined> {
  if (recipients.length === 0) return undefined;
  if (!vault.encrypted)
    throw new SplashdownError(
      "USAGE_INVALID",
      `task ${task.name} is not encrypted, so it cannot be sealed for anybody`,
    );
  const { keys } = services;
  return wrapForOthers(
    keys.changing(task, vault),
    recipients.map((source) => keys.resolveSource(source)),
  );
}

async function listSlots(task: TaskStore): Promise<string[]> {
  const view = await inspectKeyring(task);
  const slots = view?.keys.flatMap((key) => key.slots) ?? [];
  return [...new Set(slots.map(({ type, fingerprint, label }) => `${type} ${fingerprint} (${label})`))];
}

async function listKeyrings(task: TaskStore): Promise<string> {
  return (await task.list("keyring-")).map(({ key }) => key).join();
}

/** Errors: STORE_BUSY when the keys were changed since: some files may be sealed with one that the keyring read lacks. */
async function* underKeys(task: TaskStore, keyrings: string, files: AsyncIterable<TaskFile>): AsyncGenerator<TaskFile> {
  yield* files;
  if ((await listKeyrings(task)) === keyrings) return;
  throw new SplashdownError("STORE_BUSY", `the keys of task ${task.name} were changed while it was read`, {
    details: { task: task.name },
  });
}

/** The files with the keyring for others in place of the task's own, still last. */
async function* withKeyring(
  files: AsyncIterable<TaskFile>,
  keyring: CarriedKeyring | undefined,
): AsyncGenerator<TaskFile> {
  for await (const file of files) if (keyring === undefined || file.key?.startsWith("keyring-") !== true) yield file;
  if (keyring !== undefined) yield keyring;
}

/**
 * Errors: BUNDLE_CORRUPT, BUNDLE_TOO_LARGE, FORMAT_*; the KEY_* codes; USAGE_INVALID when the name is taken or the same
 * task is here already; those of reading a task, for what is in the bundle.
 */
export async function importBundle(services: Services, file: string, options: ImportOptions = {}): Promise<ImportView> {
  const bundle = unpackBundle(await readBundle(services, resolve(services.environment.workingFolder, file)));
  const name = options.task ?? bundle.facts.task;
  await refuseTwin(services, { name, workflowId: bundle.facts.workflowId });
  const proved = await prove(services, name, bundle);
  const place = await openArrivalPlace(services, services.store, name);
  if (place === undefined) throw nameTaken(name);
  return whileOpen(place, async () => {
    const { deliverables, files } = proved;
    const mark = { from: "bundle", ...bundle.facts };
    // Before it is a task at all: nobody finds it without this word of it.
    await recordArrival(services, place, proved.vault.taskId);
    await arrive(services, { store: services.store, place, files, mark, deliverables });
    await services.audit.note(
      { task: place, vault: proved.vault },
      { event: "imported", verb: "checkpoints import", details: { ...bundle.facts } },
    );
    await anchor(services, proved);
    const { state, history } = proved.folded;
    return {
      task: name,
      workflow_id: proved.vault.taskId,
      folder: place.deliverablesFolder,
      exported_at: bundle.facts.created,
      records: history.head?.n ?? 0,
      checkpoints: state.checkpoints.length,
      files: files.length,
      deliverables: deliverables.size,
      programs: state.task === undefined ? [] : listPrograms(state.task.definition),
      next: writeCommand("show", [name]),
    };
  });
}

async function readBundle({ fileSystem }: Services, path: string): Promise<Uint8Array> {
  const handle = await fileSystem.open(path, "read").catch(unreadable(path));
  try {
    const bytes = await readWhole(handle, LIMITS.bundleBytesMax).catch(unreadable(path));
    if (bytes !== undefined) return bytes;
    throw new SplashdownError("BUNDLE_TOO_LARGE", `${path} is over ${LIMITS.bundleBytesMax} bytes`);
  } finally {
    await handle.close().catch(() => undefined);
  }
}

function unreadable(path: string): (error: unknown) => never {
  return (error) => {
    const errno = errnoOf(error);
    const why = errno === "ENOENT" ? "does not exist" : `cannot be read (${errno ?? "no reason given"})`;
    throw new SplashdownError("USAGE_INVALID", `the bundle ${path} ${why}`, {
      details: { verb: "checkpoints import", file: path },
      cause: error,
    });
  };
}

/** Two tasks with one id would give their steps the same idempotency keys. */
async function refuseTwin(
  services: Services,
  wanted: { readonly name: string; readonly workflowId: string },
): Promise<void> {
  for (const name of await services.store.tasks()) {
    const task = await services.store.task(name).catch(() => undefined);
    if (task === undefined) continue;
    const isUnfinished = await isArriving(task);
    const view = await inspectKeyring(task).catch(() => undefined);
    await task.close();
    if (view?.task !== wanted.workflowId || isUnfinished) continue;
    throw new SplashdownError(
      "USAGE_INVALID",
      `task ${name} is the same task as the one in the bundle; for a second one: ${writeCommand("fork", [name], { "--from": "latest" })}`,
      { details: { verb: "checkpoints import", task: name } },
    );
  }
}

type Proved = OpenedTask &
  KnownTask & {
    readonly files: readonly TaskFile[];
    readonly deliverables: ReadonlyMap<string, FileContent>;
  };

/** Opens the bundle as the task it will be, in memory, and reads everything in it. */
async function prove(services: Services, name: string, bundle: UnpackedBundle): Promise<Proved> {
  const store = new MemoryStore({ space: new MemorySpace(), deliverablesRoot: services.environment.workingFolder });
  const task = await store.createTask(name);
  if (task === undefined) throw new SplashdownError("INTERNAL", "an empty store has a task");
  const files = withoutCarried(bundle.files);
  await writeTask(task, files, { mark: {} }).catch((error: unknown) => {
    if (!isErrorCode(error, "STORE_FAILED")) throw error;
    throw corrupt(messageOf(error), error);
  });
  // A person imports it, whoever locked it: from now on its first key is known here. An older keyring is told afterwards.
  const opened = openWith(services, task, await services.keys.open(task, { isAccepted: true }));
  const cache: KnownTask["cache"] = new Map();
  const proved = { ...opened, folded: await readTask({ ...opened, cache }), cache };
  const { vault, folded, snapshots } = proved;
  if (vault.taskId !== bundle.facts.workflowId || vault.encrypted !== bundle.facts.encrypted)
    throw corrupt("it holds another task than it says");
  if (folded.lost.length > 0 || folded.history.damage.length > 0) throw corrupt("its journal was so when it was made");
  for (const { file } of await snapshots.list()) await snapshots.load(file);
  const shelf = createBlobShelf({ store: task, vault });
  for (const { key } of await task.list("blobs/")) await shelf.prove(key);
  const carried = openCarried(bundle.files, vault);
  return { ...proved, files, deliverables: await listDeliverables(proved, carried) };
}

/** What the history holds, each as its digest there says, and in their place or beside them what the bundle carries. */
async function listDeliverables(
  { task, vault, folded }: OpenedTask & KnownTask,
  carried: ReadonlyMap<string, Uint8Array>,
): Promise<Map<string, FileContent>> {
  const files = new Map<string, FileContent>();
  for (const { file, content } of folded.state.deliverables.values()) {
    const load = async () => encodeDeliverable(await resolveValue({ task, vault }, content));
    const { sizeBytes, sha256 } = contentOf(await load());
    if (!isFolderPath(file) || sha256 !== folded.state.deliverables.get(file)?.sha256)
      throw corrupt(`its history holds another ${JSON.stringify(file.slice(0, 100))} than it says`);
    files.set(file, {
      sizeBytes,
      sha256,
      pieces: async function* () {
        yield await load();
      },
    });
  }
  for (const [path, bytes] of carried) files.set(path, contentOf(bytes));
  return files;
}

function nameTaken(name: string): SplashdownError {
  return new SplashdownError("USAGE_INVALID", `there is a task ${name} already; choose another --task`, {
    details: { verb: "checkpoints import", task: name },
  });
}

function corrupt(what: string, cause?: unknown): SplashdownError {
  return new SplashdownError("BUNDLE_CORRUPT", `the bundle is damaged: ${what}`, { cause });
}

/** Remembers how far the task had come, so that an older copy of it is missed from now on. */
async function anchor(services: Services, { vault, folded }: Proved): Promise<void> {
  const { head } = folded.history;
  if (head === undefined || !services.store.manifest.durable) return;
  const { fileSystem, random, environment } = services;
  const position = { epoch: head.epoch, n: head.n, hash: head.h };
  await raiseAnchor({
    fileSystem,
    random,
    stateFolder: environment.stateFolder,
    taskId: vault.taskId,
    fields: { position },
  });
}
