/** Entering a scope: with which items, or which inputs. */
import type { ScopeDefinition } from "../../../definition/model/workflow.js";
import type { Choice } from "../../model/choice.js";
import type { EventOf } from "../../model/events.js";
import { chooseItems } from "../../render/chosen-items.js";
import { findScopeDefinition, ownPhaseNumber } from "../../model/lookup.js";
import { isFaultOfCondition, judgeNode, type Judged } from "./skipping.js";
import { chooseInputs } from "./nested-inputs.js";
import type { ScopeEntry } from "../../model/state.js";

type Entering = EventOf<"scope_entered">;

/** Enters a scope once more. */
export function enterScope(choice: Choice, path: string, { decision, fault }: Judged = {}): Entering {
  const { state, nowMs } = choice;
  const phase = ownPhaseNumber(state, path);
  const visit = (state.visits.get(path) ?? 0) + 1;
  return {
    type: "scope_entered",
    atMs: nowMs,
    path,
    visit,
    ...(phase === undefined ? {} : { phase }),
    ...(fault === undefined ? contentsOf(choice, path, findScopeDefinition(state, path)) : { error: fault }),
    ...(decision === undefined ? {} : { decision }),
  };
}

/** Chooses again what an open scope could not be entered with: first its condition, where that was at fault. */
export function reenterScope(choice: Choice, { path, visit, data }: ScopeEntry): Entering | EventOf<"node_skipped"> {
  const node = findScopeDefinition(choice.state, path);
  const judged = isFaultOfCondition(data.fault) ? judgeNode(choice, { path, node }) : {};
  if (judged.skipped !== undefined) return judged.skipped;
  const contents = judged.fault === undefined ? contentsOf(choice, path, node) : { error: judged.fault };
  const decision = judged.decision === undefined ? {} : { decision: judged.decision };
  return { type: "scope_entered", atMs: choice.nowMs, path, visit, ...contents, ...decision };
}

function contentsOf(
  choice: Choice,
  path: string,
  node: ScopeDefinition,
): Pick<Entering, "items" | "count" | "keys" | "inputs" | "error"> {
  if (node.scope === "for_each") return chooseItems(choice, path, node);
  return node.scope === "workflow" ? chooseInputs(choice, path, node) : {};
}
