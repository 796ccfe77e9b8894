/**
 * What a function step is given: durable sub-steps, the channel, and where an earlier attempt got to.
 *
 * A3: how a sub-step ended is remembered, with its value or with its failure: a resume after a crash goes the same way
 * without running it again, and so does a retry. Only what failed last before the step itself failed runs again with a
 * retry, as that is what the retry is for. Values and failures cross as they are stored, so the first run and every later
 * one see equal ones. Once the attempt is over, every call is refused with CANCELLED.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { decodeValue, encodeValue } from "../../base/json-encoding.js";
import type { StepSink, StepWork, SubstepSink, EffectsSink } from "../../engine/model/ports.js";
import { requireAddedStep } from "../outcome/added-step.js";
import { isEndOfRun } from "../outcome/failure.js";
import { describeFailure, restoreFailure } from "../outcome/substep-failure.js";

/** What the function of a sub-step gets. */
export interface SubstepContext {
  /** The step's key and the sub-step's name: equal on every attempt. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** A step that is added while the task runs: like another step of its group with other input, or written out as in a file. */
export type SpawnedStep =
  | { readonly name: string; readonly like: string; readonly input?: Readonly<Record<string, unknown>> }
  | ({
      readonly name: string;
      readonly input?: Readonly<Record<string, unknown>>;
      readonly like?: undefined;
    } & Readonly<Record<string, unknown>>);

export interface FunctionContext<Inputs = Readonly<Record<string, unknown>>> {
  /** The step's own input map, rendered. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The workflow's inputs. */
  readonly inputs: Inputs;
  /** Outputs of the steps it refers to, by name. */
  readonly outputs: Readonly<Record<string, unknown>>;
  /** What Apollo asked to improve. */
  readonly feedback: readonly string[];
  /** What people said while the task was under way, oldest first: all of it that came before this attempt. */
  readonly guidance: readonly string[];
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
   * Runs the function once and remembers how it ended: what it returns, and with it what it wished for (nothing returned
   * becomes null), or its failure, which is thrown again with its name, message, code and fields, and no class of its own.
   *
   * Errors: what the function throws; STEP_FAILED when the name is used twice in one attempt.
   */
  step<T>(name: string, run: (substep: SubstepContext) => T | Promise<T>): Promise<T>;
  /**
   * The task's shared key-value state. Changes are seen here at once, and count for others when the step completes, as one
   * with its completion: an attempt that fails or dies leaves none, and the next one makes them anew.
   */
  readonly channel: {
    get(key: string): unknown;
    set(key: string, value: unknown): void;
    append(key: string, value: unknown): void;
    add(key: string, amount: number): void;
  };
  /** A checkpoint when the step completes, with this metadata. */
  checkpoint(metadata?: Readonly<Record<string, unknown>>): void;
  /**
   * When the step completes, adds a step to the group that it stands in (`steps`, `parallel`, the specialists of a phase);
   * it starts then. All its texts are taken as they are, without templates. A name that is there already is not added again.
   * At most 1,000 in a group.
   *
   * Errors: STEP_FAILED, naming what is wrong with it.
   */
  spawn(step: SpawnedStep): void;
  /** When the step completes it runs again, with the next visit. */
  nextIteration(): void;
  /**
   * A durable state to go on from after a crash or a retry: the next attempt finds it in `resumed`, and changes of the
   * channel made before it are kept with it, so it must not make them again.
   */
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
  /** Sub-steps of earlier attempts that this one has not asked for. */
  readonly leftOut: readonly string[];
}

export function openFunctionContext(work: StepWork, sink: StepSink, signal: AbortSignal): OpenFunctionContext {
  const calls = new ContextCalls(work, sink, signal);
  return new OpenedContext(new AttemptContext(calls, work), calls);
}

/** A class, as an object literal with getters takes ten times the memory, and there is one for every attempt under way. */
class OpenedContext implements OpenFunctionContext {
  constructor(
    readonly context: FunctionContext,
    private readonly calls: ContextCalls,
  ) {}

  close(): void {
    this.calls.close();
  }

  get endOfRun(): unknown {
    return this.calls.endOfRun;
  }

  get leftOut(): readonly string[] {
    return this.calls.leftOut;
  }
}

/** What the function sees; its calls are fields, so that a function may take them out of it. */
class AttemptContext implements FunctionContext {
  readonly input: FunctionContext["input"];
  readonly feedback: FunctionContext["feedback"];
  readonly guidance: FunctionContext["guidance"];
  readonly uncertainties: FunctionContext["uncertainties"];
  readonly task: FunctionContext["task"];
  readonly phase: FunctionContext["phase"];
  readonly path: string;
  readonly visit: number;
  readonly attempt: number;
  readonly resumed: FunctionContext["resumed"];
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly channel: FunctionContext["channel"];
  readonly step: FunctionContext["step"];
  readonly checkpoint: FunctionContext["checkpoint"];
  readonly nextIteration: FunctionContext["nextIteration"];
  readonly spawn: FunctionContext["spawn"];
  readonly milestone: FunctionContext["milestone"];
  readonly progress: FunctionContext["progress"];
  readonly #work: StepWork;
  #inputs: Record<string, unknown> | undefined;
  #outputs: Record<string, unknown> | undefined;

