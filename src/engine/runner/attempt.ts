/**
 * One attempt of one step while it runs in this process: its signal, its time limits and the sink it reports through.
 *
 * X1: once an attempt is closed, or its step continued without it, whatever it reports is refused with CANCELLED. X2: what
 * a sink method promises is durable, and the epoch was looked at, when the promise resolves; what was not recorded never
 * resolves.
 */
import type { Clock } from "../../base/clock.js";
import { SplashdownError } from "../../base/errors.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { AddedStep } from "../../definition/compile/added-step.js";
import { LIMITS } from "../../base/limits.js";
import type { StepDefinition } from "../../definition/model/step.js";
import type { SubstepFailure } from "../model/call-events.js";
import type { EngineEvent } from "../model/events.js";
import type { ValueRef } from "../model/value-ref.js";
import type { TurnNotes } from "../model/turn-notes.js";
import type { EngineInput, StepReport } from "../model/input.js";
import type { Sanitiser, StepSink, SubstepSink, EffectsSink } from "../model/ports.js";
import type { StepEntry, TaskState } from "../model/state.js";
import type { ChannelChange } from "../model/deferred-effects.js";
import { ProgressThrottle, readProgress, type ProgressReport } from "./progress-throttle.js";
import { findValueFault } from "./value-size.js";
import { EffectsBuffer } from "./effects-buffer.js";

export type CloseReason = "finished" | "cancelled" | "timeout" | "idle" | "leaving";

export interface AttemptDeps {
  readonly clock: Clock;
  readonly sanitiser: Sanitiser;
  readonly state: Pick<TaskState, "channel" | "histories">;
  readonly store: (value: JsonValue) => Promise<ValueRef>;
  /** Decides, folds and makes durable; resolves with what was recorded, after the look for a higher epoch. */
  readonly submit: (input: EngineInput) => Promise<readonly EngineEvent[]>;
  /** Same for those who do not wait: never rejects, failures end the run elsewhere. */
  readonly post: (input: EngineInput) => Promise<void>;
}

