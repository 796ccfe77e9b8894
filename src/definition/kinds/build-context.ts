/** What every builder of a definition shares. */
import type { JsonObject } from "../../base/json.js";
import type { Runtime } from "../../schema/generated/workflow.js";
import type { FaultList, FaultPath } from "../faults/fault.js";
import type { WorkflowSource } from "../model/read-from.js";
import type { ToolShelf } from "./tool-builder.js";
import type { LoadedWorkflow } from "../model/loaded-workflow.js";
import type { NodeDefinition } from "../model/workflow.js";

export interface BuildContext {
  readonly faults: FaultList;
  /** Provider and model of steps that name none. */
  readonly provider: string;
  readonly model: string | undefined;
  /** A model that chooses for the orchestrator; absent: rules do. */
  readonly atlas?: { readonly provider?: string; readonly model?: string };
  /** Of what a specialist is told, in tokens. */
  readonly briefingTokensMax: number;
  /** Options of model steps that say nothing themselves. */
  readonly runtime: Runtime;
  /** What this file says of the whole task. */
  readonly settings: JsonObject;
  /** Texts before every prompt, those of the workflows around this one first. */
  readonly instructions: readonly string[];
  /** Digests of function code: by file as written in the workflow, or by `@path`. */
  readonly codeDigests: ReadonlyMap<string, string>;
  readonly tools: ToolShelf;
  /** Workflows that steps name, by the text that names them. */
  readonly nested: ReadonlyMap<string, LoadedWorkflow>;
  /** Files of nested workflows, filled by the builders. */
  readonly sources: WorkflowSource[];
  /** Where each node stands in the file, filled by the builders. */
  readonly places: Map<NodeDefinition, FaultPath>;
  /** Names of steps of kinds that do not run here: told once, not at every place that names them. */
  readonly absent: Set<string>;
}

/** Where a node is being built. */
export interface NodeSite {
  /** Place in the file. */
  readonly at: FaultPath;
  /** Path of the scope around it. */
  readonly parent: string;
  /** Children of a machine have routes, and say nothing to be model steps. */
  readonly isRouted: boolean;
  /** Specialists of a phase are briefed. */
  readonly isSpecialist?: boolean;
  readonly context: BuildContext;
}
