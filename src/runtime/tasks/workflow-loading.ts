/** Workflows as verbs need them: loaded with inputs and settings for a start, loaded again and compared for a resume. */
import { formatCount } from "../../base/plain-text.js";
import { relative, resolve } from "node:path";
import { EXIT_STATUS } from "../../base/error-table.js";
import { isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject } from "../../base/json.js";
import { compareDefinitions, type DefinitionComparison } from "../../definition/compare.js";
import { PROVIDER_OF_ROUTES, PROVIDER_OTHERWISE } from "../../definition/model/defaults.js";
import { formatFaults, type DefinitionFault } from "../../definition/faults/fault.js";
import { givenFromOutside, resolveInputs, type GivenInput } from "../../definition/model/inputs.js";
import { loadWorkflow, type WorkflowSource } from "../../definition/loader.js";
import type { EffectiveSettings } from "../../definition/settings/settings.js";
import { initTemplates } from "../../definition/templates/templates.js";
import type { LoadedWorkflow } from "../../definition/model/loaded-workflow.js";
import { omitUndefined } from "../../definition/kinds/step-fields.js";
import type { NodeDefinition, WorkflowDefinition } from "../../definition/model/workflow.js";
import type { StepDefinition } from "../../definition/model/step.js";
import type { TaskEntry } from "../../engine/model/state.js";
import type { RunOptions, ValidateView } from "../views/verb-views.js";
import { noteProviders } from "../services/provider-notes.js";
import { listPlannedSteps } from "./planned-steps.js";
import type { Services } from "../services/services.js";
import { requireTrusted } from "./needed-settings.js";
import { hideContents } from "../services/confinement.js";
import { createNotedDeps, isReadTheSame } from "./workflow-sources.js";

/** What a definition says where its file names no provider. */
const UNCHOSEN_PROVIDERS = new Set([PROVIDER_OF_ROUTES, PROVIDER_OTHERWISE]);

export interface PreparedWorkflow {
  readonly workflow: LoadedWorkflow;
  readonly settings: EffectiveSettings;
  readonly inputs: JsonObject;
}

/** Errors: WORKFLOW_NOT_FOUND, WORKFLOW_INVALID, INPUT_INVALID, SETTING_INVALID. Nothing was started. */
export async function prepareWorkflow(services: Services, options: RunOptions): Promise<PreparedWorkflow> {
  const workflow = await loadGiven(services, options.workflow);
  const definition = applyModelFlags(workflow.definition, options);
  const texts = Object.entries(options.inputTexts ?? {}).map(([name, text]): [string, GivenInput] => [name, { text }]);
  const given = { ...givenFromOutside(options.inputs ?? {}), ...Object.fromEntries(texts) };
  const inputs = resolveNamed(definition, given, options.workflow);
  const settings = services.settingsOf(definition);
  requireReadable(services, settings);
  requireTrusted(services, definition);
  for (const note of [...workflow.notes, ...notesOf(services, definition)]) services.log.warn(note);
  return { workflow: { ...workflow, definition }, settings, inputs };
}

/** Whoever reads a task later has the settings of the place only, which bound what is unpacked. Errors: SETTING_INVALID. */
function requireReadable({ settings: own }: Services, { checkpoint_config: config }: EffectiveSettings): void {
  const [wanted, max] = [config.checkpoint_size_limit_mb, own.checkpoint_config.checkpoint_size_limit_mb];
  if (wanted <= max) return;
  const text = `checkpoint_size_limit_mb of the workflow is ${wanted}, and snapshots over ${max} MB are not read here; raise it in splashdown.config.yaml`;
  throw new SplashdownError("SETTING_INVALID", text, {
    details: { key: "checkpoint_config.checkpoint_size_limit_mb" },
  });
}

/** What is wrong with the providers that a workflow names. */
function notesOf({ settings, models }: Services, definition: WorkflowDefinition): string[] {
  const steps = listPlannedSteps(definition).map(({ step }) => step);
  return noteProviders(steps, settings.provider_map, models.sources);
}

/** Loads a file, or an object of this program, which is remembered for those who go on with its tasks. */
export async function loadGiven(services: Services, workflow: string | object): Promise<LoadedWorkflow> {
  const loaded = await load(services, sourceOf(services, workflow));
  if (typeof workflow !== "string") services.programs.set(loaded.definition.name, loaded);
  return loaded;
}

/** Errors: INPUT_INVALID, which names the file whose inputs they are. */
function resolveNamed(
  definition: WorkflowDefinition,
  given: Readonly<Record<string, GivenInput>>,
  workflow: RunOptions["workflow"],
): JsonObject {
  try {
    return resolveInputs(definition, given);
  } catch (error) {
    if (!(error instanceof SplashdownError) || typeof workflow !== "string") throw error;
    throw new SplashdownError(error.code, error.message, {
      details: { ...error.details, file: workflow },
      cause: error,
    });
  }
}

