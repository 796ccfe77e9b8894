/** One open scope as the rules of `advance` see it: where it stands, what it is, and how much may start. */
import type { ScopeDefinition } from "../../../definition/model/workflow.js";
import type { ScopeEntry } from "../../model/state.js";

/** How much may start in one choice; shared by the rules of one `decide`. */
export interface StartBudget {
  /** Steps and scopes, by path of the nested workflow that they count for, empty for the task's own. */
  readonly planned: Map<string, number>;
  /** Of these, steps that call a model. */
  calls: number;
  isExhausted: boolean;
}

export interface OpenScope<N extends ScopeDefinition = ScopeDefinition> {
  readonly scope: ScopeEntry;
  readonly node: N;
  readonly budget: StartBudget;
}
