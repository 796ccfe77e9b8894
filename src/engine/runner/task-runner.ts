/**
 * Runs one task in this process: the only awaiting part of the engine.
 *
 * Every input goes one way: decide → large values to blobs → fold and append → durable → look for a higher epoch → act.
 * Deciding and folding happen one at a time in the mailbox; waiting for the disk does not block it, so steps that end
 * together share one sync.
 *
 * X3: nothing is acted on before its event is durable and the epoch was looked at. X4: leaving (pause, stop, signals)
 * starts nothing new; what was cancelled before it acted runs again, what may have acted stays open and is unknown.
 * X5: a failure of the journal or a lost epoch ends everything here and writes nothing more.
 */
import { errorCodeOf, messageOf, SplashdownError } from "../../base/errors.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { StepId } from "../../base/ids.js";
import { findStepDefinition } from "../lookup.js";
import { decide } from "../decide.js";
import { nextDueAtMs } from "../due.js";
import type { EngineEvent, EventOf, StepError, TaskEnd } from "../events.js";
import { evolve } from "../evolve.js";
import type { Decided, DecideContext, EngineInput, TemplateEngine } from "../input.js";
import type { ControlMessage, EnginePorts, StepOutcome } from "../ports.js";
import type { StepEntry, TaskState } from "../state.js";
import { Attempt } from "./attempt.js";
import { Mailbox } from "./mailbox.js";
import { outcomeOfAttempt } from "./outcome.js";
import { LargeValues } from "./values.js";
import { assembleWork } from "./work.js";

export interface RunnerOptions {
  readonly state: TaskState;
  readonly ports: EnginePorts;
  readonly templates: TemplateEngine;
  /** Longest wait slept out here; Infinity with `--wait`. */
  readonly sleepMsMax: number;
}

export interface LeaveRequest {
  readonly end: TaskEnd;
  readonly reason: string;
  readonly exitStatus: number;
  readonly signal?: string;
  /** End running steps now; otherwise they finish first. */
  readonly cancel: boolean;
}

/** Longest single timer of the platform. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** Failed automatic snapshots in a row after which no further step starts. */
const SNAPSHOT_FAILURES_MAX = 2;

