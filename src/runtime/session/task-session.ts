/**
 * One owned task in this process: wires journal, snapshots, blobs, control, presence and performer to a runner, and takes
 * it all down again.
 *
 * Owns: the order of opening and closing. What the task does is the runner's; whether it may be taken is recovery's.
 */
import { EXIT_STATUS } from "../../base/error-table.js";
import { messageOf, SplashdownError } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openFunctionGuard, type FunctionGuard } from "../../agents/outcome/function-guard.js";
import { createPerformer } from "../../agents/performer.js";
import { createBlobShelf, type RangedBlobShelf } from "../../checkpoint/blobs/blobs.js";
import { createCheckpointManager, type CheckpointManager } from "../../checkpoint/manager.js";
import { listPinned } from "../../checkpoint/pins.js";
import { createVerify, SnapshotRetention } from "../../checkpoint/retention.js";
import { createSnapshotSource, listSnapshotFiles, type SummarySource } from "../../checkpoint/source.js";
import { defaultSettings, type EffectiveSettings } from "../../definition/settings/settings.js";
import type { LoadedWorkflow } from "../../definition/model/loaded-workflow.js";
import type { EngineEvent, EventOf } from "../../engine/model/events.js";
import type { EngineInput, TemplateEngine } from "../../engine/model/input.js";
import type { CheckpointHook, EnginePorts, Sanitiser } from "../../engine/model/ports.js";
import { TaskRunner } from "../../engine/runner/task-runner.js";
import type { TaskState } from "../../engine/model/state.js";
import type { JournalPosition } from "../../journal/position.js";
import { openJournalWriter, type JournalWriter } from "../../journal/writer.js";
import type { TaskStore } from "../../store/contract/contract.js";
import type { TaskVault } from "../../vault/contract.js";
import { AnswerCoordinator } from "./interactive-answers.js";
import { AnchorKeeper } from "./anchor-keeper.js";
import { keepClaims } from "./calibration.js";
import { createCleanLog } from "./clean-log.js";
import { FolderInbox, type ControlDeps } from "../mailbox/control.js";
import { createDeliverableWriter } from "./deliverables.js";
import type { Execution } from "./execution.js";
import { HeldBack } from "./held-back.js";
import { observeInto } from "./observer.js";
import { createPerformerDeps, openToolServers } from "./performer-deps.js";
import { viewRunning } from "./running-view.js";
import { createSanitiser } from "./sanitiser.js";
import type { Services } from "../services/services.js";
import { breakpointsOf } from "../tasks/breakpoints.js";
import { watchForNothingLeft } from "./nothing-left.js";
import { clearHeaderOf } from "./clear-header.js";
import type { ToolServers } from "../../agents/outcome/connected-server.js";

export interface SessionOptions {
  readonly services: Services;
  readonly task: TaskStore;
  readonly vault: TaskVault;
  readonly epoch: number;
  readonly prev: JournalPosition | undefined;
  /** As `JournalWriterOptions` has it. */
  readonly repeated?: readonly EngineEvent[];
  readonly base: string | undefined;
  readonly journalBytes: number;
  readonly state: TaskState;
  readonly workflow: LoadedWorkflow;
  /** Effective for this task: sealed at its start, or as it starts. */
  readonly settings: EffectiveSettings;
  readonly execution: Execution;
  readonly templates: TemplateEngine;
  /** Called once the start of a new task is durable. */
  readonly onBegun?: (() => void) | undefined;
  /** The journal's header is durable, and nothing was recorded yet. */
  readonly onOpened?: () => Promise<void>;
  /** Why a checkpoint is taken as soon as the task goes on. */
  readonly checkpointFirst?: string | undefined;
}

export interface SessionEnd {
  readonly closed: EventOf<"task_closed">;
  readonly state: TaskState;
}

/**
 * Runs the task to the end of this process's part.
 *
 * Errors: OWNER_SUPERSEDED, STORE_* when it could not be closed in order; then nothing more was written.
 */
