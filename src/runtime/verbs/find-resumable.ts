/**
 * Finds the unfinished tasks that stand beside a `run` of the same definition and inputs, and those it cannot judge.
 *
 * A task that cannot be read is not passed over in silence where its work may be this very run's: with its key missing
 * nobody can tell, and with its start readable it can be told. What is damaged and of another workflow stops no run.
 * Source: DESIGN section 10, FAULTS 10, 14, 34.
 */
import { ERROR_TABLE, EXIT_STATUS, type ErrorCode } from "../../base/error-table.js";
import { isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import { canonicalJson } from "../../base/json-encoding.js";
import { parseDurationMs } from "../../definition/model/duration.js";
import { hasTimeCome } from "../../engine/rules/steps/due.js";
import type { TaskEntry, TaskState } from "../../engine/model/state.js";
import { openQuestions } from "../../engine/rules/questions/questions.js";
import { looksUnfinished } from "../../journal/plaintext-tail.js";
import { readHistory } from "../../journal/history.js";
import { scanTasks, type ScannedTask } from "../../recovery/scan.js";
import type { TaskStore } from "../../store/contract/contract.js";
import { listUnanswered } from "../tasks/submit-answer.js";
import { openTask, readState, type OpenedTask } from "../tasks/reading.js";
import { describeResidence, judgeResidence } from "../tasks/residence.js";
import type { Services } from "../services/services.js";
import type { Wanted } from "../tasks/workflow-loading.js";

const TAKE_UP_WITHIN_MS = 12 * 60 * 60 * 1000;

export interface Candidate extends OpenedTask {
  readonly state: TaskState;
}

/** Crashed, ended by a signal, or paused until a time that has come: what goes on by itself. */
export function isInterrupted(state: TaskState, nowMs: number): boolean {
  const { task } = state;
  if (task === undefined || task.status === "running") return true;
  if (task.status === "stopped") return task.resumable;
  return task.status === "paused" && isDue(task, nowMs);
}

function isDue({ resumeAtMs, pausedAtMs = 0 }: TaskEntry, nowMs: number): boolean {
  return resumeAtMs !== undefined && hasTimeCome({ resumeAtMs, setAtMs: pausedAtMs }, nowMs);
}

/** Interrupted, or answered since its owner left, or with a question whose time is over. */
export async function shouldResume(opened: OpenedTask, state: TaskState, nowMs: number): Promise<boolean> {
  if (isInterrupted(state, nowMs)) return true;
  const { task } = state;
  if (task?.status !== "waiting") return false;
  if (isDue(task, nowMs)) return true;
  const open = openQuestions(state);
  return (await listUnanswered(opened, open)).length < open.length;
}

/** A task beside others: what stands against its folder must not stop them (R12). */
async function openOther({ store }: Services, name: string): Promise<TaskStore | "unreadable" | undefined> {
  try {
    return await store.task(name);
  } catch (error) {
    if (!(error instanceof SplashdownError) || error.code === "INTERNAL") throw error;
    return "unreadable";
  }
}

/** Names of the waiting tasks that may go on. A task that cannot be read is none. */
export async function findAnswered(services: Services, scanned: readonly ScannedTask[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const { name, status } of scanned) {
    const task = status === "waiting" ? await openOther(services, name) : undefined;
    if (task === undefined || task === "unreadable") continue;
    try {
      const { folded, ...opened } = await readState(services, task);
      if (await shouldResume(opened, folded.state, services.clock.nowMs())) found.add(name);
    } catch (error) {
      if (!(error instanceof SplashdownError) || error.code === "INTERNAL") throw error;
    } finally {
      await task.close();
    }
  }
  return found;
}

type Started = Pick<NonNullable<TaskState["task"]>, "definition" | "inputs">;

/** In what a task differs from what is wanted; `undefined` when in nothing. */
export function describeDifference(
  started: Started | undefined,
  { workflow, inputs }: Pick<Wanted, "workflow" | "inputs">,
): string | undefined {
  if (started === undefined) return undefined;
  if (started.definition.fingerprint !== workflow.definition.fingerprint) return "another definition";
  return canonicalJson(started.inputs) === canonicalJson(inputs) ? undefined : "other inputs";
}

/** What stands beside a run that would begin a task. */
export interface Unfinished {
  /** Unfinished, and to be seen to before another is begun; the caller closes them. */
  readonly unfinished: readonly Candidate[];
  /** Unfinished, and left for longer than `take_up_within`, newest first. */
  readonly passedOver: readonly PassedOver[];
}

export interface PassedOver {
  readonly name: string;
  readonly status: string;
  readonly lastAtMs: number;
}

/** More of those that are passed over are not read. */
const PASSED_OVER_MAX = 20;

/**
 * Tasks of this definition and these inputs that have not ended, and those that have ended but were begun since `calledAtMs`.
 *
 * Whoever waits for a person, a time or its own end stands however long it has waited. Errors: KEY_* when one that was
 * under way cannot be read without its key; what is wrong with one that is wanted.
 */
export async function findUnfinished(services: Services, wanted: Wanted, calledAtMs: number): Promise<Unfinished> {
  const { store, keys, clock } = services;
  const unfinished: Candidate[] = [];
  const old: ScannedTask[] = [];
  const withinMs = parseDurationMs(wanted.settings.recovery_config.take_up_within) ?? TAKE_UP_WITHIN_MS;
  const sinceMs = clock.nowMs() - withinMs;
  for (const entry of await scanTasks({ store, openVault: (task) => keys.open(task, { isOneOfMany: true }) })) {
    const relevance = judgeEntry(entry, { sinceMs, calledAtMs });
    if (relevance === "old") old.push(entry);
    if (relevance !== "stands") continue;
    const candidate = await openCandidate(services, entry, wanted);
    if (candidate === undefined) continue;
    if (!isEnded(candidate.state) || hasBegunBetween(candidate.state, calledAtMs, clock.nowMs()))
      unfinished.push(candidate);
    else await candidate.task.close();
  }
  const passedOver = unfinished.length > 0 ? [] : await listPassedOver(services, old, wanted);
  return { unfinished, passedOver };
}

function isEnded({ task }: TaskState): boolean {
  return task !== undefined && task.status !== "running" && !task.resumable;
}

/** A clock that was put back leaves tasks behind that begin in its future: they began before. */
export function hasBegunBetween({ task }: TaskState, fromMs: number, toMs: number): boolean {
  return task !== undefined && task.startedAtMs > fromMs && task.startedAtMs <= toMs;
}

/** `stands` must be looked at; `old` is passed over, and told; nothing else matters. */
function judgeEntry(
  entry: ScannedTask,
  { sinceMs, calledAtMs }: { readonly sinceMs: number; readonly calledAtMs: number },
): "stands" | "old" | undefined {
  const { lastAtMs, problem } = entry;
  // Of another machine, as far as can be told from here: nobody goes on with it unasked.
  if (problem?.code === "KEY_NOT_TRIED") return undefined;
  if (problem !== undefined) return "stands";
  if (lastAtMs === undefined) return undefined;
  if (isOver(entry)) return lastAtMs > calledAtMs ? "stands" : undefined;
  return isAging(entry) && lastAtMs < sinceMs ? "old" : "stands";
}

/** It has ended for good. */
function isOver({ status, closed }: ScannedTask): boolean {
  return status === "done" || status === "partial" || closed?.resumable === false;
}

/** It waits for nothing, so that it grows old when nobody goes on with it. */
function isAging({ status }: ScannedTask): boolean {
  return status === "crashed" || status === "stopped" || status === "failed";
}

async function openCandidate(services: Services, entry: ScannedTask, wanted: Wanted): Promise<Candidate | undefined> {
  const task = await openOther(services, entry.name);
  if (task === "unreadable")
    services.log.warn(`task ${entry.name} cannot be read and is skipped: ${entry.problem?.message ?? ""}`);
  if (task === undefined || task === "unreadable") return undefined;
  const candidate = await judge(services, { entry, task, wanted });
  if (candidate === undefined) await task.close();
  return candidate;
}

async function listPassedOver(
  services: Services,
  old: readonly ScannedTask[],
  wanted: Wanted,
): Promise<readonly PassedOver[]> {
  const found: PassedOver[] = [];
  const byTime = [...old].sort((a, b) => (b.lastAtMs ?? 0) - (a.lastAtMs ?? 0));
  for (const entry of byTime.slice(0, PASSED_OVER_MAX)) {
    const candidate = await openCandidate(services, entry, wanted).catch(passOver(services, entry));
    if (candidate === undefined) continue;
    await candidate.task.close();
    found.push({ name: entry.name, status: entry.status, lastAtMs: entry.lastAtMs ?? 0 });
  }
  return found;
}

/** What is passed over anyway stops no run by being damaged. */
function passOver({ log }: Services, { name }: ScannedTask): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof SplashdownError) || error.code === "INTERNAL") throw error;
    log.debug(`task ${name} cannot be read and is skipped: ${messageOf(error)}`);
    return undefined;
  };
}

