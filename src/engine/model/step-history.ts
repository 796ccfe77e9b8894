/** What a step has told on its way, until it completes. */
import type { Effects } from "../../definition/model/values.js";
import type { SubstepFailure } from "./call-events.js";
import type { ValueRef } from "./value-ref.js";
import type { DeferredEffects } from "./deferred-effects.js";

/** A call of a tool; without a result it may or may not have acted. */
export interface ToolEntry {
  readonly name: string;
  /** Which tool that is, whatever else bears the name later. */
  readonly tool?: string;
  readonly value: ValueRef;
  readonly effects: Effects;
  readonly result?: ValueRef;
}

/** A sub-step of a function: open, or with its value, or with how it failed. */
export interface SubstepEntry {
  readonly done: boolean;
  readonly value?: ValueRef;
  readonly wishes?: DeferredEffects;
  readonly failure?: SubstepFailure;
  /** The function began something else after the failure. */
  readonly isHandled?: true;
  /** The sub-step whose function asked for it. */
  readonly within?: string;
}

/** One step's turns, tool calls and sub-steps: containers of their own, so that adding one is cheap. */
export interface StepHistory {
  readonly turns: ValueRef[];
  readonly tools: Map<string, ToolEntry>;
  readonly substeps: Map<string, SubstepEntry>;
}
