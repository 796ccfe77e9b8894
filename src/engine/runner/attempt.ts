/**
 * One attempt of one step while it runs in this process: its signal, its time limits and the sink it reports through.
 *
 * X1: once an attempt is closed, whatever it reports is refused. X2: what a sink method promises is durable, and the
 * epoch was looked at, when the promise resolves.
 */
import type { Clock } from "../../base/clock.js";
import { SplashdownError } from "../../base/errors.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { StepDefinition } from "../../definition/workflow.js";
import type { ProcessRef, Usage } from "../events.js";
import type { EngineInput } from "../input.js";
import type { StepSink } from "../ports.js";
import type { StepEntry } from "../state.js";
import type { LargeValues } from "./values.js";

export type CloseReason = "finished" | "cancelled" | "timeout" | "idle" | "leaving";

export interface AttemptDeps {
  readonly clock: Clock;
  readonly values: LargeValues;
  readonly clean: (value: JsonValue) => JsonValue;
  readonly channel: ReadonlyMap<string, JsonValue>;
  /** Decides, folds and makes durable; resolves after the look for a higher epoch. */
  readonly submit: (input: EngineInput) => Promise<void>;
  /** Same without waiting: failures end the run elsewhere. */
  readonly post: (input: EngineInput) => void;
}

export class Attempt {
  readonly step: StepEntry;
  readonly startedAtMs: number;
  checkpointMetadata: JsonObject | undefined;
  again = false;
  settled: Promise<void> = Promise.resolve();
  readonly #deps: AttemptDeps;
  readonly #controller = new AbortController();
  readonly #definition: StepDefinition;
  #closed: CloseReason | undefined;
  #cancelTimeout: (() => void) | undefined;
  #cancelIdle: (() => void) | undefined;

  constructor(step: StepEntry, definition: StepDefinition, deps: AttemptDeps) {
    this.step = step;
    this.#definition = definition;
    this.#deps = deps;
    this.startedAtMs = deps.clock.monotonicMs();
    if (definition.timeoutMs !== undefined) {
      this.#cancelTimeout = deps.clock.schedule(definition.timeoutMs, () => this.close("timeout"));
    }
    this.#touch();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get closed(): CloseReason | undefined {
    return this.#closed;
  }

  get durationMs(): number {
    return Math.max(0, Math.round(this.#deps.clock.monotonicMs() - this.startedAtMs));
  }

  /** Ends the attempt; its children are told through the signal. The first reason stays. */
  close(reason: CloseReason): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    this.#cancelTimeout?.();
    this.#cancelIdle?.();
    if (reason !== "finished") {
      this.#controller.abort(new SplashdownError("CANCELLED", `step ${this.step.path} was ended: ${reason}`));
    }
  }

  readonly sink: StepSink = {
    spawned: (process: ProcessRef) => this.#report({ kind: "spawned", process }),
    progress: (report) => {
      if (this.#closed !== undefined) return;
      this.#touch();
      const clean = this.#deps.clean(JSON.parse(JSON.stringify(report)) as JsonObject) as JsonObject;
      this.#deps.post({ kind: "progress", ...this.#identity(), report: clean });
    },
    milestone: async (name, state) => {
      this.#requireOpen();
      await this.#report({ kind: "milestone", name, state: await this.#store(state) });
    },
    substepIntended: (name) => this.#report({ kind: "substep_intended", name }),
    substepCompleted: async (name, value) => {
      this.#requireOpen();
      await this.#report({ kind: "substep_completed", name, value: await this.#store(value) });
    },
    turn: async (value, usage?: Usage) => {
      this.#requireOpen();
      await this.#report({ kind: "turn", value: await this.#store(value), usage });
    },
    toolIntended: async (call, name, value) => {
      this.#requireOpen();
      await this.#report({ kind: "tool_intended", call, name, value: await this.#store(value) });
    },
    toolCompleted: async (call, value) => {
      this.#requireOpen();
      await this.#report({ kind: "tool_completed", call, value: await this.#store(value) });
    },
    channel: {
      get: (key) => this.#deps.channel.get(key),
      set: (key, value) => this.#changeChannel("set", key, value),
      append: (key, value) => this.#changeChannel("append", key, value),
      add: (key, amount) => this.#changeChannel("add", key, amount),
    },
    requestCheckpoint: (metadata) => {
      this.checkpointMetadata = { ...this.checkpointMetadata, ...metadata };
    },
    requestNextIteration: () => {
      this.again = true;
    },
  };

  #changeChannel(op: "set" | "append" | "add", key: string, value: JsonValue): void {
    this.#requireOpen();
    this.#deps.post({ kind: "channel", op, key, value: this.#deps.clean(value), step: this.step.id });
  }

  async #store(value: JsonValue) {
    return this.#deps.values.store(this.#deps.clean(value));
  }

  #report(body: AttemptReport): Promise<void> {
    this.#requireOpen();
    this.#touch();
    return this.#deps.submit({ ...body, ...this.#identity() } as EngineInput);
  }

  #identity() {
    return { step: this.step.id, attempt: this.step.attempt };
  }

  #requireOpen(): void {
    if (this.#closed !== undefined) {
      throw new SplashdownError(
        "CANCELLED",
        `step ${this.step.path} attempt ${this.step.attempt} is closed: ${this.#closed}`,
      );
    }
  }

  /** Content came: the limit on silence starts again. */
  #touch(): void {
    const { idleTimeoutMs } = this.#definition;
    if (idleTimeoutMs === undefined) return;
    this.#cancelIdle?.();
    this.#cancelIdle = this.#deps.clock.schedule(idleTimeoutMs, () => this.close("idle"));
  }
}

type ReportKind =
  "spawned" | "milestone" | "substep_intended" | "substep_completed" | "turn" | "tool_intended" | "tool_completed";
type WithoutIdentity<T> = T extends unknown ? Omit<T, "step" | "attempt"> : never;
type AttemptReport = WithoutIdentity<Extract<EngineInput, { kind: ReportKind }>>;
