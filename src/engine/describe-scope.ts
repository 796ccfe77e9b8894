/**
 * What templates of a node see, by root name; each is put together only when a template names it.
 *
 *   workflow.input.* · workflow.dir, .file, .name · context.iteration, .history · channel.* · secrets.NAME (kept as a
 *   placeholder, filled at the moment of use) · phase.name, .number, .iteration, .confidence · feedback · outputs (of the
 *   phase) · <step>.output… · <group>.outputs, .errors
 * A name is looked for among the siblings first, then outwards, then anywhere in the workflow in definition order.
 */
import type { JsonObject, JsonValue } from "../base/json.js";
import type { TemplateScope } from "../definition/templates.js";
import type { StepDefinition } from "../definition/workflow.js";
import { computePhaseConfidence } from "./confidence.js";
import { currentStep } from "./open-phase.js";
import { loadValue, type Choice } from "./choice.js";
import { createContextView, requireReferences } from "./context-view.js";
import { parentPathOf } from "./identity.js";
import { childPath, findPhase, findPlace, indexDefinition, requireTask, type PlacedPhase } from "./lookup.js";

/**
 * The names visible at `path`.
 *
 * Shape: `extra` comes first: `output` in routes, `uncertainties` of a specialist that was added.
 * Units: confidences 0..1.
 */
export function describeScope(choice: Choice, path: string, extra: JsonObject = {}): TemplateScope {
  return (name) => {
    if (Object.hasOwn(extra, name)) return extra[name];
    return describeKnown(choice, path, name) ?? describeNode(choice, findNamed(choice, path, name));
  };
}

/** What a step itself sees, and why something it asked for was hidden. */
export interface StepScope {
  readonly scope: TemplateScope;
  readonly explain: () => string;
  /** Errors: TEMPLATE_FAILED when one of its references is missing. */
  readonly requireReferences: () => void;
}

/** The names a step sees under the rule `context`. */
export function describeStepScope(
  choice: Choice,
  { path, node }: { readonly path: string; readonly node: StepDefinition },
  extra: JsonObject,
): StepScope {
  const view = createContextView(choice, path, node);
  const whole = describeScope(choice, path, extra);
  if (view === undefined) return { scope: whole, explain: () => "", requireReferences: () => undefined };
  const see = (name: string): JsonValue | undefined => {
    if (Object.hasOwn(extra, name)) return extra[name];
    const known = describeKnown(choice, path, name);
    if (known !== undefined) return view.limit(name, known);
    const at = findNamed(choice, path, name);
    const value = describeNode(choice, at);
    return value === undefined ? undefined : view.limit(name, value, at);
  };
  return {
    scope: see,
    explain: view.explain,
    requireReferences: () => (view.isExplicit ? requireReferences(node, see) : undefined),
  };
}

function describeKnown(choice: Choice, path: string, name: string): JsonValue | undefined {
  const { state } = choice;
  const task = requireTask(state);
  switch (name) {
    case "workflow":
      return { input: task.inputs, dir: task.folder, file: task.definitionFile ?? null, name: task.definition.name };
    case "context":
      return { iteration: state.totals.steps, history: describeHistory(choice) };
    case "channel":
      return Object.fromEntries(state.channel);
    case "secrets":
      return describeSecrets(choice, path);
    case "phase":
    case "feedback":
    case "outputs":
      return describePhase(choice, path, name);
    default:
      return undefined;
  }
}

function describeHistory(choice: Choice): readonly string[] {
  const names: string[] = [];
  for (const step of choice.state.steps.values()) if (step.status === "completed") names.push(step.name);
  return names;
}

function describeSecrets(choice: Choice, path: string): JsonObject {
  const node = findPlace(choice.state, path)?.node;
  const names = node?.node === "step" ? node.secrets : [];
  return Object.fromEntries(names.map((name) => [name, `{{ secrets.${name} }}`]));
}

function describePhase(choice: Choice, path: string, name: "phase" | "feedback" | "outputs"): JsonValue | undefined {
  const phase = findPhase(choice.state, path);
  if (phase === undefined) return name === "feedback" ? [] : undefined;
  const entry = choice.state.phases.get(phase.path);
  if (name === "feedback") return entry?.feedback ?? [];
  if (name === "outputs") return outputsOf(choice, phase);
  const confidence = entry?.confidence ?? claimedConfidence(choice, phase) ?? null;
  const { node } = phase;
  return { name: node.name, number: node.number, iteration: entry?.iteration ?? 1, confidence };
}

/** What the specialists claim before anybody has judged: what a scorer of the phase sees. */
function claimedConfidence(choice: Choice, { path, node }: PlacedPhase): number | undefined {
  const reports = node.children.flatMap((child) => {
    const step = currentStep(choice, childPath(path, child.name));
    if (step === undefined || (step.status !== "completed" && step.status !== "failed")) return [];
    const { confidence } = step;
    return {
      name: child.name,
      criticality: child.criticality,
      failed: step.status === "failed",
      uncertainties: confidence?.uncertainties ?? [],
      ...(confidence?.value === undefined ? {} : { confidence: confidence.value }),
    };
  });
  return computePhaseConfidence(reports).value;
}

function outputsOf(choice: Choice, phase: PlacedPhase): JsonObject {
  const outputs: Record<string, JsonValue> = {};
  for (const name of specialistNames(choice, phase)) {
    const output = choice.state.outputs.get(childPath(phase.path, name));
    if (output !== undefined) outputs[name] = loadValue(choice, output.value);
  }
  return outputs;
}

/** The specialists of a phase, those that were added included. */
export function specialistNames(choice: Choice, { path, node }: PlacedPhase): readonly string[] {
  const added = choice.state.phases.get(path)?.added ?? [];
  return [...node.children.map((child) => child.name), ...added];
}

function findNamed(choice: Choice, path: string, name: string): string | undefined {
  for (let scope = parentPathOf(path); scope !== undefined; scope = parentPathOf(scope)) {
    const candidate = childPath(scope, name);
    if (findPlace(choice.state, candidate) !== undefined) return candidate;
  }
  const { byName } = indexDefinition(requireTask(choice.state).definition);
  const paths = byName.get(name) ?? [];
  return paths.find((candidate) => choice.state.outputs.has(candidate)) ?? paths[0];
}

function describeNode(choice: Choice, path: string | undefined): JsonValue | undefined {
  if (path === undefined) return undefined;
  const node = findPlace(choice.state, path)?.node;
  const output = choice.state.outputs.get(path);
  if (output === undefined)
    return node?.node === "scope" && node.scope === "phase"
      ? { outputs: outputsOf(choice, { path, node }), errors: {} }
      : undefined;
  const value = loadValue(choice, output.value);
  return node?.node === "scope" && node.scope !== "machine" ? value : { output: value };
}
