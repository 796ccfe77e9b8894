/**
 * The references of an `input` list, and the rule of what steps see.
 *
 *   agent.output[.field…]   agent.field… (short for agent.output.field)   group.outputs[.member[.field…]]
 *   group.errors[.member]   group.count   workflow.input.name            a final `?`: it may be missing
 * Source: CONDUCTOR-YAML 1.2, 1.7.
 */
import { isJsonObject } from "../../base/json.js";
import type { Context, Step } from "../../schema/generated/workflow.js";
import type { NodeSite } from "../kinds/build-context.js";
import { omitUndefined } from "../kinds/step-fields.js";
import type { ContextRule, StepReference } from "../model/values.js";

const PARTS = new Set(["output", "outputs", "errors", "count"]);
const REFERENCE = /^[^.?\s[\]{}]+(\.[^.?\s[\]{}]+)*\??$/;

/** Every default filled in; without `trim_strategy` the oldest outputs go first. */
export function buildContextRule(context: Context | undefined): ContextRule {
  return {
    mode: context?.mode ?? "accumulate",
    ...omitUndefined("tokensMax", context?.max_tokens),
    trim: context?.trim_strategy ?? "drop_oldest",
  };
}

/** Reads one reference; `undefined` when it is none. */
export function parseReference(text: string): StepReference | undefined {
  const trimmed = text.trim();
  if (!REFERENCE.test(trimmed)) return undefined;
  const isOptional = trimmed.endsWith("?");
  const [root = "", ...path] = trimmed.slice(0, isOptional ? -1 : undefined).split(".");
  if (root === "workflow") return path[0] === "input" && path.length === 2 ? { root, path, isOptional } : undefined;
  const [first] = path;
  if (first === undefined) return undefined;
  return { root, path: PARTS.has(first) ? path : ["output", ...path], isOptional };
}

/** The references of a step's list; those that cannot be read are faults. */
export function buildReferences(step: Step, site: NodeSite): readonly StepReference[] | undefined {
  if (!Array.isArray(step.input)) {
    refuseFrom(step, site);
    return undefined;
  }
  return (step.input as readonly string[]).flatMap((text, index) => {
    const reference = parseReference(text);
    if (reference !== undefined) return reference;
    site.context.faults.add({
      code: "wrong_value",
      path: [...site.at, "input", index],
      message: `${JSON.stringify(text)} is no reference`,
      suggestion: suggestReference(text),
    });
    return [];
  });
}

/** `input: {x: {from: a.output}}` stands in older documentation; nothing ever read it. */
function refuseFrom(step: Step, site: NodeSite): void {
  for (const [name, value] of Object.entries(step.input ?? {})) {
    const from = isJsonObject(value) && Object.keys(value).length === 1 ? value["from"] : undefined;
    if (typeof from !== "string") continue;
    site.context.faults.add({
      code: "wrong_value",
      path: [...site.at, "input", name, "from"],
      message: "an input is a template, not a map with from",
      suggestion: `write ${name}: "{{ ${from} }}", or input: [${from}]`,
      atKey: true,
    });
  }
}

function suggestReference(text: string): string {
  const name = text.replace(/[{}?\s]/g, "");
  if (/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(name)) return `write ${name}.output, or workflow.input.${name}`;
  if (text.includes("{{")) return `write ${name}, without braces`;
  return "write STEP.output, STEP.output.field, GROUP.outputs.member or workflow.input.name; a final ? for what may be missing";
}
