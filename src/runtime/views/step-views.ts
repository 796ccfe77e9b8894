/** Views of one step: its input, its attempts, its output. Wire shapes: see contract.ts. */
import type { JsonValue } from "../../base/json.js";
import type { FailureView } from "./task-views.js";

/** Model calls with their tokens; `cost_usd` is null where the price is unknown. */
export interface UsageView {
  readonly calls: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cost_usd: number | null;
}

/** One intent of the step and what became of it. */
export interface AttemptView {
  readonly attempt: number;
  readonly started_at: string;
  readonly ended_at?: string;
  /** Seconds. */
  readonly duration?: number;
  /** open, completed, failed, cancelled, crashed (its owner died). */
  readonly status: string;
  readonly error?: FailureView;
  /** The end of the program's stderr. */
  readonly stderr?: string;
  /** What followed: a retry, the way a failure was handled, or why the attempt was cancelled. */
  readonly then?: string;
}

export interface TurnView {
  readonly turn: number;
  readonly at: string;
  /** The model's answer: its words, its tool calls, its self-report. */
  readonly answer: JsonValue;
  readonly usage?: UsageView;
  /** The model that answered in the place of the one that was asked. */
  readonly answered_by?: string;
}

export interface CallView {
  readonly call: string;
  readonly name: string;
  readonly at: string;
  /** Seconds; absent where nothing came back. */
  readonly duration?: number;
  readonly effects: string;
  readonly input: JsonValue;
  readonly output?: JsonValue;
}

export interface SubstepView {
  readonly name: string;
  readonly at: string;
  readonly duration?: number;
  readonly status: "open" | "completed" | "failed";
  readonly output?: JsonValue;
  readonly error?: string;
}

export interface StepDetailView {
  readonly task: string;
  readonly step: string;
  readonly path: string;
  readonly kind: string;
  readonly status: string;
  readonly phase: number;
  readonly effects: string;
  readonly idempotency_key: string;
  readonly started_at: string;
  readonly ended_at?: string;
  /** Seconds. */
  readonly duration?: number;
  /** Why it is skipped. */
  readonly reason?: string;
  readonly confidence?: number;
  /** Everything the step was given, rendered: the command or the prompt, its input. */
  readonly work: JsonValue;
  readonly attempts: readonly AttemptView[];
  readonly turns: readonly TurnView[];
  readonly calls: readonly CallView[];
  readonly substeps: readonly SubstepView[];
  /** Progress and milestones that the step reported. */
  readonly said: readonly { readonly at: string; readonly text: string }[];
  readonly output?: JsonValue;
  readonly usage?: UsageView;
  /** Why it failed, where it stands so. */
  readonly error?: FailureView;
  readonly files: readonly { readonly file: string; readonly size: number; readonly sha256: string }[];
  /** Identities of the other visits of the same place, in their order. */
  readonly visits: readonly string[];
  /** The first record of the journal that is left, where the step may have told more before it. */
  readonly history_from?: number;
}
