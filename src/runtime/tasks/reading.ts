/**
 * Reads one task without owning it: opens its vault, folds its history, and says what it is.
 *
 * Nothing here changes a byte of the task; with a living owner the answer is the state of a moment ago.
 */
import { formatPlainValue } from "../../base/plain-value.js";
import { createBlobShelf } from "../../checkpoint/blobs/blobs.js";
import { createSnapshotSource, type SummarySource } from "../../checkpoint/source.js";
import type { QuestionId } from "../../base/ids.js";
import type { JsonValue } from "../../base/json.js";
import type { ForkOrigin } from "../../engine/model/fork-origin.js";
import type { ValueRef } from "../../engine/model/value-ref.js";
import type { TaskState } from "../../engine/model/state.js";
import type { History, ScanCache } from "../../journal/history.js";
import { readTask, type FoldedTask, type KnownTask } from "../../recovery/fold.js";
import { journalLost } from "../../recovery/evidence.js";
import { isAllLost } from "../../recovery/restore.js";
import { findRollback } from "../../recovery/rollback-guard.js";
import { notStarted } from "../keychain/unopened-task.js";
import type { SplashdownError } from "../../base/errors.js";
import type { OwnerState, TaskStore } from "../../store/contract/contract.js";
import { anchoredPosition, loadAnchor, type LoadedAnchor } from "../../vault/anchor.js";
import type { TaskVault } from "../../vault/contract.js";
import type { QuestionView, TaskView } from "../views/task-views.js";
import { loadQuestion } from "./submit-answer.js";
import { describeLostAnswers } from "./lost-answers.js";
import { viewGuidance } from "./guidance-view.js";
import { listMessagesLeft, loadAnswer } from "../mailbox/control.js";
import { judgeResidence, viewResidence } from "./residence.js";
import { viewProgram } from "../views/program-functions.js";
import type { Services } from "../services/services.js";
import {
  chooseNext,
  countSteps,
  formatTime,
  viewDecisions,
  viewDeliverables,
  viewMetrics,
  viewPhases,
  viewQuestion,
  viewStep,
} from "../views/views.js";
import { measureTask } from "./task-size.js";

export interface OpenedTask {
  readonly task: TaskStore;
  readonly vault: TaskVault;
  readonly snapshots: SummarySource;
}

/** Acts on a task and closes it, however that ends. */
export async function whileOpen<T>(task: TaskStore, act: (task: TaskStore) => Promise<T>): Promise<T> {
  try {
    return await act(task);
  } finally {
    await task.close();
  }
}

/** Opens a task's vault and snapshots. Errors: TASK_NOT_FOUND is the caller's; KEY_*, KEYRING_CORRUPT, SEAL_MISSING. */
export async function openTask(services: Services, task: TaskStore): Promise<OpenedTask> {
  return openWith(services, task, await services.keys.open(task));
}

/** The same with a vault that is open already. */
export function openWith(services: Services, task: TaskStore, vault: TaskVault): OpenedTask {
  const rawBytesMax = services.settings.checkpoint_config.checkpoint_size_limit_mb * 1024 * 1024;
  return { task, vault, snapshots: createSnapshotSource({ store: task, vault, rawBytesMax }) };
}

/** Errors: those of `openTask` and of recovery's `readTask`. */
export async function readState(services: Services, task: TaskStore, until?: number): Promise<OpenedTask & KnownTask> {
  const opened = await openTask(services, task);
  const cache: ScanCache = new Map();
  const folded = await readTask({ ...opened, cache, ...(until === undefined ? {} : { until }) });
  return { ...opened, folded, cache };
}

/** Of a task whose state is empty: its first process died before a record was written, or nothing of them is left. */
export async function explainEmpty(
  services: Services,
  { task, vault, folded }: Pick<OpenedTask, "task" | "vault"> & Pick<KnownTask, "folded">,
): Promise<SplashdownError> {
  const anchor = anchoredPosition(await readAnchor(services, vault.taskId));
  return isAllLost(folded, anchor) ? journalLost(task.name, folded.evidence, anchor) : notStarted(task.name);
}

/** The value of a reference, read from its blob where it is large. */
export async function resolveValue(
  { task, vault }: Pick<OpenedTask, "task" | "vault">,
  ref: ValueRef,
): Promise<JsonValue> {
  return "inline" in ref ? ref.inline : createBlobShelf({ store: task, vault }).get(ref.blob);
}

/** What is remembered outside the folder; none for stores that do not outlive the process. */
export async function readAnchor(services: Services, taskId: string): Promise<LoadedAnchor> {
  if (!services.store.manifest.durable) return { state: "none" };
  return loadAnchor({ fileSystem: services.fileSystem, stateFolder: services.environment.stateFolder }, taskId);
}

/** The status people see: what the journal says, and whether its owner lives. */
export function deriveStatus(state: TaskState, owner: OwnerState["state"]): string {
  const { task } = state;
  if (task !== undefined && task.status !== "running") return task.status;
  if (owner === "alive") return "running";
  return owner === "unclear" ? "unclear" : "crashed";
}

