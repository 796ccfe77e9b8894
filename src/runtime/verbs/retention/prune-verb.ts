/**
 * `checkpoints prune` and `checkpoints clear`: the plan first, then, if nobody objects, the removal under a claim.
 *
 * Snapshot files go by count, by `--keep` and by age; the journal only with `--history`; whole tasks as `whole-tasks.ts`
 * judges, to the trash, and from there for good. Source: DESIGN section 7 (retention), STORAGE 1.12, FAULTS 11.
 */
import { writeCommand } from "../../../base/command-text.js";
import { isErrorCode, messageOf, SplashdownError } from "../../../base/errors.js";
import { mapInWindow } from "../../../base/window.js";
import { VERIFIED_MIN, type RetentionRules } from "../../../checkpoint/retention.js";
import type { EffectiveSettings } from "../../../definition/settings/settings.js";
import type { TaskState } from "../../../engine/model/state.js";
import { requireOwnerGone } from "../../../recovery/liveness.js";
import { LIMITS } from "../../../base/limits.js";
import type { TaskStore, TrashedTask } from "../../../store/contract/contract.js";
import { withOwnedTask, type OwnedTask } from "../../session/maintenance.js";
import { findTask } from "../../tasks/finding.js";
import { createRetention, planPruning, retainedOf, viewPlan, type PlanRequest, type PrunePlan } from "./prune-plan.js";
import { TASKS_AT_ONCE } from "../../keychain/readable-tasks.js";
import { deriveStatus, openTask, readState, whileOpen, type OpenedTask } from "../../tasks/reading.js";
import type { ClearOptions, PrunedTaskView, PruneOptions, PruneView } from "../../views/past-views.js";
import type { Services } from "../../services/services.js";
import { moveToTrash } from "./trash-verbs.js";
import { DAY_MS, ENDED, type RetainedTask, type Verdict, TaskRetention } from "./task-retention.js";
import { measureTask } from "../../tasks/task-size.js";

interface Pruning extends PruneOptions {
  /** All unpinned files of the task go. */
  readonly clears?: boolean;
  /** Nothing but what goes as a whole, by itself (expiry.ts). */
  readonly wholeOnly?: boolean;
}

/** Errors: TASK_NOT_FOUND, TASK_AMBIGUOUS, USAGE_INVALID; OWNER_ALIVE and others of taking over only for a named task. */
export async function pruneCheckpoints(services: Services, options: Pruning = {}): Promise<PruneView> {
  if (options.keep !== undefined && !(Number.isSafeInteger(options.keep) && options.keep >= 0))
    throw new SplashdownError("USAGE_INVALID", "--keep takes a number of files, 0 or more");
  return new PruneRun(services, options).run();
}

/** All unpinned snapshot files of one task; of an unfinished one two verified files stay. Errors: as `pruneCheckpoints`. */
export async function clearCheckpoints(
  services: Services,
  task: string,
  options: ClearOptions = {},
): Promise<PruneView> {
  return new PruneRun(services, { ...options, task, clears: true }).run();
}

class PruneRun {
  readonly #services: Services;
  readonly #options: Pruning;
  readonly #nowMs: number;
  /** Settings of the tasks that were looked at: a long history is not read once more for them. */
  readonly #planned = new Map<string, EffectiveSettings>();

  constructor(services: Services, options: Pruning) {
    this.#services = services;
    this.#options = options;
    this.#nowMs = services.clock.nowMs();
  }

