/**
 * Warns of a gate none of whose answers changes anything: what follows runs whatever a person says.
 *
 * An answer changes something where an option has a route, or where a condition, a template or a list of references names
 * the gate. What a program makes of the answer by itself, nobody can see: `input` that names the gate says so.
 */
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { type FaultPath, valueAt } from "../faults/fault.js";
import type { GateStep } from "../model/step.js";
import type { NodeDefinition, ScopeDefinition } from "../model/workflow.js";
import type { CheckContext } from "./order-check.js";

/** Checks every gate below a scope; gates of a machine have routes. */
export function checkGates(scope: ScopeDefinition, raw: JsonValue, context: CheckContext): void {
  if (scope.scope === "workflow") return;
  const children: readonly NodeDefinition[] = scope.children;
  children.forEach((child, index) => {
    if (child.node === "scope") {
      const isFollowed = scope.scope === "phases" && index < children.length - 1;
      checkGates(child, raw, context);
      if (isFollowed && child.scope === "phase")
        for (const gate of child.children)
          warnOfGate(gate, `phase ${children[index + 1]?.name ?? ""}`, { raw, context });
    } else if (scope.scope === "dag" || scope.scope === "phase") {
      const follower = children.find(({ dependsOn }) => dependsOn.includes(child.name));
      if (follower !== undefined) warnOfGate(child, follower.name, { raw, context });
    }
  });
}

interface Written {
  readonly raw: JsonValue;
  readonly context: CheckContext;
}

const warned = new WeakSet<GateStep>();

function warnOfGate(node: NodeDefinition, follower: string, { raw, context }: Written): void {
  if (node.node !== "step" || node.kind !== "human_gate" || node.options.length < 2 || warned.has(node)) return;
  const at = context.places.get(node);
  if (at === undefined || node.options.some(({ route }) => route !== undefined) || isNamed(raw, node.name, at)) return;
  warned.add(node);
  const other = node.options.at(-1)?.value ?? "";
  context.faults.warn({
    code: "order",
    path: [...at, "options"],
    message: `no answer of ${node.name} changes anything: ${follower} runs after every one`,
    suggestion: `write {value: ${other}, route: $end}, or when: ${node.name}.output.selected != '${other}' in ${follower}`,
    atKey: true,
  });
}

/** Keys whose texts are expressions without braces. */
const BARE_KEYS = new Set(["when", "for_each", "source", "input"]);

/** True where `name` stands in the text by itself, not within another word and not as a key of something else. */
function hasWord(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1))
    if (!/[\w.]/.test(text.charAt(at - 1)) && !/\w/.test(text.charAt(at + name.length))) return true;
  return false;
}

/** True where a text outside of the gate itself names it. */
function isNamed(raw: JsonValue, name: string, at: FaultPath): boolean {
  const own = valueAt(raw, at);
  const isIn = (value: JsonValue | undefined, key: string): boolean => {
    if (typeof value === "string") return (BARE_KEYS.has(key) || /\{[{%]/.test(value)) && hasWord(value, name);
    if (typeof value !== "object" || value === null || value === own) return false;
    if (Array.isArray(value)) return value.some((item: JsonValue) => isIn(item, key));
    return isJsonObject(value) && Object.entries(value).some(([inner, item]) => isIn(item, inner));
  };
  return isIn(raw, "");
}
