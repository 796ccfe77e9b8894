/** A tool of model steps in its normalised form. */
import type { JsonObject } from "../base/json.js";
import type { Effects } from "./workflow.js";

/** A function that a model may have called. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  /** As of a function step. */
  readonly function: string;
  /** JSON Schema of its input. */
  readonly parameters: JsonObject;
  readonly effects: Effects;
  readonly timeoutMs?: number;
  /** Digest of its code. */
  readonly code?: string;
}
