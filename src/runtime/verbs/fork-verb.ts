/**
 * `fork`: a new task that begins where another one stood; the other one is only read.
 *
 * The order is that of every new task: place → keyring → epoch → journal. Its first record carries the whole state, with
 * the large values it names copied and sealed anew, and makes the fork paused: killed before that record is durable, there
 * is a task that never began, which nobody takes up; after it, there is a fork that waits to be resumed.
 * A fork has an id of its own, so its steps have idempotency keys of their own.
 */
import { writeCommand } from "../../base/command-text.js";
import { isErrorCode, SplashdownError } from "../../base/errors.js";
import { createUuid, type CheckpointId, type TaskId } from "../../base/ids.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import { createBlobShelf } from "../../checkpoint/blobs/blobs.js";
import type { EngineEvent, EventOf } from "../../engine/model/events.js";
import { evolve } from "../../engine/fold/evolve.js";
import { encodeWhole } from "../../engine/fold/restore-state.js";
import { LargeValues } from "../../engine/runner/values.js";
import { createState } from "../../engine/model/state.js";
import { readHistory } from "../../journal/history.js";
import type { TaskStore } from "../../store/contract/contract.js";
import { withJournal } from "../session/maintenance.js";
import { chooseGoingOn } from "../views/program-functions.js";
import { awaitClaimant, presenceDeps } from "../session/start-task.js";
import type { ForkOptions, ForkView } from "../views/past-views.js";
import { findTask } from "../tasks/finding.js";
import { copyLargeValues } from "./value-copies.js";
import { readEarlier, type EarlierState } from "./rollback.js";
import { whileOwning } from "../session/presence.js";
import { openWith, readState, whileOpen, type OpenedTask } from "../tasks/reading.js";
import { settleHome } from "../tasks/residence.js";
import { computeTaskName } from "../tasks/task-name.js";
import type { Services } from "../services/services.js";
import { changeState } from "./state-change.js";

/** Errors: TASK_NOT_FOUND, TASK_AMBIGUOUS, CHECKPOINT_NOT_FOUND, CHECKPOINT_AMBIGUOUS; USAGE_INVALID for the rest. */
export async function forkTask(services: Services, reference: string, options: ForkOptions): Promise<ForkView> {
  return whileOpen(await findTask(services, reference, "act"), async (origin) => {
    const watched = { task: origin, verb: "fork" };
    const { folded, ...opened } = await services.audit.watch(watched, readState(services, origin));
    const { state } = folded;
    const earlier = await readEarlier({ ...opened, state }, options.from);
    const shelf = createBlobShelf({ store: origin, vault: opened.vault });
    for (const [path, value] of Object.entries(options.set ?? {}) as [string, JsonValue][])
      await changeState(earlier.earlier, { path, value }, (ref) => shelf.get(ref));
    await services.audit.note(opened, { event: "read", verb: "fork", details: { seq: earlier.checkpoint.seq } });
    const place = await createForkPlace(services, { origin: origin.name, name: options.task });
    return whileOpen(place, () => begin(services, { origin: opened, earlier, place, set: options.set }));
  });
}

async function createForkPlace(
  services: Services,
  { origin, name }: { readonly origin: string; readonly name: string | undefined },
): Promise<TaskStore> {
  await services.keys.ensureKey();
  if (name !== undefined) {
    const place = (await services.store.createTask(name)) ?? (await findUnrecorded(services, name));
    if (place !== undefined) return place;
    throw nameTaken(name);
  }
  const base =
    `${origin}-fork`.length + 5 > LIMITS.taskNameBytesMax
      ? computeTaskName("fork", services.clock.nowMs())
      : `${origin}-fork`;
  for (let attempt = 1; ; attempt += 1) {
    const place = await services.store.createTask(attempt === 1 ? base : `${base}-${attempt}`);
    if (place !== undefined) return place;
  }
}

function nameTaken(name: string): SplashdownError {
  return new SplashdownError("USAGE_INVALID", `there is a task ${name} already; choose another --task`);
}