  async run(): Promise<PruneView> {
    const { dryRun = false, confirm } = this.#options;
    const plan = createView(await this.#planAll(), true);
    const isWork = plan.tasks.some(({ action }) => action !== "keep");
    if (dryRun || !isWork) return plan;
    if (confirm !== undefined && !(await confirm(plan))) return plan;
    const done: PrunedTaskView[] = [];
    for (const task of plan.tasks) done.push(task.action === "keep" ? task : await this.#carryOut(task));
    return createView(done, false);
  }

  async #planAll(): Promise<PrunedTaskView[]> {
    const tasks = await this.#readTasks();
    const trash = await this.#services.store.trash();
    const whole = new TaskRetention(tasks, trash, this.#nowMs);
    const views = await mapInWindow(tasks, TASKS_AT_ONCE, (retained) => this.#planOne({ retained, whole }));
    if (this.#options.task === undefined) views.push(...trash.map((each) => this.#planTrashed(each, whole)));
    return views;
  }

  #planTrashed(trashed: TrashedTask, whole: TaskRetention): PrunedTaskView {
    const { goes, why } = whole.judgeTrashed(trashed, this.#services.settings.checkpoint_config);
    const size = trashed.sizeBytes;
    const action = goes ? "remove" : "keep";
    return { task: trashed.name, status: TRASHED, action, why, size, freed: goes ? size : 0, files: [] };
  }

  async #planOne(place: PlanPlace): Promise<PrunedTaskView> {
    const { name, status } = place.retained;
    const nothing = { task: name, status, action: "keep" as const, size: 0, freed: 0, files: [] };
    try {
      return await this.#onTask(name, async (task) => {
        nothing.size = await measureTask(task);
        return this.#planTask(task, place, nothing);
      });
    } catch (error) {
      if (this.#options.task !== undefined || !(error instanceof SplashdownError)) throw error;
      return { ...nothing, why: `it cannot be read: ${error.message}` };
    }
  }

  async #planTask(task: TaskStore, place: PlanPlace, nothing: Kept): Promise<PrunedTaskView> {
    const { name, status } = place.retained;
    const { size } = nothing;
    const { folded, ...opened } = await readState(this.#services, task);
    if (folded.state.task === undefined) return { ...nothing, why: "nothing was recorded in it" };
    const settings = this.#settingsOf(folded.state);
    this.#planned.set(name, settings);
    const judged = this.#judgeWhole(place, settings);
    if (judged.goes) return { ...nothing, ...describeRemoval(settings, judged.why, size) };
    if (this.#options.wholeOnly === true) return { ...nothing, why: judged.why };
    const isNamed = this.#options.task !== undefined;
    if (!isNamed && status === "running") return { ...nothing, why: "its owner lives, and removes by itself" };
    if (!isNamed && settings.checkpoint_config.keep_successful && place.whole.isLastDone(name))
      return { ...nothing, why: `the last done task of ${place.retained.workflow} (keep_successful)` };
    const previousEpoch = folded.history.claimedEpoch;
    const request = this.#requestOf({ opened, state: folded.state, history: folded.history, previousEpoch }, settings);
    return { ...nothing, ...describe(await planPruning(request), judged.why) };
  }

  #requestOf(place: Omit<PlanRequest, "rules" | "shortensHistory">, settings: EffectiveSettings): PlanRequest {
    return { ...place, rules: this.#rulesOf(place.state, settings), shortensHistory: this.#options.history === true };
  }

  #rulesOf(state: TaskState, { checkpoint_config: config }: EffectiveSettings): RetentionRules {
    const { clears, keep, olderThan } = this.#options;
    if (clears === true) {
      const verifiedMin = ENDED.has(state.task?.status ?? "running") ? 0 : VERIFIED_MIN;
      return { perPhaseMax: 0, perTaskMax: 0, verifiedMin };
    }
    const isByHand = keep !== undefined || olderThan !== undefined;
    // Nobody's age is judged while the clock is behind what the task itself has recorded.
    const beforeMs =
      olderThan === undefined || this.#nowMs < state.atMs ? undefined : this.#nowMs - parseAgeMs(olderThan);
    return {
      perPhaseMax: isByHand ? Infinity : config.max_checkpoints_per_phase,
      // At least one: 0 stands for clearing.
      perTaskMax: isByHand ? Math.max(1, keep ?? Infinity) : config.max_checkpoints,
      ...(beforeMs === undefined ? {} : { beforeMs }),
    };
  }

  #settingsOf({ task }: TaskState): EffectiveSettings {
    const { settings, settingsOf } = this.#services;
    return task === undefined ? settings : settingsOf(task.definition);
  }

  #judgeWhole({ retained, whole }: PlanPlace, { checkpoint_config: config }: EffectiveSettings): Verdict {
    return this.#options.clears === true ? { goes: false, why: "" } : whole.judge(retained, config);
  }

