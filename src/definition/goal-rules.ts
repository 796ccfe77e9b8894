/** A goal as the engine runs it: who plans, within which bounds, who agrees to the plan, and who merges the results. */
import type { JsonObject } from "../base/json.js";
import type { ModelStep } from "./workflow.js";

export interface PlanRule {
  /** A person is asked before a plan is followed. */
  readonly approve: boolean;
  /** Between two phases the rest of the plan may be changed. */
  readonly replan: boolean;
  readonly planner: ModelStep;
}

/** What a plan is held against. */
export interface PlannerRule {
  readonly phasesMax: number;
  /** Over all phases. */
  readonly specialistsMax: number;
  /** The head of the file, as it is there: what planned specialists share with those of a file. */
  readonly header: JsonObject;
  /** What planned specialists are carried out by. */
  readonly provider: string;
  readonly model?: string;
  /** A model that chooses what follows from a planned phase; absent: rules do. */
  readonly atlas?: JsonObject;
}

export interface ConsolidationRule {
  /** Specialists under it are named and left out; absent: the minimum of their phase. Units: 0..1. */
  readonly minimum?: number;
  /** Writes one text of the results; absent: they are put side by side. */
  readonly writer?: ModelStep;
}