export async function viewTask(services: Services, task: TaskStore): Promise<TaskView> {
  const opened = await services.audit.watch({ task, verb: "show" }, openTask(services, task));
  await services.audit.note(opened, { event: "read", verb: "show" });
  const { vault } = opened;
  // Before the history: a living owner goes on raising it.
  const anchor = await readAnchor(services, vault.taskId);
  const folded = await readTask(opened);
  const { state } = folded;
  const owner = await task.ownerState();
  const status = deriveStatus(state, owner.state);
  const questions = await viewQuestions(opened, state);
  const openQuestions = questions.filter((question) => question.status === "open").length;
  const left = await listMessagesLeft(opened);
  const residence = viewResidence(await judgeResidence(services, task, vault.taskId), task);
  const unanswered = questions.flatMap(({ id, status: is }) =>
    is === "open" ? (state.questions.get(id as QuestionId) ?? []) : [],
  );
  const lost = await describeLostAnswers(opened, unanswered);
  return {
    ...viewStanding(state, status),
    task: task.name,
    workflow_id: vault.taskId,
    folder: task.deliverablesFolder,
    encrypted: vault.encrypted,
    questions,
    guidance: viewGuidance(state, left.guidance),
    unread: left.unread,
    open_questions: openQuestions,
    next: chooseNext({
      task: task.name,
      status,
      resumable: state.task?.resumable ?? true,
      openQuestions,
      origin: state.task,
    }),
    ...viewProgram(state.task),
    deliverables: viewDeliverables(state),
    damage: [
      ...describeDamage(folded),
      ...lost,
      ...describeRollback({ task: task.name, history: folded.history, anchor }),
    ],
    size: await measureTask(task),
    output:
      state.task?.output === undefined ? undefined : formatPlainValue(await resolveValue(opened, state.task.output)),
    ...residence,
    ...(residence.new_here === undefined || state.task === undefined
      ? {}
      : { programs: (await import("./programs.js")).listPrograms(state.task.definition) }),
    owner: status === "running" || status === "unclear" ? owner.owner : undefined,
  };
}

/** All questions; one whose answer no owner has taken yet is answered all the same. */
export async function viewQuestions({ task, vault }: OpenedTask, state: TaskState): Promise<QuestionView[]> {
  const views: QuestionView[] = [];
  const origin = state.task?.status === "running" ? undefined : state.task;
  for (const question of state.questions.values()) {
    const view = viewQuestion(task.name, await loadQuestion({ task, vault }, question), origin);
    const given = question.status === "open" ? await loadAnswer({ task, vault }, question) : undefined;
    views.push(
      given === undefined
        ? view
        : { ...view, status: "answered", answer: given.answer, answered_by: given.by, answered_at: given.at },
    );
  }
  return views;
}

/** What the state alone tells. */
export function viewStanding(state: TaskState, status: string) {
  const { task } = state;
  return {
    status,
    workflow: task?.definition.name,
    started_at: task === undefined ? undefined : formatTime(task.startedAtMs),
    last_event_at: state.position === 0 ? undefined : formatTime(state.atMs),
    last_event: state.position,
    reason: status === "running" ? undefined : task?.reason,
    resume_at: task?.resumeAtMs === undefined ? undefined : formatTime(task.resumeAtMs),
    inputs: task?.inputs ?? {},
    forked_from: viewOrigin(task?.forkedFrom),
    phases: viewPhases(state),
    steps: [...state.steps.values()].map(viewStep),
    steps_done: countSteps(state).done,
    decisions: viewDecisions(state),
    checkpoints: state.checkpoints.length,
    metrics: viewMetrics(state, status !== "running"),
  };
}

function viewOrigin(origin: ForkOrigin | undefined): TaskView["forked_from"] {
  if (origin === undefined) return undefined;
  const { name, taskId, checkpointId, seq } = origin;
  return { task: name, workflow_id: taskId, checkpoint_id: checkpointId, seq };
}

function describeDamage(folded: FoldedTask): string[] {
  const { history, refused, lost } = folded;
  return [
    ...history.damage.map(
      ({ segment, line, what }) => `journal ${segment}${line === undefined ? "" : ` line ${line}`}: ${what}`,
    ),
    ...refused.filter(({ isBad }) => isBad).map(({ file, code, reason }) => `${file}: ${code}, ${reason}`),
    ...lost.map(({ from, to }) => `lost records ${from} to ${to ?? "the end"}`),
  ];
}

/** What stands against the folder's being the newest, in one line or none. */
function describeRollback({ anchor, ...found }: { task: string; history: History; anchor: LoadedAnchor }): string[] {
  if (anchor.state === "damaged") return [anchor.problem];
  const problem = findRollback({ ...found, anchor: anchoredPosition(anchor) });
  return problem === undefined ? [] : [problem.message];
}
