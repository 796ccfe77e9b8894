/**
 * One run of a task over fakes: a journal driven by hand, a performer driven by hand or by a rule, a clock that moves
 * when told. `crash` gives the room of the next owner, with what was durable and nothing else.
 */
import type { JsonObject, JsonValue } from "../../src/base/json.js";
import { evaluateCondition, renderText, renderValue } from "../../src/definition/templates/templates.js";
import type { WorkflowDefinition } from "../../src/definition/model/workflow.js";
import type { EngineEvent, EngineEventType, EventOf } from "../../src/engine/model/events.js";
import type { BlobRef } from "../../src/engine/model/value-ref.js";
import { evolve } from "../../src/engine/fold/evolve.js";
import type { EngineInput } from "../../src/engine/model/input.js";
import type { CheckpointHook, ControlMessage, EnginePorts, StepOutcome } from "../../src/engine/model/ports.js";
import { TaskRunner } from "../../src/engine/runner/task-runner.js";
import { createState, type TaskState } from "../../src/engine/model/state.js";
import { TASK_ID } from "./engine-harness.js";
import { FakeClock, flushReactions } from "./fake-clock.js";
import { HandLog } from "./hand-log.js";
import { HandPerformer, type PerformRule } from "./hand-performer.js";
import { createSeededRandom } from "./seeded-random.js";

type ResumedInput = Extract<EngineInput, { kind: "resumed" }>;

export interface RoomOptions {
  readonly perform?: PerformRule;
  readonly sleepMsMax?: number;
  readonly drawsPicture?: boolean;
  readonly settings?: JsonObject;
  readonly inputs?: JsonObject;
}

interface Inheritance {
  readonly history: readonly EngineEvent[];
  readonly blobs: ReadonlyMap<string, JsonValue>;
  readonly files: ReadonlyMap<string, string>;
  readonly epoch: number;
  readonly clock: FakeClock;
}

const NOTHING: Inheritance = { history: [], blobs: new Map(), files: new Map(), epoch: 1, clock: new FakeClock() };

/** What ends a run: the event, or the error. */
export type RoomEnd = EventOf<"task_closed"> | { readonly error: unknown };

export class RunnerRoom {
  readonly trace: string[] = [];
  readonly warnings: string[] = [];
  /** What was left for this owner before it came. */
  readonly waiting: ControlMessage[] = [];
  readonly clock: FakeClock;
  readonly log: HandLog;
  readonly performer: HandPerformer;
  readonly blobs: Map<string, JsonValue>;
  /** Blobs read, by key. */
  readonly blobReads: string[] = [];
  readonly files: Map<string, string>;
  readonly observed: [number, EngineEvent][] = [];
  /** Number and type. */
  readonly announced: string[] = [];
  readonly state: TaskState = createState();
  readonly definition: WorkflowDefinition;
  readonly epoch: number;
  /** What the checkpoint manager answers; the default skips every file. */
  captured: CheckpointHook["captured"] = () => ({ required: false, written: Promise.resolve() });
  idle: () => Promise<void> = () => Promise.resolve();
  writeFile: (file: string, content: string) => Promise<void> = () => Promise.resolve();
  onObserved: (event: EngineEvent) => void = () => undefined;
  clean: (text: string) => string = (text) => text;
  end: RoomEnd | undefined;
  readonly runner: TaskRunner;
  readonly #options: RoomOptions;
  #blobCount = 0;
  #receive: ((message: ControlMessage) => Promise<boolean>) | undefined;

  constructor(
    definition: WorkflowDefinition,
    options: RoomOptions = {},
    inherited: Inheritance = { ...NOTHING, clock: new FakeClock() },
  ) {
    const trace = (line: string): void => void this.trace.push(line);
    this.definition = definition;
    this.#options = options;
    this.clock = inherited.clock;
    this.epoch = inherited.epoch;
    this.blobs = new Map(inherited.blobs);
    this.files = new Map(inherited.files);
    this.log = new HandLog(inherited.history, trace);
    this.performer = new HandPerformer(trace);
    if (options.perform !== undefined) this.performer.rule = options.perform;
    for (const event of inherited.history) evolve(this.state, event);
    this.runner = new TaskRunner({
      state: this.state,
      ports: this.#createPorts(),
      templates: { renderValue, renderText, evaluateCondition },
      limits: { sleepMsMax: options.sleepMsMax ?? Infinity, drawsPicture: options.drawsPicture === true },
    });
  }

  /** Starts the task; the end stands in `end`. */
  async start(): Promise<void> {
    const { definition } = this;
    const { inputs = {}, settings = {} } = this.#options;
    await this.#run({ kind: "start", taskId: TASK_ID, name: "task", definition, folder: "/flow", inputs, settings });
  }

