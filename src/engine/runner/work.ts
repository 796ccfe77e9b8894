/**
 * Puts together what a performer gets for one attempt: the rendered work of the intent, the outputs it may use, feedback,
 * and where an earlier attempt got to.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { StepDefinition } from "../../definition/model/step.js";
import { parsePlaces } from "../../definition/templates/secret-marks.js";
import type { EndedSubstep, StepWork, TaskFacts } from "../model/ports.js";
import { findApproval } from "../rules/questions/approval.js";
import { locateFor } from "../render/describe-scope.js";
import { stepIdOf } from "../model/identity.js";
import { findPhase, findWorkflow, requireTask } from "../model/lookup.js";
import type { StepEntry, TaskState } from "../model/state.js";
import type { LargeValues } from "./values.js";
import { isToldGuidance, listGuidance } from "../model/told-guidance.js";

export interface WorkSources {
  readonly state: TaskState;
  readonly values: LargeValues;
}

/** Errors: BLOB_CORRUPT when a large value it needs is damaged. */
export async function assembleWork(
  { state, values }: WorkSources,
  step: StepEntry,
  definition: StepDefinition,
): Promise<StepWork> {
  const placed = findPhase(state, step.path);
  const phase = placed === undefined ? undefined : state.phases.get(placed.path);
  const rendered = objectOf(await values.resolve(step.work));
  return {
    task: describeTask(state, step.path),
    step,
    definition,
    ...(await describeWorkflow({ state, values }, step)),
    phase: {
      name: phase?.name ?? "",
      number: step.phase,
      iteration: phase?.iteration ?? 1,
      ...optional("description", placed?.node.description),
      ...optional("criteria", placed?.node.evaluate?.criteria),
    },
    input: objectOf(rendered["input"]),
    rendered,
    secretPlaces: parsePlaces(rendered["secret_places"]),
    outputs: await loadOutputs({ state, values }, listOf(rendered["uses"])),
    feedback: phase?.feedback ?? [],
    guidance: listOf(rendered["guidance"]).filter((text) => typeof text === "string"),
    guidanceNow: () => (isToldGuidance(definition) ? listGuidance(state, step.path) : []),
    uncertainties: listOf(rendered["uncertainties"]),
    story: () => describeStory(state),
    locate: (part) => locateFor(state, step.path, part),
    approvalOf: (wish) => findApproval(state, step.id, wish),
    ...(await loadMilestones({ state, values }, step, definition)),
    ...(await loadHistory(state, step, values)),
  };
}

function describeTask(state: TaskState, path: string): TaskFacts {
  const { id, name, definition } = requireTask(state);
  const nested = findWorkflow(state, path)?.node;
  return nested === undefined
    ? { id, name, workflow: definition.name, ...optional("description", definition.description) }
    : { id, name, workflow: nested.workflow, ...optional("description", nested.description) };
}

function optional<K extends string>(key: K, text: string | undefined): { readonly [name in K]?: string } {
  return (text === undefined ? {} : { [key]: text }) as { readonly [name in K]?: string };
}

/** Folder and inputs of the workflow that the step is part of. */
async function describeWorkflow({ state, values }: WorkSources, { path }: StepEntry) {
  const { folder, inputs } = requireTask(state);
  const nested = findWorkflow(state, path);
  const data = nested === undefined ? undefined : state.scopes.get(nested.path)?.data;
  if (nested === undefined || data?.scope !== "workflow") return { workflowFolder: folder, inputs };
  return { workflowFolder: nested.node.folder, inputs: objectOf(await values.resolve(data.inputs)) };
}

/** Outputs by name; where two paths end in the same name the later path of the list wins. */
async function loadOutputs({ state, values }: WorkSources, paths: readonly JsonValue[]): Promise<JsonObject> {
  const outputs: Record<string, JsonValue> = {};
  for (const path of paths) {
    if (typeof path !== "string") continue;
    const output = state.outputs.get(path);
    if (output !== undefined) outputs[path.slice(path.lastIndexOf("/") + 1)] = await values.resolve(output.value);
  }
  return outputs;
}

async function loadMilestones({ state, values }: WorkSources, step: StepEntry, definition: StepDefinition) {
  const load = async (key: "milestone" | "earlierMilestone", milestone: StepEntry["milestone"]) =>
    milestone === undefined ? {} : { [key]: { name: milestone.name, state: await values.resolve(milestone.state) } };
  return {
    ...(await load("milestone", step.milestone)),
    ...(await load("earlierMilestone", findEarlierVisit(state, step, definition)?.milestone)),
  };
}

/** Of the same round: a roll-back leaves an agent's session behind, with what was said in it since. */
function findEarlierVisit(
  state: TaskState,
  { path, round, visit }: StepEntry,
  definition: StepDefinition,
): StepEntry | undefined {
  if (definition.kind !== "cli" || definition.session === "fresh") return undefined;
  return state.steps.get(stepIdOf({ path, round, visit: visit - 1 }));
}

/** Of nearly every attempt; shared, as many are under way at once. */
const NO_HISTORY: Pick<StepWork, "turns" | "tools" | "substeps"> = {
  turns: [],
  tools: new Map(),
  substeps: new Map(),
};

async function loadHistory(state: TaskState, step: StepEntry, values: LargeValues) {
  const history = state.histories.get(step.id);
  if (history === undefined) return NO_HISTORY;
  const turns: JsonValue[] = [];
  const tools = new Map<string, { readonly result?: JsonValue; readonly tool?: string }>();
  const substeps = new Map<string, EndedSubstep>();
  for (const turn of history.turns) turns.push(await values.resolve(turn));
  for (const [call, { result, tool }] of history.tools)
    tools.set(call, {
      ...(tool === undefined ? {} : { tool }),
      ...(result === undefined ? {} : { result: await values.resolve(result) }),
    });
  for (const [name, { value, failure, within }] of history.substeps) {
    const place = within === undefined ? {} : { within };
    if (value !== undefined) substeps.set(name, { value: await values.resolve(value), ...place });
    else if (failure !== undefined) substeps.set(name, { failure, ...place });
  }
  return { turns, tools, substeps };
}

/** What a specialist that reports is told of the task so far; snake_case, no times, so that equal runs give equal stories. */
function describeStory(state: TaskState): JsonObject {
  return {
    evaluations: state.evaluations.map((entry) => ({
      phase: entry.path,
      iteration: entry.iteration,
      verdict: entry.verdict ?? null,
      score: entry.score ?? null,
      dimensions: Object.fromEntries(
        Object.entries(entry.scores).map(([dimension, score]) => [dimension, score.score]),
      ),
      issues: Object.values(entry.scores).flatMap((score) => score.issues.map((issue) => ({ ...issue }))),
    })),
    decisions: state.decisions.map((decision) => ({
      agent: decision.agent,
      type: decision.type,
      description: decision.description,
      rationale: decision.rationale,
    })),
    confidence: Object.fromEntries(
      [...state.phases.values()]
        .filter((phase) => phase.confidence !== undefined)
        .map((phase) => [phase.name, phase.confidence as number]),
    ),
  };
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
