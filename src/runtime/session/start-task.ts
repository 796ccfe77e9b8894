/**
 * Takes a task into this process and runs it: a new one, or one that goes on after a crash, a pause or an answer.
 *
 * Owns: the order of claiming. A new task: place → keyring → epoch → journal. One that goes on: owner gone → restored
 * (keys, roll-back, damage judged; then claimed) → journal.
 */
import type { JsonObject } from "../../base/json.js";
import { SplashdownError } from "../../base/errors.js";
import { createUuid, type TaskId } from "../../base/ids.js";
import { LIMITS } from "../../base/limits.js";
import { requireValues } from "../../checkpoint/named-values.js";
import type { EffectiveSettings } from "../../definition/settings/settings.js";
import type { LoadedWorkflow } from "../../definition/model/loaded-workflow.js";
import type { EngineInput, Rollback } from "../../engine/model/input.js";
import { createState, type TaskState } from "../../engine/model/state.js";
import { requireNoClaimant, requireOwnerGone } from "../../recovery/liveness.js";
import type { KnownTask } from "../../recovery/fold.js";
import { restoreTask, type Restored } from "../../recovery/restore.js";
import type { OwnerFacts, TaskStore } from "../../store/contract/contract.js";
import { anchoredPosition, replaceAnchor } from "../../vault/anchor.js";
import type { AuditNote } from "../audit/audit-trail.js";
import { loadTrackRecords } from "./calibration.js";
import type { RunView } from "../views/task-views.js";
import { policiesOf } from "./answer-flags.js";
import type { Execution } from "./execution.js";
import { notStarted } from "../keychain/unopened-task.js";
import { readOrphans } from "./orphan-results.js";
import { whileOwning, type Presence, type PresenceDeps } from "./presence.js";
import { openWith, readAnchor, type OpenedTask } from "../tasks/reading.js";
import { requireOneHome, settleHome } from "../tasks/residence.js";
import { viewRun } from "./run-view.js";
import type { Services } from "../services/services.js";
import { runSession, type SessionOptions } from "./task-session.js";

/** The reserve, and as much again for what goes on. */
const ROOM_MIB = (2 * LIMITS.ballastBytes) / 1024 / 1024;

export interface StartOptions {
  readonly workflow: LoadedWorkflow;
  readonly settings: EffectiveSettings;
  readonly execution: Execution;
  /** Called once the start of a new task is durable. */
  readonly onBegun?: () => void;
  readonly notices?: readonly string[];
}

export interface NewTask extends StartOptions {
  readonly task: TaskStore;
  readonly inputs: JsonObject;
}

/** Runs a task from its beginning, in a place where nothing was recorded. Errors: OWNER_ALIVE, OWNER_SUPERSEDED. */
export async function startTask(services: Services, options: NewTask): Promise<RunView> {
  const { task } = options;
  const taskId = createUuid(services.random);
  const vault = await services.keys.create(task, taskId);
  const opened = openWith(services, task, vault);
  const state = createState();
  const seen = await requireUnborn(services, options);
  await settleHome(services, { task, taskId: vault.taskId, byPerson: true, isPlain: !vault.encrypted });
  await whileOwning(presenceDeps(services, task), async (presence) => {
    const epoch = await task.claim(seen);
    // Of a claimant that was too slow to show itself.
    await requireNothingRecorded(task);
    await presence.show(epoch);
    // Never before the header is durable: it tells that there was one (R17).
    const onOpened = () => services.audit.note(opened, { event: "started", verb: "run", details: { epoch } });
    const begun = { epoch, prev: undefined, base: undefined, journalBytes: 0, state, onOpened };
    await runWith(services, options, { opened, ...begun, input: await startInput(services, opened, options) });
  });
  return viewRun(services, { opened, state, how: "started", notices: options.notices ?? [] });
}

/** Of several processes that find nothing recorded in a place one claims it. Shape and errors: as `awaitClaimant`. */
async function requireUnborn(services: Services, options: NewTask): Promise<number> {
  const claimed = await awaitClaimant(services, options);
  await requireNothingRecorded(options.task);
  return claimed;
}

/**
 * Who has begun in a place since one looked is left alone: a claimant is given the time to show itself.
 *
 * Shape: the highest epoch that was seen, for the claim. Errors: OWNER_ALIVE, OWNER_SUPERSEDED.
 */
