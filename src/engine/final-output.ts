/** What a workflow gives when its root was left: the task's own, or a nested one's. */
import { errorCodeOf, messageOf } from "../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";
import type { TemplateValue } from "../definition/workflow.js";
import { loadValue, type Choice } from "./choice.js";
import { describeScope } from "./describe-scope.js";
import type { ValueRef } from "./events.js";

export interface EndedWorkflow {
  /** Instance path of its root. */
  readonly root: string;
  readonly templates: Readonly<Record<string, TemplateValue>>;
  /** What the route into `$end` says. */
  readonly routeOutput?: JsonObject;
}

/** The workflow's output templates, or what the root gave; a route's `output` into `$end` comes on top. */
export function renderWorkflowOutput(
  choice: Choice,
  { root, templates, routeOutput }: EndedWorkflow,
): { readonly output: ValueRef } | { readonly error: string } {
  const rootOutput = choice.state.outputs.get(root);
  const hasTemplates = Object.keys(templates).length > 0;
  if (!hasTemplates && routeOutput === undefined) return { output: rootOutput?.value ?? { inline: null } };
  try {
    const scope = describeScope(choice, `${root}/$output`);
    const base: JsonValue =
      hasTemplates || rootOutput === undefined
        ? choice.context.templates.renderValue(templates, scope)
        : loadValue(choice, rootOutput.value);
    return { output: { inline: { ...(isJsonObject(base) ? base : {}), ...routeOutput } } };
  } catch (error) {
    if (errorCodeOf(error) !== "TEMPLATE_FAILED") throw error;
    return { error: messageOf(error) };
  }
}