/** A place that somebody died in before anything was recorded: nothing in it is anybody's. */
async function findUnrecorded(services: Services, name: string): Promise<TaskStore | undefined> {
  const task = await services.store.task(name);
  if (task === undefined) return undefined;
  if (!(await isRecorded(services, task))) return task;
  await task.close();
  return undefined;
}

/** Also true where it cannot be told. */
async function isRecorded(services: Services, task: TaskStore): Promise<boolean> {
  const { state: owner } = await task.ownerState();
  if (owner === "alive") return true;
  try {
    const { folded } = await readState(services, task);
    return folded.history.head !== undefined || folded.lost.length > 0;
  } catch (error) {
    return !isErrorCode(error, "TASK_NOT_STARTED");
  }
}

interface Forking {
  readonly origin: OpenedTask;
  readonly earlier: EarlierState;
  readonly place: TaskStore;
  readonly set: JsonObject | undefined;
}

async function begin(services: Services, { origin, earlier: found, place, set }: Forking): Promise<ForkView> {
  const { earlier, checkpoint, acted } = found;
  const { checkpointId, seq, phase, position } = checkpoint;
  const vault = await services.keys.create(place, createUuid(services.random));
  const taskId = vault.taskId as TaskId;
  await settleHome(services, { task: place, taskId, byPerson: true, isPlain: !vault.encrypted });
  const opened = openWith(services, place, vault);
  const shelf = createBlobShelf({ store: place, vault });
  const from = createBlobShelf({ store: origin.task, vault: origin.vault });
  const event: EventOf<"task_forked"> = {
    type: "task_forked",
    atMs: Math.max(services.clock.nowMs(), earlier.atMs),
    taskId,
    name: place.name,
    origin: { taskId: origin.vault.taskId as TaskId, name: origin.task.name, checkpointId, seq, position },
    by: services.environment.user,
    ...(set === undefined ? {} : { set }),
    state: { inline: await copyLargeValues(encodeWhole(earlier), async (ref) => shelf.put(await from.get(ref))) },
  };
  await record(services, opened, [event, firstCheckpoint(services, event, phase)]);
  return {
    task: place.name,
    workflow_id: taskId,
    folder: place.deliverablesFolder,
    from: { task: origin.task.name, workflow_id: origin.vault.taskId, checkpoint_id: checkpointId, seq, phase },
    set: Object.keys(set ?? {}),
    acted_since: acted,
    next: chooseGoingOn(earlier.task, writeCommand("resume", [place.name])),
  };
}

/** So that there is something to go back to, and to compare with. */
function firstCheckpoint(services: Services, { atMs, origin }: EventOf<"task_forked">, phase: number): EngineEvent {
  return {
    type: "checkpoint_recorded",
    atMs,
    checkpointId: createUuid(services.random) as CheckpointId,
    seq: 1,
    phase,
    trigger: "user_requested",
    status: "paused",
    note: `forked from checkpoint ${origin.seq} of ${origin.name}`,
  };
}

async function record(
  services: Services,
  opened: OpenedTask,
  [event, checkpoint]: readonly [EventOf<"task_forked">, EngineEvent],
): Promise<void> {
  const { task, vault } = opened;
  const state = createState();
  evolve(state, event);
  const values = new LargeValues(createBlobShelf({ store: task, vault }));
  const carried: JsonValue = "inline" in event.state ? event.state.inline : null;
  const seen = await awaitClaimant(services, { task });
  await whileOwning(presenceDeps(services, task), async (presence) => {
    const epoch = await task.claim(seen);
    await presence.show(epoch);
    // Whoever was taken for dead may have recorded something until the claim.
    if ((await readHistory({ task, vault })).head !== undefined) throw nameTaken(task.name);
    const begun = { state, epoch, prev: undefined, repeated: [], base: undefined, journalBytes: 0 };
    await withJournal(services, { opened, begun }, async ({ journal }) => {
      const details = { epoch, origin: { ...event.origin } };
      // Never before the header is durable: it tells that there was one (R17).
      await services.audit.note(opened, { event: "started", verb: "fork", details });
      journal.append([{ ...event, state: await values.store(carried) }, checkpoint]);
      await journal.durable();
      await journal.confirm();
    });
  });
}