export class TaskRunner {
  readonly state: TaskState;
  readonly #ports: EnginePorts;
  readonly #options: RunnerOptions;
  readonly #values: LargeValues;
  readonly #mailbox = new Mailbox();
  readonly #running = new Map<string, Attempt>();
  readonly #holds = new Set<Promise<void>>();
  #settling = 0;
  /** Somebody looked for quiet while it was not: whoever ends the noise looks again. */
  #wantsCheck = false;
  #leaving: LeaveRequest | undefined;
  #snapshotFailures = 0;
  #cancelTimer: (() => void) | undefined;
  #dueAtMs: number | undefined;
  #finish!: (event: EventOf<"task_closed">) => void;
  #fail!: (error: unknown) => void;
  #ended = false;
  readonly #end = new Promise<EventOf<"task_closed">>((resolve, reject) => {
    this.#finish = resolve;
    this.#fail = reject;
  });

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#ports = options.ports;
    this.state = options.state;
    this.#values = new LargeValues(options.ports.blobs);
  }

  /**
   * Runs until the task is closed.
   *
   * Errors: what ended the run without closing it: OWNER_SUPERSEDED, STORE_*.
   */
  async run(first: Extract<EngineInput, { kind: "start" | "resumed" }>): Promise<EventOf<"task_closed">> {
    let stopListening = (): void => undefined;
    try {
      const input = first.kind === "resumed" ? await this.#probeOpenSteps(first) : first;
      if (first.kind === "resumed") this.#redeliver();
      this.#post(input);
      stopListening = this.#ports.inbox.listen((message) => this.#receive(message));
      return await this.#end;
    } finally {
      this.#ended = true;
      stopListening();
      this.#cancelTimer?.();
      for (const attempt of this.#running.values()) attempt.close("leaving");
      await Promise.allSettled([...this.#running.values()].map((attempt) => attempt.settled));
    }
  }

  /** Asks the task to leave: no new steps, then a shutdown checkpoint and `task_closed`. Later calls only make it quicker. */
  leave(request: LeaveRequest): void {
    if (request.cancel) for (const attempt of this.#running.values()) attempt.close("leaving");
    if (this.#leaving !== undefined) return;
    this.#leaving = request;
    void this.#checkQuiet();
  }

  /** Keeps the task from closing while something outside it is under way, e.g. a question in the terminal. */
  holdOpen(until: Promise<unknown>): void {
    const held: Promise<void> = until
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        this.#holds.delete(held);
        void this.#checkQuiet();
      });
    this.#holds.add(held);
  }

  /** Takes a snapshot result of the checkpoint manager into the history. */
  recordSnapshot(event: EventOf<"snapshot_written"> | EventOf<"snapshot_failed"> | EventOf<"pruned">): Promise<void> {
    return this.#submit({ kind: "snapshot_written", event });
  }

  #receive(message: ControlMessage): void {
    this.#post({ kind: "message", message });
    if (message.kind === "pause") {
      this.leave({ end: "paused", reason: `paused by ${message.by}`, exitStatus: 20, cancel: false });
    }
    if (message.kind === "stop") {
      this.leave({ end: "stopped", reason: `stopped by ${message.by}`, exitStatus: 143, cancel: true });
    }
  }

  #post(input: EngineInput): void {
    this.#submit(input).catch((error: unknown) => this.#abandon(error));
  }

  /** Decides and folds in order, then makes durable, looks and acts. */
  async #submit(input: EngineInput): Promise<void> {
    this.#settling += 1;
    try {
      const batch = await this.#mailbox.run(() => this.#decideAndFold(input));
      await this.#settle(batch);
    } finally {
      this.#settling -= 1;
    }
    await this.#checkQuiet();
  }

  async #decideAndFold(input: EngineInput): Promise<Batch> {
    const batch: Batch = { events: [], numbers: [], required: [] };
    if (this.#ended) return batch;
    await this.#fold(await this.#decide(input), batch);
    if (this.#leaving === undefined && input.kind !== "close" && input.kind !== "quiescent") {
      await this.#advance(batch);
    }
    this.#scheduleDue();
    return batch;
  }

  /** Chooses what may start, one answer at a time, until nothing is left to choose. */
  async #advance(batch: Batch): Promise<void> {
    for (;;) {
      const events = await this.#decide({ kind: "advance" });
      if (events.length === 0) return;
      await this.#fold(events, batch);
    }
  }

  async #decide(input: EngineInput): Promise<readonly EngineEvent[]> {
    for (;;) {
      const decided: Decided = decide(this.state, input, this.#context());
      if ("events" in decided) return decided.events;
      for (const ref of decided.needs) await this.#values.load(ref);
    }
  }

  #context(): DecideContext {
    const memory = this.#ports.memory();
    return {
      nowMs: Math.max(this.#ports.clock.nowMs(), this.state.atMs),
      random: this.#ports.random,
      blob: this.#values.peek,
      templates: this.#options.templates,
      memoryFraction: memory.fraction,
      memoryBytes: memory.residentBytes,
      sleepMsMax: this.#options.sleepMsMax,
    };
  }

  async #fold(events: readonly EngineEvent[], batch: Batch): Promise<void> {
    for (const decided of events) {
      const event = await this.#values.externalise(decided);
      evolve(this.state, event);
      this.#ports.events.append([event]);
      batch.events.push(event);
      batch.numbers.push(this.state.position);
      if (event.type === "checkpoint_recorded") this.#capture(event, batch);
    }
  }

  #capture(event: EventOf<"checkpoint_recorded">, batch: Batch): void {
    const { required, written } = this.#ports.checkpoints.captured(this.state, event);
    const watched = written.then(
      () => {
        this.#snapshotFailures = 0;
      },
      (error: unknown) => this.#snapshotFailed(error, event.trigger === "before_risky_operation"),
    );
    if (required) batch.required.push(watched);
  }

  #snapshotFailed(error: unknown, isDemanded: boolean): void {
    this.#snapshotFailures += 1;
    this.#ports.log.warn(`a checkpoint could not be saved: ${messageOf(error)}`);
    if (this.#snapshotFailures < SNAPSHOT_FAILURES_MAX && !isDemanded) return;
    this.leave({ end: "failed", reason: "checkpoints cannot be saved", exitStatus: 4, cancel: false });
  }

  async #settle(batch: Batch): Promise<void> {
    if (batch.events.length === 0) return;
    await this.#ports.events.durable();
    for (const [at, event] of batch.events.entries()) this.#ports.observe(event, this.state, batch.numbers[at] ?? 0);
    if (batch.required.length > 0) await Promise.all(batch.required);
    if (batch.events.some(needsLook)) await this.#ports.events.confirm();
    for (const event of batch.events) this.#act(event);
  }

  #act(event: EngineEvent): void {
    if (this.#ended) return;
    switch (event.type) {
      case "step_intended":
        if (this.#leaving === undefined) this.#start(event);
        else this.#post(neverStarted(event));
        return;
      case "step_cancelled":
        this.#running.get(attemptKey(event.step, event.attempt))?.close("cancelled");
        return;
      case "step_completed":
        for (const file of event.saved ?? [])
          this.#deliver(file.file, async () => textOf(await this.#values.resolve(file.content)));
        return;
      case "task_closed":
        this.#ended = true;
        this.#finish(event);
        return;
      default:
    }
  }

  #start(event: EventOf<"step_intended">): void {
    const step = this.state.steps.get(event.step);
    if (step === undefined || step.status !== "open" || step.attempt !== event.attempt) return;
    const definition = findStepDefinition(this.state, step);
    const attempt = new Attempt(step, definition, {
      clock: this.#ports.clock,
      values: this.#values,
      clean: (value) => this.#ports.sanitiser.clean(value),
      channel: this.state.channel,
      submit: (input) => this.#submit(input),
      post: (input) => this.#post(input),
    });
    this.#running.set(attemptKey(step.id, step.attempt), attempt);
    attempt.settled = this.#perform(attempt, step).catch((error: unknown) => this.#abandon(error));
  }

  async #perform(attempt: Attempt, step: StepEntry): Promise<void> {
    const key = attemptKey(step.id, step.attempt);
    try {
      const outcome = await this.#ask(attempt, step);
      const { closed, durationMs } = attempt;
      attempt.close("finished");
      const judged = outcomeOfAttempt(outcome, closed, this.#ports.sanitiser);
      const output = judged.status === "completed" ? await this.#values.store(judged.output) : undefined;
      this.#running.delete(key);
      await this.#submit({
        kind: "outcome",
        step: step.id,
        attempt: step.attempt,
        outcome: judged,
        ...(output === undefined ? {} : { output }),
        durationMs,
        ...(attempt.checkpointMetadata === undefined ? {} : { checkpointMetadata: attempt.checkpointMetadata }),
        again: attempt.again,
      });
    } finally {
      this.#running.delete(key);
    }
  }

  async #ask(attempt: Attempt, step: StepEntry): Promise<StepOutcome> {
    try {
      const work = await assembleWork(this.state, step, findStepDefinition(this.state, step), this.#values);
      return await this.#ports.performer.perform(work, attempt.sink, attempt.signal);
    } catch (error) {
      if (attempt.closed !== undefined) return { status: "cancelled" };
      const code = errorCodeOf(error);
      if (code === "OWNER_SUPERSEDED" || code?.startsWith("STORE_") === true) throw error;
      return { status: "failed", error: describeError(error) };
    }
  }

  #deliver(file: string, read: () => Promise<string>): void {
    const delivery = read().then((content) => this.#ports.deliverables.write(file, content));
    this.holdOpen(delivery.catch((error: unknown) => this.#abandon(error)));
  }

  /** Deliverables whose content is durable but whose file a crash may have prevented. */
  #redeliver(): void {
    for (const saved of this.state.deliverables.values()) {
      this.#deliver(saved.file, async () => textOf(await this.#values.resolve(saved.content)));
    }
  }

  async #probeOpenSteps(first: Extract<EngineInput, { kind: "resumed" }>) {
    const probed = new Map(first.probed);
    for (const id of this.state.open) {
      const step = this.state.steps.get(id);
      if (step === undefined || step.effects !== "external" || step.process === undefined) continue;
      const definition = findStepDefinition(this.state, step);
      if (definition.probe === undefined) continue;
      const work = await assembleWork(this.state, step, definition, this.#values);
      const answer = await this.#ports.performer.probe(work, new AbortController().signal);
      if (answer !== undefined) probed.set(id, answer);
    }
    return { ...first, probed };
  }

  #scheduleDue(): void {
    const dueAtMs = nextDueAtMs(this.state);
    if (dueAtMs === this.#dueAtMs) return;
    this.#dueAtMs = dueAtMs;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (dueAtMs === undefined) return;
    const waitMs = Math.min(TIMER_MS_MAX, Math.max(0, dueAtMs - this.#ports.clock.nowMs()));
    this.#cancelTimer = this.#ports.clock.schedule(waitMs, () => {
      this.#dueAtMs = undefined;
      this.#post({ kind: "due" });
    });
  }

  get #isQuiet(): boolean {
    return !this.#ended && this.#settling === 0 && this.#running.size === 0 && this.#holds.size === 0;
  }

  /** Closes the task when nothing runs and nothing is on its way; snapshots under way are recorded before. */
  async #checkQuiet(): Promise<void> {
    this.#wantsCheck = !this.#isQuiet;
    if (this.#wantsCheck) return;
    this.#settling += 1;
    try {
      await this.#ports.checkpoints.idle();
      if (this.#settling > 1 || this.#running.size > 0 || this.#holds.size > 0) return;
      const batch = await this.#mailbox.run(() => this.#decideAndFold(closingInput(this.#leaving)));
      await this.#settle(batch);
      if (batch.events.length === 0) this.#requireSomethingToWaitFor();
    } catch (error) {
      this.#abandon(error);
    } finally {
      this.#settling -= 1;
    }
    if (this.#wantsCheck) await this.#checkQuiet();
  }

  #requireSomethingToWaitFor(): void {
    const idle = this.#settling <= 1 && this.#running.size === 0 && this.#holds.size === 0;
    if (idle && !this.#ended && this.#dueAtMs === undefined) {
      throw new SplashdownError("INTERNAL", "nothing runs, nothing is due, and the task is not closed");
    }
  }

  #abandon(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const attempt of this.#running.values()) attempt.close("leaving");
    this.#fail(error);
  }
}

