/** One open scope as the rules of `advance` see it: where it stands, what it is, and how much may start. */
import type { ScopeDefinition } from "../../definition/workflow.js";
import type { StartBudget } from "./start.js";
import type { ScopeEntry } from "../state/state.js";

export interface OpenScope<N extends ScopeDefinition = ScopeDefinition> {
  readonly scope: ScopeEntry;
  readonly node: N;
  readonly budget: StartBudget;
}
