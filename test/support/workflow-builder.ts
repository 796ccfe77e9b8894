/** Normalised definitions for tests of the engine, with the loader's defaults filled in. */
import type {
  DagScope,
  ForEachScope,
  MachineScope,
  NodeDefinition,
  ParallelScope,
  PhaseScope,
  PhasesScope,
  ScopeDefinition,
  WorkflowDefinition,
  WorkflowScope,
} from "../../src/definition/model/workflow.js";
import type {
  CliStep,
  CommandStep,
  GateOption,
  GateStep,
  ModelStep,
  QuestionsStep,
  ScorerStep,
  SetStep,
  StepDefinition,
  TerminateStep,
  SleepUntilStep,
  WaitStep,
  WizardItem,
} from "../../src/definition/model/step.js";

type Options<T> = Partial<Omit<T, "node" | "scope" | "kind" | "name" | "path" | "children">>;

const base = { dependsOn: [], routes: [], path: "" };
const step = {
  ...base,
  node: "step" as const,
  input: {},
  effects: "none" as const,
  retry: { maxAttempts: 1, backoff: "exponential" as const, delayMs: 1_000, delayMsMax: 60_000, jitter: 0 },
  criticality: "standard" as const,
  risky: false,
  saveAs: {},
  secrets: [],
  fingerprint: "f0",
};

/** A model step: no effects, so it is rerun after a crash. */
export function model(name: string, options: Options<ModelStep> = {}): ModelStep {
  return { ...step, kind: "model", name, provider: "scripted", prompt: "go", ...options };
}

/** A command step: external unless told otherwise. */
export function command(name: string, options: Options<CommandStep> = {}): CommandStep {
  return { ...step, kind: "command", name, command: ["do", name], environment: {}, effects: "external", ...options };
}

/** An installed agent's step. */
export function cli(name: string, options: Options<CliStep> = {}): CliStep {
  const own = { kind: "cli", cli: "claude", session: "fresh", prompt: "go", arguments: [], environment: {} } as const;
  return { ...step, ...own, name, effects: "external", ...options };
}

/** A function step of which nothing is known: external, and it has no child that waits for `spawned`. */
export function undeclared(name: string, options: Partial<StepDefinition> = {}): StepDefinition {
  return {
    ...step,
    kind: "function",
    name,
    function: `f.mjs#${name}`,
    effects: "external",
    ...options,
  } as StepDefinition;
}

export function set(name: string, options: Options<SetStep> = {}): SetStep {
  return { ...step, kind: "set", name, outputType: "auto", ...options };
}

export function wait(name: string, duration: string | number, options: Options<WaitStep> = {}): WaitStep {
  return { ...step, kind: "wait", name, duration, ...options };
}

export function sleepUntil(
  name: string,
  until: string | number,
  options: Options<SleepUntilStep> = {},
): SleepUntilStep {
  return { ...step, kind: "sleep_until", name, until, ...options };
}

/** A gate whose options lead where their value says, unless told otherwise. */
export function gate(name: string, options: readonly Partial<GateOption>[], rest: Options<GateStep> = {}): GateStep {
  return {
    ...step,
    kind: "human_gate",
    name,
    prompt: "Continue?",
    options: options.map((option) => ({ value: "", label: option.value ?? "", multiline: false, ...option })),
    ...rest,
  };
}

/** A wizard of questions, by id or whole. */
export function questions(
  name: string,
  items: readonly (string | Partial<WizardItem>)[],
  rest: Options<QuestionsStep> = {},
): QuestionsStep {
  return {
    ...step,
    kind: "questions",
    name,
    items: items.map((item) => ({
      id: typeof item === "string" ? item : "",
      text: `${typeof item === "string" ? item : (item.id ?? "")}?`,
      choices: [],
      allowFreeText: true,
      required: false,
      multiline: false,
      ...(typeof item === "string" ? {} : item),
    })),
    allow: { back: true, skip: true, skipAll: true, abort: false },
    ...rest,
  };
}

