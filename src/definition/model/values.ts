/** The values that steps and scopes are described with, in their normalised form. Source: DESIGN sections 3 and 4. */
import type { JsonValue } from "../../base/json.js";

/** Jinja text; a value that is one whole `{{ expression }}` keeps its type. */
export type Template = string;
/** A JSON value in which every string is a template. */
export type TemplateValue = JsonValue;
/** A condition: Jinja with braces, or a plain expression. */
export type Condition = string;

export type InputType = "string" | "number" | "boolean" | "array" | "object";
export interface InputDefinition {
  readonly type: InputType;
  readonly required: boolean;
  readonly default?: JsonValue;
  readonly description?: string;
}

export type Effects = "none" | "idempotent" | "external";
export type OnUnknown = "ask" | "rerun" | "skip" | "fail";
export type Criticality = "critical" | "high" | "standard" | "low";
export type FailureMode = "fail_fast" | "continue_on_error" | "all_or_nothing";
export type OnFailure = "pause" | "continue" | "rollback";

export interface RetryPolicy {
  /** Attempts in all, first included; 1 means no retry. */
  readonly maxAttempts: number;
  readonly backoff: "fixed" | "exponential";
  readonly delayMs: number;
  readonly delayMsMax: number;
  /** 0..1 of the delay, drawn from the random source. */
  readonly jitter: number;
  /** Failures that are tried again; absent: all that another attempt could mend. Source: CONDUCTOR-YAML 1.4. */
  readonly on?: readonly RetryCause[];
}

export type RetryCause = "provider_error" | "timeout";

/** First match wins; no `when` always matches. `to` is a sibling's name or `$end`. */
export interface RouteDefinition {
  readonly to: string;
  readonly when?: Condition;
  readonly output?: Readonly<Record<string, Template>>;
}

/** How what a node depends on has ended; `skipped` for a condition, an answer or a person. */
export type Ending = "done" | "skipped" | "failed";

/** What a node depends on, by name: the ends after which it runs; without an entry only after `done`. */
export type StartingEnds = Readonly<Record<string, readonly Ending[]>>;

/** What a step sees of earlier outputs. Stored outputs are never touched by it. Source: CONDUCTOR-YAML 1.2. */
export interface ContextRule {
  /** accumulate: every output; last_only: the newest; explicit: what the step's `input` names. */
  readonly mode: "accumulate" | "last_only" | "explicit";
  /** Units: tokens, estimated as four characters each. */
  readonly tokensMax?: number;
  /** What gives way when the visible outputs are larger than that. */
  readonly trim: "summarize" | "truncate" | "drop_oldest";
}

/** One entry of an `input` list: `agent.output.field?`, `group.outputs.member`, `workflow.input.name`. */
export interface StepReference {
  /** Name of a step or group; `workflow` for an input. */
  readonly root: string;
  /** As templates read it: `["output", "field"]`, `["outputs", "member"]`, `["input", "name"]`. */
  readonly path: readonly string[];
  /** Nothing is wrong when it is not there. */
  readonly isOptional: boolean;
}
