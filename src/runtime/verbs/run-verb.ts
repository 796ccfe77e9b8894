/**
 * `run`: a new task, or the unfinished one of the same definition and inputs, so that the same command never acts twice.
 *
 *   crashed, stopped, due, answered, failed → goes on, said loudly; a failed step is tried again, finished ones are kept
 *   waiting for a person, paused → asks in a terminal, else ends with its status and names the commands; nothing runs
 *   running → OWNER_ALIVE · several → TASK_AMBIGUOUS · none, or only ended ones → a new task, as always with `--new`
 * One that was left for longer than `take_up_within` is passed over and named. An existing name follows the same rules;
 * finished → its result, nothing runs; other definition or inputs → WORKFLOW_MISMATCH. Source: DESIGN section 10, FAULTS 34.
 */
import { writeCommand } from "../../base/command-text.js";
import { EXIT_STATUS } from "../../base/error-table.js";
import { SplashdownError } from "../../base/errors.js";
import type { JsonObject } from "../../base/json.js";
import type { EffectiveSettings } from "../../definition/settings/settings.js";
import type { LoadedWorkflow } from "../../definition/model/loaded-workflow.js";
import type { TaskState } from "../../engine/model/state.js";
import { describeOwner } from "../../recovery/liveness.js";
import type { TaskStore } from "../../store/contract/contract.js";
import { startTask, continueTask, type StartOptions } from "../session/start-task.js";
import { withExpiry } from "./retention/expiry.js";
import type { RunView } from "../views/task-views.js";
import type { RunOptions } from "../views/verb-views.js";
import { requireNotTrashed } from "../tasks/finding.js";
import { answerOpenQuestions, requireKnownSteps } from "../session/answer-flags.js";
import {
  describeDifference,
  findUnfinished,
  hasBegunBetween,
  shouldResume,
  type Candidate,
  type PassedOver,
} from "./find-resumable.js";
import { hasNoRecords } from "../keychain/unopened-task.js";
import { breakpointsOf } from "../tasks/breakpoints.js";
import { deriveStatus, readState, whileOpen, type OpenedTask } from "../tasks/reading.js";
import { findReserve, requireOneHome } from "../tasks/residence.js";
import { readExecution } from "../session/execution.js";
import { requireKnownGates } from "../session/preset-answers.js";
import { viewRun } from "../session/run-view.js";
import { requireFunctions } from "../session/required-functions.js";
import { joinStartQueue } from "../session/start-queue.js";
import { computeTaskName } from "../tasks/task-name.js";
import { formatTime } from "../views/views.js";
import type { Services } from "../services/services.js";
import { prepareWorkflow } from "../tasks/workflow-loading.js";

interface Prepared extends StartOptions {
  readonly workflow: LoadedWorkflow;
  readonly settings: EffectiveSettings;
  readonly inputs: JsonObject;
  readonly options: RunOptions;
  /** Wall time at which the run was asked for. */
  readonly calledAtMs: number;
}

export async function runWorkflow(own: Services, options: RunOptions): Promise<RunView> {
  const calledAtMs = own.clock.nowMs() - (options.askedMsAgo ?? 0);
  const { workflow, settings, inputs } = await prepareWorkflow(own, options);
  const services = await own.places.of(own, workflow.definition);
  const execution = readExecution(options);
  // Refused before anything is made.
  breakpointsOf({ workflow, breakAt: execution.breakAt });
  const prepared: Prepared = {
    workflow,
    settings,
    inputs,
    options,
    calledAtMs,
    execution,
  };
  if (options.fresh === true) requireGates(prepared);
  await requireFunctions(services, workflow);
  return withExpiry(services, settings, () => {
    if (options.task !== undefined) return runNamed(services, options.task, prepared);
    if (options.soleTask !== undefined) return runSole(services, options.soleTask, prepared);
    return options.fresh === true ? startNew(services, prepared) : runUnnamed(services, prepared);
  });
}

/** Errors: USAGE_INVALID for an answer to what is no gate, and no question of the task that goes on. */
function requireGates({ workflow, execution }: Prepared, state?: TaskState): void {
  requireKnownGates(workflow.definition, execution.presets, state);
}

