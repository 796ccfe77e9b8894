/** A goal as the engine runs it: who plans, within which bounds, who agrees to the plan, and who merges the results. */
import type { ModelStep } from "./step.js";

export interface PlanRule {
  /** A person is asked before a plan is followed. */
  readonly approve: boolean;
  /** Between two phases the rest of the plan may be changed. */
  readonly replan: boolean;
  readonly planner: ModelStep;
}

export interface ConsolidationRule {
  /** Specialists under it are named and left out; absent: the minimum of their phase. Units: 0..1. */
  readonly minimum?: number;
  /** Writes one text of the results; absent: they are put side by side. */
  readonly writer?: ModelStep;
}