  constructor(calls: ContextCalls, work: StepWork) {
    const { path, visit, attempt, idempotencyKey } = work.step;
    this.#work = work;
    this.input = decodeObject(work.input);
    this.feedback = work.feedback;
    this.guidance = work.guidanceNow();
    this.uncertainties = work.uncertainties.map(decodeValue);
    this.task = work.task;
    this.phase = work.phase;
    this.path = path;
    this.visit = visit;
    this.attempt = attempt;
    this.resumed = work.milestone && { name: work.milestone.name, state: decodeValue(work.milestone.state) };
    this.idempotencyKey = idempotencyKey;
    this.signal = calls.signal;
    this.channel = calls.channel;
    this.step = (name, run) => calls.step(name, run);
    this.checkpoint = (metadata = {}) => calls.checkpoint(metadata);
    this.nextIteration = () => calls.guard(() => calls.wishes.requestNextIteration());
    this.spawn = (step) => calls.spawn(step);
    this.milestone = (name, state = null) => calls.durable(() => calls.sink.milestone(name, encodeValue(state)));
    this.progress = (report) => calls.guard(() => calls.sink.progress(report));
  }

  // Copies of what may be large, as a list of ten thousand items for each of them: made for those that look.
  get inputs(): FunctionContext["inputs"] {
    return (this.#inputs ??= decodeObject(this.#work.inputs));
  }

  get outputs(): FunctionContext["outputs"] {
    return (this.#outputs ??= decodeObject(this.#work.outputs));
  }
}

interface WithinSubstep {
  readonly calls: ContextCalls;
  readonly sink: EffectsSink;
}

/** One for all attempts: the platform asks every one there ever was, at every promise. */
const withinSubstep = new AsyncLocalStorage<WithinSubstep>();

class ContextCalls {
  endOfRun: unknown;
  #isClosed = false;
  readonly #used = new Set<string>();

  constructor(
    private readonly work: StepWork,
    readonly sink: StepSink,
    readonly signal: AbortSignal,
  ) {}

  readonly channel: FunctionContext["channel"] = {
    get: (key) => this.guard(() => decodeOptional(this.wishes.channel.get(key))),
    set: (key, value) => this.guard(() => this.wishes.channel.set(key, encodeValue(value))),
    append: (key, value) => this.guard(() => this.wishes.channel.append(key, encodeValue(value))),
    add: (key, amount) => this.guard(() => this.wishes.channel.add(key, requireFinite(key, amount))),
  };

  /** Of the sub-step whose function calls, else of the step. */
  get wishes(): EffectsSink {
    const within = withinSubstep.getStore();
    return within?.calls === this ? within.sink : this.sink;
  }

  close(): void {
    this.#isClosed = true;
  }

  async step<T>(name: string, run: (substep: SubstepContext) => T | Promise<T>): Promise<T> {
    this.#takeName(name);
    const { wishes } = this;
    const known = this.work.substeps.get(name);
    if (known?.failure !== undefined) throw restoreFailure(known.failure);
    if (known !== undefined) {
      wishes.recallSubstep(name);
      return decodeValue(known.value ?? null) as T;
    }
    const substep = await this.durable(() => wishes.openSubstep(name));
    const idempotencyKey = `${this.work.step.idempotencyKey}/${name}`;
    try {
      const within = { calls: this, sink: substep };
      const returned = await withinSubstep.run(within, () => run({ idempotencyKey, signal: this.signal }));
      const value = encodeValue(returned ?? null);
      await this.durable(() => substep.complete(value));
      return decodeValue(value) as T;
    } catch (error) {
      throw await this.#rememberFailure(substep, error);
    }
  }

  /** What the function is to see of it; the end of an attempt is no failure of what ran in it. */
  async #rememberFailure(substep: SubstepSink, error: unknown): Promise<unknown> {
    if (this.#isClosed || this.signal.aborted || isEndOfRun(error)) return error;
    const failure = describeFailure(error);
    await this.durable(() => substep.fail(failure));
    return restoreFailure(failure);
  }

  /** What was asked for inside another sub-step is not asked for again where that one is remembered. */
  get leftOut(): readonly string[] {
    const { substeps } = this.work;
    const isAskedFor = (name: string): boolean => {
      const within = substeps.get(name)?.within;
      return this.#used.has(name) || (within !== undefined && isAskedFor(within));
    };
    return [...substeps.keys()].filter((name) => !isAskedFor(name));
  }

  checkpoint(metadata: Readonly<Record<string, unknown>>): void {
    const value = encodeValue(metadata);
    if (!isJsonObject(value))
      throw new SplashdownError("VALUE_UNSUPPORTED", "the metadata of a checkpoint must be an object");
    this.guard(() => this.wishes.requestCheckpoint(value));
  }

  spawn(step: SpawnedStep): void {
    const added = requireAddedStep(encodeValue(step), "ctx.spawn(…)");
    this.guard(() => this.wishes.addStep(added));
  }

  guard<T>(call: () => T): T {
    if (this.#isClosed || this.signal.aborted) {
      throw new SplashdownError("CANCELLED", `step ${this.work.step.path} is over: its context takes nothing more`);
    }
    return call();
  }

  async durable<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await this.guard(call);
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

function requireFinite(key: string, amount: number): number {
  if (Number.isFinite(amount)) return amount;
  const text = `ctx.channel.add(${JSON.stringify(key)}, …) takes a number, not ${String(amount)}`;
  throw new SplashdownError("VALUE_UNSUPPORTED", text);
}

function decodeObject(value: JsonObject): Record<string, unknown> {
  return decodeValue(value) as Record<string, unknown>;
}

function decodeOptional(value: JsonValue | undefined): unknown {
  return value === undefined ? undefined : decodeValue(value);
}
