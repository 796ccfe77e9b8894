/**
 * The normalised workflow: what every form of file and every `defineWorkflow` call becomes.
 *
 * Owns: the shape the engine runs. The loader in this folder fills every default, so the engine knows none.
 * The whole structure is JSON (functions stand beside it, see loaded-workflow.ts) and is sealed into the task at its start.
 *
 * D1: a definition is a tree: a root scope, scopes and steps below it. A node's `path` is the names from the root joined
 *     by `/`, unique in the tree, and is what identifies a step, never its position.
 * D2: a fingerprint covers what a step does (not comments, order, layout, description).
 * Source: DESIGN sections 2–4.
 */
import type { JsonObject, JsonValue } from "../base/json.js";
import type { HooksDefinition } from "./hooks.js";
import type { ConsolidationRule, PlannerRule, PlanRule } from "./goal-rules.js";
import type { ConfidenceRule, EvaluationDefinition, ScorerWay } from "./phase-rules.js";
import type { ReadFrom, WorkflowSource } from "./files/read-from.js";
import type { ToolDefinition, ToolServer } from "./tool-definition.js";

/** Jinja text; a value that is one whole `{{ expression }}` keeps its type. */
export type Template = string;
/** A JSON value in which every string is a template. */
export type TemplateValue = JsonValue;
/** A condition: Jinja with braces, or a plain expression. */
export type Condition = string;

export type InputType = "string" | "number" | "boolean" | "array" | "object";
export interface InputDefinition {
  readonly type: InputType;
  readonly required: boolean;
  readonly default?: JsonValue;
  readonly description?: string;
}

export type Effects = "none" | "idempotent" | "external";
export type OnUnknown = "ask" | "rerun" | "skip" | "fail";
export type Criticality = "critical" | "high" | "standard" | "low";
export type FailureMode = "fail_fast" | "continue_on_error" | "all_or_nothing";
export type OnFailure = "pause" | "continue" | "rollback";

export interface RetryPolicy {
  /** Attempts in all, first included; 1 means no retry. */
  readonly maxAttempts: number;
  readonly backoff: "fixed" | "exponential";
  readonly delayMs: number;
  readonly delayMsMax: number;
  /** 0..1 of the delay, drawn from the random source. */
  readonly jitter: number;
  /** Failures that are tried again; absent: all that another attempt could mend. Source: CONDUCTOR-YAML 1.4. */
  readonly on?: readonly RetryCause[];
}

export type RetryCause = "provider_error" | "timeout";

/** First match wins; no `when` always matches. `to` is a sibling's name or `$end`. */
export interface RouteDefinition {
  readonly to: string;
  readonly when?: Condition;
  readonly output?: Readonly<Record<string, Template>>;
}

/** What a step sees of earlier outputs. Stored outputs are never touched by it. Source: CONDUCTOR-YAML 1.2. */
export interface ContextRule {
  /** accumulate: every output; last_only: the newest; explicit: what the step's `input` names. */
  readonly mode: "accumulate" | "last_only" | "explicit";
  /** Units: tokens, estimated as four characters each. */
  readonly tokensMax?: number;
  /** What gives way when the visible outputs are larger than that. */
  readonly trim: "summarize" | "truncate" | "drop_oldest";
}

/** One entry of an `input` list: `agent.output.field?`, `group.outputs.member`, `workflow.input.name`. */
export interface StepReference {
  /** Name of a step or group; `workflow` for an input. */
  readonly root: string;
  /** As templates read it: `["output", "field"]`, `["outputs", "member"]`, `["input", "name"]`. */
  readonly path: readonly string[];
  /** Nothing is wrong when it is not there. */
  readonly isOptional: boolean;
}

interface NodeBase {
  readonly name: string;
  readonly path: string;
  readonly description?: string;
  readonly dependsOn: readonly string[];
  /** Routes of a child of a machine; empty means `$end` there and nothing elsewhere. */
  readonly routes: readonly RouteDefinition[];
  /** Where a failed child of a machine goes after its retries. */
  readonly onError?: string;
}