export async function runSession(
  options: SessionOptions,
  first: Extract<EngineInput, { kind: "start" | "resumed" }>,
): Promise<SessionEnd> {
  let session: TaskSession | undefined;
  // The disk may be full while the journal is opened, before there is a session to stop.
  let full: unknown;
  const journal = await openJournal(options, (error) => {
    full = error;
    session?.stopForRoom(error);
  });
  session = new TaskSession(options, journal);
  if (full !== undefined) session.stopForRoom(full);
  try {
    await options.onOpened?.();
    const closed = await session.run(first);
    return { closed, state: options.state };
  } finally {
    await session.close();
  }
}

function openJournal(
  { services, task, vault, epoch, prev, repeated = [], base, journalBytes }: SessionOptions,
  onReserveUsed: (error: unknown) => void,
): Promise<JournalWriter> {
  const { clock, log } = services;
  const continued = { epoch, prev, repeated, base, sizeBytes: journalBytes };
  return openJournalWriter({ ...continued, task, vault, clock, log, onReserveUsed });
}

class TaskSession {
  readonly #options: SessionOptions;
  readonly #journal: JournalWriter;
  readonly #blobs: RangedBlobShelf;
  readonly #inbox: FolderInbox;
  readonly #manager: CheckpointManager;
  readonly #runner: TaskRunner;
  readonly #desk: AnswerCoordinator;
  readonly #toolServers: ToolServers;
  readonly #functionGuard: FunctionGuard;
  readonly #sanitiser: Sanitiser;
  readonly #log: Log;
  readonly #announce: (event: EngineEvent, state: TaskState, n: number) => void;
  readonly #heldBack = new HeldBack();
  readonly #anchor: AnchorKeeper;
  /** `on_failure: rollback`, the word of seed 000: the task's checkpoint files go when it has ended. */
  #isDiscarding = false;

