/** Builds a step that is another workflow: the loaded file, put where the step stands. */
import type { JsonValue } from "../../base/json.js";
import type { Step } from "../../schema/generated/workflow.js";
import type { NodeSite } from "../kinds/build-context.js";
import type { HooksDefinition } from "../model/hooks.js";
import { findNearest } from "../faults/nearest.js";
import { omitUndefined } from "../kinds/step-fields.js";
import { checkNestedSettings } from "./nested-settings.js";
import type { ScopeFrame } from "./scope-frame.js";
import { nestSource } from "../templates/template-places.js";
import type { LoadedWorkflow } from "../model/loaded-workflow.js";
import type { NodeDefinition, ScopeDefinition, WorkflowScope } from "../model/workflow.js";
import type { OnUnknown, TemplateValue } from "../model/values.js";

/** Errors: none; `undefined` where the file could not be loaded, whose faults are told with it. */
export function buildNested(step: Step, frame: ScopeFrame, site: NodeSite): WorkflowScope | undefined {
  if (step.workflow === undefined) {
    const suggestion = "write workflow: FILE.yaml";
    site.context.faults.add({
      code: "missing_key",
      path: site.at,
      message: `the step ${step.name ?? ""} names no workflow`,
      suggestion,
    });
  }
  const loaded = site.context.nested.get(step.workflow ?? "");
  if (loaded === undefined) return undefined;
  const { definition, file, folder } = loaded;
  checkMapping(step, loaded, site);
  checkNestedSettings(loaded, { at: site.at, faults: site.context.faults, settings: site.context.settings });
  site.context.sources.push(...(definition.sources ?? []).map((source) => nestSource(source, frame.path)));
  return {
    ...frame,
    scope: "workflow",
    workflow: definition.name,
    ...omitUndefined("file", file),
    folder,
    ...omitUndefined("inputMapping", step.input_mapping as Readonly<Record<string, TemplateValue>> | undefined),
    inputs: definition.inputs,
    context: definition.context,
    output: definition.output,
    onFailure: definition.onFailure,
    limits: definition.limits,
    ...omitUndefined("hooks", placeHooks(definition.hooks, frame.path)),
    children: [placeBelow(keepPolicy(definition.root, definition.onUnknown), frame.path) as ScopeDefinition],
  };
}

/** Inputs that the nested workflow does not know, and those that it needs and is not given. */
function checkMapping({ input_mapping: mapping, name = "" }: Step, loaded: LoadedWorkflow, site: NodeSite): void {
  if (mapping === undefined) return;
  const { inputs, name: workflow } = loaded.definition;
  const known = Object.keys(inputs);
  for (const input of Object.keys(mapping)) {
    if (Object.hasOwn(inputs, input)) continue;
    const nearest = findNearest(input, known);
    site.context.faults.add({
      code: "unknown_name",
      path: [...site.at, "input_mapping", input],
      message: `${workflow} has no input ${input}`,
      suggestion: nearest === undefined ? `it has: ${known.join(", ") || "none"}` : `did you mean ${nearest}?`,
      atKey: true,
    });
  }
  const missing = Object.entries(inputs).filter(
    ([input, { required, default: value }]) => required && value === undefined && !Object.hasOwn(mapping, input),
  );
  if (missing.length === 0) return;
  const names = missing.map(([input]) => input).join(", ");
  site.context.faults.add({
    code: "missing_key",
    path: [...site.at, "input_mapping"],
    message: `${name} gives ${workflow} no ${names}`,
    suggestion: `add ${names}`,
    atKey: true,
  });
}

function placeHooks(hooks: HooksDefinition | undefined, above: string): HooksDefinition | undefined {
  if (hooks === undefined) return undefined;
  const placed = Object.entries(hooks).map(([name, hook]) => [
    name,
    "step" in hook ? { step: placeBelow(hook.step, above) } : hook,
  ]);
  return Object.fromEntries(placed) as HooksDefinition;
}

/** The same nodes, each step without a word of its own with what its file says about unknown outcomes. */
function keepPolicy(node: NodeDefinition, onUnknown: OnUnknown | undefined): NodeDefinition {
  if (onUnknown === undefined) return node;
  if (node.node === "step") return { onUnknown, ...node };
  const children = (node.children as readonly NodeDefinition[]).map((child) => keepPolicy(child, onUnknown));
  const spawn = node.scope === "phase" ? node.spawn : undefined;
  return {
    ...node,
    children,
    ...(spawn === undefined ? {} : { spawn: keepPolicy(spawn, onUnknown) }),
  } as unknown as NodeDefinition;
}

/** The same nodes with their paths below another one. */
function placeBelow(node: NodeDefinition, above: string): NodeDefinition {
  const placed = { ...node, path: `${above}/${node.path}` };
  if (placed.node === "step") return placed;
  const children = (placed.children as readonly NodeDefinition[]).map((child) => placeBelow(child, above));
  const parts: Record<string, unknown> = { ...placed, children };
  if (placed.scope === "workflow" && placed.hooks !== undefined) parts["hooks"] = placeHooks(placed.hooks, above);
  if (placed.scope === "phase") {
    const { spawn, evaluate } = placed;
    if (spawn !== undefined) parts["spawn"] = placeBelow(spawn, above);
    if (evaluate !== undefined) {
      parts["evaluate"] = { ...evaluate, scorers: evaluate.scorers.map((scorer) => placeBelow(scorer, above)) };
    }
  }
  return parts as unknown as NodeDefinition;
}

/** Answers of the scripted model of the nested files; those of the outer file come first. */
export function mergeAnswers(
  nested: ReadonlyMap<string, LoadedWorkflow>,
  own: Readonly<Record<string, JsonValue | undefined>> | undefined,
) {
  const inner = [...nested.values()].map(({ definition }) => definition.scriptedAnswers);
  const all = [...inner, own].filter((answers) => answers !== undefined);
  return all.length === 0 ? undefined : Object.assign({}, ...all);
}