  #carryOut(planned: PrunedTaskView): Promise<PrunedTaskView> {
    if (planned.status === TRASHED) return this.#purge(planned);
    return this.#onTask(planned.task, async (task) => {
      try {
        return planned.action === "prune" ? await this.#prune(task, planned) : await this.#removeWhole(task, planned);
      } catch (error) {
        const isLeft = isErrorCode(error, "OWNER_ALIVE", "OWNER_UNCLEAR", "OWNER_SUPERSEDED");
        if (this.#options.task !== undefined || !isLeft) throw error;
        return { ...planned, action: "keep", why: messageOf(error), freed: 0, files: [] };
      }
    });
  }

  async #purge(planned: PrunedTaskView): Promise<PrunedTaskView> {
    const { store, log } = this.#services;
    if (!(await store.purgeTask(planned.task)))
      return { ...planned, action: "keep", why: "it was restored by now", freed: 0 };
    log.info(`purged task ${planned.task}: ${planned.why}`);
    return planned;
  }

  async #removeWhole(task: TaskStore, planned: PrunedTaskView): Promise<PrunedTaskView> {
    const { store, clock, log, audit } = this.#services;
    await requireOwnerGone({ task, clock, takeOver: false, watchMs: LIMITS.ownerWatchMs });
    const epoch = await task.claim();
    const { folded, ...opened } = await readState(this.#services, task);
    if (!ENDED.has(folded.state.task?.status ?? "running"))
      return { ...planned, action: "keep", why: "it continues by now", freed: 0 };
    const verb = this.#options.wholeOnly === true ? "retention" : "checkpoints prune";
    await audit.note(opened, { event: "trashed", verb });
    await moveToTrash(this.#services, task, epoch);
    if (planned.action === "remove") await store.purgeTask(task.name);
    const back = planned.action === "remove" ? "" : `, with: ${writeCommand("store restore", [task.name])}`;
    log.info(`${back === "" ? "removed" : "moved to the trash"} task ${task.name}: ${planned.why}${back}`);
    return planned;
  }

  async #prune(task: TaskStore, planned: PrunedTaskView): Promise<PrunedTaskView> {
    const opened = await openTask(this.#services, task);
    const settings = this.#planned.get(task.name) ?? this.#services.settings;
    return withOwnedTask(this.#services, { opened, settings }, async (care) => {
      const { state, history, epoch } = care.restored;
      const place = { opened, state, history, previousEpoch: epoch - 1 };
      const request = this.#requestOf(place, this.#settingsOf(state));
      const plan = narrow(await planPruning(request), planned);
      await removePlanned(this.#services, { request, plan, care });
      const verb = this.#options.clears === true ? "checkpoints clear" : "checkpoints prune";
      const details = { files: plan.files.map(({ file }) => file), before: plan.cut?.before ?? 1 };
      await this.#services.audit.note(opened, { event: "pruned", verb, details });
      return { ...planned, ...describe(plan, planned.why) };
    });
  }

  async #readTasks(): Promise<RetainedTask[]> {
    const { store } = this.#services;
    const { task: reference } = this.#options;
    const named = reference === undefined ? undefined : await findTask(this.#services, reference, "act");
    const names = named === undefined ? await store.tasks() : [named.name];
    await named?.close();
    return mapInWindow(names, TASKS_AT_ONCE, (name) => this.#readTaskOf(name));
  }

  async #readTaskOf(name: string): Promise<RetainedTask> {
    try {
      return await this.#onTask(name, (task) => this.#readTask(task));
    } catch (error) {
      if (!(error instanceof SplashdownError)) throw error;
      return { name, workflow: "", status: "unreadable", lastAtMs: 0 };
    }
  }

  async #readTask(task: TaskStore): Promise<RetainedTask> {
    const { folded } = await readState(this.#services, task);
    const status = deriveStatus(folded.state, (await task.ownerState()).state);
    return { name: task.name, workflow: folded.state.task?.definition.name ?? "", status, lastAtMs: folded.state.atMs };
  }

  async #onTask<T>(name: string, act: (task: TaskStore) => Promise<T>): Promise<T> {
    const task = await this.#services.store.task(name);
    if (task === undefined)
      throw new SplashdownError("TASK_NOT_FOUND", `task ${name} is gone`, { details: { task: name } });
    return whileOpen(task, act);
  }
}

type Kept = Omit<PrunedTaskView, "why">;

interface PlanPlace {
  readonly retained: RetainedTask;
  readonly whole: TaskRetention;
}

/** Status of what is in the trash. */
const TRASHED = "trashed";