function sourceOf(services: Services, workflow: string | object): WorkflowSource {
  const folder = services.environment.workingFolder;
  if (typeof workflow === "string") return { file: resolve(folder, workflow) };
  return { workflow: workflow as Extract<WorkflowSource, { workflow: unknown }>["workflow"], folder };
}

/** Loads with the real files, modules and environment. Errors: faults are shown in their lines, with carets. */
async function load(services: Services, source: WorkflowSource): Promise<LoadedWorkflow> {
  await initTemplates();
  const { confine } = services;
  const { deps, noted, isWorkflow } = createNotedDeps((name) => services.environment.get(name), confine);
  try {
    const loaded = await loadWorkflow(source, deps);
    const readFrom = "workflow" in source ? undefined : noted();
    return readFrom === undefined ? loaded : { ...loaded, definition: { ...loaded.definition, readFrom } };
  } catch (error) {
    const told = confine === undefined ? error : hideContents(error, isWorkflow);
    throw showFaults(told, services.environment.workingFolder);
  }
}

/** The same error with a first line that counts, and every fault in its line; other errors as they are. */
function showFaults(error: unknown, workingFolder: string): unknown {
  const faults = readFaults(error);
  if (!(error instanceof SplashdownError) || faults.length === 0) return error;
  const shorten = (file: string): string => {
    const path = relative(workingFolder, file);
    return path.startsWith("..") ? file : path;
  };
  const shown = faults.map((fault) => (fault.file === undefined ? fault : { ...fault, file: shorten(fault.file) }));
  const { file } = error.details;
  const what = typeof file === "string" ? shorten(file) : "the workflow";
  const count = faults.length === 1 ? "a fault" : `${faults.length} faults`;
  return new SplashdownError("WORKFLOW_INVALID", `${what} has ${count}\n${formatFaults(shown)}`, {
    details: error.details,
    cause: error,
  });
}

function readFaults(error: unknown): DefinitionFault[] {
  if (!isErrorCode(error, "WORKFLOW_INVALID") || !(error instanceof SplashdownError)) return [];
  const { faults } = error.details;
  return Array.isArray(faults) && faults.every(isJsonObject) ? (faults as unknown as DefinitionFault[]) : [];
}

/** `--provider` and `--model` for model steps that name none. */
function applyModelFlags(definition: WorkflowDefinition, { provider, model }: RunOptions): WorkflowDefinition {
  if (provider === undefined && model === undefined) return definition;
  const choose = <T extends Chosen>(asked: T): T => ({
    ...asked,
    provider: provider !== undefined && UNCHOSEN_PROVIDERS.has(asked.provider) ? provider : asked.provider,
    ...((asked.model ?? model) === undefined ? {} : { model: asked.model ?? model }),
  });
  return { ...definition, root: chooseModels(definition.root, choose) as WorkflowDefinition["root"] };
}

interface Chosen {
  readonly provider: string;
  readonly model?: string;
}

type ChooseModel = <T extends Chosen>(asked: T) => T;

/** The same for every place where a model is asked: specialists, scorers, and the steps a scope has of its own. */
function chooseModels(node: NodeDefinition, choose: ChooseModel): NodeDefinition {
  if (node.node === "step") return chooseModelOf(node, choose);
  const scope = { ...node, children: node.children.map((child) => chooseModels(child, choose)) } as typeof node;
  const own = <T extends StepDefinition>(step: T | undefined): T | undefined =>
    step === undefined ? undefined : (chooseModelOf(step, choose) as T);
  if (scope.scope === "phase") {
    const { spawn, evaluate, orchestrator } = scope;
    const scorers = evaluate?.scorers.flatMap((scorer) => own(scorer) ?? []) ?? [];
    return {
      ...scope,
      ...omitUndefined("spawn", own(spawn)),
      ...omitUndefined("orchestrator", own(orchestrator)),
      ...omitUndefined("evaluate", evaluate === undefined ? undefined : { ...evaluate, scorers }),
    };
  }
  if (scope.scope !== "phases") return scope;
  const { plan, consolidation } = scope;
  const [planner, writer] = [own(plan?.planner), own(consolidation?.writer)];
  return {
    ...scope,
    ...(plan === undefined || planner === undefined ? {} : { plan: { ...plan, planner } }),
    ...(writer === undefined ? {} : { consolidation: { ...consolidation, writer } }),
  };
}

function chooseModelOf(step: StepDefinition, choose: ChooseModel): StepDefinition {
  if (step.kind === "scorer") return step.scorer.by === "model" ? { ...step, scorer: choose(step.scorer) } : step;
  if (step.kind !== "model") return step;
  return { ...choose(step), ...(step.planner === undefined ? {} : { planner: choose(step.planner) }) };
}

export interface ReloadedWorkflow {
  /** The definition to go on with, and the functions beside it. */
  readonly workflow: LoadedWorkflow;
  readonly file: string | undefined;
  readonly isChanged: boolean;
  readonly changes: readonly { readonly path: string; readonly how: string }[];
  readonly notices: readonly string[];
}

