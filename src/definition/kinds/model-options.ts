/**
 * What a file says about how a model is to be called, gathered in `ModelStep.options`.
 *
 * Owns: which keys of `workflow.runtime` are defaults of which keys of a step. Keys stay as they are written in a file;
 * what a provider makes of them is agents/' part. Values that may hold a secret keep their `${NAME}` and are filled at
 * the moment of use (environment.ts).
 *
 *   temperature · max_tokens · timeout (seconds of one call) · max_agent_iterations ·
 *   reasoning {effort} · context_tier · working_dir · tool_output {enabled, max_chars, spill_to_file, spill_dir} ·
 *   provider (its settings, when written as a map) · retry {max_parse_recovery_attempts} · fallback ·
 *   output_mode · session_key · validator · dialog · sandbox · skills · plugins
 * Source: CONDUCTOR-YAML 1.3, 1.4.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { omitUndefined } from "./step-fields.js";
import type { Runtime, Step } from "../../schema/generated/workflow.js";

/** Keys of a step, as they are. */
const STEP_KEYS = ["output_mode", "session_key", "validator", "dialog", "sandbox", "fallback"] as const;
/** Keys that a step has, and `runtime` for all steps. */
const SHARED_KEYS = [
  ...(["temperature", "max_tokens", "max_agent_iterations"] as const),
  ...(["working_dir", "skills", "plugins"] as const),
] as const;
/** Keys that only `runtime` has. */
const RUNTIME_KEYS = ["timeout"] as const;
const RETRY_KEYS = ["max_parse_recovery_attempts"] as const;
const TOOL_OUTPUT = { enabled: true, max_chars: 50_000, spill_to_file: true } as const;

/** The options of a model step; a step's own come before those of `runtime`. */
export function buildModelOptions(step: Step, runtime: Runtime): JsonObject {
  return {
    ...pick(runtime, RUNTIME_KEYS),
    ...pick(runtime, SHARED_KEYS),
    ...pick(step, SHARED_KEYS),
    ...pick(step, STEP_KEYS),
    ...omitUndefined("session_key", step.session_key?.trim()),
    ...omitUndefined("context_tier", step.context_tier ?? runtime.default_context_tier),
    ...buildReasoning(step, runtime),
    ...buildToolOutput(runtime),
    ...omitUndefined("retry", filled(pick(step.retry ?? {}, RETRY_KEYS))),
    ...(step.validator === undefined ? {} : { validator: { max_retries: 1, ...step.validator } }),
    ...omitUndefined("provider", endpointOf(runtime, step.provider)),
  };
}

/** The file's own settings of the provider that is asked; another provider than the workflow's has nothing of them. */
export function endpointOf({ provider: own }: Runtime, asked: string | undefined): JsonObject | undefined {
  if (!isJsonObject(own)) return undefined;
  return asked === undefined || asked === own["name"] ? own : undefined;
}

function buildReasoning(step: Step, runtime: Runtime): JsonObject {
  const effort = step.reasoning?.effort ?? runtime.default_reasoning_effort;
  return effort === undefined ? {} : { reasoning: { effort } };
}

function buildToolOutput({ tool_output: output }: Runtime): JsonObject {
  return output === undefined ? {} : { tool_output: { ...TOOL_OUTPUT, ...output } };
}

function pick<T extends object>(from: T, keys: readonly (keyof T & string)[]): Record<string, JsonValue> {
  const picked: Record<string, JsonValue> = {};
  for (const key of keys) if (from[key] !== undefined) picked[key] = from[key] as JsonValue;
  return picked;
}

function filled<T extends object>(value: T | undefined): T | undefined {
  return value === undefined || Object.keys(value).length === 0 ? undefined : value;
}
