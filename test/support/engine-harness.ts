/**
 * A synchronous runner for tests of the pure core: start → loop of outcomes → end, driven by hand or to the end.
 *
 * It does what the real runner does, in the same order, without waiting: decide, fold, ask `advance` until it answers
 * nothing, perform what is open, feed the outcome. `crash` keeps a prefix of the events and forgets everything else.
 */
import type { JsonObject, JsonValue } from "../../src/base/json.js";
import type { StepId, TaskId } from "../../src/base/ids.js";
import { evaluateCondition, renderText, renderValue } from "../../src/definition/templates/templates.js";
import type { WorkflowDefinition } from "../../src/definition/model/workflow.js";
import type { TrackRecords } from "../../src/engine/model/confidence.js";
import { decide } from "../../src/engine/decide.js";
import { nextDueAtMs } from "../../src/engine/rules/steps/due.js";
import type { EngineEvent, EngineEventType, EventOf, StepError } from "../../src/engine/model/events.js";
import type { BlobRef, ValueRef } from "../../src/engine/model/value-ref.js";
import { evolve } from "../../src/engine/fold/evolve.js";
import type { DecideContext, EngineInput, StepReport } from "../../src/engine/model/input.js";
import { isPerformed } from "../../src/engine/model/lookup.js";
import { BY_TIMEOUT, listExpired } from "../../src/engine/rules/questions/questions.js";
import type { StepOutcome } from "../../src/engine/model/ports.js";
import { createState, type QuestionEntry, type StepEntry, type TaskState } from "../../src/engine/model/state.js";
import type { ChannelChange } from "../../src/engine/model/deferred-effects.js";
import { FAKE_START_MS } from "./fake-clock.js";
import { createSeededRandom } from "./seeded-random.js";
import { processOf } from "./places.js";

/** What a step does. `undefined`: it goes on running. Several reports may be fed before the outcome with `harness.submit`. */
export type Perform = (step: StepEntry, work: JsonObject, harness: EngineHarness) => StepOutcome | undefined;

export interface HarnessOptions {
  readonly perform?: Perform;
  readonly inputs?: JsonObject;
  readonly settings?: JsonObject;
  /** Flag of the first run. */
  readonly onUnknown?: "ask" | "rerun" | "skip" | "fail";
  readonly trackRecords?: TrackRecords;
  readonly sleepMsMax?: number;
  readonly seed?: number | string;
  /** Time each performed step takes. */
  readonly stepMs?: number;
  /** Steps end in another order: the index of the next one to end among the running ones. */
  readonly pick?: (running: readonly StepEntry[]) => number;
}

export const TASK_ID = "00000000-0000-4000-8000-000000000001" as TaskId;
const ROUNDS_MAX = 200_000;

export function done(
  output: JsonValue,
  report: Partial<Extract<StepOutcome, { status: "completed" }>> = {},
): StepOutcome {
  return { status: "completed", output, ...report };
}

export function failed(message = "it broke", error: Partial<StepError> = {}): StepOutcome {
  return { status: "failed", error: { code: "STEP_FAILED", message, retryable: true, ...error } };
}

export class EngineHarness {
  state: TaskState = createState();
  events: EngineEvent[] = [];
  nowMs = FAKE_START_MS;
  memoryFraction = 0.1;
  perform: Perform;
  /** Attempts that were really performed, as `name#attempt`. */
  readonly performed: string[] = [];
  readonly blobs = new Map<string, JsonValue>();
  readonly definition: WorkflowDefinition;
  epoch = 1;
  /** Large values that were asked for. */
  loads = 0;
  readonly #options: HarnessOptions;
  readonly #random;
  #closed: EventOf<"task_closed"> | undefined;
  #running = new Map<string, StepEntry>();

  constructor(definition: WorkflowDefinition, options: HarnessOptions = {}) {
    this.definition = definition;
    this.#options = options;
    this.perform = options.perform ?? ((step) => done({ name: step.name }));
    this.#random = createSeededRandom(options.seed ?? "engine");
  }

