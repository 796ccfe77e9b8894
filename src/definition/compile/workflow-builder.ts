/** Builds the normalised definition from a file whose shape has been checked, and checks what a schema cannot. */
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { Limits, WorkflowFile, WorkflowHeader } from "../../schema/generated/workflow.js";
import type { BuildContext, NodeSite } from "../kinds/build-context.js";
import {
  BRIEFING_TOKENS,
  ITERATIONS_OF_ROUTES,
  ITERATIONS_OTHERWISE,
  MAX_CONCURRENT,
  PROVIDER_OF_ROUTES,
  PROVIDER_OTHERWISE,
  ROOT_NAME,
} from "../model/defaults.js";
import type { FaultList } from "../faults/fault.js";
import { buildTools } from "../kinds/tool-builder.js";
import { fingerprintWorkflow } from "../model/fingerprint.js";
import { buildHooks } from "./hook-builder.js";
import { buildConsolidation, buildPlan } from "./goal-builder.js";
import { checkInputDefault } from "../model/inputs.js";
import type { IncludedText } from "../reading/includes.js";
import { listKeysAt } from "../reading/schema-map.js";
import { checkGates } from "../validate/gate-check.js";
import { checkOrder } from "../validate/order-check.js";
import { checkProviders } from "../settings/provider-check.js";
import { buildContextRule } from "./references.js";
import { omitUndefined } from "../kinds/step-fields.js";
import { parseDurationMs } from "../model/duration.js";
import { checkReferences } from "../validate/reference-check.js";
import { buildAll, buildMachine, buildPhases, frameOf } from "./scope-builder.js";
import { mergeAnswers } from "./nested-builder.js";
import type { LoadedWorkflow } from "../model/loaded-workflow.js";
import type { LimitsDefinition, ScopeDefinition, WorkflowDefinition } from "../model/workflow.js";
import type { InputDefinition, OnFailure } from "../model/values.js";
import { findNearest } from "../faults/nearest.js";
import { collectSources } from "../templates/template-places.js";
import { joinPrices } from "./nested-settings.js";
import { collectSettings } from "../settings/workflow-settings.js";

export interface BuildOptions {
  readonly faults: FaultList;
  readonly codeDigests: ReadonlyMap<string, string>;
  readonly scriptedAnswers: JsonObject | undefined;
  /** Texts of the workflow's own files; empty for a program. */
  readonly texts: readonly IncludedText[];
  /** Workflows that its steps name, by the text that names them. */
  readonly nested: ReadonlyMap<string, LoadedWorkflow>;
  /** Of the workflows around it. */
  readonly instructions: readonly string[];
  /** False when the file was mended: what seems unreachable may only be mistyped. */
  readonly isComplete: boolean;
}

/** Builds the definition. Errors: none; faults go to the list, and then the definition must not be used. */
export function buildWorkflow(file: WorkflowFile, options: BuildOptions): WorkflowDefinition {
  const { faults } = options;
  const header = file.workflow;
  const isRouted = file.agents !== undefined;
  const context = createContext(file, options, isRouted);
  checkForm(file, faults);
  checkRuntime(header, isRouted, faults);
  checkProviders(header.runtime, faults);
  const root = buildRoot(file, context);
  const definition: Omit<WorkflowDefinition, "fingerprint"> = {
    schema: 1,
    ...describeHeader(header),
    inputs: { ...buildInputs(header, faults), ...(isRouted ? findUndeclared(file) : {}) },
    context: buildContextRule(header.context),
    root,
    output: (file.output ?? {}) as Readonly<Record<string, JsonValue>>,
    limits: buildLimits(header.limits, isRouted),
    onFailure: onFailureOf(header, faults),
    ...omitUndefined("onUnknown", header.on_unknown),
    ...omitUndefined("hooks", buildHooks(header.hooks, context)),
    atlas: { mode: file.atlas?.mode ?? "rules" },
    ...omitUndefined("scriptedAnswers", mergeAnswers(options.nested, options.scriptedAnswers)),
    settings: joinPrices(context.settings, options.nested, faults),
    ...omitUndefined("sources", collectSources(context.sources)),
  };
  const isComplete = options.isComplete && context.absent.size === 0;
  const checking = { faults, places: context.places, absent: context.absent, isComplete };
  checkOrder(root, checking);
  checkGates(root, file as unknown as JsonValue, checking);
  checkReferences(definition, file as unknown as JsonValue, checking);
  return { ...definition, fingerprint: fingerprintWorkflow(definition) };
}

