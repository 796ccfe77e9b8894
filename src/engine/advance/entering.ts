/** Entering a scope: with which items, or which inputs. */
import type { ScopeDefinition } from "../../definition/workflow.js";
import type { Choice } from "../choice.js";
import type { EventOf } from "../events/events.js";
import { chooseItems } from "../views/chosen-items.js";
import { findScopeDefinition, ownPhaseNumber } from "../lookup.js";
import { chooseInputs } from "./nested-inputs.js";
import type { ScopeEntry } from "../state/state.js";

type Entering = EventOf<"scope_entered">;

/** Enters a scope once more. */
export function enterScope(choice: Choice, path: string): Entering {
  const { state, nowMs } = choice;
  const phase = ownPhaseNumber(state, path);
  const visit = (state.visits.get(path) ?? 0) + 1;
  return {
    type: "scope_entered",
    atMs: nowMs,
    path,
    visit,
    ...(phase === undefined ? {} : { phase }),
    ...contentsOf(choice, path, findScopeDefinition(state, path)),
  };
}

/** Chooses again what an open scope could not be entered with. */
export function reenterScope(choice: Choice, { path, visit }: ScopeEntry): Entering {
  const node = findScopeDefinition(choice.state, path);
  return { type: "scope_entered", atMs: choice.nowMs, path, visit, ...contentsOf(choice, path, node) };
}

function contentsOf(
  choice: Choice,
  path: string,
  node: ScopeDefinition,
): Pick<Entering, "items" | "count" | "keys" | "inputs" | "error"> {
  if (node.scope === "for_each") return chooseItems(choice, path, node);
  return node.scope === "workflow" ? chooseInputs(choice, path, node) : {};
}
