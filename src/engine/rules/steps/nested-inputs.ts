/**
 * The inputs of a nested workflow: mapped by templates of the step, or those of the workflow around it passed on; checked
 * and completed like those of a task.
 *
 * Source: CONDUCTOR-YAML 1.9: what a mapping renders is taken for JSON where it can be.
 */
import { errorCodeOf, messageOf } from "../../../base/errors.js";
import type { JsonObject, JsonValue } from "../../../base/json.js";
import { givenValues, parseInputText, resolveInputs } from "../../../definition/model/inputs.js";
import type { WorkflowScope } from "../../../definition/model/workflow.js";
import type { Choice } from "../../model/choice.js";
import { describeScope, inputsAround } from "../../render/describe-scope.js";
import type { EventOf } from "../../model/events.js";

const EXPECTED: ReadonlySet<string | undefined> = new Set(["TEMPLATE_FAILED", "INPUT_INVALID"]);

/** What a nested workflow is entered with, or why it cannot be. */
export function chooseInputs(
  choice: Choice,
  path: string,
  node: WorkflowScope,
): Pick<EventOf<"scope_entered">, "inputs" | "error"> {
  try {
    const given = node.inputMapping === undefined ? passOn(choice, path, node) : mapInputs(choice, path, node);
    return { inputs: { inline: resolveInputs(node, givenValues(given)) } };
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === undefined || !EXPECTED.has(code)) throw error;
    return { error: { code, message: `${node.name}: ${messageOf(error)}`, retryable: false } };
  }
}

/** Of the inputs around it those that it declares. */
function passOn(choice: Choice, path: string, node: WorkflowScope): JsonObject {
  const outer = inputsAround(choice, path);
  return Object.fromEntries(Object.entries(outer).filter(([name]) => Object.hasOwn(node.inputs, name)));
}

function mapInputs(choice: Choice, path: string, node: WorkflowScope): JsonObject {
  const scope = describeScope(choice, path);
  const { templates } = choice.context;
  const given: Record<string, JsonValue> = {};
  for (const [name, template] of Object.entries(node.inputMapping ?? {})) {
    const value = templates.renderValue(template, scope);
    const isText = typeof value !== "string" || node.inputs[name]?.type === "string";
    given[name] = isText ? value : parseInputText(value);
  }
  return given;
}