function createContext(file: WorkflowFile, options: BuildOptions, isRouted: boolean): BuildContext {
  const { faults } = options;
  const header = file.workflow;
  return {
    faults,
    provider: providerOf(header, isRouted),
    model: header.runtime?.default_model,
    ...omitUndefined("atlas", file.atlas?.mode === "model" ? file.atlas : undefined),
    briefingTokensMax: header.context?.max_tokens ?? BRIEFING_TOKENS,
    runtime: header.runtime ?? {},
    settings: collectSettings(file, faults),
    instructions: [...options.instructions, ...(header.instructions ?? [])],
    nested: options.nested,
    codeDigests: options.codeDigests,
    tools: buildTools(
      { tools: file.tools ?? [], runtime: header.runtime ?? {}, codeDigests: options.codeDigests },
      faults,
    ),
    sources: options.texts.length === 0 ? [] : [{ roots: [ROOT_NAME], texts: options.texts }],
    places: new Map(),
    absent: new Set(),
  };
}

function describeHeader({ name, description, version, metadata }: WorkflowHeader) {
  return {
    name,
    ...omitUndefined("description", description),
    ...omitUndefined("version", version === undefined ? undefined : String(version)),
    metadata: (metadata ?? {}) as JsonObject,
  };
}

function providerOf(header: WorkflowHeader, isRouted: boolean): string {
  const provider = header.runtime?.provider;
  if (typeof provider === "string") return provider;
  const name = provider?.["name"];
  if (typeof name === "string") return name;
  return isRouted ? PROVIDER_OF_ROUTES : PROVIDER_OTHERWISE;
}

const FORMS = ["phases", "steps", "agents", "goal"] as const;

function checkForm(file: WorkflowFile, faults: FaultList): void {
  const forms = FORMS.filter((form) => file[form] !== undefined);
  const [first, second] = forms;
  if (first === undefined) {
    const suggestion = "add phases, steps, agents or a goal";
    faults.add({ code: "missing_key", path: [], message: "the workflow has nothing to do", suggestion });
  }
  if (first !== undefined && second !== undefined) {
    const suggestion = second === "goal" ? "keep one" : `keep one; nest the other as a step {name, ${second}: […]}`;
    faults.add({
      code: "conflict",
      path: [second],
      message: `${first} and ${second} are two forms of one thing`,
      suggestion,
      atKey: true,
    });
  }
  const isLooping = (file.for_each ?? []).length > 0;
  for (const form of forms) {
    if (file[form]?.length === 0 && !(form === "agents" && isLooping))
      faults.add({
        code: "wrong_value",
        path: [form],
        message: `${form} is empty`,
        suggestion: "add at least one",
        atKey: true,
      });
  }
  if (file.agents === undefined) noteRoutedOnly(file, faults);
  checkAtlas(file, faults);
}

/** A model chooses what follows from a phase, and nothing else. */
function checkAtlas({ atlas, phases, goal }: WorkflowFile, faults: FaultList): void {
  if (atlas === undefined) return;
  const isModel = atlas.mode === "model";
  if (isModel && phases === undefined && goal === undefined)
    faults.add({
      code: "misplaced_key",
      path: ["atlas"],
      message: "atlas chooses what follows from a phase, and there are no phases",
      suggestion: "remove it, or write phases or a goal",
      atKey: true,
    });
  for (const key of ["provider", "model"] as const)
    if (!isModel && atlas[key] !== undefined)
      faults.add({
        code: "misplaced_key",
        path: ["atlas", key],
        message: `atlas.${key} has no meaning where rules choose`,
        suggestion: "add mode: model",
        atKey: true,
      });
}

function noteRoutedOnly(file: WorkflowFile, faults: FaultList): void {
  if (file.for_each !== undefined) {
    const suggestion = "write a step {name, for_each: SOURCE, step: {…}}";
    faults.add({
      code: "misplaced_key",
      path: ["for_each"],
      message: "for_each groups go with agents",
      suggestion,
      atKey: true,
    });
  }
  if (file.parallel !== undefined) {
    const suggestion = "write a step {name, parallel: […]}";
    faults.add({
      code: "misplaced_key",
      path: ["parallel"],
      message: "parallel groups agents, and there are none",
      suggestion,
      atKey: true,
    });
  }
  if (file.workflow.entry_point !== undefined) {
    const message = "entry_point has a meaning only for agents";
    faults.add({
      code: "misplaced_key",
      path: ["workflow", "entry_point"],
      message,
      suggestion: "remove it",
      atKey: true,
    });
  }
}

