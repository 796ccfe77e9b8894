/**
 * The normalised workflow: what every form of file and every `defineWorkflow` call becomes.
 *
 * Owns: the shape the engine runs; its leaves are in step.ts, what both are described with in values.ts. The loader in this
 * folder fills every default, so the engine knows none.
 * The whole structure is JSON (functions stand beside it, see loaded-workflow.ts) and is sealed into the task at its start.
 *
 * D1: a definition is a tree: a root scope, scopes and steps below it. A node's `path` is the names from the root joined
 *     by `/`, unique in the tree, and is what identifies a step, never its position.
 * D2: a fingerprint covers what a step does (not comments, order, layout, description).
 * Source: DESIGN sections 2–4.
 */
import type { JsonObject } from "../../base/json.js";
import type { ReadFrom, WorkflowSource } from "./read-from.js";
import type { ConsolidationRule, PlanRule } from "./goal-rules.js";
import type { HooksDefinition } from "./hooks.js";
import type { ConfidenceRule, EvaluationDefinition } from "./phase-rules.js";
import type { NodeBase, ModelStep, StepDefinition } from "./step.js";
import type { TemplateValue, InputDefinition, OnUnknown, FailureMode, OnFailure, ContextRule } from "./values.js";

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
  /** Specialists, with `dependsOn` among them: steps, and groups of them that count as one. */
  readonly children: readonly NodeDefinition[];
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
/** Another workflow as one step: a border for names, inputs and limits; what it uses counts for those around it too. */
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
  /** Its output: name → template; empty means what its steps gave, by name. */
  readonly output: Readonly<Record<string, TemplateValue>>;
  readonly onFailure: OnFailure;
  /** Of each entering by itself. */
  readonly limits: LimitsDefinition;
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
  /** Final output: name → template; empty means what the steps gave, by name. */
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