/** Whoever begins the same at the same moment waits until this one has begun, and finds it then. */
async function runUnnamed(services: Services, prepared: Prepared): Promise<RunView> {
  const leave = await joinStartQueue(services, prepared, prepared.execution.signal);
  try {
    const { unfinished, passedOver } = await findUnfinished(services, prepared, prepared.calledAtMs);
    const [only, second] = unfinished;
    if (second !== undefined) throw await ambiguous(unfinished, prepared);
    if (only === undefined) {
      requireGates(prepared);
      const notices = passedOver.map((one) => describePassedOver(one, prepared));
      for (const notice of notices) services.log.warn(notice);
      return await startNew(services, { ...prepared, notices, onBegun: () => void leave() });
    }
    await leave();
    return await whileOpen(only.task, () => goOnOrTell(services, only, prepared));
  } finally {
    await leave();
  }
}

/** Under its own name as always; under another one it would be a twin. Errors: USAGE_INVALID, which names that one. */
async function runSole(services: Services, name: string, prepared: Prepared): Promise<RunView> {
  const named = { ...prepared, options: { ...prepared.options, task: name } };
  if ((await services.store.task(name)) !== undefined) return runNamed(services, name, named);
  const leave = await joinStartQueue(services, prepared, prepared.execution.signal);
  try {
    const { unfinished } = await findUnfinished(services, prepared, prepared.calledAtMs);
    for (const { task } of unfinished) await task.close();
    const other = unfinished.find(({ task }) => task.name !== name);
    if (other !== undefined) throw twin(other.task.name);
    return await runNamed(services, name, { ...named, onBegun: () => void leave() });
  } finally {
    await leave();
  }
}

function twin(name: string): SplashdownError {
  return new SplashdownError(
    "USAGE_INVALID",
    `task ${name} of this workflow and these inputs is unfinished, so nothing was started; resume it by its name, or start another one on purpose under a name or key of its own`,
    { details: { task: name, verb: "run" } },
  );
}

async function runNamed(services: Services, name: string, prepared: Prepared): Promise<RunView> {
  const before = await services.store.task(name);
  if (before === undefined) requireGates(prepared);
  const task = before === undefined ? await createPlace(services, name) : undefined;
  if (task !== undefined) return whileOpen(task, () => startTask(services, { ...prepared, task }));
  const existing = before ?? (await services.store.task(name));
  if (existing === undefined) {
    await requireNotTrashed(services, name);
    throw new SplashdownError("TASK_NAME_INVALID", `the name ${name} is taken by something that is no task`, {
      details: { task: name },
    });
  }
  return whileOpen(existing, async () => {
    if (await hasNoRecords(existing)) {
      requireGates(prepared);
      return startTask(services, { ...prepared, task: existing });
    }
    if (prepared.options.fresh === true) throw nameTaken(name);
    const { folded, ...opened } = await readState(services, existing);
    const candidate = { ...opened, state: folded.state };
    if (folded.state.task === undefined) return goOn(services, candidate, prepared);
    requireSame(folded.state, prepared);
    return goOnOrTell(services, candidate, prepared);
  });
}

function nameTaken(name: string): SplashdownError {
  return new SplashdownError(
    "USAGE_INVALID",
    `there is a task ${name} already; choose another name, or leave --task out`,
    { details: { task: name, verb: "run" } },
  );
}

function requireSame(state: TaskState, prepared: Prepared): void {
  const difference = describeDifference(state.task, prepared);
  if (difference === undefined) return;
  const name = state.task?.name ?? "";
  throw new SplashdownError(
    "WORKFLOW_MISMATCH",
    `task ${name} was started with ${difference}; continue with: ${writeCommand("resume", [name])}, or choose another --task`,
    {
      details: { task: name, file: prepared.workflow.file ?? "FILE", difference },
    },
  );
}

async function ambiguous(candidates: readonly Candidate[], prepared: Prepared): Promise<SplashdownError> {
  const told: string[] = [];
  for (const { task, state } of candidates) {
    told.push(`${task.name} (${deriveStatus(state, (await task.ownerState()).state)})`);
    await task.close();
  }
  return new SplashdownError(
    "TASK_AMBIGUOUS",
    `${told.length} unfinished tasks of this workflow and these inputs fit: ${told.join(", ")}; continue one: ${candidates.map(({ task }) => writeCommand("resume", [task.name])).join(", or ")}, or start another with --new`,
    { details: { tasks: candidates.map(({ task }) => task.name), file: prepared.workflow.file ?? "FILE" } },
  );
}