  get running(): readonly StepEntry[] {
    return [...this.#running.values()];
  }

  /** The event that ended the latest owner's run. */
  get closed(): EventOf<"task_closed"> | undefined {
    return this.state.task?.status === "running" ? undefined : this.#closed;
  }

  get openQuestions(): readonly QuestionEntry[] {
    return [...this.state.questions.values()].filter((question) => question.status === "open");
  }

  /** Starts the task and runs it until it is closed. */
  run(): EventOf<"task_closed"> {
    this.start();
    return this.finish();
  }

  start(): void {
    const { definition } = this;
    this.submit({
      kind: "start",
      taskId: TASK_ID,
      name: "task",
      definition,
      folder: "/work/flow",
      inputs: this.#options.inputs ?? {},
      settings: this.#options.settings ?? {},
      onUnknown: this.#options.onUnknown,
      ...(this.#options.trackRecords === undefined ? {} : { trackRecords: this.#options.trackRecords }),
    });
  }

  /** Performs until the task is closed. */
  finish(): EventOf<"task_closed"> {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const { closed } = this;
      if (closed !== undefined) return closed;
      if (!this.performOne()) this.#rest();
    }
    throw new Error("the task does not end");
  }

  /** Takes an input as the runner does; the answer are the events of this input and of what it made possible. */
  /** What a running attempt says. */
  report(report: StepReport): readonly EngineEvent[] {
    return this.submit({ kind: "report", report });
  }

  submit(input: EngineInput): readonly EngineEvent[] {
    const events: EngineEvent[] = [];
    this.#fold(this.decide(input), events);
    for (let round = 0; input.kind !== "close" && input.kind !== "quiescent"; round += 1) {
      const more = this.decide({ kind: "advance" });
      if (more.length === 0) break;
      if (round > 100_000) throw new Error("advance never answers nothing");
      this.#fold(more, events);
    }
    this.#startOpen();
    return events;
  }

  decide(input: EngineInput): readonly EngineEvent[] {
    for (let round = 0; round < 100; round += 1) {
      const decided = decide(this.state, input, this.context());
      if ("events" in decided) return decided.events;
      for (const ref of decided.needs) this.#load(ref);
    }
    throw new Error("decide asks for values without end");
  }

  context(): DecideContext {
    return {
      templates: { renderValue, renderText, evaluateCondition },
      nowMs: this.nowMs,
      random: this.#random,
      blob: (ref) => (this.#loaded.has(ref.key) ? this.blobs.get(ref.key) : undefined),
      memoryFraction: this.memoryFraction,
      memoryBytes: 1_000,
      sleepMsMax: this.#options.sleepMsMax ?? Infinity,
    };
  }

  readonly #loaded = new Set<string>();
  #load(ref: BlobRef): void {
    if (!this.blobs.has(ref.key)) throw new Error(`no blob ${ref.key}`);
    this.loads += 1;
    this.#loaded.add(ref.key);
  }

  #fold(events: readonly EngineEvent[], into: EngineEvent[]): void {
    for (const event of events) {
      this.#take(event);
      into.push(event);
    }
  }