export async function awaitClaimant(
  { clock }: Services,
  { task, execution }: Pick<NewTask, "task"> & Partial<Pick<NewTask, "execution">>,
): Promise<number> {
  const signal = execution?.signal;
  const claimed = Math.max(0, ...(await task.segments()).map(({ epoch }) => epoch));
  const waiting = { task, clock, ...(signal === undefined ? {} : { signal }) };
  if (claimed > 0) await requireNoClaimant({ ...waiting, epoch: claimed });
  return claimed;
}

async function requireNothingRecorded(task: TaskStore): Promise<void> {
  if ((await task.segments()).some(({ sizeBytes }) => sizeBytes > 0)) throw leftByAnother(task.name);
}

async function startInput(
  services: Services,
  { task, vault }: OpenedTask,
  options: StartOptions & { readonly inputs: JsonObject },
): Promise<Extract<EngineInput, { kind: "start" }>> {
  const { workflow, settings, inputs, execution } = options;
  const trackRecords = await loadTrackRecords(services, workflow.definition, settings);
  return {
    kind: "start",
    onUnknown: execution.onUnknown,
    taskId: vault.taskId as TaskId,
    name: task.name,
    definition: workflow.definition,
    folder: workflow.folder,
    inputs,
    settings: JSON.parse(JSON.stringify(settings)) as JsonObject,
    ...(workflow.file === undefined ? {} : { definitionFile: workflow.file }),
    ...(trackRecords === undefined ? {} : { trackRecords }),
  };
}

export interface ContinueOptions extends StartOptions {
  readonly opened: OpenedTask;
  readonly by: "run" | "resume" | "recover" | "library";
  /** Asked again right before the claim: somebody else may have gone on with the task and even ended it. */
  readonly isToGoOn: (state: TaskState) => boolean | Promise<boolean>;
  readonly byPerson: boolean;
  /** A person says that the task lives here, whatever this machine remembers. */
  readonly here?: boolean | undefined;
  /** What this machine never ran is welcome. */
  readonly newHere?: boolean | undefined;
  readonly takeOver: boolean;
  /** Nothing was recorded: its owner, where it cannot be reached, is superseded without a question. */
  readonly hasNoRecords?: boolean;
  readonly acceptLoss: boolean;
  /** The definition as it is now, when a person accepted that it differs. */
  readonly acceptedDefinition: boolean;
  /** For a task whose first process died before anything was recorded: it is started with these. */
  readonly inputs?: JsonObject;
  /** Go back first. */
  readonly goBack?: Rollback;
  /** The task as it was read to decide on this; its state is used up by going on. */
  readonly known?: KnownTask | undefined;
}

/**
 * Goes on with a task.
 *
 * Errors: OWNER_ALIVE, OWNER_UNCLEAR, OWNER_SUPERSEDED; those of `restoreTask`; those of `runSession`.
 */
export async function continueTask(services: Services, options: ContinueOptions): Promise<RunView> {
  const { opened, by, notices } = options;
  const restored = await whileOwning(presenceDeps(services, opened.task), async (presence) => {
    const { signal } = options.execution;
    const isToGoOn = (state: TaskState) => isToRun(options, state);
    const taken = await takeOver(services, { ...options, signal, isToGoOn }, presence);
    await runOn(services, options, taken);
    return taken;
  });
  const how = restored.crashed && (by === "run" || by === "recover") ? "taken_up" : "resumed";
  return viewRun(services, {
    opened,
    state: restored.state,
    how,
    recovery: restored.report,
    ...(notices === undefined ? {} : { notices }),
  });
}

/** Nothing begins on a state whose values are not there; who goes back leaves them behind, who accepts loss knows. */
async function isToRun({ opened, isToGoOn, goBack, acceptLoss }: ContinueOptions, state: TaskState): Promise<boolean> {
  if (!(await isToGoOn(state))) return false;
  if (goBack === undefined && !acceptLoss) await requireValues(opened, state);
  return true;
}

async function runOn(services: Services, options: ContinueOptions, restored: Restored): Promise<void> {
  const { state, epoch, prev, repeated, base, journalBytes, uncertain } = restored;
  const checkpointFirst = uncertain ? "loss accepted: nothing is read over the gap again" : undefined;
  // Never before the header is durable: it tells that there was one (R17).
  const onOpened = () => services.audit.note(options.opened, ...describeTaking(restored, options));
  const standing = { epoch, prev, repeated, base, journalBytes, state, checkpointFirst, onOpened };
  const input = await resumedInput(services, restored, options);
  await runWith(services, options, { opened: options.opened, ...standing, input });
}

