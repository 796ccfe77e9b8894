/**
 * Raises the anchor of a task that runs: at every durable intent and completion of what acts outside, at checkpoints, and
 * at the end. Snapshots may be switched off; this is not.
 *
 * Owns: when. An intent's record is remembered before its act, as it goes the way of every act: durable → fencing check →
 * anchor → act. Only a record that was durable at a fencing check which passed is remembered: every later owner has it.
 * What follows no act soon (the last completion, a snapshot) is confirmed and remembered on its own.
 * Between checkpoints the file is renamed without a sync: whoever puts an older folder in place needs no power cut.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf } from "../../base/errors.js";
import type { EngineEvent } from "../../engine/model/events.js";
import type { EventLog } from "../../engine/model/ports.js";
import type { TaskState } from "../../engine/model/state.js";
import type { JournalPosition } from "../../journal/position.js";
import type { JournalWriter } from "../../journal/writer.js";
import type { TaskStore } from "../../store/contract/contract.js";
import { raiseAnchor, type AnchorPosition } from "../../vault/anchor.js";
import type { TaskVault } from "../../vault/contract.js";
import type { Services } from "../services/services.js";

export interface AnchorKeeperDeps {
  readonly services: Pick<Services, "fileSystem" | "random" | "environment" | "log" | "store">;
  readonly task: Pick<TaskStore, "name">;
  readonly vault: Pick<TaskVault, "taskId">;
  readonly journal: Pick<JournalWriter, "append" | "durable" | "confirm" | "position">;
}

export class AnchorKeeper {
  readonly #deps: AnchorKeeperDeps;
  #isWanted = false;
  #isSyncWanted = false;
  #last: AnchorPosition | undefined;
  #raising: Promise<void> = Promise.resolve();
  #later: Promise<void> | undefined;

  constructor(deps: AnchorKeeperDeps) {
    this.#deps = deps;
  }

  /** The journal as the engine sees it: its fencing check remembers what it confirmed. */
  get events(): EventLog {
    const { journal } = this.#deps;
    return {
      append: (events) => journal.append(events),
      durable: () => journal.durable(),
      confirm: () => this.#confirm(),
    };
  }

  /** Takes note of a durable event. */
  observe(event: EngineEvent, state: TaskState): void {
    const isSynced = SYNCED.has(event.type);
    if (!isSynced && !isRemembered(event, state)) return;
    this.#isWanted = true;
    this.#isSyncWanted ||= isSynced;
    this.#later ??= this.#confirmLater();
  }

  /** Remembers where the journal ends; never fails. */
  async close(): Promise<void> {
    await this.#later;
    this.#isWanted = true;
    this.#isSyncWanted = true;
    await this.#confirm().catch(() => undefined);
  }

  /** Whoever acts next confirms by itself; when nobody does, this does. A failure is found by whoever acts next. */
  async #confirmLater(): Promise<void> {
    await nextTurn();
    this.#later = undefined;
    if (this.#isWanted) await this.#confirm().catch(() => undefined);
  }

  async #confirm(): Promise<void> {
    const { journal } = this.#deps;
    const { position } = journal;
    await journal.confirm();
    if (!this.#isWanted || position === undefined) return this.#raising;
    const isSynced = this.#isSyncWanted;
    this.#isWanted = false;
    this.#isSyncWanted = false;
    this.#raising = this.#raising.then(() => this.#raise(position, isSynced));
    await this.#raising;
  }

  /** A failure is said and harms nothing now. */
  async #raise({ epoch, n, h }: JournalPosition, isSynced: boolean): Promise<void> {
    const { services, task, vault } = this.#deps;
    const { fileSystem, random, environment, log, store } = services;
    if (!store.manifest.durable || n === this.#last?.n) return;
    const position = { epoch, n, hash: h };
    const place = { fileSystem, random, stateFolder: environment.stateFolder, taskId: vault.taskId };
    try {
      await raiseAnchor({ ...place, fields: { position }, isSynced, lastRaised: this.#last });
      this.#last = position;
    } catch (error) {
      log.warn(`the anchor of ${task.name} could not be written: ${messageOf(error)}`);
    }
  }
}

/** A checkpoint, and the ends of a process's part. */
const SYNCED: ReadonlySet<EngineEvent["type"]> = new Set<EngineEvent["type"]>(["snapshot_written", "task_closed"]);

/** What was paid for, or acts, or was decided by a person: it must not be forgotten. */
const REMEMBERED: ReadonlySet<EngineEvent["type"]> = new Set<EngineEvent["type"]>([
  "task_started",
  "task_resumed",
  "task_forked",
  "rolled_back",
  "turn_recorded",
  "tool_completed",
  "substep_intended",
  "substep_completed",
  "checkpoint_recorded",
  "question_answered",
  "delivered",
]);

function isRemembered(event: EngineEvent, state: TaskState): boolean {
  if (REMEMBERED.has(event.type)) return true;
  if (event.type === "step_intended" || event.type === "tool_intended") return event.effects !== "none";
  if (event.type !== "step_completed" && event.type !== "step_failed") return false;
  return event.usage !== undefined || state.steps.get(event.step)?.effects !== "none";
}
