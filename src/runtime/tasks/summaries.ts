/** Short truths about all tasks: status from recovery's scan, name of the workflow and times from the journal's ends. */
import { SplashdownError } from "../../base/errors.js";
import { mapInWindow } from "../../base/window.js";
import { moveInQuestion, openQuestion } from "../../engine/fold/evolve-questions.js";
import { openQuestions } from "../../engine/rules/questions/questions.js";
import type { NodeDefinition } from "../../definition/model/workflow.js";
import { createState, type QuestionEntry, type TaskState } from "../../engine/model/state.js";
import { readHistory, type Damage, type History } from "../../journal/history.js";
import { foldHistory, lossError } from "../../recovery/fold.js";
import { findRollback } from "../../recovery/rollback-guard.js";
import { scanTasks, type ScannedTask } from "../../recovery/scan.js";
import type { TaskStore } from "../../store/contract/contract.js";
import { anchoredPosition } from "../../vault/anchor.js";
import type { TaskVault } from "../../vault/contract.js";
import { viewProgram } from "../views/program-functions.js";
import { SpentTally } from "../views/spent.js";
import type { SpentView, TaskSummaryView } from "../views/task-views.js";
import { listUnanswered } from "./submit-answer.js";
import { TASKS_AT_ONCE } from "../keychain/readable-tasks.js";
import { openWith, readAnchor, type OpenedTask } from "./reading.js";
import { judgeResidence, viewResidence } from "./residence.js";
import type { Services } from "../services/services.js";
import { formatTime } from "../views/views.js";
import { measureTask } from "./task-size.js";

/** Shape: in the order of names, all or these. A task that cannot be read is one entry with its problem. */
export async function listSummaries(services: Services, names?: readonly string[]): Promise<TaskSummaryView[]> {
  const wanted = names === undefined ? {} : { names };
  const keys = { isOneOfMany: names === undefined };
  // Opened once for the scan and for the details: a keyring is read and unlocked once for each task.
  const vaults = new Map<string, TaskVault>();
  const openVault = async (task: TaskStore): Promise<TaskVault> => {
    const vault = vaults.get(task.name) ?? (await services.keys.open(task, keys));
    vaults.set(task.name, vault);
    return vault;
  };
  const scanned = await scanTasks({ store: services.store, openVault, ...wanted });
  return mapInWindow(scanned, TASKS_AT_ONCE, (entry) => summarise(services, entry, openVault));
}

type OpenVault = (task: TaskStore) => Promise<TaskVault>;

async function summarise(services: Services, entry: ScannedTask, openVault: OpenVault): Promise<TaskSummaryView> {
  const details = await readDetails(services, entry, openVault);
  const { closed } = entry;
  const problem = entry.problem ?? details.problem;
  return {
    task: entry.name,
    status: entry.status,
    size: details.size,
    ...(entry.taskId === undefined ? {} : { workflow_id: entry.taskId }),
    ...(entry.lastAtMs === undefined ? {} : { last_event_at: formatTime(entry.lastAtMs) }),
    ...(closed?.resumeAtMs === undefined ? {} : { resume_at: formatTime(closed.resumeAtMs) }),
    ...viewDetails(details),
    ...(problem === undefined ? viewDamaged(details) : { problem: viewProblem(entry.name, problem) }),
  };
}

/** What the journal tells of a task beside its end, and where the task lives. */
function viewDetails(details: Details): Partial<TaskSummaryView> {
  const { workflow, startedAt, stepsDone, spent, residence, program, openQuestions: open, waitsFor } = details;
  return {
    ...(workflow === undefined ? {} : { workflow, started_at: startedAt ?? "" }),
    ...(stepsDone === undefined ? {} : { steps_done: stepsDone }),
    ...(spent === undefined || spent.calls === 0 ? {} : { spent }),
    ...residence,
    ...program,
    ...(open === undefined ? {} : { open_questions: open }),
    ...(waitsFor === undefined ? {} : { waits_for: waitsFor }),
  };
}

function viewDamaged({ damaged = [] }: Details): Pick<TaskSummaryView, "damaged"> {
  return damaged.length === 0 ? {} : { damaged };
}

function viewProblem(
  task: string,
  { code, message }: NonNullable<ScannedTask["problem"]>,
): NonNullable<TaskSummaryView["problem"]> {
  return { code, message, hint: new SplashdownError(code, message, { details: { task } }).hint };
}

interface Details {
  readonly size: number;
  readonly workflow?: string;
  readonly startedAt?: string;
  readonly stepsDone?: number;
  readonly spent?: SpentView;
  readonly openQuestions?: number;
  readonly waitsFor?: TaskSummaryView["waits_for"];
  readonly residence?: ReturnType<typeof viewResidence>;
  readonly program?: ReturnType<typeof viewProgram>;
  readonly damaged?: readonly string[];
  /** What the scan, which looks at the journal's end only, does not see. */
  readonly problem?: SplashdownError;
}