function describeRemoval(
  { checkpoint_config: { trash_days: days } }: EffectiveSettings,
  why: string,
  size: number,
): Pick<PrunedTaskView, "action" | "why" | "freed"> {
  if (days === 0) return { action: "remove", why, freed: size };
  return { action: "trash", why: `${why}; it can be restored for ${days} days`, freed: 0 };
}

/** Only what the person saw in the plan. */
function narrow(plan: PrunePlan, planned: PrunedTaskView): PrunePlan {
  const seen = new Set(planned.files.map(({ file }) => file));
  const isCutSeen = plan.cut !== undefined && plan.cut.before <= (planned.history?.before ?? 1);
  return {
    files: plan.files.filter(({ file }) => seen.has(file)),
    cut: isCutSeen ? plan.cut : undefined,
    blobs: isCutSeen ? plan.blobs : [],
  };
}

interface Removal {
  readonly request: PlanRequest;
  readonly plan: PrunePlan;
  readonly care: OwnedTask;
}

/** `pruned` durable → look → files, then segments from the oldest on, then blobs, with a look before each kind. */
async function removePlanned(services: Services, { request, plan, care }: Removal): Promise<void> {
  const { opened, state } = request;
  const { journal, record, nowMs } = care;
  const { files, cut, blobs } = plan;
  const before = cut?.before ?? 1;
  if (files.length === 0 && before === 1) return;
  const retention = createRetention(request, { journal, onPruned: record, nowMs, log: services.log });
  const retained = before > 1 ? { checkpoints: state.checkpoints } : retainedOf(state);
  await retention.carryOut(retained, files, before > 1 ? { before } : undefined);
  if (before > 1) await removeHistory(services, { opened, before, blobs, confirm: () => journal.confirm() }, cut);
}

/** Removed after one look, so that each line of the log is not long after its removal. */
const BLOBS_AT_ONCE = 200;

interface HistoryRemoval {
  readonly opened: OpenedTask;
  readonly before: number;
  readonly blobs: PrunePlan["blobs"];
  readonly confirm: () => Promise<void>;
}

async function removeHistory(
  { log }: Services,
  { opened, before, blobs, confirm }: HistoryRemoval,
  cut: PrunePlan["cut"],
): Promise<void> {
  const { task } = opened;
  const last = cut?.segments.at(-1)?.id;
  if (last === undefined) return;
  for (const { epoch, index, sizeBytes } of await task.segments()) {
    if (epoch > last.epoch || (epoch === last.epoch && index > last.index)) break;
    await task.removeSegment({ epoch, index });
    log.info(`removed segment ${epoch}-${index} of ${task.name} (${sizeBytes} bytes): records before ${before}`);
  }
  for (let at = 0; at < blobs.length; at += BLOBS_AT_ONCE) {
    const some = blobs.slice(at, at + BLOBS_AT_ONCE);
    await confirm();
    await task.remove(...some.map(({ key }) => key));
    for (const { key, sizeBytes } of some)
      log.info(`removed ${key} of ${task.name} (${sizeBytes} bytes): nothing that stays names it`);
  }
}

function describe(
  plan: PrunePlan,
  note: string,
): Pick<PrunedTaskView, "action" | "why" | "files" | "freed" | "history"> {
  const view = viewPlan(plan);
  const isWork = view.files.length > 0 || view.history !== undefined;
  const why = [note, isWork ? "" : "nothing is over the limits", plan.cut?.why ?? ""].filter((part) => part !== "");
  return { ...view, action: isWork ? "prune" : "keep", why: why.join("; ") };
}

function createView(tasks: readonly PrunedTaskView[], isPlan: boolean): PruneView {
  return { dry_run: isPlan, freed: tasks.reduce((total, { freed }) => total + freed, 0), tasks };
}

const AGE = /^\s*(\d+(?:\.\d+)?)\s*(m|h|d|w)\s*$/;
const AGE_UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };

/** Errors: USAGE_INVALID. */
export function parseAgeMs(text: string): number {
  const match = AGE.exec(text);
  if (match === null)
    throw new SplashdownError(
      "USAGE_INVALID",
      `an age is a number with m, h, d or w, like 7d, not ${JSON.stringify(text)}`,
    );
  return Number(match[1]) * (AGE_UNIT_MS[match[2] ?? "d"] ?? DAY_MS);
}