  #take(event: EngineEvent): void {
    evolve(this.state, event);
    this.events.push(event);
    if (event.type === "task_closed") this.#closed = event;
  }

  #startOpen(): void {
    for (const [key, step] of this.#running) {
      const entry = this.state.steps.get(step.id);
      if (entry?.status !== "open" || entry.attempt !== step.attempt) this.#running.delete(key);
    }
    for (const id of this.state.open) {
      const step = this.state.steps.get(id);
      if (step !== undefined && isPerformed(step.kind)) this.#running.set(`${id}/${step.attempt}`, step);
    }
  }

  /** Performs the next running step; false when none can end now. */
  performOne(): boolean {
    if (this.#running.size === 0) return false;
    const { pick } = this.#options;
    const candidates = this.running;
    const order = pick === undefined ? candidates : [candidates[pick(candidates) % candidates.length] as StepEntry];
    for (const step of order) if (this.#performStep(step)) return true;
    return pick === undefined ? false : candidates.some((step) => this.#performStep(step));
  }

  #performStep(step: StepEntry): boolean {
    const key = `${step.id}/${step.attempt}`;
    const isSpawning = step.kind === "command" || step.kind === "script";
    if (isSpawning && this.state.steps.get(step.id)?.process === undefined) {
      this.report({
        type: "step_spawned",
        step: step.id,
        attempt: step.attempt,
        process: processOf(1, 1, "b"),
      });
    }
    const work = "inline" in step.work ? (step.work.inline as JsonObject) : {};
    const outcome = this.perform(step, work, this);
    if (outcome === undefined) return false;
    this.performed.push(`${step.name}#${step.attempt}`);
    this.nowMs += this.#options.stepMs ?? 1;
    this.#running.delete(key);
    this.submit({
      kind: "outcome",
      step: step.id,
      attempt: step.attempt,
      outcome,
      durationMs: this.#options.stepMs ?? 1,
    });
    return true;
  }

  /** Nothing can end: closes the task or goes on to the next due time. */
  #rest(): void {
    if (this.#running.size === 0 && this.submit({ kind: "quiescent" }).length > 0) return;
    const dueAtMs = nextDueAtMs(this.state);
    if (dueAtMs === undefined) throw new Error("nothing runs, nothing is due, and the task is not closed");
    this.nowMs = Math.max(this.nowMs, dueAtMs);
    this.submit({ kind: "due" });
    // As the inbox does: what a question answers itself is recorded like any other answer.
    for (const { id, onExpire, wizard } of listExpired(this.state, this.nowMs)) {
      const move = wizard === undefined ? {} : { move: wizard.moves + 1 };
      const answer = { kind: "answer", question: id, answer: onExpire ?? "", by: BY_TIMEOUT, ...move } as const;
      this.submit({ kind: "message", message: answer });
    }
  }

  /** A process that ends at once: only the first `count` events remain. The answer is another owner's harness. */
  crash(count: number = this.events.length, options: Partial<HarnessOptions> = {}): EngineHarness {
    const next = new EngineHarness(this.definition, {
      ...this.#options,
      perform: this.perform,
      seed: `after-${count}`,
      ...options,
    });
    next.nowMs = this.nowMs + 10;
    next.epoch = this.epoch;
    for (const [key, value] of this.blobs) next.blobs.set(key, value);
    for (const event of this.events.slice(0, count)) next.#take(event);
    return next;
  }

  /** A new owner takes over; before it the task is as `crash` or `task_closed` left it. */
  resume(options: Partial<Extract<EngineInput, { kind: "resumed" }>> = {}): readonly EngineEvent[] {
    this.epoch += 1;
    const crashed = this.closed === undefined;
    return this.submit({
      kind: "resumed",
      epoch: this.epoch,
      by: crashed ? "recover" : "resume",
      crashed,
      report: {},
      last: this.events.findLast(({ type }) => type !== "task_resumed"),
      orphans: [],
      uncertain: false,
      byPerson: !crashed,
      maxRecoveryAttempts: 3,
      probed: new Map(),
      ...options,
    });
  }

  /** As a program does that works on the task without the engine. */
  changeChannel(change: ChannelChange): void {
    this.#take({ type: "channel_changed", atMs: this.nowMs, ...change });
  }

  answer(question: QuestionEntry, answer: string, value?: JsonValue): readonly EngineEvent[] {
    return this.submit({
      kind: "message",
      message: { kind: "answer", question: question.id, answer, value, by: "ann" },
    });
  }

  of<T extends EngineEventType>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type);
  }

  step(path: string, visit = 1, round = 1): StepEntry {
    const found = this.state.steps.get(`${path}@${round}.${visit}` as StepId);
    if (found === undefined) throw new Error(`no step ${path}@${round}.${visit}`);
    return found;
  }

  get output(): JsonValue {
    return this.#valueOf(this.closed?.output);
  }

  /** What the root gave, with what is missing of it. */
  get rootOutput(): JsonValue {
    return this.#valueOf(this.state.outputs.get(this.definition.root.path)?.value);
  }

  #valueOf(output: ValueRef | undefined): JsonValue {
    if (output === undefined) return null;
    return "inline" in output ? output.inline : (this.blobs.get(output.blob.key) ?? null);
  }
}