function describePassedOver({ name, status, lastAtMs }: PassedOver, { settings }: Prepared): string {
  const within = settings.recovery_config.take_up_within;
  return `task ${name} of this workflow and these inputs is ${status} since ${formatTime(lastAtMs)}, for longer than take_up_within (${within}): it is left alone and another one starts; to continue it: ${writeCommand("resume", [name])}`;
}

/** Goes on with an unfinished task, or tells how it stands. Errors: OWNER_ALIVE. */
async function goOnOrTell(services: Services, candidate: Candidate, prepared: Prepared): Promise<RunView> {
  const { state, ...opened } = candidate;
  const { task } = opened;
  requireGates(prepared, state);
  const { state: owner, owner: facts } = await task.ownerState();
  if (deriveStatus(state, owner) === "running") {
    const text = `task ${task.name} is owned by ${describeOwner(facts)}${howToBegin(prepared, "; nothing was started")}`;
    throw new SplashdownError("OWNER_ALIVE", text, { details: { task: task.name, owner: facts ?? null } });
  }
  if (!isOpenEnded(state) || hasBegunBeside(services, state, prepared))
    return viewCurrent(services, candidate, prepared);
  if (state.task !== undefined) await requireKnownHere(services, opened, prepared);
  requireKnownSteps(state, prepared.execution.unknown);
  await answerOpenQuestions(
    services,
    { opened, state },
    { unknown: prepared.options.unknown, presets: prepared.execution.presets },
  );
  if (!(await isToGoOn(services, candidate, prepared))) return viewCurrent(services, candidate, prepared);
  return goOn(services, candidate, prepared);
}

/** Before it is answered anything. Errors: TASK_NEW_HERE, TASK_TWIN, TASK_DISPLACED. */
async function requireKnownHere(services: Services, { task, vault }: OpenedTask, prepared: Prepared): Promise<void> {
  await requireOneHome(services, task);
  const reserve = await findReserve(services, { name: task.name, taskId: vault.taskId });
  if (reserve === undefined) return;
  const text = `task ${task.name} is an unfinished run of this workflow and not gone on with: ${reserve}`;
  throw new SplashdownError("TASK_NEW_HERE", `${text}${howToBegin(prepared, "; nothing ran")}`, {
    details: { task: task.name },
  });
}

function isOpenEnded({ task }: TaskState): boolean {
  return task === undefined || task.status === "running" || task.resumable;
}

/** Another run of the same, at the same moment: what became of it is the answer to this one too. */
function hasBegunBeside(services: Services, state: TaskState, { options, calledAtMs }: Prepared): boolean {
  if (options.task !== undefined || state.task?.status === "running") return false;
  return hasBegunBetween(state, calledAtMs, services.clock.nowMs());
}

async function isToGoOn(services: Services, { state, ...opened }: Candidate, prepared: Prepared): Promise<boolean> {
  const isSaid =
    Object.keys(prepared.execution.unknown).length > 0 || (prepared.execution.onUnknown ?? "ask") !== "ask";
  if (!isSaid && isLeftToPerson(state, prepared)) return false;
  if (await shouldResume(opened, state, services.clock.nowMs())) return true;
  const { status, resumable, resumeAtMs } = state.task ?? {};
  if (status === "failed") return resumable === true;
  return (
    (status === "waiting" && isSaid) ||
    (status === "paused" && resumeAtMs !== undefined && prepared.options.wait === true)
  );
}

/**
 * `auto_recovery: false` of the task or of the place: what stopped goes on by `resume` alone. One that waits for an answer
 * was left on purpose, and what was never begun has nothing to recover.
 */
function isLeftToPerson({ task }: TaskState, { settings }: Pick<Prepared, "settings">): boolean {
  if (task === undefined || task.status === "waiting") return false;
  return !isAutomatic({ task }, settings);
}

/** Errors: none. */
export function isAutomatic(state: Pick<TaskState, "task">, today: EffectiveSettings): boolean {
  const started = state.task?.settings as Partial<EffectiveSettings> | undefined;
  return today.recovery_config.auto_recovery && (started?.recovery_config?.auto_recovery ?? true);
}