/** Conductor tolerates unknown keys in `runtime`; elsewhere they are mistakes. */
function checkRuntime(header: WorkflowHeader, isRouted: boolean, faults: FaultList): void {
  if (isRouted || header.runtime === undefined) return;
  const known = listKeysAt("workflow", ["workflow", "runtime"]);
  for (const key of Object.keys(header.runtime)) {
    if (known.includes(key)) continue;
    const nearest = findNearest(key, known);
    faults.add({
      code: "unknown_key",
      path: ["workflow", "runtime", key],
      message: `unknown key ${JSON.stringify(key)} in workflow.runtime`,
      suggestion: nearest === undefined ? `known here: ${known.join(", ")}` : `did you mean ${nearest}?`,
      atKey: true,
    });
  }
}

function buildRoot(file: WorkflowFile, context: BuildContext): ScopeDefinition {
  const frame = frameOf({ name: ROOT_NAME }, ROOT_NAME);
  const site = (key: string, isRouted = false): NodeSite => ({ at: [key], parent: ROOT_NAME, isRouted, context });
  if (file.agents !== undefined) {
    const parts = {
      agents: file.agents,
      groups: file.parallel ?? [],
      loops: file.for_each ?? [],
      entry: file.workflow.entry_point,
    };
    return buildMachine(parts, frame, site("agents", true));
  }
  if (file.steps !== undefined) {
    const children = buildAll(file.steps, site("steps"));
    return { ...frame, scope: "dag", failureMode: "fail_fast", maxConcurrent: MAX_CONCURRENT, children };
  }
  return {
    ...buildPhases(file.phases ?? [], frame, site("phases")),
    ...omitUndefined("plan", buildPlan(file, context)),
    ...omitUndefined("consolidation", buildConsolidation(file, context)),
  };
}

function buildInputs(header: WorkflowHeader, faults: FaultList): Record<string, InputDefinition> {
  const inputs: Record<string, InputDefinition> = {};
  for (const [name, input] of Object.entries(header.input ?? {})) {
    inputs[name] = {
      type: input.type,
      required: input.required ?? true,
      // As in Conductor: a default of nothing is none, so the zero value of the type counts.
      ...(input.default === undefined || input.default === null ? {} : { default: input.default as JsonValue }),
      ...(input.description === undefined ? {} : { description: input.description }),
    };
    const problem = checkInputDefault(name, inputs[name]);
    if (problem !== undefined)
      faults.add({ code: "wrong_value", path: ["workflow", "input", name, "default"], ...problem });
  }
  return inputs;
}

/** A use that asks for the input: not one that may be missing. */
const UNDECLARED = /\bworkflow\.input\.([A-Za-z_]\w*)(?![\w?]|\s*\|\s*d(?:efault)?\b|\s+is\s+(?:not\s+)?defined)/g;

/** Inputs that Conductor's files use without declaring them: texts that must be given. */
function findUndeclared(file: WorkflowFile): Record<string, InputDefinition> {
  const inputs: Record<string, InputDefinition> = {};
  for (const [, name] of JSON.stringify([
    file.agents,
    file.for_each ?? [],
    file.parallel ?? [],
    file.output ?? {},
  ]).matchAll(UNDECLARED)) {
    const isDeclared = name === undefined || Object.hasOwn(file.workflow.input ?? {}, name);
    if (!isDeclared) inputs[name] = { type: "string", required: true };
  }
  return inputs;
}

function buildLimits(limits: Limits | undefined, isRouted: boolean): LimitsDefinition {
  const timeout = limits?.timeout_seconds;
  const budget = limits?.budget_usd === undefined ? undefined : toMicroUsd(limits.budget_usd);
  return {
    maxIterations: limits?.max_iterations ?? (isRouted ? ITERATIONS_OF_ROUTES : ITERATIONS_OTHERWISE),
    ...omitUndefined("timeoutMs", timeout === undefined ? undefined : parseDurationMs(timeout)),
    ...omitUndefined("tokensMax", limits?.max_tokens_total),
    ...omitUndefined("callsMax", limits?.max_calls),
    ...omitUndefined(limits?.budget_mode === "audit" ? "costMicroUsdAudited" : "costMicroUsdMax", budget),
  };
}

/** Whole micro-dollars, from the decimal text so that 0.9 is 900000 and nothing beside it. */
export function toMicroUsd(dollars: number): number {
  return Math.round(Number(`${dollars}e6`.replace(/e(-?\d+)e6$/, (_whole, power: string) => `e${Number(power) + 6}`)));
}

function onFailureOf(header: WorkflowHeader, faults: FaultList): OnFailure {
  const [own, inBlock] = [header.on_failure, header.checkpoint?.on_failure];
  if (own !== undefined && inBlock !== undefined && own !== inBlock) {
    faults.add({
      code: "conflict",
      path: ["workflow", "on_failure"],
      message: `on_failure is ${own} here and ${inBlock} in checkpoint`,
      suggestion: "keep one",
      atKey: true,
    });
  }
  return own ?? inBlock ?? "pause";
}
