/**
 * The checkpoints of a program that runs its own agents: the calls of the seeds over a task of its own, without the engine.
 *
 * Owns: opening such a task, new or again after the program ended or crashed, and leaving it paused. One program at a time
 * owns it; every verb that reads works on it, and `resume` and `recover` leave it to its program.
 */
import { resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { EXIT_STATUS } from "../../../base/error-table.js";
import { SplashdownError } from "../../../base/errors.js";
import { createUuid, type TaskId } from "../../../base/ids.js";
import { createCheckpointManager } from "../../../checkpoint/manager.js";
import type { ListedCheckpoint } from "../../../checkpoint/listing.js";
import {
  isOfProgram,
  openStandaloneCheckpoints,
  type StandaloneCheckpoints,
  type StandaloneState,
} from "../../../checkpoint/standalone.js";
import type { EngineEvent } from "../../../engine/model/events.js";
import { createState } from "../../../engine/model/state.js";
import { writeWhole } from "../../../store/files/safe-folders.js";
import { withOwnedTask, withJournal, type OwnedTask } from "../../session/maintenance.js";
import { presenceDeps } from "../../session/start-task.js";
import { observeInto } from "../../session/observer.js";
import { whileOwning } from "../../session/presence.js";
import { createRetention } from "./prune-plan.js";
import { openTask, openWith, type OpenedTask } from "../../tasks/reading.js";
import { settleHome } from "../../tasks/residence.js";
import type { Services } from "../../services/services.js";
import type { CheckpointView } from "../../views/task-views.js";
import { viewCheckpoint, viewDecisions } from "../../views/views.js";
import type { ProgramState, ProgramCheckpoints } from "../../views/program-views.js";

/** Errors: OWNER_ALIVE while another program has it open; USAGE_INVALID for the task of a workflow; those of opening a task. */
export function openProgramCheckpoints(services: Services, name: string): Promise<ProgramCheckpoints> {
  return new Promise((open, fail) => {
    let leave = (): void => undefined;
    const closing = new Promise<void>((resolved) => {
      leave = resolved;
    });
    const owning = own(services, name, async (checkpoints) => {
      const close = async (): Promise<void> => {
        leave();
        await owning;
      };
      open(viewProgram(name, checkpoints, close));
      await closing;
    });
    owning.catch(fail);
  });
}

function viewProgram(task: string, checkpoints: StandaloneCheckpoints, close: () => Promise<void>): ProgramCheckpoints {
  return {
    createCheckpoint: async (path, metadata) => viewListed(task, await checkpoints.createCheckpoint(path, metadata)),
    updateAgentState: (agent, report) => checkpoints.updateAgentState(agent, report),
    recordDecision: (decision) => checkpoints.recordDecision(decision),
    startPhase: (phase) => checkpoints.startPhase(phase),
    loadLatest: async () => {
      const latest = await checkpoints.loadLatest();
      return latest && viewState(latest);
    },
    load: async (name) => viewState(await checkpoints.load(name)),
    list: async () => (await checkpoints.list()).map((listed) => viewListed(task, listed)),
    delete: (name) => checkpoints.delete(name),
    prune: () => checkpoints.prune(),
    resumeFromPhase: async (phase) => viewState(await checkpoints.resumeFromPhase(phase)),
    close,
  };
}

/** Shape: `file` only where it is there. */
function viewListed(task: string, { entry, file }: ListedCheckpoint): CheckpointView {
  const { file: _file, size: _size, ...view } = viewCheckpoint(task, entry);
  return { ...view, ...(file === undefined ? {} : { file: file.name, size: file.sizeBytes }) };
}

function viewState({ checkpointId, seq, phase, agents, decisions, metadata }: StandaloneState): ProgramState {
  return { checkpoint_id: checkpointId, seq, phase, agents, decisions: viewDecisions({ decisions }), metadata };
}

type Use = (checkpoints: StandaloneCheckpoints) => Promise<void>;
type Kept = Omit<OwnedTask, "restored"> & Pick<OwnedTask["restored"], "state">;

async function own(services: Services, name: string, use: Use): Promise<void> {
  const place = await services.store.createTask(name);
  const task = place ?? (await services.store.task(name));
  if (task === undefined)
    throw new SplashdownError("TASK_NOT_FOUND", `task ${name} went away`, { details: { task: name } });
  try {
    if (place !== undefined)
      return await begin(services, openWith(services, place, await createVault(services, place)), use);
    const opened = await openTask(services, task);
    const { settings } = services;
    await withOwnedTask(services, { opened, settings }, async ({ restored: { state }, ...care }) => {
      requireOfProgram(name, state);
      await serve(services, opened, { care: { ...care, state }, use });
    });
  } finally {
    await task.close();
  }
}

function createVault(
  services: Services,
  place: Parameters<Services["keys"]["create"]>[0],
): Promise<OpenedTask["vault"]> {
  return services.keys.create(place, createUuid(services.random));
}

function requireOfProgram(name: string, state: Kept["state"]): void {
  if (state.task === undefined || isOfProgram(state)) return;
  throw new SplashdownError("USAGE_INVALID", `task ${name} belongs to a workflow, not to a program of its own`, {
    details: { task: name },
  });
}

async function begin(services: Services, opened: OpenedTask, use: Use): Promise<void> {
  const { task, vault } = opened;
  await settleHome(services, { task, taskId: vault.taskId, byPerson: true });
  await whileOwning(presenceDeps(services, task), async (presence) => {
    const epoch = await task.claim();
    await presence.show(epoch);
    const state = createState();
    const begun = { state, epoch, prev: undefined, repeated: [], base: undefined, journalBytes: 0 };
    await withJournal(services, { opened, begun }, async (care) => {
      // Never before the header is durable: it tells that there was one (R17).
      await services.audit.note(opened, { event: "started", verb: "program", details: { epoch } });
      await serve(services, opened, { care: { ...care, state }, use });
    });
  });
}

async function serve(services: Services, opened: OpenedTask, { care, use }: { care: Kept; use: Use }): Promise<void> {
  const { task, vault, snapshots } = opened;
  const { clock, random, log, settings, version, fileSystem, environment } = services;
  const { journal, record, nowMs, state } = care;
  const { checkpoint_config: config } = settings;
  const rules = { perPhaseMax: config.max_checkpoints_per_phase, perTaskMax: config.max_checkpoints };
  const retention = createRetention({ opened, rules }, { journal, onPruned: record, nowMs, log });
  const rawBytesMax = config.checkpoint_size_limit_mb * 1024 * 1024;
  const writer = { store: task, vault, clock, breathe: nextTurn, rawBytesMax, app: version };
  const observe = observeInto(services.emitter, task.name);
  const onEvent = async (event: EngineEvent): Promise<void> => {
    await record(event);
    observe(event, state, state.position);
  };
  const manager = createCheckpointManager({ writer, journal, log, isEnabled: true, onEvent, retention });
  const checkpoints = await openStandaloneCheckpoints({
    name: task.name,
    store: task,
    journal,
    manager,
    source: snapshots,
    retention,
    state,
    taskId: vault.taskId as TaskId,
    clock,
    random,
    exportTo: async (path, bytes) => {
      const handle = await fileSystem.open(resolve(environment.workingFolder, path), "create");
      try {
        await writeWhole(handle, bytes);
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
  });
  await use(checkpoints);
  await manager.idle();
  const reason = "left by its program";
  const exitStatus = EXIT_STATUS.personNeeded;
  await record({ type: "task_closed", atMs: nowMs(), end: "paused", reason, exitStatus, resumable: true });
}
