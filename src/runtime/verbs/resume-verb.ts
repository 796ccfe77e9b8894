/**
 * `resume` and `recover`: go on with a task by hand, or with every task that may go on by itself.
 *
 * A changed definition is shown as a plan and refused without `acceptChanges`; nothing was claimed by then. Steps that
 * are done stay done with their saved results, made by the definition of their time; what has not run yet runs by the
 * definition of now.
 */
import { writeCommand } from "../../base/command-text.js";
import { ERROR_TABLE, EXIT_STATUS, type ErrorCode } from "../../base/error-table.js";
import { errorCodeOf, isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import { mapInWindow } from "../../base/window.js";
import type { Rollback } from "../../engine/model/input.js";
import type { TaskState } from "../../engine/model/state.js";
import { scanTasks, type ScannedTask } from "../../recovery/scan.js";
import type { KnownTask } from "../../recovery/fold.js";
import { requireOwnerGone } from "../../recovery/liveness.js";
import { isOfProgram } from "../../checkpoint/standalone.js";
import { planRecovery, type ResumeReason } from "../../recovery/supervise.js";
import type { TaskStore } from "../../store/contract/contract.js";
import { continueTask, type ContinueOptions } from "../session/start-task.js";
import type { PlanView } from "../views/past-views.js";
import type { RunView } from "../views/task-views.js";
import type { RecoverOptions, RecoverView, ResumeOptions } from "../views/verb-views.js";
import { findTask, findTaskOfCheckpoint } from "../tasks/finding.js";
import { ANY_STEP, answerOpenQuestions, requireKnownSteps } from "../session/answer-flags.js";
import { prepareRollback } from "./rollback.js";
import { findAnswered, findBlocking, shouldResume } from "./find-resumable.js";
import { withExpiry } from "./retention/expiry.js";
import { planResume } from "./plan.js";
import { readExecution, type Execution } from "../session/execution.js";
import { requireKnownGates } from "../session/preset-answers.js";
import { explainEmpty, readState, whileOpen, type OpenedTask } from "../tasks/reading.js";
import { findReserve, requireOwnName } from "../tasks/residence.js";
import { requireFunctionsHere } from "../session/required-functions.js";
import { isAutomatic, sealedSettings } from "./run-verb.js";
import { viewRun } from "../session/run-view.js";
import type { Services } from "../services/services.js";
import { requireTrusted } from "../tasks/needed-settings.js";
import { loadGiven, reloadWorkflow, type ReloadedWorkflow } from "../tasks/workflow-loading.js";

interface CurrentTask {
  readonly opened: OpenedTask;
  readonly state: TaskState;
  readonly known: KnownTask;
  readonly now: ReloadedWorkflow;
  readonly plan: PlanView;
  readonly goBack?: Rollback;
}

/** Errors: TASK_NOT_FOUND, TASK_AMBIGUOUS, OWNER_ALIVE, those of reading, of the flags' answers and of `continueTask`. */
export async function resumeTask(services: Services, options: ResumeOptions): Promise<RunView | PlanView> {
  const from = options.from ?? options.checkpointId;
  return whileOpen(await findResumable(services, options), async (task) => {
    await requireNotAlive(services, task);
    if (options.workflow !== undefined) await loadGiven(services, options.workflow);
    const now = await readCurrent(services, task, options);
    if (isOfProgram(now.state)) throw ofProgram(task.name);
    const current = from === undefined ? now : await standBack(services, now, from);
    if (options.planOnly === true) return current.plan;
    if (current.goBack === undefined && !isOpenEnded(current.state)) return viewEnded(services, current);
    const execution = readExecution(options);
    requireKnownSteps(current.state, execution.unknown);
    const isRefused = current.now.isChanged && options.acceptChanges !== true;
    if (!isRefused) await requireRunnable(services, current);
    const { presets } = execution;
    requireKnownGates(current.now.workflow.definition, presets, current.state);
    options.onPlan?.(current.plan);
    if (isRefused) return refuseChange(services, current);
    if (current.goBack === undefined) await answerOpenQuestions(services, current, { ...options, presets });
    return goOn(services, current, { by: "resume", byPerson: true, options });
  });
}

/** Errors: FUNCTIONS_ELSEWHERE, FUNCTION_NOT_FOUND. */
async function requireRunnable(services: Services, { opened, state, now }: CurrentTask): Promise<void> {
  if (state.task === undefined) return;
  await requireFunctionsHere(services, { name: opened.task.name, origin: state.task }, now.workflow);
}

/** A living owner is named at once: no plan is made of what it is doing. Errors: OWNER_ALIVE. */
async function requireNotAlive({ clock }: Services, task: TaskStore): Promise<void> {
  await requireOwnerGone({ task, clock, watchMs: 0, takeOver: true });
}

function viewEnded(services: Services, { opened, state }: CurrentTask): Promise<RunView> {
  const notices = ["the task has ended; nothing is left to run"];
  return viewRun(services, { opened, state, how: "finished_before", notices });
}

async function findResumable(services: Services, options: ResumeOptions): Promise<TaskStore> {
  if (options.task !== undefined) return findTask(services, options.task, options.here === true ? "act_here" : "act");
  if (options.checkpointId !== undefined) return findTaskOfCheckpoint(services, options.checkpointId);
  throw new SplashdownError("USAGE_INVALID", "name a task or a checkpoint id to resume");
}

async function readCurrent(
  services: Services,
  task: TaskStore,
  { here }: Pick<ResumeOptions, "here"> = {},
): Promise<CurrentTask> {
  const { folded, cache, ...opened } = await services.audit.watch({ task, verb: "resume" }, readState(services, task));
  const { state } = folded;
  if (state.task === undefined) throw await explainEmpty(services, { ...opened, folded });
  if (here !== true)
    await requireOwnName(services, { name: task.name, taskId: opened.vault.taskId, startedAs: state.task.name });
  const now = await reloadWorkflow(services, state.task);
  requireTrusted(services, now.workflow.definition);
  return { opened, state, known: { folded, cache }, now, plan: planResume(state, now) };
}

function ofProgram(task: string): SplashdownError {
  return new SplashdownError("USAGE_INVALID", `task ${task} is kept by a program, which resumes it itself`, {
    details: { task },
  });
}

function isOpenEnded({ task }: TaskState): boolean {
  return task !== undefined && (task.status === "running" || task.resumable);
}

async function refuseChange(services: Services, { opened, state, now, plan }: CurrentTask): Promise<RunView> {
  const name = opened.task.name;
  const view = await viewRun(services, { opened, state, how: "finished_before" });
  return {
    ...view,
    status: "waiting",
    exit_status: EXIT_STATUS.personNeeded,
    reason: `the definition ${now.file ?? ""} has changed since the task started; nothing ran`,
    notices: [
      ...plan.changed.map(({ path, how }) => `${path}: ${how}`),
      `${plan.done.length} finished steps keep their results; ${plan.to_run.length + plan.to_rerun.length} would run by the definition of now`,
    ],
    next: writeCommand("resume", [name], { "--accept-changes": true }),
  };
}

/** Where the task would stand after going back, and what it would do from there; as it is where nothing was done since. */
async function standBack(services: Services, current: CurrentTask, from: string): Promise<CurrentTask> {
  const { opened, now, state } = current;
  const { goBack, after, acted, hasMoved } = await prepareRollback(services, { ...opened, state }, from);
  if (!hasMoved) return current;
  const { checkpointId, seq, phase } = goBack.to;
  const plan: PlanView = {
    ...planResume(after, now),
    back_to: { checkpoint_id: checkpointId, seq, phase },
    acted_since: acted,
  };
  return { ...current, plan, goBack };
}

/** After going back `--on-unknown` speaks of what acted before, too. */
function answersOf({ unknown, onUnknown }: Execution, goBack: Rollback | undefined): Execution["unknown"] {
  if (goBack === undefined || onUnknown === undefined || onUnknown === "ask") return unknown;
  return { [ANY_STEP]: { answer: onUnknown }, ...unknown };
}

interface GoingOn {
  readonly by: ContinueOptions["by"];
  readonly byPerson: boolean;
  readonly options: Omit<ResumeOptions, "task"> & Pick<RecoverOptions, "newHere">;
}

function goOn(
  services: Services,
  { opened, state, known, now, goBack }: CurrentTask,
  { by, byPerson, options }: GoingOn,
): Promise<RunView> {
  const execution = readExecution(options);
  const settings = sealedSettings(state, services.settings);
  const run = () =>
    continueTask(services, {
      opened,
      known,
      by,
      byPerson,
      here: options.here,
      newHere: options.newHere,
      ...(goBack === undefined ? {} : { goBack }),
      isToGoOn: (found) =>
        goBack !== undefined || (byPerson ? isOpenEnded(found) : shouldResume(opened, found, services.clock.nowMs())),
      workflow: now.workflow,
      settings,
      execution: { ...execution, unknown: answersOf(execution, goBack) },
      takeOver: options.takeOver ?? false,
      acceptLoss: options.acceptLoss ?? false,
      acceptedDefinition: now.isChanged && options.acceptChanges === true,
      notices: now.notices,
    });
  // One look for all that are recovered.
  return by === "recover" ? run() : withExpiry(services, settings, run);
}

const TASKS_AT_ONCE = 4;

type RecoveredTask = RecoverView["tasks"][number];

/** Takes up what crashed and what has fallen due; each task by itself, so that a bad one stops no other. */
export async function recoverTasks(services: Services, options: RecoverOptions): Promise<RecoverView> {
  return withExpiry(services, services.settings, () => recoverAll(services, options));
}

async function recoverAll(services: Services, options: RecoverOptions): Promise<RecoverView> {
  for (const workflow of options.workflows ?? []) await loadGiven(services, workflow);
  const scanned = await scanTasks({
    store: services.store,
    openVault: (task) => services.keys.open(task, { isOneOfMany: true }),
  });
  const plan = planRecovery(scanned, services.clock.nowMs(), await findAnswered(services, scanned));
  const results = new Map<string, RecoveredTask>();
  for (const { name, why } of plan.leave) results.set(name, { task: name, action: "left", why });
  for (const entry of scanned) {
    const problem = await findBlocking(services, entry);
    if (problem !== undefined) results.set(entry.name, viewProblem(entry.name, problem));
    else if (entry.problem !== undefined) {
      const why = `it cannot be read (${entry.problem.code.toLowerCase()}), and nothing of it is under way`;
      results.set(entry.name, { task: entry.name, action: "left", why });
    }
  }
  await mapInWindow(plan.take, TASKS_AT_ONCE, async (next) => {
    const { auto_recovery: isOn } = services.settings.recovery_config;
    results.set(next.name, isOn ? await recoverOne(services, next, options) : leftToPerson(next.name));
  });
  const tasks = [...results.values()].sort((a, b) => (a.task < b.task ? -1 : 1));
  return { tasks, exit_status: computeRecoverStatus(tasks) };
}

function statusOf(code: ErrorCode | undefined): number {
  return code === undefined ? EXIT_STATUS.failed : ERROR_TABLE[code].exitStatus;
}

function viewProblem(task: string, { code, message }: NonNullable<ScannedTask["problem"]>): RecoveredTask {
  const { hint } = new SplashdownError(code, message, { details: { task } });
  return { task, action: "failed", why: message, code, hint };
}

function computeRecoverStatus(tasks: readonly RecoveredTask[]): number {
  const statuses = new Set<number>();
  for (const { action, code, result } of tasks) {
    if (result?.status === "failed") statuses.add(result.exit_status);
    else if (action === "failed") statuses.add(statusOf(errorCodeOf({ code })));
  }
  const [only, second] = statuses;
  return second === undefined ? (only ?? EXIT_STATUS.done) : EXIT_STATUS.failed;
}

function leftToPerson(task: string): RecoveredTask {
  const why = `recovery_config.auto_recovery is off; continue with: ${writeCommand("resume", [task])}`;
  return { task, action: "left", why };
}

const REASONS: Readonly<Record<ResumeReason, string>> = {
  crashed: "its owner is gone",
  due: "its time has come",
  answered: "its question was answered",
};

async function recoverOne(
  services: Services,
  { name, why }: { name: string; why: ResumeReason },
  options: RecoverOptions,
): Promise<RecoveredTask> {
  const reason = REASONS[why];
  try {
    const task = await services.store.task(name);
    if (task === undefined) return { task: name, action: "left", why: "it is not there any more" };
    try {
      const current = await readCurrent(services, task);
      if (!(await shouldResume(current.opened, current.state, services.clock.nowMs())))
        return { task: name, action: "left", why: "another process continued it meanwhile, and left it" };
      const reserve = await findReserve(services, {
        name,
        taskId: current.opened.vault.taskId,
        newHere: options.newHere,
      });
      if (reserve !== undefined) return { task: name, action: "left", why: reserve };
      if (isOfProgram(current.state)) return { task: name, action: "left", why: ofProgram(name).message };
      if (!isAutomatic(current.state, services.settings)) return leftToPerson(name);
      if (current.now.isChanged)
        return {
          task: name,
          action: "left",
          why: `its definition has changed; see: ${writeCommand("resume", [name], { "--plan": true })}`,
        };
      await requireRunnable(services, current);
      const result = await goOn(services, current, { by: "recover", byPerson: false, options });
      return { task: name, action: "taken_up", why: reason, result };
    } finally {
      await task.close();
    }
  } catch (error) {
    if (isErrorCode(error, "OWNER_ALIVE", "OWNER_UNCLEAR", "OWNER_SUPERSEDED"))
      return { task: name, action: "left", why: messageOf(error) };
    const failed = { task: name, action: "failed", why: `${reason}, but: ${messageOf(error)}` } as const;
    return error instanceof SplashdownError ? { ...failed, code: error.code, hint: error.hint } : failed;
  }
}
