/**
 * Runs one task in this process: the only awaiting part of the engine.
 *
 * Owns: the life of the run: its beginning, leaving, closing and failing. The rooms around it: decisions.ts (the way of
 * every input), attempts.ts and attempt.ts (running steps), deliveries.ts (files), probes.ts (unknown outcomes),
 * due-timer.ts (time), snapshot-watch.ts (checkpoints), values.ts and value-size.ts (large values).
 *
 * A run *begins* with its first input; it *works* until nothing is under way, then asks whether the task is to be closed:
 * it is, or something falls due, or somebody outside holds it open. It may be asked to *leave*: nothing new starts, what
 * runs ends or is ended, then the task is closed. It *fails* when its history cannot be written or is another's.
 *
 * X4: leaving starts nothing new; what was cancelled before it acted runs again, what may have acted stays open and is
 * unknown. X5: a failure of the store or a lost epoch ends everything here and writes nothing more.
 */
import { EXIT_STATUS } from "../../base/error-table.js";
import { errorCodeOf, SplashdownError } from "../../base/errors.js";
import type { EngineEvent, EventOf, ServerProcess, TaskEnd } from "../model/events.js";
import type { EngineInput, RunLimits, TemplateEngine } from "../model/input.js";
import { isPerformed } from "../model/lookup.js";
import type { ControlMessage, EnginePorts } from "../model/ports.js";
import { digestQuestion } from "../rules/questions/asked.js";
import { BY_TIMEOUT, listExpired } from "../rules/questions/questions.js";
import { isKnownRequest } from "../rules/task/reports.js";
import type { TaskState } from "../model/state.js";
import { Activity } from "./activity.js";
import { Attempts } from "./attempts.js";
import { Decisions } from "./decisions.js";
import { Deliveries } from "./deliveries.js";
import { DueTimer } from "./due-timer.js";
import { askProbes } from "./probes.js";
import { createTaskClock, type TaskClock } from "./task-clock.js";
import { causeOf, describeCause, SnapshotWatch } from "./snapshot-watch.js";
import { LargeValues } from "./values.js";

export interface RunnerOptions {
  readonly state: TaskState;
  readonly ports: EnginePorts;
  readonly templates: TemplateEngine;
  readonly limits: RunLimits;
}

export interface LeaveRequest {
  /** `crashed`: the run ends with `error`, and the task stays open. */
  readonly end: TaskEnd | "crashed";
  readonly error?: unknown;
  readonly reason: string;
  readonly exitStatus: number;
  readonly signal?: string;
  /** End running steps now; otherwise they finish first. */
  readonly cancel: boolean;
}

type FirstInput = Extract<EngineInput, { kind: "start" | "resumed" }>;
type SnapshotEvent = EventOf<"snapshot_written"> | EventOf<"snapshot_failed"> | EventOf<"pruned">;

export class TaskRunner {
  readonly state: TaskState;
  readonly #ports: EnginePorts;
  readonly #clock: TaskClock;
  readonly #decisions: Decisions;
  readonly #attempts: Attempts;
  readonly #deliveries: Deliveries;
  readonly #due: DueTimer;
  readonly #values: LargeValues;
  /** Inputs on their way, running steps, files being written; the beginning of the run until its first input. */
  readonly #work = new Activity(() => this.#lookForQuiet());
  /** What others hold the task open for. */
  readonly #holds = new Activity(() => this.#lookForQuiet());
  readonly #begun = this.#work.begin();
  readonly #probing = new AbortController();
  #leaving: LeaveRequest | undefined;
  #isLooking = false;
  /** What was asked in vain, and where: it is not asked again before something happens. */
  #asked: { readonly position: number; readonly kind: EngineInput["kind"] } | undefined;
  #resolve!: (event: EventOf<"task_closed">) => void;
  #reject!: (error: unknown) => void;
  readonly #closed = new Promise<EventOf<"task_closed">>((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });

