/**
 * What a tool of the server is, and what it is given to work with.
 *
 * M1: every tool answers within a stated time; work that may take longer runs in a process of its own, and its end is asked
 *     for by name. M2: what is told comes from runtime as its verbs give it; a tool picks and bounds, and adds which tool
 *     to call next. M3: no tool answers a question, directly or ahead, unless the person who started the server let it.
 */
import type { Clock } from "../base/clock.js";
import type { JsonObject } from "../base/json.js";
import type { Splashdown } from "../runtime/contract.js";
import type { Starts } from "../runtime/platform/background-starts.js";
import type { SeenQuestions } from "./seen-questions.js";

/** What the tools of one server work with. */
export interface ToolContext {
  readonly splashdown: Splashdown;
  readonly starts: Starts;
  readonly clock: Clock;
  /** Real path of the folder that workflow files must lie below. */
  readonly root: string;
  readonly mayAnswer: boolean;
  /** Modules may be loaded: by processes of their own, never by this one. */
  readonly mayLoadModules: boolean;
  /** What `validate` says of a module, from a process without keys. Errors: those of the verb. */
  readonly checkModule: (file: string) => Promise<JsonObject>;
  /** Questions that the client was told of, by task. */
  readonly told: SeenQuestions;
}

/** One call of a tool. */
export interface ToolCall {
  /** Fires when the client has cancelled the call, or has gone. */
  readonly signal: AbortSignal;
  /** Who is said to have done it. */
  readonly by: string;
  /** Tells how far it is; absent where the client did not ask for it. Shape: `progress` grows. */
  readonly tell?: (progress: number, message: string) => void;
}

export interface ToolAnswer {
  /** In the shape of the tool's `result`. */
  readonly result: unknown;
  /** What to do next, in one sentence. */
  readonly next?: string;
  /** What was left out before, and how to see it. */
  readonly leftOut?: readonly string[];
  /** The command that shows all of the result, where it is too large for an answer. */
  readonly command?: string;
}

export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schemas of what it takes and of its result. */
  readonly input: JsonObject;
  readonly result: JsonObject;
  readonly hints: ToolHints;
  readonly call: (input: JsonObject, call: ToolCall) => Promise<ToolAnswer>;
}

interface ToolParts<Input> extends Omit<Tool, "input" | "call"> {
  /** Its fields; those in `required` must be there, and no others may. */
  readonly fields: Readonly<Record<string, JsonObject>>;
  readonly required?: readonly (keyof Input & string)[];
  /** `input` is what the schema lets through. */
  readonly call: (input: Input, call: ToolCall) => Promise<ToolAnswer>;
}

export function defineTool<Input>({ fields, required = [], call, ...rest }: ToolParts<Input>): Tool {
  return {
    ...rest,
    input: { type: "object", additionalProperties: false, required, properties: fields },
    call: (input, about) => call(input as Input, about),
  };
}

/** Hints by what a tool does. */
export const READS: ToolHints = hints(true, false, true);
export const ASKS: ToolHints = hints(false, false, true);
/** Runs steps of a workflow, which may do anything; a repeated call does it once. */
export const RUNS: ToolHints = { ...hints(false, true, true), openWorldHint: true };

function hints(readOnlyHint: boolean, destructiveHint: boolean, idempotentHint: boolean): ToolHints {
  return { readOnlyHint, destructiveHint, idempotentHint, openWorldHint: false };
}

/** A field that is a text of some length. */
export function text(description: string, maxLength = 4096): JsonObject {
  return { type: "string", minLength: 1, maxLength, description };
}

/** The field of almost every tool. */
export const TASK: JsonObject = text("name or id (uuid) of the task, as run_workflow and list_tasks give it", 200);
