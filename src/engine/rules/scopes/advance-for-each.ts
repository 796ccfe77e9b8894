/**
 * What may start now in a for_each, and what it gives.
 *
 * A sliding window: an item starts as soon as fewer than `maxConcurrent` run; those that came back (cancelled, or given
 * another chance) first, then the next of the list. Nothing is kept of an item that has not started. Failure modes are
 * those of groups (advance-scopes.ts); an empty list is done at once.
 */
import type { JsonObject, JsonValue } from "../../../base/json.js";
import type { ForEachScope } from "../../../definition/model/workflow.js";
import { endGroup } from "./advance-scopes.js";
import type { Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import { listBlocked } from "./blocked-members.js";
import { itemNameAt, keyAt, type ForEachData } from "../../render/items.js";
import { describeMemberError, outputAt } from "./leaving.js";
import { childPath, currentStep } from "../../model/lookup.js";
import type { OpenScope } from "../steps/open-scope.js";
import { startChild } from "../steps/start.js";
import type { ScopeFrontier } from "../../model/state.js";

export function advanceForEach(choice: Choice, open: OpenScope<ForEachScope>): readonly EngineEvent[] {
  const { scope, budget } = open;
  const data = scope.data as ForEachData;
  const frontier = choice.state.frontier.get(scope.path);
  if (frontier === undefined) return [];
  const held = listBlocked(choice, scope.path).size;
  const isFailing = data.failing || (held > 0 && open.node.failureMode === "fail_fast");
  if (isFailing || (data.next >= data.count && frontier.ready.length === 0))
    return endGroup(choice, open, () => describeItems(choice, open));
  const events: EngineEvent[] = [];
  for (const name of nextItems(choice, open, { frontier, held })) {
    events.push(...startChild(choice, childPath(scope.path, name), budget));
    if (budget.isExhausted) break;
  }
  return events;
}

function nextItems(
  choice: Choice,
  { scope, node }: OpenScope<ForEachScope>,
  { frontier, held }: { readonly frontier: ScopeFrontier; readonly held: number },
): readonly string[] {
  const data = scope.data as ForEachData;
  const room = Math.max(0, node.maxConcurrent - (data.running - held));
  const names = frontier.ready.slice(0, room);
  const last = Math.min(data.count, data.next + room - names.length);
  for (let index = data.next; index < last; index += 1) names.push(itemNameAt(choice, data, { node, index }));
  return names;
}

interface ItemResult {
  readonly key: string;
  readonly state: string;
  readonly output?: JsonValue;
  readonly error?: JsonObject;
}

/**
 * What a for_each gives: outputs in the order of the items, null where there is none; a map of those there are with
 * `key_by`. `states` says of every item what became of it, so that a hole is never silent.
 */
function describeItems(choice: Choice, open: OpenScope<ForEachScope>): JsonObject {
  const { count, keys } = open.scope.data as ForEachData;
  const results = Array.from({ length: count }, (_unused, index) => describeResult(choice, open, index));
  const failed = results.filter(({ error }) => error !== undefined);
  const errors = Object.fromEntries(failed.map(({ key, error }) => [key, error]));
  if (keys === undefined) {
    const outputs = results.map(({ output }) => output ?? null);
    return { type: "for_each", outputs, errors, count, states: results.map(({ state }) => state) };
  }
  const given = results.filter(({ output }) => output !== undefined);
  const outputs = Object.fromEntries(given.map(({ key, output }) => [key, output]));
  const states = Object.fromEntries(results.map(({ key, state }) => [key, state]));
  return { type: "for_each", outputs, errors, count, states };
}

function describeResult(choice: Choice, { scope, node }: OpenScope<ForEachScope>, index: number): ItemResult {
  const data = scope.data as ForEachData;
  const [key, name] = [keyAt(choice, data, index), itemNameAt(choice, data, { node, index })];
  const path = childPath(scope.path, name);
  const end = choice.state.frontier.get(scope.path)?.ended.get(name);
  if (end === "done" || end === "partial" || end === "declined")
    return { key, state: "done", output: outputAt(choice, path) ?? null };
  const step = currentStep(choice, path);
  if (end === undefined) return { key, state: step?.status === "unknown" ? "unknown" : "unreached" };
  if (end === "skipped" || end === "omitted") return { key, state: "skipped" };
  const { agent_name: _name, ...error } = describeMemberError(choice, { path, name, step });
  return { key, state: "failed", error: { item_key: key, ...error } };
}