  constructor({ state, ports: given, templates, limits }: RunnerOptions) {
    const clock = createTaskClock({ clock: given.clock, lastAtMs: state.atMs, log: given.log });
    const ports = { ...given, clock };
    const abandon = (error: unknown): void => this.#abandon(error);
    const activity = this.#work;
    const values = new LargeValues(ports.blobs);
    this.state = state;
    this.#ports = ports;
    this.#clock = clock;
    this.#values = values;
    this.#closed.catch(() => undefined);
    this.#due = new DueTimer({ clock, state, onDue: () => this.#takeDue() });
    const snapshots = new SnapshotWatch({
      state,
      checkpoints: ports.checkpoints,
      abandon,
      onTooMany: (error) =>
        this.leave({
          end: isOfStorage(error) ? "crashed" : "failed",
          error: causeOf(error),
          reason: `checkpoints cannot be saved: ${describeCause(error)}`,
          exitStatus: EXIT_STATUS.failed,
          cancel: false,
        }),
    });
    this.#decisions = new Decisions({
      state,
      ports,
      aheadMs: () => clock.aheadMs(),
      templates,
      limits,
      values,
      mayStart: () => this.#leaving === undefined,
      capture: (event) => snapshots.capture(event),
      onFolded: (input, count) => this.#setDue(input.kind === "due" && count === 0),
      act: (event) => this.#act(event),
    });
    const requireGoing = (): void => this.#decisions.requireGoing();
    this.#attempts = new Attempts({
      state,
      values,
      activity,
      abandon,
      clock,
      sanitiser: ports.sanitiser,
      performer: ports.performer,
      store: (value) => this.#orEnd(async () => (requireGoing(), values.store(value))),
      submit: (input) => this.#submit(input),
      post: (input) => this.#post(input),
    });
    this.#deliveries = new Deliveries({ state, values, activity, abandon, requireGoing, writer: ports.deliverables });
  }

  /**
   * Runs until the task is closed. When it returns nothing of the task runs here any more.
   *
   * Errors: what ended the run without closing it: OWNER_SUPERSEDED, STORE_*; CANCELLED when it was left before it went on.
   */
  async run(first: FirstInput): Promise<EventOf<"task_closed">> {
    let stopListening = (): void => undefined;
    try {
      void this.#post(await this.#prepare(first));
      this.#begun();
      stopListening = this.#ports.inbox.listen((message) => this.#receive(message));
      return await this.#closed;
    } catch (error) {
      this.#abandon(error);
      throw error;
    } finally {
      stopListening();
      this.#due.stop();
      await Promise.all([this.#attempts.settled(), this.#deliveries.settled()]);
    }
  }

  /**
   * Asks the task to leave: no new steps, then a shutdown checkpoint and `task_closed`. A later call makes it quicker, and
   * its words count where a mere pause stood.
   */
  leave(request: LeaveRequest): void {
    if (request.cancel) {
      this.#probing.abort();
      this.#attempts.closeAll("leaving");
    }
    if (this.#leaving === undefined || this.#leaving.end === "paused") this.#leaving = request;
    this.#due.stop();
    this.#lookForQuiet();
  }

  /** Keeps the task from closing while something outside it is under way, e.g. a question in the terminal. */
  holdOpen(until: Promise<unknown>): void {
    const end = this.#holds.begin();
    until.then(end, end);
  }

  /** Takes a snapshot result of the checkpoint manager into the history. Errors: what ended the run. */
  async recordSnapshot(event: SnapshotEvent): Promise<void> {
    // The manager's clock is the wall: its time would be taken for time that passed.
    await this.#submit({ kind: "snapshot_written", event: { ...event, atMs: this.#clock.nowMs() } });
  }

  /** A tool server waits to run: resolves when that is durable. Errors: CANCELLED when the task is over. */
  async serverSpawned(server: ServerProcess): Promise<void> {
    const recorded = await this.#submit({ kind: "server_spawned", ...server });
    if (recorded.length === 0) throw new SplashdownError("CANCELLED", `tool server ${server.server} is not needed`);
  }

  serverEnded(server: ServerProcess): void {
    if (!this.#decisions.isEnded) void this.#post({ kind: "server_ended", ...server });
  }

  async #prepare(first: FirstInput): Promise<FirstInput> {
    if (first.kind === "start") return first;
    const { state } = this;
    return askProbes({ state, ports: this.#ports, values: this.#values, signal: this.#probing.signal }, first);
  }

  #receive(message: ControlMessage): Promise<boolean> {
    const isNews = message.kind !== "answer" && !isKnownRequest(this.state, message);
    const recorded = this.#submit({ kind: "message", message }).then(
      () => true,
      () => false,
    );
    if (isNews && (message.kind === "pause" || message.kind === "stop")) this.leave(leaveFor(message));
    return recorded;
  }

  /** Every failure on the way of an input ends the run: the state in memory may be ahead of the history. */
  async #submit(input: EngineInput): Promise<readonly EngineEvent[]> {
    const end = this.#work.begin();
    try {
      return await this.#orEnd(() => this.#decisions.submit(input));
    } finally {
      end();
    }
  }

  async #post(input: EngineInput): Promise<void> {
    await this.#submit(input).catch(() => undefined);
  }

  async #orEnd<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      this.#abandon(error);
      throw error;
    }
  }

  #act(event: EngineEvent): void {
    switch (event.type) {
      case "task_resumed":
        // After going back, or in a fork, the files may be others than those that are there.
        if (event.crashed || isElsewhere(this.state)) this.#deliveries.write(this.state.deliverables.values());
        return;
      case "step_intended":
        this.#startStep(event);
        return;
      case "step_cancelled":
        this.#attempts.cancel(event);
        return;
      case "step_failed":
        // By a limit in time; an attempt that failed by itself is over.
        this.#attempts.cancel(event);
        return;
      case "step_completed":
      case "scope_left":
      case "delivered":
        this.#deliveries.write(event.saved ?? []);
        return;
      case "task_closed":
        this.#decisions.end(new SplashdownError("CANCELLED", "the task is closed"));
        this.#resolve(event);
        return;
      default:
    }
  }

  /** Questions whose time is over are answered like any other: by the first answer that is recorded. */
  #takeDue(): void {
    void this.#post({ kind: "due" });
    for (const question of listExpired(this.state, this.#clock.nowMs())) {
      const { id, onExpire, wizard } = question;
      const move = wizard === undefined ? {} : { move: wizard.moves + 1 };
      const answer = {
        kind: "answer",
        question: id,
        answer: onExpire ?? "",
        by: BY_TIMEOUT,
        asked: digestQuestion(question),
        ...move,
      } as const;
      const end = this.#work.begin();
      void this.#ports.inbox.answer(answer).finally(end);
    }
  }

  /** A wait or a gate is nobody's work: time or a person ends it. */
  #startStep(event: EventOf<"step_intended">): void {
    if (!isPerformed(event.kind)) return;
    if (this.#leaving === undefined) this.#attempts.start(event);
    else void this.#post(neverStarted(event));
  }

  #setDue(isTold: boolean): void {
    if (this.#leaving === undefined) this.#due.set(isTold);
  }

  get #isQuiet(): boolean {
    return this.#work.isQuiet && (this.#holds.isQuiet || this.#leaving !== undefined) && !this.#decisions.isEnded;
  }

  /** Called whenever it may have become quiet. */
  #lookForQuiet(): void {
    if (this.#isLooking || !this.#isQuiet) return;
    void this.#orEnd(() => this.#askWhetherToClose()).catch(() => undefined);
  }

  /** Whoever makes noise while snapshots are waited for calls again when it is over. */
  async #askWhetherToClose(): Promise<void> {
    this.#isLooking = true;
    try {
      await this.#ports.checkpoints.idle();
    } finally {
      this.#isLooking = false;
    }
    if (!this.#isQuiet) return;
    const input = closingInput(this.#leaving);
    const { position } = this.state;
    if (this.#asked?.position === position && this.#asked.kind === input.kind) return;
    this.#asked = { position, kind: input.kind };
    const recorded = await this.#submit(input);
    // The reason stands in the history. Where all work was done already, nothing is noted and the task comes to its end.
    if (this.#leaving?.end === "crashed" && recorded.some(({ type }) => type === "noted"))
      return this.#abandon(this.#leaving.error);
    if (this.#work.isQuiet && position === this.state.position && !this.#due.isSet) {
      throw new SplashdownError("INTERNAL", "nothing runs, nothing is due, and the task is not closed");
    }
  }

  #abandon(error: unknown): void {
    if (this.#decisions.isEnded) return;
    this.#decisions.end(error);
    this.#reject(error);
    this.#probing.abort();
    this.#attempts.closeAll("leaving");
  }
}

function leaveFor({ kind, by, note }: Extract<ControlMessage, { kind: "pause" | "stop" }>): LeaveRequest {
  const why = `by ${by}${note === undefined ? "" : `: ${note}`}`;
  return kind === "pause"
    ? { end: "paused", reason: `paused ${why}`, exitStatus: EXIT_STATUS.personNeeded, cancel: false }
    : { end: "stopped", reason: `stopped ${why}`, exitStatus: EXIT_STATUS.terminated, cancel: true };
}

/** Not of the workflow, and not of one file: a disk that is full or broken. */
function isOfStorage(error: unknown): boolean {
  return errorCodeOf(causeOf(error))?.startsWith("STORE_") === true;
}

function isElsewhere({ round, task }: TaskState): boolean {
  return round > 1 || task?.forkedFrom !== undefined;
}

function closingInput(leaving: LeaveRequest | undefined): EngineInput {
  if (leaving === undefined) return { kind: "quiescent" };
  const { end, reason, exitStatus, signal } = leaving;
  return { kind: "close", end, reason, exitStatus, ...(signal === undefined ? {} : { signal }) };
}

/** A durable intent that was never acted on, because the task leaves. */
function neverStarted({ step, attempt }: EventOf<"step_intended">): EngineInput {
  return {
    kind: "outcome",
    step,
    attempt,
    outcome: { status: "cancelled", acted: false },
    durationMs: 0,
  };
}
