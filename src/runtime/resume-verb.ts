/**
 * `resume` and `recover`: go on with a task by hand, or with every task that may go on by itself.
 *
 * A changed definition is shown as a plan and refused without `acceptChanges`; nothing was claimed by then. Steps that
 * are done stay done with their saved results, made by the definition of their time; what has not run yet runs by the
 * definition of now.
 */
import { EXIT_STATUS } from "../base/error-table.js";
import { isErrorCode, messageOf, SplashdownError } from "../base/errors.js";
import type { TaskState } from "../engine/state.js";
import { scanTasks } from "../recovery/scan.js";
import { planRecovery } from "../recovery/supervise.js";
import type { TaskStore } from "../store/contract.js";
import { conductOn, type GoOn } from "./conduct.js";
import type { PlanView, RecoverView, ResumeOptions, RunView } from "./contract.js";
import { recordAnswer } from "./control.js";
import { findTask, findTaskOfCheckpoint } from "./finding.js";
import { notStarted } from "./key-access.js";
import { planResume } from "./plan.js";
import { presetsOf } from "./presets.js";
import { readState, type OpenedTask } from "./reading.js";
import { sealedSettings } from "./run-verb.js";
import { viewRun } from "./run-view.js";
import type { Services } from "./services.js";
import { viewQuestion } from "./views.js";
import { reloadWorkflow, type ReloadedWorkflow } from "./workflow-loading.js";

interface Standing {
  readonly opened: OpenedTask;
  readonly state: TaskState;
  readonly now: ReloadedWorkflow;
  readonly plan: PlanView;
}

/** Errors: TASK_NOT_FOUND, TASK_AMBIGUOUS, those of reading, those of `conductOn`. */
export async function resumeTask(services: Services, options: ResumeOptions): Promise<RunView | PlanView> {
  const task = await findResumable(services, options);
  try {
    const standing = await readStanding(services, task);
    if (options.planOnly === true) return standing.plan;
    if (!isOpenEnded(standing.state)) {
      const notices = ["the task has ended; nothing is left to run"];
      return await viewRun(services, {
        opened: standing.opened,
        state: standing.state,
        how: "finished_before",
        notices,
      });
    }
    if (standing.now.isChanged && options.acceptChanges !== true) return await refuseChange(services, standing);
    await answerFirst(services, standing, options);
    return await goOn(services, standing, { by: "resume", byPerson: true, options });
  } finally {
    await task.close();
  }
}

async function findResumable(services: Services, options: ResumeOptions): Promise<TaskStore> {
  if (options.task !== undefined) return findTask(services, options.task, "act");
  if (options.checkpointId !== undefined) return findTaskOfCheckpoint(services, options.checkpointId);
  throw new SplashdownError("USAGE_INVALID", "name a task or a checkpoint id to resume");
}

async function readStanding(services: Services, task: TaskStore): Promise<Standing> {
  const { folded, ...opened } = await readState(services, task);
  const { state } = folded;
  if (state.task === undefined) throw notStarted(task.name);
  const now = await reloadWorkflow(services, state.task);
  return { opened, state, now, plan: planResume(state, now) };
}

function isOpenEnded({ task }: TaskState): boolean {
  return task !== undefined && (task.status === "running" || task.resumable);
}

async function refuseChange(services: Services, { opened, state, now, plan }: Standing): Promise<RunView> {
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
      `go on with: splashdown resume ${name} --accept-changes`,
    ],
  };
}