  constructor(options: SessionOptions, journal: JournalWriter) {
    const { services, task, vault, workflow, execution } = options;
    const { unknown, presets, sleepMsMax, breakAt } = execution;
    this.#options = options;
    this.#journal = journal;
    this.#anchor = new AnchorKeeper({ services, task, vault, journal });
    const control: ControlDeps = { ...services, task, vault };
    this.#inbox = new FolderInbox(control);
    this.#announce = observeInto(services.emitter, task.name);
    this.#blobs = createBlobShelf({ store: task, vault, pacing: { clock: services.clock, breathe: nextTurn } });
    this.#manager = this.#createManager();
    this.#sanitiser = createSanitiser(services, vault, workflow.definition.root);
    this.#log = createCleanLog(services.log, this.#sanitiser);
    this.#toolServers = openToolServers({ ...services, log: this.#log }, (server) => ({
      spawned: (process) => this.#runner.serverSpawned({ server, process }),
      ended: (process) => this.#runner.serverEnded({ server, process }),
    }));
    this.#functionGuard = openFunctionGuard(this.#log);
    this.#runner = new TaskRunner({
      state: options.state,
      ports: this.#createPorts(),
      templates: options.templates,
      limits: {
        sleepMsMax,
        isBreakpoint: breakpointsOf({ workflow, breakAt }),
        // A store in memory leaves nothing behind that was not asked for.
        drawsPicture: services.store.manifest.durable,
      },
    });
    this.#desk = new AnswerCoordinator({
      control,
      inbox: this.#inbox,
      unknown,
      presets,
      ask: services.ask,
      by: services.environment.user,
      holdOpen: (until) => this.#runner.holdOpen(until),
    });
  }

  async run(first: Extract<EngineInput, { kind: "start" | "resumed" }>): Promise<EventOf<"task_closed">> {
    await this.#requireRoom();
    await this.#inbox.load();
    const { checkpointFirst, execution, services, task, state } = this.#options;
    const { signal } = execution;
    if (checkpointFirst !== undefined) this.#inbox.push({ kind: "checkpoint", note: checkpointFirst, by: "recovery" });
    const leave = (): void => this.#leave(signal?.reason);
    if (signal?.aborted === true) leave();
    signal?.addEventListener("abort", leave, { once: true });
    services.running.set(task.name, () =>
      viewRunning(state, services.clock.nowMs(), (step) => this.#heldBack.has(step)),
    );
    const stopCleaning = this.#cleanNowAndThen();
    const stopLooking = watchForNothingLeft(state, (steps) => this.#interrupt(steps));
    try {
      const closed = await this.#runner.run(first);
      await this.#returnReserve().catch((error: unknown) =>
        services.log.debug(`the reserve stays: ${messageOf(error)}`),
      );
      return closed;
    } finally {
      stopCleaning();
      stopLooking();
      services.running.delete(task.name);
      signal?.removeEventListener("abort", leave);
    }
  }

  /** Without a reserve the end of a step might not fit: no step begins. */
  async #requireRoom(): Promise<void> {
    const { task, services } = this.#options;
    if (!services.store.manifest.reserve) return;
    try {
      if (await task.ensureReserve()) return;
      this.stopForRoom(new SplashdownError("STORE_FULL", `there is no room for the reserve of task ${task.name}`));
    } catch (error) {
      services.log.debug(`no reserve: ${messageOf(error)}`);
    }
  }

  /** A full disk: what runs may end, nothing more begins. Nothing of the workflow has failed: the next owner goes on. */
  stopForRoom(error: unknown): void {
    const reason = `STORE_FULL: ${messageOf(error)}`;
    this.#runner.leave({ end: "crashed", error, reason, exitStatus: EXIT_STATUS.failed, cancel: false });
  }

  /**
   * Whoever runs the task next makes a reserve of its own; what stood here would cost every ended task its size. Not where
   * somebody has gone on with the task already: it is theirs.
   */
  async #returnReserve(): Promise<void> {
    const { task, epoch, services } = this.#options;
    if (!services.store.manifest.reserve || !(await task.confirm(epoch))) return;
    await task.releaseReserve();
  }

  async close(): Promise<void> {
    await this.#toolServers.close();
    this.#functionGuard.close();
    await this.#manager.idle();
    await this.#inbox.settled();
    if (this.#isDiscarding) await this.#discardSnapshots();
    await this.#anchor.close();
    await keepClaims(this.#options.services, this.#options.state, this.#options.settings);
    await this.#journal.close();
  }

  async #discardSnapshots(): Promise<void> {
    const { task } = this.#options;
    await this.#journal.confirm();
    await task.remove(...(await listSnapshotFiles(task)).map(({ entry }) => entry.key));
  }

  /** Retention every `cleanup_interval_minutes`; at the start it follows the first event. */
  #cleanNowAndThen(): () => void {
    const { services, settings, state } = this.#options;
    const everyMs = settings.checkpoint_config.cleanup_interval_minutes * 60_000;
    return services.clock.every(everyMs, () => this.#manager.retain(state));
  }

  #leave(reason: unknown): void {
    const { signal, exitStatus } = readSignal(reason);
    this.#runner.leave({ end: "stopped", reason: `ended by ${signal}`, exitStatus, signal, cancel: true });
  }

  /** Steps that can never come to an end; nothing is said of what they did. */
  #interrupt(steps: readonly string[]): void {
    const reason = `interrupted: ${steps.join(", ")} can never come to an end, as nothing is left to wait for`;
    this.#log.warn(reason);
    this.#runner.leave({ end: "stopped", reason, exitStatus: EXIT_STATUS.failed, cancel: true });
  }

  #createPorts(): EnginePorts {
    const { services, task, workflow, settings } = this.#options;
    const { clock, random, fileSystem } = services;
    const log = this.#log;
    const ofTask = {
      toolServers: this.#toolServers,
      functionGuard: this.#functionGuard,
      outputFolder: task.deliverablesFolder,
    };
    return {
      clock,
      random,
      log,
      events: this.#heldBack.watch(this.#anchor.events),
      blobs: this.#blobs,
      performer: createPerformer(createPerformerDeps({ ...services, log }, workflow, ofTask)),
      sanitiser: this.#sanitiser,
      deliverables: createDeliverableWriter({ fileSystem, random, folder: task.deliverablesFolder }),
      inbox: this.#inbox,
      checkpoints: settings.performance_config.async_writes ? this.#manager : waitingFor(this.#manager),
      memory: services.memory,
      announce: (event, state, n) => {
        this.#heldBack.allow(event);
        this.#announce(event, state, n);
      },
      observe: (event, state) => {
        if (event.type === "task_started") this.#options.onBegun?.();
        if (event.type === "task_resumed") this.#manager.retain(state);
        if (event.type === "question_opened") this.#desk.opened(event, state);
        if (event.type === "question_answered" || event.type === "question_moved") this.#desk.answered(event);
        if (event.type === "noted" && event.effect === "discard_checkpoints") this.#isDiscarding = true;
        this.#anchor.observe(event, state);
      },
    };
  }

  #createManager(): CheckpointManager {
    const { services, task, vault, settings } = this.#options;
    const { checkpoint_config: config } = settings;
    const { clock, log } = services;
    const rawBytesMax = config.checkpoint_size_limit_mb * 1024 * 1024;
    const snapshots: SummarySource = createSnapshotSource({ store: task, vault, rawBytesMax });
    const journal = this.#journal;
    const record = (
      event: EventOf<"snapshot_written"> | EventOf<"snapshot_failed"> | EventOf<"pruned">,
    ): Promise<void> => this.#runner.recordSnapshot(event);
    return createCheckpointManager({
      writer: {
        store: task,
        vault,
        clock,
        breathe: nextTurn,
        rawBytesMax,
        app: services.version,
        ...clearHeaderOf(config, services.store),
        ...levelOf(settings),
      },
      blobs: this.#blobs,
      journal,
      log,
      isEnabled: config.enabled,
      onEvent: record,
      retention: new SnapshotRetention({
        store: task,
        journal,
        log,
        rules: { perPhaseMax: config.max_checkpoints_per_phase, perTaskMax: config.max_checkpoints },
        pins: () => listPinned(task),
        verify: createVerify((file) => snapshots.load(file), log),
        onPruned: async (event) => {
          await record(event);
          const details = { files: [...event.files], reason: event.reason };
          await services.audit.note({ task, vault }, { event: "pruned", verb: "retention", details });
        },
        nowMs: () => clock.nowMs(),
      }),
    });
  }
}

/** `async_writes: false`: the next step waits for every snapshot file. */
function waitingFor(manager: CheckpointManager): CheckpointHook {
  return {
    captured: (state, event) => ({ ...manager.captured(state, event), required: true }),
    idle: () => manager.idle(),
  };
}

/** gzip by the size of the state, unless a person set a level or switched it off. */
/** `compression_level` where a person set it; else it is by size. 0: `compression: false`. */
export function levelOf({ checkpoint_config, performance_config }: EffectiveSettings): { level?: number } {
  if (!checkpoint_config.compression) return { level: 0 };
  const { compression_level: level } = performance_config;
  return level === defaultSettings().performance_config.compression_level ? {} : { level };
}

function readSignal(reason: unknown): { signal: string; exitStatus: number } {
  const given =
    typeof reason === "object" && reason !== null ? (reason as { signal?: unknown; exitStatus?: unknown }) : {};
  return {
    signal: typeof given.signal === "string" ? given.signal : "an abort of the caller",
    exitStatus: typeof given.exitStatus === "number" ? given.exitStatus : EXIT_STATUS.interrupted,
  };
}
