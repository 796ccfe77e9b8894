/**
 * What a function step is given: durable sub-steps, the channel, and where an earlier attempt got to.
 *
 * A3: the value of a finished sub-step is remembered; a retry and a resume get it back without running it again. Values
 * cross as base/json.ts stores them, so the first run and every later one see equal values. Once the attempt is over,
 * every call is refused with CANCELLED.
 */
import { SplashdownError } from "../base/errors.js";
import { decodeValue, encodeValue, isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";
import type { StepSink, StepWork } from "../engine/ports.js";
import { isEndOfRun } from "./failure.js";

/** What the function of a sub-step gets. */
export interface SubstepContext {
  /** The step's key and the sub-step's name: equal on every attempt. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

export interface FunctionContext {
  /** The step's own input map, rendered. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The workflow's inputs. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Outputs of the steps it refers to, by name. */
  readonly outputs: Readonly<Record<string, unknown>>;
  /** What Apollo asked to improve. */
  readonly feedback: readonly string[];
  /** What Atlas wants to know, where it launched this specialist for that. */
  readonly uncertainties: readonly unknown[];
  readonly task: { readonly id: string; readonly name: string };
  readonly phase: { readonly name: string; readonly number: number; readonly iteration: number };
  readonly path: string;
  /** Counts from 1; a visit more after `nextIteration`. */
  readonly visit: number;
  /** Counts from 1 in each visit. */
  readonly attempt: number;
  /** The last milestone of an earlier attempt. */
  readonly resumed: { readonly name: string; readonly state: unknown } | undefined;
  readonly idempotencyKey: string;
  /** Fires when the attempt is over: timeout, Ctrl+C, a sibling's failure. */
  readonly signal: AbortSignal;
  /**
   * Runs the function once and remembers what it returns; nothing returned becomes null.
   *
   * Errors: what the function throws; STEP_FAILED when the name is used twice in one attempt.
   */
  step<T>(name: string, run: (substep: SubstepContext) => T | Promise<T>): Promise<T>;
  /** The task's shared key-value state. */
  readonly channel: {
    get(key: string): unknown;
    set(key: string, value: unknown): void;
    append(key: string, value: unknown): void;
    add(key: string, amount: number): void;
  };
  /** A checkpoint when the step completes, with this metadata. */
  checkpoint(metadata?: Readonly<Record<string, unknown>>): void;
  /** When the step completes it runs again, with the next visit. */
  nextIteration(): void;
  /** A durable state to go on from after a crash or a retry. */
  milestone(name: string, state?: unknown): Promise<void>;
  progress(report: { readonly fraction?: number; readonly message?: string }): void;
}

/** The context of one attempt and the switch that closes it. */
export interface OpenFunctionContext {
  readonly context: FunctionContext;
  /** Refuses every later call. */
  close(): void;
  /** What ended the run inside a call, even if the function swallowed it. */
  readonly endOfRun: unknown;
}

export function openFunctionContext(work: StepWork, sink: StepSink, signal: AbortSignal): OpenFunctionContext {
  const calls = new ContextCalls(work, sink, signal);
  const { path, visit, attempt, idempotencyKey } = work.step;
  const context: FunctionContext = {
    input: decodeObject(work.input),
    inputs: decodeObject(work.inputs),
    outputs: decodeObject(work.outputs),
    feedback: work.feedback,
    uncertainties: work.uncertainties.map(decodeValue),
    task: work.task,
    phase: work.phase,
    path,
    visit,
    attempt,
    resumed: work.milestone && { name: work.milestone.name, state: decodeValue(work.milestone.state) },
    idempotencyKey,
    signal,
    step: (substep, run) => calls.step(substep, run),
    channel: calls.channel,
    checkpoint: (metadata = {}) => calls.checkpoint(metadata),
    nextIteration: () => calls.guard(() => sink.requestNextIteration()),
    milestone: (milestone, state = null) => calls.durable(() => sink.milestone(milestone, encodeValue(state))),
    progress: (report) => calls.guard(() => sink.progress(report)),
  };
  return {
    context,
    close: () => calls.close(),
    get endOfRun() {
      return calls.endOfRun;
    },
  };
}

class ContextCalls {
  endOfRun: unknown;
  #isClosed = false;
  readonly #used = new Set<string>();

  constructor(
    private readonly work: StepWork,
    private readonly sink: StepSink,
    private readonly signal: AbortSignal,
  ) {}

  readonly channel: FunctionContext["channel"] = {
    get: (key) => this.guard(() => decodeOptional(this.sink.channel.get(key))),
    set: (key, value) => this.guard(() => this.sink.channel.set(key, encodeValue(value))),
    append: (key, value) => this.guard(() => this.sink.channel.append(key, encodeValue(value))),
    add: (key, amount) => this.guard(() => this.sink.channel.add(key, amount)),
  };

  close(): void {
    this.#isClosed = true;
  }

  async step<T>(name: string, run: (substep: SubstepContext) => T | Promise<T>): Promise<T> {
    this.#takeName(name);
    const known = this.work.substeps.get(name);
    if (known !== undefined) return decodeValue(known) as T;
    await this.durable(() => this.sink.substepIntended(name));
    const idempotencyKey = `${this.work.step.idempotencyKey}/${name}`;
    const value = encodeValue((await run({ idempotencyKey, signal: this.signal })) ?? null);
    await this.durable(() => this.sink.substepCompleted(name, value));
    return decodeValue(value) as T;
  }

  checkpoint(metadata: Readonly<Record<string, unknown>>): void {
    const value = encodeValue(metadata);
    if (!isJsonObject(value))
      throw new SplashdownError("VALUE_UNSUPPORTED", "the metadata of a checkpoint must be an object");
    this.guard(() => this.sink.requestCheckpoint(value));
  }

  guard<T>(call: () => T): T {
    if (this.#isClosed || this.signal.aborted) {
      throw new SplashdownError("CANCELLED", `step ${this.work.step.path} is over: its context takes nothing more`);
    }
    return call();
  }

  async durable(call: () => Promise<void>): Promise<void> {
    try {
      await this.guard(call);
    } catch (error) {
      if (isEndOfRun(error)) this.endOfRun ??= error;
      throw error;
    }
  }

  #takeName(name: string): void {
    if (this.#used.has(name)) {
      const text = `ctx.step(${JSON.stringify(name)}) was called twice; names tell sub-steps apart, so each needs its own`;
      throw new SplashdownError("STEP_FAILED", text, { details: { retryable: false } });
    }
    this.#used.add(name);
  }
}

function decodeObject(value: JsonObject): Record<string, unknown> {
  return decodeValue(value) as Record<string, unknown>;
}

function decodeOptional(value: JsonValue | undefined): unknown {
  return value === undefined ? undefined : decodeValue(value);
}