interface StepBase extends NodeBase {
  readonly node: "step";
  readonly input: Readonly<Record<string, TemplateValue>>;
  /** What it sees in explicit mode; absent when it has no list of references. */
  readonly references?: readonly StepReference[];
  readonly effects: Effects;
  readonly onUnknown?: OnUnknown;
  /** A command that says what happened to a step of unknown outcome: exit 0 with JSON output = done, 3 = not done. */
  readonly probe?: readonly Template[];
  readonly retry: RetryPolicy;
  readonly timeoutMs?: number;
  readonly idleTimeoutMs?: number;
  readonly criticality: Criticality;
  /** A checkpoint is taken before it. */
  readonly risky: boolean;
  /** File → field of the output (`""`: the whole output). `final/…` or a name under `phases/phase<N>/`. */
  readonly saveAs: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** JSON Schema of the output, when declared. */
  readonly outputSchema?: JsonObject;
  /** Hex digest of everything that decides what the step does. */
  readonly fingerprint: string;
}

export interface CommandStep extends StepBase {
  readonly kind: "command";
  readonly command: readonly Template[];
  readonly environment: Readonly<Record<string, Template>>;
  readonly folder?: Template;
}
export interface ScriptStep extends StepBase {
  readonly kind: "script";
  readonly command: readonly Template[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder?: Template;
  readonly stdin?: Template;
}
export interface FunctionStep extends StepBase {
  readonly kind: "function";
  /** `file.mjs#name` resolved against the workflow's folder, or `@path` of a function given to `defineWorkflow`. */
  readonly function: string;
}
/** What a model and an installed agent are told. */
interface PromptedStep extends StepBase {
  readonly model?: Template;
  readonly systemPrompt?: Template;
  readonly prompt: Template;
  /** A specialist of a phase: task, phase, earlier results and feedback stand before the prompt, within so many tokens. */
  readonly briefingTokensMax?: number;
  /** Put before the prompt as they are: no template. */
  readonly instructions?: string;
}
export interface ModelStep extends PromptedStep {
  readonly kind: "model";
  readonly provider: string;
  /** Its answer is a plan, checked like a file. */
  readonly planner?: PlannerRule;
  readonly tools?: readonly ToolDefinition[];
  /** What the provider may understand, keys as in a file; see model-options.ts. */
  readonly options?: JsonObject;
}
/** An installed agent that is called by its command line. */
export interface CliStep extends PromptedStep {
  readonly kind: "cli";
  /** Name of its profile in the settings. */
  readonly cli: string;
  /** What a next visit of the step does with the session of the visit before. */
  readonly session: "continue" | "fresh";
  /** Further arguments of its command. */
  readonly arguments: readonly Template[];
  readonly environment: Readonly<Record<string, Template>>;
  readonly folder?: Template;
}
export interface SetStep extends StepBase {
  readonly kind: "set";
  readonly value?: TemplateValue;
  readonly values?: Readonly<Record<string, TemplateValue>>;
  readonly outputType: "auto" | "string" | "number" | "integer" | "boolean" | "list" | "dict";
}
export interface WaitStep extends StepBase {
  readonly kind: "wait";
  /** Seconds, or a number with ms, s, m, h; may be a template. */
  readonly duration: Template | number;
  readonly reason?: Template;
}
/** One choice at a gate. */
export interface GateOption {
  readonly value: string;
  readonly label: Template;
  /** Where control goes in a machine; without it the gate's own routes say. */
  readonly route?: string;
  /** Name of a text that goes with the choice. */
  readonly promptFor?: string;
  readonly multiline: boolean;
}
/** A person chooses; an answer ends it. `timeoutMs` is how long it is asked, `onTimeout` what it answers itself then. */
export interface GateStep extends StepBase {
  readonly kind: "human_gate";
  readonly prompt: Template;
  readonly options: readonly GateOption[];
  /** The option that `--skip-gates` takes. */
  readonly default?: string;
  readonly onTimeout?: string;
}
/** One question of a wizard. Without choices any text is an answer. */
export interface WizardItem {
  readonly id: string;
  readonly text: Template;
  readonly hint?: Template;
  readonly choices: readonly Template[];
  readonly allowFreeText: boolean;
  readonly default?: JsonValue;
  readonly required: boolean;
  readonly multiline: boolean;
}
/** A person answers one question after the other; each answer is durable by itself. */
export interface QuestionsStep extends StepBase {
  readonly kind: "questions";
  /** Said once, before the first question. */
  readonly prompt?: Template;
  /** Empty where `source` gives them. */
  readonly items: readonly WizardItem[];
  /** A list in an earlier output, of texts or of items as in the file. */
  readonly source?: string;
  readonly allow: WizardMoves;
  readonly abortRoute?: string;
  readonly onTimeout?: "skip_all" | "abort";
}
export interface WizardMoves {
  readonly back: boolean;
  readonly skip: boolean;
  readonly skipAll: boolean;
  readonly abort: boolean;
}
/** Ends its workflow, well or failed. */
export interface TerminateStep extends StepBase {
  readonly kind: "terminate";
  readonly status: "success" | "failed";
  readonly reason: Template;
  /** Takes the place of the workflow's output. */
  readonly outputTemplate?: TemplateValue;
}
/** One request; its output is `{status, headers, body}`. */
export interface HttpStep extends StepBase {
  readonly kind: "http";
  readonly method: string;
  readonly url: Template;
  readonly query: Readonly<Record<string, Template>>;
  readonly headers: Readonly<Record<string, Template>>;
  /** A text goes as it is, anything else as JSON. */
  readonly body?: TemplateValue;
  /** An answer of 400 or more is a failure. */
  readonly failOnStatus: boolean;
}
/** One call of a server's tool, with the step's input. */
export interface McpStep extends StepBase {
  readonly kind: "mcp";
  /** Allows the tool alone. */
  readonly server: ToolServer;
  readonly tool: string;
}
/** One of Apollo's scorers; the loader makes them from `evaluate.scorers`, as steps under `<phase>/$evaluate/<dimension>`. */
export interface ScorerStep extends StepBase {
  readonly kind: "scorer";
  readonly dimension: string;
  /** One of several who score the dimension by the same rubric. */
  readonly judge?: string;
  readonly scorer: ScorerWay;
}

export type StepDefinition =
  | CommandStep
  | ScriptStep
  | FunctionStep
  | ModelStep
  | CliStep
  | SetStep
  | WaitStep
  | GateStep
  | QuestionsStep
  | TerminateStep
  | HttpStep
  | McpStep
  | ScorerStep;
export type StepKind = StepDefinition["kind"];

export interface MachineScope extends NodeBase {
  readonly node: "scope";
  readonly scope: "machine";
  readonly entry: string;
  readonly children: readonly NodeDefinition[];
}
export interface ParallelScope extends NodeBase {
  readonly node: "scope";
  readonly scope: "parallel";
  readonly failureMode: FailureMode;
  readonly maxConcurrent: number;
  readonly children: readonly NodeDefinition[];
}
/** A step starts when all it depends on is done. */
export interface DagScope extends NodeBase {
  readonly node: "scope";
  readonly scope: "dag";
  readonly failureMode: FailureMode;
  readonly maxConcurrent: number;
  readonly children: readonly NodeDefinition[];
}
/** Ordered phases, counted from 1. */
export interface PhasesScope extends NodeBase {
  readonly node: "scope";
  readonly scope: "phases";
  readonly children: readonly PhaseScope[];
  /** A goal: the phases are planned when the task runs. */
  readonly plan?: PlanRule;
  /** After the last phase the results are merged into one. */
  readonly consolidation?: ConsolidationRule;
}
export interface PhaseScope extends NodeBase {
  readonly node: "scope";
  readonly scope: "phase";
  readonly number: number;
  /** Specialists, with `dependsOn` among them. */
  readonly children: readonly StepDefinition[];
  readonly maxConcurrent: number;
  readonly confidence: ConfidenceRule;
  /** What the orchestrator launches on low confidence; absent: the least confident specialist's own definition again. */
  readonly spawn?: StepDefinition;
  readonly evaluate?: EvaluationDefinition;
  /** A model that chooses what follows from the confidence; absent: the rules do. */
  readonly orchestrator?: ModelStep;
  /** Restarts of a failed specialist beyond its retries, then what to do. */
  readonly restart: { readonly maxAttempts: number; readonly otherwise: "fail" | "continue" | "rollback" };
}

/** Its one child is done once per item of a list, several items side by side. */
export interface ForEachScope extends NodeBase {
  readonly node: "scope";
  readonly scope: "for_each";
  /** A template that gives the list (or JSON text of one), or the list itself. */
  readonly source: TemplateValue;
  /** What templates of the body call the item; `_index` and, with `keyBy`, `_key` stand beside it. */
  readonly as: string;
  /** Dotted path of an item's key within the item; absent: items are known by their index. */
  readonly keyBy?: string;
  readonly failureMode: FailureMode;
  readonly maxConcurrent: number;
  readonly children: readonly [NodeDefinition];
}
/** Another workflow as one step: a border for names and inputs; limits and budgets are the task's. */
export interface WorkflowScope extends NodeBase {
  readonly node: "scope";
  readonly scope: "workflow";
  /** What the nested workflow calls itself. */
  readonly workflow: string;
  readonly file?: string;
  readonly folder: string;
  /** Absent: the inputs of the workflow around it are passed on. */
  readonly inputMapping?: Readonly<Record<string, TemplateValue>>;
  readonly inputs: Readonly<Record<string, InputDefinition>>;
  readonly context: ContextRule;
  /** Its output: name → template; empty means that of its last step. */
  readonly output: Readonly<Record<string, TemplateValue>>;
  readonly onFailure: OnFailure;
  readonly hooks?: HooksDefinition;
  /** Its own root. */
  readonly children: readonly [ScopeDefinition];
}

export type ScopeDefinition =
  MachineScope | ParallelScope | DagScope | PhasesScope | PhaseScope | ForEachScope | WorkflowScope;
export type NodeDefinition = StepDefinition | ScopeDefinition;

export interface LimitsDefinition {
  readonly maxIterations: number;
  readonly timeoutMs?: number;
  readonly tokensMax?: number;
  readonly callsMax?: number;
  readonly costMicroUsdMax?: number;
  /** A budget that is told and stops nothing. */
  readonly costMicroUsdAudited?: number;
}

export interface WorkflowDefinition {
  readonly schema: 1;
  readonly name: string;
  readonly description?: string;
  readonly version?: string;
  readonly inputs: Readonly<Record<string, InputDefinition>>;
  readonly context: ContextRule;
  readonly root: ScopeDefinition;
  /** Final output: name → template; empty means the output of the last step. */
  readonly output: Readonly<Record<string, TemplateValue>>;
  readonly limits: LimitsDefinition;
  readonly onFailure: OnFailure;
  readonly onUnknown?: OnUnknown;
  readonly hooks?: HooksDefinition;
  readonly atlas: { readonly mode: "rules" | "model" };
  /** Answers of the scripted model, by step name or path; loaded from `runtime.scripted_answers`. */
  readonly scriptedAnswers?: JsonObject;
  readonly metadata: JsonObject;
  /** Settings blocks of the file (checkpoint_config, recovery_config, …), checked, not merged. */
  readonly settings: JsonObject;
  /** Files it was read from, for showing where a template failed; absent for a program and for large files. */
  readonly sources?: readonly WorkflowSource[];
  readonly readFrom?: ReadFrom;
  /** Hex digest over all fingerprints and the structure: equal for equal behaviour. */
  readonly fingerprint: string;
}
