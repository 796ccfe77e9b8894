/** `checkpoints list|show` and the `debug` verbs. They read, run nothing, and change nothing. */
import { basename, dirname, resolve } from "node:path";
import { ERROR_TABLE, EXIT_STATUS, type ErrorCode } from "../../base/error-table.js";
import { isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import { createBlobShelf } from "../../checkpoint/blobs/blobs.js";
import { formatDiff } from "../../checkpoint/diff/diff-text.js";
import { validateFile, type FileReport } from "../../checkpoint/format/file-report.js";
import { findUnreachable } from "../../checkpoint/history-cut.js";
import { readHead } from "../../checkpoint/format/layout.js";
import { listCheckpoints, type ListedCheckpoint } from "../../checkpoint/listing.js";
import { listPinned } from "../../checkpoint/pins.js";
import { diffStates, type LoadBlob } from "../../checkpoint/diff/state-diff.js";
import type { CheckpointEntry, TaskState } from "../../engine/model/state.js";
import { foldUntil, type FoldedTask } from "../../recovery/fold.js";
import type { TaskStore } from "../../store/contract/contract.js";
import type { TaskVault } from "../../vault/contract.js";
import type { CheckpointView } from "../views/task-views.js";
import type { CheckView, ValidateCheckpointOptions, ValidateCheckpointView } from "../views/verb-views.js";
import { findCheckpoint, findTask, type FoundCheckpoint } from "../tasks/finding.js";
import { openReadable } from "../keychain/readable-tasks.js";
import { openTask, readState, resolveValue, whileOpen } from "../tasks/reading.js";
import { readIdOf } from "../tasks/residence.js";
import type { Services } from "../services/services.js";
import {
  countSteps,
  viewCheckpoints,
  viewDecisions,
  viewMetrics,
  viewOpenQuestions,
  viewPhases,
} from "../views/views.js";
import { readBoundedFile } from "../../base/bounded-file.js";
import { OBJECT_BYTES_MAX } from "../../store/directory/directory-objects.js";

/** Checkpoints of one task, or of all that can be read; oldest first per task. */
export async function listTaskCheckpoints(
  services: Services,
  reference: string | undefined,
): Promise<CheckpointView[]> {
  if (reference !== undefined) {
    const task = await findTask(services, reference, "read");
    return whileOpen(task, () => viewOf(services, task));
  }
  const views: CheckpointView[] = [];
  for await (const task of openReadable(services)) {
    try {
      views.push(...(await viewOf(services, task)));
    } catch (error) {
      services.log.warn(`task ${task.name} was skipped: ${messageOf(error)}`);
    } finally {
      await task.close();
    }
  }
  return views;
}

async function viewOf(services: Services, task: TaskStore): Promise<CheckpointView[]> {
  const { folded, ...opened } = await services.audit.watch(
    { task, verb: "checkpoints list" },
    readState(services, task),
  );
  await services.audit.note(opened, { event: "read", verb: "checkpoints list" });
  const { checkpoints, strangers } = await listCheckpoints(folded.state.checkpoints, task);
  for (const file of strangers) services.log.warn(`${task.name}: ${file} belongs to no checkpoint of this history`);
  const present = new Set(
    checkpoints.filter(({ file }) => file !== undefined).map(({ entry }) => entry.checkpointId as string),
  );
  const pinned: ReadonlySet<string> = await listPinned(task);
  const lost = new Set(findLost(folded, checkpoints).map(({ checkpointId }) => checkpointId as string));
  return viewCheckpoints(task.name, folded.state).map((view) => {
    const marks = {
      ...(pinned.has(view.checkpoint_id) ? { pinned: true as const } : {}),
      ...(lost.has(view.checkpoint_id) ? { reachable: false as const } : {}),
    };
    if (present.has(view.checkpoint_id)) return { ...view, ...marks };
    const { file: _file, size: _size, ...rest } = view;
    return { ...rest, ...marks };
  });
}

/** Checkpoints that a shortened history does not lead to any more. */
function findLost({ state, history }: FoldedTask, listed: readonly ListedCheckpoint[]): readonly CheckpointEntry[] {
  const files = listed.flatMap(({ entry, file }) => (file === undefined ? [] : [entry.position]));
  return findUnreachable({ checkpoints: state.checkpoints, before: history.records[0]?.n ?? 1, files });
}

/** One checkpoint in full: what the seeds name, from its file when there is one, and the story's state at its position. */
export async function showCheckpoint(
  services: Services,
  reference: string,
  { values = false }: { readonly values?: boolean } = {},
): Promise<JsonObject> {
  const found = await findCheckpoint(services, reference, { verb: "checkpoints show" });
  try {
    await noteRead(services, found, "checkpoints show");
    const state = await stateAt(found);
    const [view] = viewCheckpoints(found.task.name, { ...found.state, checkpoints: [found.checkpoint] });
    const file = found.checkpoint.snapshot?.file;
    const picture = file === undefined ? undefined : await found.snapshots.loadPicture(file).catch(() => undefined);
    return JSON.parse(
      JSON.stringify({
        ...view,
        ...(picture === undefined ? {} : { agents: picture.picture.agents }),
        steps: countSteps(state),
        phases: viewPhases(state),
        decisions: viewDecisions(state),
        questions: viewOpenQuestions(found.task.name, state),
        metrics: viewMetrics(state),
        ...(values ? { values: await viewValues(found, state) } : {}),
      }),
    ) as JsonObject;
  } finally {
    await found.task.close();
  }
}

/** The values that later steps could read at the checkpoint. */
async function viewValues(found: FoundCheckpoint, state: TaskState): Promise<JsonObject> {
  const outputs: Record<string, JsonValue> = {};
  for (const [path, { value }] of state.outputs) outputs[path] = await resolveValue(found, value);
  return { inputs: state.task?.inputs ?? {}, outputs, channel: Object.fromEntries(state.channel) };
}

export function noteRead(services: Services, found: FoundCheckpoint, verb: string): Promise<void> {
  const { seq, checkpointId } = found.checkpoint;
  return services.audit.note(found, { event: "read", verb, details: { seq, checkpoint_id: checkpointId } });
}

async function stateAt(found: FoundCheckpoint): Promise<TaskState> {
  const { task, vault, snapshots, checkpoint } = found;
  return (await foldUntil({ task, vault, snapshots, until: checkpoint.position })).state;
}

export async function validateCheckpointFile(
  services: Services,
  file: string,
  options: ValidateCheckpointOptions = {},
): Promise<ValidateCheckpointView> {
  const located = await locateFile(services, file, options.task);
  const rawBytesMax = services.settings.checkpoint_config.checkpoint_size_limit_mb * 1024 * 1024;
  const report = await validateFile(located.bytes, {
    name: basename(file),
    rawBytesMax,
    ...(located.vault === undefined ? {} : { vault: located.vault }),
  });
  const failed = report.checks.find((check) => check.result === "failed");
  return {
    file: located.path,
    valid: report.ok,
    exit_status: failed === undefined ? EXIT_STATUS.done : ERROR_TABLE[failed.code ?? "CHECKPOINT_CORRUPT"].exitStatus,
    checks: describeChecks(report, located),
    ...(report.header === undefined ? {} : { header: JSON.parse(JSON.stringify(report.header)) as JsonObject }),
  };
}

interface LocatedFile {
  readonly path: string;
  /** The task it lies in, where there is one. */
  readonly task: string | undefined;
  readonly bytes: Uint8Array;
  readonly vault: TaskVault | undefined;
  readonly keyProblem: { readonly code: ErrorCode; readonly message: string; readonly hint: string } | undefined;
}

/** `undefined` when it cannot be read. Errors: VALUE_TOO_LARGE. */
async function readGivenFile(path: string): Promise<Buffer | undefined> {
  try {
    return await readBoundedFile(path, { sizeBytesMax: OBJECT_BYTES_MAX });
  } catch (error) {
    if (isErrorCode(error, "VALUE_TOO_LARGE")) throw error;
    return undefined;
  }
}

/** A path, or the name of a snapshot in any task, or in the one that is named. The key is a help, not a condition. */
async function locateFile(services: Services, file: string, within: string | undefined): Promise<LocatedFile> {
  const path = resolve(services.environment.workingFolder, file);
  const direct = within === undefined ? await readGivenFile(path) : undefined;
  if (direct !== undefined) {
    const name = basename(dirname(dirname(path)));
    const task = (await services.store.task(name).catch(() => undefined)) ?? (await findOwner(services, direct));
    return { path: file, task: task?.name, bytes: direct, ...(await openQuietly(services, task)) };
  }
  const names = within === undefined ? await services.store.tasks() : [await findName(services, within)];
  for (const name of names) {
    const task = await services.store.task(name).catch((error: unknown) => {
      services.log.warn(`task ${name} was skipped: ${messageOf(error)}`);
      return undefined;
    });
    const bytes = await task?.get(basename(file)).catch(() => undefined);
    if (bytes !== undefined)
      return {
        path: `${name}/checkpoints/${basename(file)}`,
        task: name,
        bytes,
        ...(await openQuietly(services, task)),
      };
    await task?.close();
  }
  throw new SplashdownError("CHECKPOINT_NOT_FOUND", `no file and no checkpoint of that name: ${file}`, {
    details: { file, ...(within === undefined ? {} : { task: within }) },
  });
}

/** The task that a copy of a checkpoint file is of, as its header says; the seal proves it. */
async function findOwner(services: Services, bytes: Uint8Array): Promise<TaskStore | undefined> {
  let taskId: string;
  try {
    taskId = readHead(bytes).workflow_id;
  } catch {
    return undefined;
  }
  for (const name of await services.store.tasks().catch(() => [])) {
    const task = await services.store.task(name).catch(() => undefined);
    if (task === undefined) continue;
    if ((await readIdOf(task).catch(() => undefined)) === taskId) return task;
    await task.close();
  }
  return undefined;
}

async function findName(services: Services, reference: string): Promise<string> {
  return whileOpen(await findTask(services, reference, "read"), async ({ name }) => name);
}

async function openQuietly(
  services: Services,
  task: TaskStore | undefined,
): Promise<Pick<LocatedFile, "vault" | "keyProblem">> {
  if (task === undefined) return { vault: undefined, keyProblem: undefined };
  try {
    return { vault: (await openTask(services, task)).vault, keyProblem: undefined };
  } catch (error) {
    if (!(error instanceof SplashdownError)) throw error;
    return { vault: undefined, keyProblem: { code: error.code, message: error.message, hint: error.hint } };
  } finally {
    await task.close();
  }
}

const CHECK_TEXT = {
  structure: "four lines, checksum and header fit",
  name: "it stands under its own name",
  seal: "the key opens it and the seal is intact",
  content: "it holds a state in its place in the chain",
} as const;

/** What is done about it; nothing for a file that is none of ours. */
function hintOf(code: ErrorCode | undefined, { path, task }: LocatedFile): { readonly hint?: string } {
  if (code === undefined || code === "FORMAT_NOT_OURS") return {};
  return {
    hint: new SplashdownError(code, "", { details: { file: path, ...(task === undefined ? {} : { task }) } }).hint,
  };
}

function describeChecks(report: FileReport, located: LocatedFile): CheckView[] {
  return report.checks.map(({ check, result, code, message }) => {
    if (result === "ok") return { name: check, ok: true, text: CHECK_TEXT[check] };
    if (result === "failed")
      return {
        name: check,
        ok: false,
        text: `${message ?? "failed"} [${code ?? "?"}]`,
        ...hintOf(code, located),
      };
    const why = located.keyProblem === undefined ? "not checked" : `not checked: ${located.keyProblem.message}`;
    return {
      name: check,
      ok: true,
      skipped: true,
      text: why,
      ...(located.keyProblem === undefined ? {} : { hint: located.keyProblem.hint }),
    };
  });
}

export interface DiffRequest {
  readonly from: string;
  readonly to: string;
  readonly task?: string;
  readonly all?: boolean;
}

/** Both sides may be of different tasks (`TASK:…`). Shape: `equal`, `differences`, `text`. */
export async function diffTwoCheckpoints(services: Services, request: DiffRequest): Promise<JsonObject> {
  const verb = "debug diff-checkpoints";
  const from = await findCheckpoint(services, request.from, { verb, within: request.task });
  try {
    const within = request.task ?? (request.to.includes(":") ? undefined : from.task.name);
    const to = await findCheckpoint(services, request.to, { verb, within });
    try {
      await noteRead(services, from, verb);
      await noteRead(services, to, verb);
      const load = { from: loaderOf(from), to: loaderOf(to) };
      const diff = await diffStates(await stateAt(from), await stateAt(to), {
        load,
        ...(request.all === undefined ? {} : { showsAll: request.all }),
      });
      const title = `${labelOf(from)} → ${labelOf(to)}`;
      const text = diff.equal ? `${title}: equal` : formatDiff(diff);
      return JSON.parse(
        JSON.stringify({
          from: labelOf(from),
          to: labelOf(to),
          equal: diff.equal,
          differences: diff.differences,
          text,
        }),
      ) as JsonObject;
    } finally {
      await to.task.close();
    }
  } finally {
    await from.task.close();
  }
}

function loaderOf({ task, vault }: FoundCheckpoint): LoadBlob {
  const shelf = createBlobShelf({ store: task, vault });
  return (ref) => shelf.get(ref);
}

function labelOf({ task, checkpoint }: FoundCheckpoint): string {
  return `${task.name}:${checkpoint.seq}`;
}
