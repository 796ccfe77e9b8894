/**
 * What the performers need of the world, and the narrow port of a language model.
 *
 * Owns: carrying out one attempt of one step. The runner owns when, how often, for how long, and what its outcome means;
 * it tells the end of an attempt through the signal, and a performer answers by ending whole process trees.
 *
 * A1: a performer never throws for a failure of the step, only for a lost ownership or a mistake of ours.
 * A2: no program runs before its `spawned` is durable. A3: what an earlier attempt made durable (turns, sub-steps) is
 * used again and not done again. A4: a child cannot forge events: of what it says only the protocol's own words count.
 * A5: our own key variables never reach a child.
 */
import type { Clock } from "../../base/clock.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { RandomSource } from "../../base/random.js";
import type { Log } from "../../base/log.js";
import type { ProviderChoice } from "../../definition/settings/provider-map.js";
import type { WorkflowFunctions } from "../../definition/model/loaded-workflow.js";
import type { Usage } from "../../engine/model/events.js";
import type { ProcessHost } from "../../process/contract.js";
import type { FunctionGuard } from "./function-guard.js";
import type { ToolServers } from "./connected-server.js";

/** One thing that is wrong with a value, by JSON Pointer. */
export interface SchemaFault {
  readonly path: string;
  readonly message: string;
  /** `schema`: the schema itself cannot be used, so nothing was judged. */
  readonly keyword?: string;
}

/** Judges a value by a JSON Schema; empty when it fits. A schema that is no schema is a fault at `""`. */
export type SchemaCheck = (schema: JsonObject, value: JsonValue) => Promise<readonly SchemaFault[]>;

/** What a model may ask for: a name, what it is for, and the JSON Schema of its input. */
export interface ToolDescription {
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonObject;
}

/** A tool call that a model wishes for; `id` is the provider's and may come twice. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  /** Why the text that the model gave as input cannot be read as it was said; the tool is not called then. */
  readonly unreadable?: string | undefined;
}

export interface ToolReply {
  readonly call: ToolCall;
  readonly text: string;
  readonly isError: boolean;
}

/** What was said so far, in order. */
export type ModelMessage =
  | { readonly role: "user"; readonly text: string }
  /** `kept`: the answer in the provider's own form, where it must be given back whole (signed reasoning). */
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly ToolCall[];
      readonly kept?: JsonValue | undefined;
    }
  | { readonly role: "tool"; readonly replies: readonly ToolReply[] };

export type Effort = "low" | "medium" | "high" | "xhigh" | "max";

/** What is left out is the provider's own choice. */
export interface ModelOptions {
  readonly temperature?: number;
  readonly tokensMax?: number;
  readonly effort?: Effort;
  /** For one call, and for silence in it; silence is counted on content, signs of life do not count. */
  readonly timeoutMs?: number;
  readonly idleTimeoutMs?: number;
}

/** One call of a model. Everything that decides the answer of a scripted model is in here, so it survives a crash. */
export interface ModelRequest {
  readonly step: { readonly name: string; readonly path: string; readonly visit: number; readonly attempt: number };
  /** Calls of this step that are already durable. */
  readonly turn: number;
  readonly idempotencyKey: string;
  readonly model?: string | undefined;
  readonly systemPrompt?: string | undefined;
  readonly messages: readonly ModelMessage[];
  readonly outputSchema?: JsonObject | undefined;
  readonly tools: readonly ToolDescription[];
  readonly options: ModelOptions;
  /** Address, key and headers as the workflow's file says them; `${NAME}` is filled where they are used. */
  readonly endpoint?: JsonObject | undefined;
}

export interface ModelAnswer {
  /** Text, or an object where the model gives structure. */
  readonly say: JsonValue;
  /** Tools it wants to be called before it goes on; none: it has finished. */
  readonly calls?: readonly ToolCall[] | undefined;
  readonly kept?: JsonValue | undefined;
  readonly confidence?: JsonValue | undefined;
  readonly uncertainties?: readonly JsonValue[] | undefined;
  /** It says all that is to be said: nothing is asked for beside it. */
  readonly whole?: boolean | undefined;
  /** It ended at the limit of tokens and is not whole. */
  readonly cut?: boolean | undefined;
  /** Said in the step's report, e.g. that the answer was scripted. */
  readonly factors: readonly string[];
  readonly usage: Usage;
}

export interface CallEnds {
  readonly signal: AbortSignal;
  /** The text so far, whenever some came. */
  readonly onText: (text: string) => void;
  /** Content came that is no text: reasoning, input of a tool. */
  readonly onActivity: () => void;
}

/**
 * A language model.
 *
 * Errors: MODEL_FAILED and MODEL_RATE_LIMITED; `details.retry_at_ms` is when the provider wants to be asked again,
 * `details.retryable` beats the table, `details.called` says that the provider was asked and may charge for it.
 * MODEL_UNAVAILABLE when it cannot be asked here. CANCELLED when the signal fires.
 */
export interface Model {
  call(request: ModelRequest, ends: CallEnds): Promise<ModelAnswer>;
}

export interface PerformerDeps {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  readonly processes: ProcessHost;
  /** The owner's environment; children get a named few of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute folder of the task's deliverables: where programs may put files of their own. */
  readonly outputFolder: string;
  readonly functions: WorkflowFunctions;
  readonly toolServers: ToolServers;
  /** What functions do to the process is a failure of their step. */
  readonly functionGuard: FunctionGuard;
  /** Profiles of agents with a command line, over those that come along. */
  readonly cliAgents: Readonly<Record<string, CliAgentSettings>>;
  readonly checkSchema: SchemaCheck;
  /** The model of a provider; `undefined`: not available here. */
  readonly modelOf: (provider: string) => Model | undefined;
  /** The provider and model that stand for those a workflow names: the setting `provider_map`. */
  readonly chooseProvider: (provider: string, model: string | undefined) => ProviderChoice;
}

/** A profile in the settings file. */
export interface CliAgentSettings {
  readonly like?: "claude" | "codex" | "gemini" | "copilot";
  readonly command?: readonly string[];
  readonly arguments?: readonly string[];
  readonly variables?: readonly string[];
}