  async resume(options: Partial<ResumedInput> = {}): Promise<void> {
    const crashed = this.state.task?.status === "running";
    await this.#run({
      kind: "resumed",
      epoch: this.epoch,
      by: crashed ? "recover" : "resume",
      crashed,
      report: {},
      last: this.log.durableEvents.findLast(({ type }) => type !== "task_resumed"),
      orphans: [],
      uncertain: false,
      byPerson: !crashed,
      maxRecoveryAttempts: 3,
      probed: new Map(),
      ...options,
    });
  }

  /** Lets everything that can happen without time passing happen. */
  async flush(): Promise<void> {
    for (let turn = 0; turn < 6; turn += 1) await flushReactions();
  }

  /** Lets time pass from due time to due time until the run has ended or nothing waits for time any more. */
  async drive(stepsMax = 2_000): Promise<void> {
    await this.flush();
    for (let step = 0; step < stepsMax && this.end === undefined; step += 1) {
      if (!(await this.clock.advanceToNext())) return;
      await this.flush();
    }
  }

  send(message: ControlMessage): void {
    void this.#receive?.(message);
  }

  get isListening(): boolean {
    return this.#receive !== undefined;
  }

  /** Ends a running step of that name. */
  async finish(
    name: string,
    output: JsonValue = { name },
    report: Partial<Extract<StepOutcome, { status: "completed" }>> = {},
  ): Promise<void> {
    this.performer.of(name).end({ status: "completed", output, ...report });
    await this.flush();
  }

  /** The next owner's room: what was durable, and the files and blobs that were written. */
  crash(options: RoomOptions = this.#options, clock = new FakeClock(this.clock.nowMs() + 1_000)): RunnerRoom {
    const { blobs, files, epoch } = this;
    return new RunnerRoom(this.definition, options, {
      history: this.log.durableEvents,
      blobs,
      files,
      epoch: epoch + 1,
      clock,
    });
  }

  of<T extends EngineEventType>(type: T): EventOf<T>[] {
    return this.log.durableEvents.filter((event): event is EventOf<T> => event.type === type);
  }

  get closed(): EventOf<"task_closed"> {
    if (this.end === undefined || "error" in this.end)
      throw new Error(`not closed: ${JSON.stringify(this.end?.error)}`);
    return this.end;
  }

  get error(): unknown {
    return this.end !== undefined && "error" in this.end ? this.end.error : undefined;
  }

  get output(): JsonValue {
    const { output } = this.closed;
    if (output === undefined) return null;
    return "inline" in output ? output.inline : (this.blobs.get(output.blob.key) ?? null);
  }

  async #run(first: Parameters<TaskRunner["run"]>[0]): Promise<void> {
    void this.runner.run(first).then(
      (event) => (this.end = event),
      (error: unknown) => (this.end = { error }),
    );
    await this.flush();
  }

  #createPorts(): EnginePorts {
    return {
      clock: this.clock,
      random: createSeededRandom(`room-${this.epoch}`),
      log: { debug: () => undefined, info: () => undefined, warn: (text) => void this.warnings.push(text) },
      events: this.log,
      blobs: { put: (value) => this.#putBlob(value), get: (ref) => this.#getBlob(ref) },
      performer: this.performer,
      sanitiser: {
        clean: (value) => JSON.parse(this.clean(JSON.stringify(value))) as JsonValue,
        cleanText: (text) => this.clean(text),
      },
      deliverables: { write: (file, content) => this.#write(file, content) },
      inbox: {
        listen: (receive) => {
          this.#receive = receive;
          for (const message of this.waiting.splice(0)) void receive(message);
          return () => (this.#receive = undefined);
        },
        answer: async (message) => void (await this.#receive?.(message)),
      },
      checkpoints: { captured: (state, event) => this.captured(state, event), idle: () => this.idle() },
      memory: () => ({ fraction: 0.1, residentBytes: 1_000 }),
      observe: (event, _state, n) => {
        this.observed.push([n, event]);
        this.onObserved(event);
      },
      announce: (event, _state, n) => void this.announced.push(`${n} ${event.type}`),
    };
  }

  async #putBlob(value: JsonValue): Promise<BlobRef> {
    const text = JSON.stringify(value);
    this.#blobCount += 1;
    const key = `blobs/${this.epoch}-${this.#blobCount}`;
    await Promise.resolve();
    this.blobs.set(key, value);
    this.trace.push(`put ${key}`);
    return { key, sizeBytes: text.length, digest: key };
  }

  async #getBlob(ref: BlobRef): Promise<JsonValue> {
    await Promise.resolve();
    this.blobReads.push(ref.key);
    const value = this.blobs.get(ref.key);
    if (value === undefined) throw new Error(`no blob ${ref.key}`);
    return value;
  }

  async #write(file: string, content: string): Promise<void> {
    this.trace.push(`write ${file}`);
    await this.writeFile(file, content);
    this.files.set(file, content);
  }
}