/** Where a session begins: what it writes on after, and its first input. */
interface Beginning extends Pick<
  SessionOptions,
  "epoch" | "prev" | "repeated" | "base" | "journalBytes" | "state" | "checkpointFirst" | "onOpened"
> {
  readonly opened: OpenedTask;
  readonly input: Parameters<typeof runSession>[1];
}

async function runWith(services: Services, options: StartOptions, beginning: Beginning): Promise<void> {
  const { workflow, settings, execution, onBegun } = options;
  const { opened, input, ...standing } = beginning;
  const { task, vault } = opened;
  const templates = await services.templates();
  try {
    await runSession({ services, task, vault, templates, ...standing, workflow, settings, execution, onBegun }, input);
  } catch (error) {
    throw nameTask(error, task.name);
  }
}

/** What the storage refused, with the task whose run it ended and how much room it needs. */
function nameTask(error: unknown, task: string): unknown {
  if (!(error instanceof SplashdownError) || !/^(STORE_|SEGMENT_DEAD)/.test(error.code)) return error;
  if (error.details["task"] !== undefined && error.code !== "STORE_FULL") return error;
  const room = error.code === "STORE_FULL" ? { room: `(${ROOM_MIB} MiB or more)` } : {};
  return new SplashdownError(error.code, error.message, { details: { ...error.details, task, ...room }, cause: error });
}

function leftByAnother(task: string): SplashdownError {
  return new SplashdownError("OWNER_SUPERSEDED", `another process continued task ${task} meanwhile, and left it`, {
    details: { task },
  });
}

export function presenceDeps({ clock, processes }: Services, task: TaskStore): PresenceDeps {
  return { task, clock, self: processes().self };
}

/** What the audit trail says of it: who takes the task up, what a person accepted, what was set aside. */
function describeTaking({ crashed, epoch, report }: Restored, options: ContinueOptions): AuditNote[] {
  const { by, acceptLoss, acceptedDefinition, takeOver: isTakenOver, workflow, goBack } = options;
  const verb = by === "library" ? "resume" : by;
  const { quarantined, orphan_completions: orphans } = report;
  return [
    {
      event: crashed ? "recovered" : "resumed",
      verb,
      details: { epoch, ...(orphans === undefined ? {} : { orphan_completions: orphans }) },
    },
    ...(acceptLoss ? [{ event: "loss_accepted" as const, verb, details: { report } }] : []),
    ...(acceptedDefinition
      ? [{ event: "changes_accepted" as const, verb, details: { fingerprint: workflow.definition.fingerprint } }]
      : []),
    ...(goBack === undefined
      ? []
      : [
          {
            event: "rolled_back" as const,
            verb,
            details: { seq: goBack.to.seq, checkpoint_id: goBack.to.checkpointId },
          },
        ]),
    ...(isTakenOver ? [{ event: "taken_over" as const, verb }] : []),
    ...(Array.isArray(quarantined) && quarantined.length > 0
      ? [{ event: "quarantined" as const, verb, details: { files: quarantined } }]
      : []),
  ];
}

async function resumedInput(
  services: Services,
  restored: Restored,
  options: ContinueOptions,
): Promise<Extract<EngineInput, { kind: "start" | "resumed" }>> {
  const { opened, workflow, settings, inputs } = options;
  if (restored.state.task === undefined) {
    if (inputs !== undefined) return startInput(services, opened, { ...options, inputs });
    throw notStarted(opened.task.name);
  }
  return {
    kind: "resumed",
    epoch: restored.epoch,
    by: options.by,
    crashed: restored.crashed,
    report: restored.report,
    last: restored.last,
    ...(options.acceptedDefinition ? { definition: workflow.definition } : {}),
    orphans: await readOrphans(opened, restored.orphans),
    uncertain: restored.uncertain,
    ...(options.execution.onUnknown === undefined ? {} : { onUnknown: options.execution.onUnknown }),
    onUnknownOf: policiesOf(options.execution.unknown),
    byPerson: options.byPerson,
    ...(options.goBack === undefined ? {} : { goBack: options.goBack }),
    maxRecoveryAttempts: settings.recovery_config.max_recovery_attempts,
    mayRun: restored.mayRun,
    serversLeft: restored.serversLeft,
    probed: new Map(),
  };
}