async function readDetails(services: Services, entry: ScannedTask, openVault: OpenVault): Promise<Details> {
  let size = 0;
  let task: TaskStore | undefined;
  try {
    task = await services.store.task(entry.name);
    if (task === undefined) return { size };
    size = await measureTask(task);
    if (entry.taskId === undefined) return { size };
    const residence = viewResidence(await judgeResidence(services, task, entry.taskId), task);
    return { size, residence, ...(await readHistoryDetails(services, task, openVault)) };
  } catch (error) {
    if (!(error instanceof SplashdownError) || error.code === "INTERNAL") throw error;
    return { size, problem: error };
  } finally {
    await task?.close();
  }
}

function describeDamagedPlace({ segment, line, what }: Damage): string {
  return `journal ${segment}${line === undefined ? "" : ` line ${line}`}: ${what}`;
}

async function readHistoryDetails(
  services: Services,
  task: TaskStore,
  openVault: OpenVault,
): Promise<Omit<Details, "size">> {
  const opened = openWith(services, task, await openVault(task));
  // Before the history: a living owner goes on raising it.
  const anchor = await readAnchor(services, opened.vault.taskId);
  const history = await readHistory(opened);
  const problem =
    history.lost.length > 0
      ? await findLoss(opened, history)
      : findRollback({ task: task.name, history, anchor: anchoredPosition(anchor) });
  const first = history.records[0]?.decode();
  const damaged = history.damage.map(describeDamagedPlace);
  if (first?.type !== "task_started") return { problem, damaged, ...(await describeFolded(opened, history)) };
  const stepsDone = history.records.filter((record) => record.kind === "completion").length;
  const open = await listOpenQuestions(opened, history);
  return {
    workflow: first.definition.name,
    startedAt: formatTime(first.atMs),
    stepsDone,
    spent: tallySpent(history.records, first.definition.root),
    program: viewProgram(first),
    ...viewOpen(open),
    problem,
    damaged,
  };
}

function viewOpen(open: readonly QuestionEntry[]): Pick<Details, "openQuestions" | "waitsFor"> {
  const [oldest] = open;
  return {
    openQuestions: open.length,
    ...(oldest === undefined ? {} : { waitsFor: { question: oldest.id, text: oldest.text } }),
  };
}

/** Those that nobody has answered, not even for an owner to come, oldest first. */
async function listOpenQuestions(opened: OpenedTask, { records }: History): Promise<QuestionEntry[]> {
  const { questions } = foldQuestions(records);
  return listUnanswered(opened, [...questions.values()]);
}

/** What the history says of questions, and of nothing else. */
function foldQuestions(records: History["records"]): Pick<TaskState, "questions"> {
  const state = createState();
  for (const record of records) {
    if (record.kind === "rolled_back") state.questions.clear();
    if (record.kind !== "question" && record.kind !== "answer") continue;
    const event = record.decode();
    if (event.type === "question_opened") openQuestion(state, event);
    if (event.type === "question_answered") state.questions.delete(event.question);
    if (event.type === "question_moved") moveInQuestion(state, event);
  }
  return state;
}

/** Kinds of steps that tell what they used with their end, not with each call. */
const TOLD_AT_END: ReadonlySet<string> = new Set(["cli"]);

/** Opens only records that can tell of calls: a long history of other steps costs nothing. */
function tallySpent(records: History["records"], root: NodeDefinition): SpentView {
  const kinds = new Set(["turn", "failure", ...(hasKind(root, TOLD_AT_END) ? ["completion"] : [])]);
  const tally = new SpentTally();
  for (const record of records) {
    if (!kinds.has(record.kind)) continue;
    const event = record.decode();
    if ("usage" in event && event.usage !== undefined) tally.add(event.usage);
  }
  return tally.view();
}

function hasKind(node: NodeDefinition, kinds: ReadonlySet<string>): boolean {
  if (node.node === "step") return kinds.has(node.kind);
  const children: readonly NodeDefinition[] = node.children;
  return children.some((child) => hasKind(child, kinds));
}

function viewTotals({ totals }: TaskState): SpentView {
  return {
    calls: totals.calls,
    tokens: totals.tokensIn + totals.tokensOut,
    cost_usd: totals.costMicroUsd / 1_000_000,
    unpriced_calls: totals.unpricedCalls,
    uncounted_calls: totals.uncountedCalls,
  };
}

/** Damage that no snapshot covers. */
async function findLoss(opened: OpenedTask, history: History): Promise<SplashdownError | undefined> {
  const folded = await foldHistory(history, opened);
  return folded.lost.length > 0 ? lossError(opened.task.name, folded) : undefined;
}

/** The same from the state, where the history does not begin with a start. */
async function describeFolded(opened: OpenedTask, history: History): Promise<Omit<Details, "size">> {
  const { state } = await foldHistory(history, opened);
  if (state.task === undefined) return {};
  const { definition, startedAtMs } = state.task;
  const open = await listUnanswered(opened, openQuestions(state));
  return {
    workflow: definition.name,
    startedAt: formatTime(startedAtMs),
    stepsDone: state.totals.steps,
    spent: viewTotals(state),
    program: viewProgram(state.task),
    ...viewOpen(open),
  };
}
