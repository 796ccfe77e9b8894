/**
 * Which child of a machine comes next.
 *
 * Routes are tried in order, the first match wins, no `when` always matches, no routes at all means `$end`. Routes of
 * which none matches are an error of the definition: the machine is stuck and the task stops for it.
 * Source: CONDUCTOR-YAML 1.5.
 */
import { errorCodeOf, messageOf } from "../../../base/errors.js";
import type { JsonObject, JsonValue } from "../../../base/json.js";
import type { NodeDefinition } from "../../../definition/model/workflow.js";
import type { RouteDefinition } from "../../../definition/model/values.js";
import type { TemplateScope } from "../../../definition/templates/templates.js";
import { drawFraction, type Choice } from "../../model/choice.js";
import { describeScope } from "../../render/describe-scope.js";
import { findPlace, findScopeDefinition, isGroupNode } from "../../model/lookup.js";
import { describeStored } from "../../model/output-history.js";

export const END = "$end";

export interface ChosenRoute {
  readonly next?: string;
  readonly routeOutput?: JsonObject;
  /** Why there is no target. */
  readonly reason?: string;
}

/** True when the node is a child of a machine, so that something must come next. */
export function isInMachine(choice: Choice, path: string): boolean {
  const parent = findPlace(choice.state, path)?.parent;
  return parent !== undefined && findScopeDefinition(choice.state, parent).scope === "machine";
}

/** The node that ended, and where its instance stands. */
export interface EndedNode {
  readonly path: string;
  readonly node: NodeDefinition;
}

/** The route after a child that ended well. Shape: empty outside machines. */
export function chooseRoute(choice: Choice, { path, node }: EndedNode, output: JsonValue): ChosenRoute {
  if (!isInMachine(choice, path)) return {};
  if (node.routes.length === 0) return { next: END };
  const scope = describeScope(choice, path, {
    output,
    [node.name]: namedOutput(node, output),
    get context() {
      return describeStored(choice.state, path, { isEnding: true });
    },
  });
  try {
    for (const route of node.routes) {
      if (route.when !== undefined && !decideRoute(choice, route.when, scope)) continue;
      return { next: route.to, ...renderOutput(choice, route, scope) };
    }
  } catch (error) {
    if (errorCodeOf(error) !== "TEMPLATE_FAILED") throw error;
    return { reason: messageOf(error) };
  }
  return { reason: `no route of ${node.name} matches` };
}

/** What is drawn by chance here stands in the event as the route that was taken. */
function decideRoute(choice: Choice, when: string, scope: TemplateScope): boolean {
  return choice.context.templates.evaluateCondition(when, scope, { random: () => drawFraction(choice) });
}

function namedOutput(node: NodeDefinition, output: JsonValue): JsonValue {
  return isGroupNode(node) ? output : { output };
}

/** Rendered wherever the route leads, so that a fault in it is told; it counts where the workflow ends with it. */
function renderOutput(choice: Choice, route: RouteDefinition, scope: TemplateScope): { routeOutput?: JsonObject } {
  if (route.output === undefined) return {};
  const routeOutput = choice.context.templates.renderValue(route.output, scope) as JsonObject;
  return route.to === END ? { routeOutput } : {};
}

/** Where `on_failure: continue` goes on: the first route that can be followed without the output. */
export function chooseRouteWithout(choice: Choice, { path, node }: EndedNode): string | undefined {
  if (node.routes.length === 0) return END;
  for (const route of node.routes) {
    if (route.when === undefined) return route.to;
    try {
      if (decideRoute(choice, route.when, describeScope(choice, path, { output: null }))) return route.to;
    } catch (error) {
      if (errorCodeOf(error) !== "TEMPLATE_FAILED") throw error;
    }
  }
  return undefined;
}
