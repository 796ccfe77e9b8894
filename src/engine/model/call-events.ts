/** What a step tells of the tools and sub-steps that it calls: each is intended before it is done, and ends by itself. */
import type { StepId } from "../../base/ids.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { Effects } from "../../definition/model/values.js";
import type { ValueRef } from "./value-ref.js";
import type { DeferredEffects } from "./deferred-effects.js";

/** How a sub-step of a function failed: enough to throw it again as it was. */
export interface SubstepFailure {
  /** Of the error; empty where something else was thrown. */
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  /** Fields of the error's own. */
  readonly fields?: JsonObject;
  /** What was thrown, where that was no error. */
  readonly thrown?: JsonValue;
}

export type CallEvent =
  | {
      readonly type: "tool_intended";
      readonly step: StepId;
      readonly attempt: number;
      readonly call: string;
      readonly name: string;
      /** Which tool that is, whatever else bears the name later. */
      readonly tool?: string;
      readonly value: ValueRef;
      readonly effects: Effects;
    }
  | {
      readonly type: "tool_completed";
      readonly step: StepId;
      readonly attempt: number;
      readonly call: string;
      readonly value: ValueRef;
    }
  /** `within`: the sub-step whose function asked for it. */
  | {
      readonly type: "substep_intended";
      readonly step: StepId;
      readonly attempt: number;
      readonly name: string;
      readonly within?: string;
    }
  | {
      readonly type: "substep_completed";
      readonly step: StepId;
      readonly attempt: number;
      readonly name: string;
      readonly value: ValueRef;
      readonly wishes?: DeferredEffects;
    }
  | {
      readonly type: "substep_failed";
      readonly step: StepId;
      readonly attempt: number;
      readonly name: string;
      readonly failure: SubstepFailure;
    };