/** Longest single timer of the platform; a longer limit is none. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export class Attempt {
  readonly step: StepEntry;
  readonly sink: StepSink;
  readonly #deps: AttemptDeps;
  readonly #controller = new AbortController();
  readonly #startedAtMs: number;
  readonly #progress: ProgressThrottle;
  readonly #wishes: EffectsBuffer;
  #lastSignMs: number;
  #closed: CloseReason | undefined;
  #cancelTimeout: (() => void) | undefined;
  #cancelIdle: (() => void) | undefined;

  constructor(step: StepEntry, definition: StepDefinition, deps: AttemptDeps) {
    this.step = step;
    this.#deps = deps;
    this.#startedAtMs = deps.clock.monotonicMs();
    this.#lastSignMs = this.#startedAtMs;
    this.#progress = new ProgressThrottle(deps.clock, (report) => this.#postProgress(report));
    this.#wishes = new EffectsBuffer(deps.state.channel);
    this.#wishes.merge(step.milestone?.wishes ?? {});
    this.sink = this.#createSink();
    this.#cancelTimeout = this.#closeAfter(definition.timeoutMs, "timeout");
    this.#watchSilence(definition.idleTimeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get closed(): CloseReason | undefined {
    return this.#closed;
  }

  /** What the step wished for on its way, and how long it took, for its outcome. */
  get circumstances() {
    const durationMs = Math.max(0, Math.round(this.#deps.clock.monotonicMs() - this.#startedAtMs));
    return { durationMs, ...wishesOf(this.#wishes) };
  }

  /** Ends the attempt; its children are told through the signal. The first reason stays. */
  close(reason: CloseReason): void {
    if (this.#closed !== undefined) return;
    this.#progress.flush();
    this.#closed = reason;
    this.#cancelTimeout?.();
    this.#cancelIdle?.();
    if (reason === "finished") return;
    this.#controller.abort(new SplashdownError("CANCELLED", `step ${this.step.path} was ended: ${reason}`));
  }

  #createSink(): StepSink {
    return {
      spawned: (process) => this.#record({ type: "step_spawned", process }),
      alive: () => this.#touch(),
      progress: (report) => this.#takeProgress(report),
      milestone: async (name, state) =>
        this.#record({
          type: "milestone_reached",
          name: this.#deps.sanitiser.cleanText(name),
          state: await this.#store(state),
          ...wishesOf(this.#wishes),
        }),
      turn: async (value, usage, notes = {}) =>
        this.#record({
          type: "turn_recorded",
          value: await this.#store(value),
          ...(usage === undefined ? {} : { usage }),
          ...this.#cleanNotes(notes),
        }),
      callBegun: (asked) => {
        if (this.#closed === undefined) this.#post({ type: "call_begun", asked });
      },
      beforeCall: () => this.#ask({ kind: "before_call", ...this.#identity() }),
      wantApproval: async (wish, input) =>
        this.#ask({ kind: "approval_wanted", ...this.#identity(), wish, input: this.#clean(input) }),
      toolIntended: async (call, { input, name, tool, effects }) =>
        this.#record({
          type: "tool_intended",
          call,
          name,
          ...(tool === undefined ? {} : { tool }),
          value: await this.#store(input),
          effects,
        }),
      toolCompleted: async (call, value) =>
        this.#record({ type: "tool_completed", call, value: await this.#store(value) }),
      ...this.#createWishSink(this.#wishes),
    };
  }

  #createWishSink(wishes: EffectsBuffer, within?: string): EffectsSink {
    const change = (op: ChannelChange["op"], key: string, value: JsonValue): void =>
      wishes.change({ op, key: this.#deps.sanitiser.cleanText(key), value: this.#clean(value) });
    return {
      channel: {
        get: (key) => wishes.read(key),
        set: (key, value) => change("set", key, value),
        append: (key, value) => change("append", key, value),
        add: (key, amount) => change("add", key, amount),
      },
      requestCheckpoint: (metadata) => wishes.requestCheckpoint(this.#cleanObject(metadata)),
      requestNextIteration: () => wishes.requestNextIteration(),
      addStep: (step) => wishes.addStep(this.#cleanObject(step as unknown as JsonObject) as unknown as AddedStep),
      openSubstep: (name) => this.#openSubstep(name, wishes, within),
      recallSubstep: (name) =>
        wishes.takeSubstep(name, this.#deps.state.histories.get(this.step.id)?.substeps.get(name)?.wishes),
    };
  }

  async #openSubstep(name: string, outer: EffectsBuffer, within: string | undefined): Promise<SubstepSink> {
    await this.#record({ type: "substep_intended", name, ...(within === undefined ? {} : { within }) });
    const inner = new EffectsBuffer(this.#deps.state.channel, outer);
    const complete = async (value: JsonValue): Promise<void> => {
      const wished = wishesOf(inner);
      await this.#record({ type: "substep_completed", name, value: await this.#store(value), ...wished });
      outer.takeSubstep(name, wished.wishes);
    };
    const fail = (failure: SubstepFailure): Promise<void> =>
      this.#record({ type: "substep_failed", name, failure: this.#cleanFailure(failure) });
    return { ...this.#createWishSink(inner, name), complete, fail };
  }

  #cleanFailure(failure: SubstepFailure): SubstepFailure {
    return this.#clean(failure as unknown as JsonObject) as unknown as SubstepFailure;
  }

  #cleanNotes({ fallback, ...notes }: TurnNotes): TurnNotes {
    if (fallback === undefined) return notes;
    const why = this.#deps.sanitiser.cleanText(fallback.why).slice(0, LIMITS.errorTextBytesMax);
    return { ...notes, fallback: { ...fallback, why } };
  }

  /** What is decided may end the attempt. */
  async #ask(input: EngineInput): Promise<void> {
    this.#requireOpen();
    this.#touch();
    await this.#deps.submit(input);
    this.#requireOpen();
  }

  #takeProgress(report: ProgressReport): void {
    if (this.#closed !== undefined) return;
    this.#touch();
    this.#requireWithinLimits(report);
    this.#progress.take(report);
  }

  #postProgress(report: JsonObject): void {
    const progress = readProgress(this.#deps.sanitiser.clean(report) as JsonObject);
    this.#post({ type: "progress_reported", ...progress });
  }

  /** For those who do not wait. */
  #post(report: AttemptReport): void {
    void this.#deps.post({ kind: "report", report: { ...report, ...this.#identity() } });
  }

  async #record(report: AttemptReport): Promise<void> {
    this.#requireOpen();
    this.#touch();
    this.#progress.flush();
    const recorded = await this.#deps.submit({ kind: "report", report: { ...report, ...this.#identity() } });
    if (recorded.length === 0) throw this.#refusal("its step continued without it");
    if (ALLOWS.has(report.type)) this.#requireOpen();
  }

  async #store(value: JsonValue): Promise<ValueRef> {
    return this.#deps.store(this.#clean(value));
  }

  /** Errors: CANCELLED, VALUE_TOO_LARGE, VALUE_TOO_DEEP. */
  #clean(value: JsonValue): JsonValue {
    this.#requireOpen();
    this.#requireWithinLimits(value);
    return this.#deps.sanitiser.clean(value);
  }

  #requireWithinLimits(value: JsonValue): void {
    const { stepOutputBytesMax: bytesMax, valueDepthMax: depthMax } = LIMITS;
    const fault = findValueFault(value, { bytesMax, depthMax });
    if (fault === undefined) return;
    const details = { path: this.step.path, bytesMax, depthMax };
    throw new SplashdownError(fault, `a value that step ${this.step.path} reports is over the limit`, { details });
  }

  #cleanObject(value: JsonObject): JsonObject {
    return this.#clean(value) as JsonObject;
  }

  #identity() {
    return { step: this.step.id, attempt: this.step.attempt };
  }

  #requireOpen(): void {
    if (this.#closed !== undefined) throw this.#refusal(this.#closed);
  }

  #refusal(why: string): SplashdownError {
    return new SplashdownError("CANCELLED", `step ${this.step.path} attempt ${this.step.attempt} is closed: ${why}`);
  }

  /** Content came: the limit on silence starts again. */
  #touch(): void {
    this.#lastSignMs = this.#deps.clock.monotonicMs();
  }

  /** One timer, however often content comes: it looks back when it fires. */
  #watchSilence(limitMs: number | undefined): void {
    if (limitMs === undefined || limitMs > TIMER_MS_MAX) return;
    const { clock } = this.#deps;
    const leftMs = this.#lastSignMs + limitMs - clock.monotonicMs();
    this.#cancelIdle = clock.schedule(leftMs, () => {
      if (this.#lastSignMs + limitMs > clock.monotonicMs()) this.#watchSilence(limitMs);
      else this.close("idle");
    });
  }

  #closeAfter(limitMs: number | undefined, reason: CloseReason): (() => void) | undefined {
    if (limitMs === undefined || limitMs > TIMER_MS_MAX) return undefined;
    return this.#deps.clock.schedule(limitMs, () => this.close(reason));
  }
}

function wishesOf(list: EffectsBuffer) {
  const wishes = list.list();
  return wishes === undefined ? {} : { wishes };
}

type WithoutIdentity<T> = T extends unknown ? Omit<T, "step" | "attempt"> : never;
type AttemptReport = WithoutIdentity<StepReport>;

/** Reports that permit an act: an attempt that was closed meanwhile must not act on them. */
const ALLOWS: ReadonlySet<StepReport["type"]> = new Set(["step_spawned", "substep_intended", "tool_intended"]);
