/** What a loader returns: a definition with what stands beside it and is not sealed into a task. */
import type { WorkflowDefinition } from "./workflow.js";

/** Functions of a TypeScript workflow, by `@path`. They never leave the process. */
export type WorkflowFunctions = ReadonlyMap<string, (context: never) => unknown>;

/** What a loader returns: the definition, where it came from and the functions beside it. */
export interface LoadedWorkflow {
  readonly definition: WorkflowDefinition;
  /** Absolute path of the file; `undefined` for an object given in a program. */
  readonly file?: string;
  readonly folder: string;
  readonly functions: WorkflowFunctions;
  /** What the file asks for and this version does not do: dotted key, what it does not do, what to do instead. */
  readonly notes: readonly string[];
}