interface Batch {
  readonly events: EngineEvent[];
  /** Journal numbers of the events. */
  readonly numbers: number[];
  readonly required: Promise<void>[];
}

function closingInput(leaving: LeaveRequest | undefined): EngineInput {
  if (leaving === undefined) return { kind: "quiescent" };
  const { end, reason, exitStatus, signal } = leaving;
  return { kind: "close", end, reason, exitStatus, ...(signal === undefined ? {} : { signal }) };
}

const IRREVERSIBLE = new Set<EngineEvent["type"]>([
  "step_intended",
  "step_spawned",
  "substep_intended",
  "tool_intended",
]);

function needsLook(event: EngineEvent): boolean {
  return (
    IRREVERSIBLE.has(event.type) ||
    (event.type === "step_completed" && event.saved !== undefined && event.saved.length > 0)
  );
}

/** A durable intent that was never acted on, because the task leaves. */
function neverStarted(event: EventOf<"step_intended">): EngineInput {
  return {
    kind: "outcome",
    step: event.step,
    attempt: event.attempt,
    outcome: { status: "cancelled", acted: false },
    durationMs: 0,
    again: false,
  };
}

function attemptKey(step: StepId, attempt: number): string {
  return `${step}/${attempt}`;
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}

function describeError(error: unknown): StepError {
  if (error instanceof SplashdownError) {
    return { code: error.code, message: error.message, retryable: error.retryable, details: error.details };
  }
  const details: JsonObject =
    error instanceof Error && error.stack !== undefined ? { stack: error.stack.slice(0, 2000) } : {};
  return { code: "STEP_FAILED", message: messageOf(error), retryable: true, details };
}