interface Judged {
  readonly entry: ScannedTask;
  readonly task: TaskStore;
  readonly wanted: Wanted;
}

async function judge(services: Services, { entry, task, wanted }: Judged): Promise<Candidate | undefined> {
  try {
    const { folded, ...opened } = await readState(services, task);
    const { state } = folded;
    if (state.task === undefined || isUnusedFork(state)) return undefined;
    if (describeDifference(state.task, wanted) !== undefined) return undefined;
    return (await isCopy(services, opened)) ? undefined : { ...opened, state };
  } catch (error) {
    if (!(error instanceof SplashdownError) || error.code === "INTERNAL") throw error;
    await requireNotWanted(services, { entry, task, wanted }, error);
    return undefined;
  }
}

/** Made by a person to be looked at, and begun by nobody: no run of the workflow. */
function isUnusedFork({ task, epoch }: TaskState): boolean {
  return task?.forkedFrom !== undefined && task.status === "paused" && epoch <= 1;
}

/** A copy of a task that lives elsewhere is passed over, and said. */
async function isCopy(services: Services, { task, vault }: OpenedTask): Promise<boolean> {
  const residence = await judgeResidence(services, task, vault.taskId);
  if (residence.kind !== "twin" && residence.kind !== "exchanged") return false;
  services.log.warn(`task ${task.name} is skipped: ${describeResidence(residence, task) ?? ""}`);
  return true;
}

