/**
 * What a workflow gives when its root was left: the task's own, or a nested one's.
 *
 * In Conductor's form (agents and routes) the fields of an output are text until the end and are typed then: True, False
 * and None, JSON that begins with `{`, `[` or `"`, numbers; other text stays text. Source: CONDUCTOR-YAML 1.9.
 */
import { errorCodeOf, messageOf } from "../../base/errors.js";
import { parseExactJson } from "../../base/exact-json.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { TemplateValue } from "../../definition/model/values.js";
import { loadValue, type Choice } from "../model/choice.js";
import { describeScope } from "./describe-scope.js";
import type { ValueRef } from "../model/value-ref.js";
import { findPlace } from "../model/lookup.js";

export interface EndedWorkflow {
  /** Instance path of its root. */
  readonly root: string;
  readonly templates: Readonly<Record<string, TemplateValue>>;
  /** What the route into `$end` says. */
  readonly routeOutput?: JsonObject;
}

/** The workflow's output templates, or what its steps gave; a route's `output` into `$end` comes on top. */
export function renderWorkflowOutput(
  choice: Choice,
  { root, templates, routeOutput }: EndedWorkflow,
): { readonly output: ValueRef } | { readonly error: string } {
  const hasTemplates = Object.keys(templates).length > 0;
  if (!hasTemplates && routeOutput === undefined) return { output: plainOutput(choice, root) };
  try {
    const scope = describeScope(choice, `${root}/$output`);
    const base: JsonValue = hasTemplates
      ? typeOutput(choice, root, choice.context.templates.renderValue(templates, scope))
      : loadValue(choice, plainOutput(choice, root));
    const onTop = routeOutput === undefined ? {} : (typeOutput(choice, root, routeOutput) as JsonObject);
    return { output: { inline: { ...(isJsonObject(base) ? base : {}), ...onTop } } };
  } catch (error) {
    if (errorCodeOf(error) !== "TEMPLATE_FAILED") throw error;
    return { error: messageOf(error) };
  }
}

/**
 * What a workflow gives that declares no output: what its steps gave, by name, and of phases those of the last one. What is
 * missing of them is told with the task. Where routes join the steps it is what the last one gave.
 */
function plainOutput(choice: Choice, root: string): ValueRef {
  const given = choice.state.outputs.get(root)?.value ?? { inline: null };
  const node = findPlace(choice.state, root)?.node;
  if (node?.node !== "scope" || node.scope === "machine" || node.scope === "workflow") return given;
  const value = loadValue(choice, given);
  return isJsonObject(value) ? { inline: value["outputs"] ?? value } : given;
}

const WORDS: Readonly<Record<string, JsonValue>> = {
  True: true,
  true: true,
  False: false,
  false: false,
  None: null,
  null: null,
};
/** What Python's `int` reads, and what its `float` reads of texts with a point. */
const INTEGER = /^[+-]?\d+(?:_\d+)*$/;
const FLOAT = /^[+-]?(?:\d+(?:_\d+)*\.(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+)?$/;

function typeOutput(choice: Choice, root: string, output: JsonValue): JsonValue {
  const node = findPlace(choice.state, root)?.node;
  if (node?.node !== "scope" || node.scope !== "machine" || !isJsonObject(output)) return output;
  return typeFields(output);
}

/** The fields of an output, each text as the value that it stands for. */
export function typeFields(output: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(output).map(([name, value]) => [
      name,
      typeof value === "string" ? typeText(value) : (value ?? null),
    ]),
  );
}

/** The value a text stands for; the text itself when it stands for none. */
export function typeText(text: string): JsonValue {
  const trimmed = text.trim();
  const word = Object.hasOwn(WORDS, trimmed) ? WORDS[trimmed] : undefined;
  if (word !== undefined) return word;
  if (INTEGER.test(trimmed) || FLOAT.test(trimmed)) {
    const value = Number(trimmed.replaceAll("_", ""));
    return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)) ? text : value;
  }
  if (!/^[{["]/.test(trimmed)) return text;
  try {
    return parseExactJson(trimmed);
  } catch {
    return text;
  }
}