/**
 * Loads a task's workflow as it is now and compares it with the sealed one.
 *
 * Shape: where nothing of what it was read from has changed it is not loaded again. A file that is gone or has faults is
 * a notice, and the sealed definition is used. One of a program is taken
 * from what this program has run or given; without it, steps that need its functions fail with FUNCTION_NOT_FOUND.
 */
export async function reloadWorkflow(services: Services, task: TaskEntry): Promise<ReloadedWorkflow> {
  const { definitionFile: file, definition, folder } = task;
  const sealed: LoadedWorkflow = {
    definition,
    folder,
    functions: new Map(),
    notes: [],
    ...(file === undefined ? {} : { file }),
  };
  const { readFrom } = definition;
  const unchanged: ReloadedWorkflow = { workflow: sealed, file, isChanged: false, changes: [], notices: [] };
  if (readFrom !== undefined && (await isReadTheSame(readFrom, (name) => services.environment.get(name))))
    return unchanged;
  try {
    const now = file === undefined ? services.programs.get(definition.name) : await load(services, { file });
    if (now === undefined) return unchanged;
    const comparison = compareDefinitions(definition, now.definition);
    if (comparison.equal) {
      return { ...unchanged, workflow: { ...sealed, functions: now.functions } };
    }
    return { workflow: now, file, isChanged: true, changes: describeChanges(comparison), notices: [] };
  } catch (error) {
    if (!isErrorCode(error, "WORKFLOW_NOT_FOUND", "WORKFLOW_INVALID")) throw error;
    const notices = [
      `the workflow file cannot be used as it is now (${messageOf(error).split("\n")[0] ?? ""}); the task continues with the definition it was started with`,
    ];
    return { ...unchanged, notices };
  }
}

function describeChanges(comparison: DefinitionComparison): { path: string; how: string }[] {
  const list = (paths: readonly string[], how: string): { path: string; how: string }[] =>
    paths.map((path) => ({ path, how }));
  return [
    ...list(comparison.changed, "changed"),
    ...list([...comparison.scopes.added, ...comparison.added], "added"),
    ...list([...comparison.scopes.removed, ...comparison.removed], "removed"),
    ...comparison.renamed.map(({ from, to }) => ({ path: from, how: `renamed to ${to}` })),
    ...(comparison.structure
      ? [{ path: "(structure)", how: "order, routes, evaluation or confidence rules changed" }]
      : []),
    ...(comparison.policy
      ? [{ path: "(policy)", how: "limits, inputs, final output, failure rules or settings changed" }]
      : []),
  ];
}

/** The definition in a file, checked as for a run. Errors: WORKFLOW_NOT_FOUND, WORKFLOW_INVALID. */
export async function loadDefinition(services: Services, file: string): Promise<WorkflowDefinition> {
  return (await load(services, sourceOf(services, file))).definition;
}

/** Shape: a file with faults is an answer, with every fault placed. Errors: WORKFLOW_NOT_FOUND. */
export async function validateWorkflow(services: Services, file: string): Promise<ValidateView> {
  try {
    const { definition, notes } = await load(services, sourceOf(services, file));
    return viewValid(file, definition, [...notes, ...notesOf(services, definition)]);
  } catch (error) {
    if (!(error instanceof SplashdownError) || error.code !== "WORKFLOW_INVALID") throw error;
    const faults = readFaults(error).map((fault) => ({ ...fault }));
    return { file, valid: false, exit_status: EXIT_STATUS.usage, faults, text: error.message };
  }
}

function viewValid(file: string, definition: WorkflowDefinition, notes: readonly string[]): ValidateView {
  const { root } = definition;
  const steps = countSteps(root);
  const isPlanned = root.scope === "phases" && root.plan !== undefined;
  const inputs = Object.entries(definition.inputs).map(([name, input]): JsonObject => ({ name, ...input }));
  const lines = Object.entries(definition.inputs).map(([name, { type, required, default: value, description }]) => {
    const need = value !== undefined ? `default ${JSON.stringify(value)}` : required ? "required" : "optional";
    return `  --input ${name}=… (${type}, ${need})${description === undefined ? "" : `: ${description}`}`;
  });
  return {
    file,
    valid: true,
    exit_status: EXIT_STATUS.done,
    workflow: definition.name,
    steps,
    fingerprint: definition.fingerprint,
    inputs,
    faults: [],
    notes,
    text: [
      `${file}: valid; workflow ${definition.name}, ${isPlanned ? "a goal: its steps are planned when it runs" : formatCount(steps, "step")}`,
      ...lines,
      ...notes.map((note) => `note: ${note}`),
    ].join("\n"),
  };
}

function countSteps(node: NodeDefinition): number {
  if (node.node === "step") return 1;
  const children: readonly NodeDefinition[] = node.children;
  return children.reduce((sum, child) => sum + countSteps(child), 0);
}

/** What a task must have been started with. */
export interface Wanted {
  readonly workflow: LoadedWorkflow;
  readonly settings: EffectiveSettings;
  readonly inputs: JsonObject;
}