/** Stops the run where the task that cannot be read may be the one to go on with. */
async function requireNotWanted(services: Services, { task, wanted }: Judged, error: SplashdownError): Promise<void> {
  if ((await wasUnderWay(task)) === false) return;
  const isWanted = await isStartOf(services, task, wanted);
  if (isWanted === false) return;
  if (isWanted === undefined && !isKeyProblem(error.code)) {
    services.log.warn(`task ${task.name} cannot be read and is skipped: ${messageOf(error)}`);
    return;
  }
  const why = isWanted === true ? "it is an interrupted run of this workflow" : "it may be an interrupted run of this";
  throw new SplashdownError(error.code, `${messageOf(error)}; ${why}, start another with --new`, {
    details: error.details,
    cause: error,
  });
}

function isKeyProblem(code: ErrorCode): boolean {
  return ERROR_TABLE[code].exitStatus === EXIT_STATUS.key;
}

/** Whether the task was started with what is wanted; `undefined` when its start cannot be read. */
async function isStartOf(services: Services, task: TaskStore, wanted: Wanted): Promise<boolean | undefined> {
  try {
    const { vault } = await openTask(services, task);
    const first = (await readHistory({ task, vault })).records[0]?.decode();
    return first?.type === "task_started" ? describeDifference(first, wanted) === undefined : undefined;
  } catch (error) {
    if (!(error instanceof SplashdownError) || isErrorCode(error, "INTERNAL")) throw error;
    return undefined;
  }
}

/** Whether a task that cannot be read was under way; `undefined` where not even that can be told. */
async function wasUnderWay(task: TaskStore): Promise<boolean | undefined> {
  try {
    return await looksUnfinished(task);
  } catch (error) {
    if (!(error instanceof SplashdownError) || error.code === "INTERNAL") throw error;
    return undefined;
  }
}

/** What is wrong with a task that was under way, or may have been, so that nobody can take it up. */
export async function findBlocking(
  services: Services,
  entry: ScannedTask,
): Promise<NonNullable<ScannedTask["problem"]> | undefined> {
  if (entry.problem === undefined) return undefined;
  const task = await openOther(services, entry.name);
  if (task === undefined) return undefined;
  if (task === "unreadable") return entry.problem;
  try {
    return (await wasUnderWay(task)) === false ? undefined : entry.problem;
  } finally {
    await task.close();
  }
}