async function tellLeft(services: Services, candidate: Candidate): Promise<RunView> {
  const { state, ...opened } = candidate;
  const { name } = opened.task;
  const next = writeCommand("resume", [name]);
  const status = deriveStatus(state, (await opened.task.ownerState()).state);
  const text = `task ${name} of this workflow and these inputs is ${status}, and recovery_config.auto_recovery is off; nothing ran. Continue with: ${next}, or start another with --new`;
  const view = await viewRun(services, { opened, state, how: "finished_before", notices: [text] });
  return {
    ...view,
    status,
    exit_status: EXIT_STATUS.personNeeded,
    reason: "recovery_config.auto_recovery is off",
    next,
  };
}

function viewCurrent(services: Services, candidate: Candidate, prepared: Prepared): Promise<RunView> {
  if (isOpenEnded(candidate.state) && isLeftToPerson(candidate.state, prepared)) return tellLeft(services, candidate);
  const { state, ...opened } = candidate;
  const unused = Object.keys(prepared.execution.presets.answers).map(
    (name) => `--answer ${name}=… was not used: nothing that is asked now has that name`,
  );
  const notices = [`${describeStanding(services, state, prepared)}${howToBegin(prepared, "; nothing ran")}`, ...unused];
  return viewRun(services, { opened, state, how: "finished_before", notices });
}

function describeStanding(services: Services, state: TaskState, prepared: Prepared): string {
  const { name = "", status = "crashed", resumeAtMs } = state.task ?? {};
  const task = prepared.options.task === undefined ? `task ${name} of this workflow and these inputs` : `task ${name}`;
  if (hasBegunBeside(services, state, prepared))
    return `${task} was begun at the same moment by another run, and is ${status}`;
  if (!isOpenEnded(state)) return `${task} has ended`;
  if (status === "waiting") return `${task} waits for an answer`;
  return resumeAtMs === undefined ? `${task} is ${status}` : `${task} is ${status} until ${formatTime(resumeAtMs)}`;
}

function howToBegin({ options }: Prepared, before: string): string {
  return `${before}. ${options.task === undefined ? "Start another with --new" : "Choose another --task"}`;
}

function describeGoingOn({ task }: TaskState, name: string): string {
  if (task?.status === "failed")
    return `task ${name} failed before (${task.reason ?? ""}); what failed is tried again, what is done is kept`;
  if (task?.status === "waiting") return `task ${name} was answered; it continues where it stopped`;
  if (task?.status === "paused") return `task ${name} was paused; it continues where it stopped`;
  return `task ${name} was interrupted; it continues where it stopped`;
}

function goOn(services: Services, candidate: Candidate, prepared: Prepared): Promise<RunView> {
  const { state, ...opened } = candidate;
  const { name } = opened.task;
  const afresh = prepared.options.task === undefined ? "--new" : "another --task";
  services.log.info(`${describeGoingOn(state, name)} (start another with ${afresh})`);
  return continueTask(services, {
    ...prepared,
    opened,
    settings: state.task === undefined ? prepared.settings : sealedSettings(state, prepared.settings),
    by: "run",
    isToGoOn: (now) => isToGoOn(services, { ...opened, state: now }, prepared),
    byPerson: false,
    // Nothing was recorded: what begins there is the workflow that was given.
    newHere: state.task === undefined,
    hasNoRecords: state.task === undefined,
    takeOver: false,
    acceptLoss: false,
    acceptedDefinition: false,
  });
}

/** What was in force at the start of the task, as sealed there; keys it does not know yet are today's. */
export function sealedSettings(state: TaskState, today: EffectiveSettings): EffectiveSettings {
  const sealed = state.task?.settings as Partial<EffectiveSettings> | undefined;
  return sealed === undefined ? today : { ...today, ...sealed };
}

async function startNew(services: Services, prepared: Prepared): Promise<RunView> {
  const base = computeTaskName(prepared.workflow.definition.name, services.clock.nowMs());
  for (let attempt = 1; ; attempt += 1) {
    const task = await createPlace(services, attempt === 1 ? base : `${base}_${attempt}`);
    if (task !== undefined) return whileOpen(task, () => startTask(services, { ...prepared, task }));
  }
}

/** The key first: a task's place is made only when it can be sealed. */
async function createPlace(services: Services, name: string): Promise<TaskStore | undefined> {
  await services.keys.ensureKey();
  return services.store.createTask(name);
}