export function terminateStep(name: string, options: Options<TerminateStep> = {}): TerminateStep {
  return { ...step, kind: "terminate", name, status: "success", reason: "enough", ...options };
}

export function scorer(dimension: string, options: Options<ScorerStep> = {}): ScorerStep {
  return {
    ...step,
    kind: "scorer",
    name: dimension,
    dimension,
    scorer: { by: "command", command: ["score"], environment: {} },
    ...options,
  };
}

export function machine(
  name: string,
  children: readonly NodeDefinition[],
  options: Options<MachineScope> = {},
): MachineScope {
  return { ...base, node: "scope", scope: "machine", name, entry: children[0]?.name ?? "", children, ...options };
}

export function parallel(
  name: string,
  children: readonly NodeDefinition[],
  options: Options<ParallelScope> = {},
): ParallelScope {
  return {
    ...base,
    node: "scope",
    scope: "parallel",
    name,
    failureMode: "fail_fast",
    maxConcurrent: 100,
    children,
    ...options,
  };
}

export function dag(name: string, children: readonly NodeDefinition[], options: Options<DagScope> = {}): DagScope {
  return {
    ...base,
    node: "scope",
    scope: "dag",
    name,
    failureMode: "fail_fast",
    maxConcurrent: 100,
    children,
    ...options,
  };
}

export function forEach(name: string, body: NodeDefinition, options: Options<ForEachScope> = {}): ForEachScope {
  return {
    ...base,
    node: "scope",
    scope: "for_each",
    name,
    source: "{{ workflow.input.items }}",
    as: "item",
    failureMode: "fail_fast",
    maxConcurrent: 100,
    children: [body],
    ...options,
  };
}

/** A nested workflow around its root. */
export function nested(name: string, root: ScopeDefinition, options: Options<WorkflowScope> = {}): WorkflowScope {
  return {
    ...base,
    node: "scope",
    scope: "workflow",
    name,
    workflow: name,
    folder: "/work/nested",
    limits: { maxIterations: 100_000 },
    inputs: {},
    context: { mode: "accumulate", trim: "drop_oldest" },
    output: {},
    onFailure: "pause",
    children: [root],
    ...options,
  };
}

export function phases(name: string, children: readonly PhaseScope[], options: Options<PhasesScope> = {}): PhasesScope {
  return { ...base, node: "scope", scope: "phases", name, children, ...options };
}

export const BANDS = { proceed: 0.85, flag: 0.75, spawnOne: 0.65, spawnSeveral: 0.5 };

export function phase(
  number: number,
  name: string,
  children: readonly NodeDefinition[],
  options: Options<PhaseScope> = {},
): PhaseScope {
  return {
    ...base,
    node: "scope",
    scope: "phase",
    number,
    name,
    children,
    maxConcurrent: 100,
    confidence: { minimum: 0.75, bands: BANDS, spawnMax: 2 },
    restart: { maxAttempts: 0, otherwise: "fail" },
    ...options,
  };
}

/** The whole workflow; paths are filled in from the names. */
export function workflow(root: ScopeDefinition, options: Partial<WorkflowDefinition> = {}): WorkflowDefinition {
  return {
    schema: 1,
    name: "test",
    inputs: {},
    output: {},
    limits: { maxIterations: 1_000_000 },
    onFailure: "pause",
    context: { mode: "accumulate", trim: "drop_oldest" },
    atlas: { mode: "rules" },
    metadata: {},
    settings: {},
    fingerprint: "w0",
    ...options,
    root: place(root, root.name) as ScopeDefinition,
  };
}

function place(node: NodeDefinition, path: string): NodeDefinition {
  if (node.node === "step") return { ...node, path };
  const placed = {
    ...node,
    path,
    children: node.children.map((child) => place(child, `${path}/${child.name}`)),
  } as ScopeDefinition;
  if (placed.scope !== "phase" || placed.evaluate === undefined) return placed;
  const scorers = placed.evaluate.scorers.map((item) => ({ ...item, path: `${path}/$evaluate/${item.dimension}` }));
  return { ...placed, evaluate: { ...placed.evaluate, scorers } };
}