export interface TakeOverOptions extends Pick<
  ContinueOptions,
  "opened" | "settings" | "takeOver" | "hasNoRecords" | "acceptLoss" | "isToGoOn" | "known" | "here" | "newHere"
> {
  /** Whether a person named the task; absent: it is only tended, and stays as new here as it was. */
  readonly byPerson?: boolean | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Makes sure that nobody owns the task, restores it and claims it. */
export async function takeOver(services: Services, options: TakeOverOptions, presence: Presence): Promise<Restored> {
  const { opened, settings, signal, acceptLoss } = options;
  const { task, vault, snapshots } = opened;
  const { clock, log } = services;
  const waiting = { task, clock, ...(signal === undefined ? {} : { signal }) };
  let unclear: OwnerFacts | undefined;
  const requireGone = async (): Promise<void> => {
    const { state, owner } = await requireOwnerGone({
      ...waiting,
      takeOver: options.takeOver,
      hasNoRecords: options.hasNoRecords ?? false,
      watchMs: LIMITS.ownerWatchMs,
    });
    if (state === "unclear") unclear = owner;
  };
  // Judged first: a copy that stood still while the task went on is no roll-back.
  if (options.here !== true) await requireOneHome(services, task);
  await requireGone();
  if (!settings.recovery_config.fallback_to_previous) await requireNewestSnapshot(opened);
  const anchor = await readAnchor(services, vault.taskId);
  if (anchor.state === "damaged") log.warn(`${anchor.problem}; a rolled-back folder goes unnoticed`);
  const restored = await restoreTask({
    ...waiting,
    vault,
    snapshots,
    processes: services.processes(),
    log,
    anchor: anchoredPosition(anchor),
    acceptLoss,
    unclearOwner: () => unclear,
    known: options.known,
    timeoutMs: settings.recovery_config.recovery_timeout_seconds * 1000,
    // Whoever took it since the first look has shown itself by now, or is seen after the claim.
    beforeClaim: async (state, unused) => {
      await requireOwnerGone({ ...waiting, takeOver: true });
      if (unused !== undefined && !options.takeOver) await requireNoClaimant({ ...waiting, epoch: unused });
      if (!(await options.isToGoOn(state))) throw leftByAnother(task.name);
      await requireHome(services, options);
    },
    afterClaim: async (epoch) => {
      // An owner shows itself before its last look for a higher epoch, and acts after it: who acted before this claim is
      // seen here. It goes no further now, and what it has begun must not begin a second time beside it.
      await requireGone();
      await requireSameKey(services, opened);
      await presence.show(epoch);
      await services.keys.settle(task, vault);
    },
  });
  if (acceptLoss && restored.prev !== undefined) await lowerAnchor(services, vault.taskId, restored);
  return restored;
}

/** The last thing before the claim: nothing is claimed of a task that lives elsewhere. */
async function requireHome(services: Services, { opened, byPerson, here, newHere }: TakeOverOptions): Promise<void> {
  const { task, vault } = opened;
  if (byPerson === undefined) await requireOneHome(services, task);
  else await settleHome(services, { task, taskId: vault.taskId, byPerson, here, newHere });
}

/** Under the key that this process opened it with, nothing more may be written (keys/reencrypt-verb.ts). Errors: its own. */
async function requireSameKey({ keys }: Services, { task, vault }: OpenedTask): Promise<void> {
  if ((await keys.renew(task, vault)) === vault) return;
  throw new SplashdownError("OWNER_SUPERSEDED", `the key of task ${task.name} was changed while it was taken over`, {
    details: { task: task.name },
  });
}

/** `fallback_to_previous: false`: a bad newest file stops the recovery instead of being set aside. Errors: its own. */
async function requireNewestSnapshot({ snapshots }: OpenedTask): Promise<void> {
  const [newest] = await snapshots.list();
  if (newest !== undefined) await snapshots.load(newest.file);
}

/** A person accepted the loss: what was remembered beyond it counts no more. */
async function lowerAnchor(services: Services, taskId: string, { prev }: Restored): Promise<void> {
  if (prev === undefined || !services.store.manifest.durable) return;
  const { fileSystem, random, environment } = services;
  const position = { epoch: prev.epoch, n: prev.n, hash: prev.h };
  await replaceAnchor({ fileSystem, random, stateFolder: environment.stateFolder, taskId, fields: { position } });
}