/** Answers given with the command, or asked for in the terminal, before the task goes on. */
async function answerFirst(services: Services, { opened, state }: Standing, options: ResumeOptions): Promise<void> {
  const open = [...state.questions.values()].filter((question) => question.status === "open");
  const control = { ...opened, clock: services.clock, random: services.random, log: services.log };
  const by = services.environment.user;
  if (options.answer !== undefined) {
    const [only, second] = open;
    if (only === undefined)
      throw new SplashdownError("QUESTION_NOT_FOUND", `task ${opened.task.name} has no open question`, {
        details: { task: opened.task.name },
      });
    if (second !== undefined) {
      throw new SplashdownError(
        "USAGE_INVALID",
        `task ${opened.task.name} has ${open.length} open questions; answer each: splashdown answer ${opened.task.name} QUESTION VALUE`,
      );
    }
    const [answer, value] = splitAnswer(options.answer);
    await recordAnswer(control, { question: only.id, answer, by, ...(value === undefined ? {} : { value }) });
    return;
  }
  if (services.ask === undefined) return;
  for (const question of open) {
    const given = await services.ask(viewQuestion(opened.task.name, question));
    if (given === undefined) continue;
    await recordAnswer(control, { question: question.id, by, ...given }).catch((error: unknown) => {
      if (!isErrorCode(error, "QUESTION_CLOSED")) throw error;
      services.log.warn(messageOf(error));
    });
  }
}

function splitAnswer(text: string): [string, string?] {
  const at = text.indexOf("=");
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

interface GoingOn {
  readonly by: GoOn["by"];
  readonly byPerson: boolean;
  readonly options: Omit<ResumeOptions, "task">;
}

function goOn(
  services: Services,
  { opened, state, now }: Standing,
  { by, byPerson, options }: GoingOn,
): Promise<RunView> {
  return conductOn(services, {
    opened,
    by,
    byPerson,
    workflow: now.workflow,
    settings: sealedSettings(state, services.settings),
    presets: presetsOf(options),
    wait: options.wait ?? false,
    signal: options.signal,
    takeOver: options.takeOver ?? false,
    acceptLoss: options.acceptLoss ?? false,
    acceptedDefinition: now.isChanged && options.acceptChanges === true,
    notices: now.notices,
    ...(options.onUnknown === undefined ? {} : { onUnknown: options.onUnknown }),
  });
}

const TASKS_AT_ONCE = 4;

/** Takes up what crashed and what has fallen due; each task by itself, so that a bad one stops no other. */
export async function recoverTasks(
  services: Services,
  options: { wait?: boolean; signal?: AbortSignal },
): Promise<RecoverView> {
  const scanned = await scanTasks({ store: services.store, openVault: (task) => services.keys.open(task) });
  const plan = planRecovery(scanned, services.clock.nowMs());
  const results = new Map<string, RecoverView["tasks"][number]>();
  for (const { name, why } of plan.leave) results.set(name, { task: name, action: "left", why });
  const queue = services.settings.recovery_config.auto_recovery ? [...plan.take] : [];
  if (!services.settings.recovery_config.auto_recovery) {
    for (const { name } of plan.take)
      results.set(name, { task: name, action: "left", why: "recovery_config.auto_recovery is off" });
  }
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      results.set(next.name, await recoverOne(services, next, options));
    }
  };
  await Promise.all(Array.from({ length: TASKS_AT_ONCE }, work));
  return { tasks: [...results.values()].sort((a, b) => (a.task < b.task ? -1 : 1)) };
}

async function recoverOne(
  services: Services,
  { name, why }: { name: string; why: "crashed" | "due" },
  options: { wait?: boolean; signal?: AbortSignal },
): Promise<RecoverView["tasks"][number]> {
  const reason = why === "crashed" ? "its owner is gone" : "its time has come";
  try {
    const task = await services.store.task(name);
    if (task === undefined) return { task: name, action: "left", why: "it is not there any more" };
    try {
      const standing = await readStanding(services, task);
      if (standing.now.isChanged)
        return { task: name, action: "left", why: `its definition has changed; see: splashdown resume ${name} --plan` };
      const result = await goOn(services, standing, { by: "recover", byPerson: false, options });
      return { task: name, action: "taken_up", why: reason, result };
    } finally {
      await task.close();
    }
  } catch (error) {
    if (isErrorCode(error, "OWNER_ALIVE", "OWNER_UNCLEAR", "OWNER_SUPERSEDED"))
      return { task: name, action: "left", why: messageOf(error) };
    const hint = error instanceof SplashdownError ? ` → ${error.hint}` : "";
    return { task: name, action: "failed", why: `${reason}, but: ${messageOf(error)}${hint}` };
  }
}
