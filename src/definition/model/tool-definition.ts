/** Tools of model steps in their normalised form: functions of the workflow, and servers that have tools. */
import type { JsonObject } from "../../base/json.js";
import type { Effects } from "./values.js";

/** Whether a person is asked before a call: before each, before the first of the task, or not at all. */
export type Approval = "always" | "once" | "never";

export type ToolDefinition = FunctionTool | ToolServer;

/** A function that a model may have called. */
export interface FunctionTool {
  readonly name: string;
  readonly description?: string;
  /** As of a function step. */
  readonly function: string;
  /** JSON Schema of its input. */
  readonly parameters: JsonObject;
  readonly effects: Effects;
  readonly approve?: Approval;
  readonly timeoutMs?: number;
  /** Digest of its code. */
  readonly code?: string;
}

/** What the file says of one tool of a server, which knows the rest. */
export interface ToolPolicy {
  readonly effects?: Effects;
  readonly approve?: Approval;
  readonly timeoutMs?: number;
}

/** An MCP server and which of its tools a step may use. Source: CONDUCTOR-YAML 1.3. */
export interface ToolServer {
  /** Name in the file; the model sees its tools as `<server>__<tool>`. */
  readonly server: string;
  readonly reach: ServerReach;
  /** Tools that may be used: `<tool>`, `<server>__<tool>`, or `*`; every list must allow a tool. */
  readonly allowed: readonly (readonly string[])[];
  /** Those that the step itself names: without them it does not begin. */
  readonly required?: readonly string[];
  /** By `<tool>` or `<server>__<tool>`. */
  readonly policies: Readonly<Record<string, ToolPolicy>>;
  readonly approve?: Approval;
  /** For one call; a sign of progress starts it again. */
  readonly timeoutMs?: number;
}

/** How a server is reached; texts keep their `${NAME}` until they are used. */
export type ServerReach =
  | {
      readonly by: "stdio";
      readonly command: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
    }
  | { readonly by: "http" | "sse"; readonly url: string; readonly headers: Readonly<Record<string, string>> };

export function isToolServer(tool: ToolDefinition): tool is ToolServer {
  return "server" in tool;
}

export function isFunctionTool(tool: ToolDefinition): tool is FunctionTool {
  return !isToolServer(tool);
}
