/** Reads what a model step says of its calls: the models to ask, sampling, patience, bounds. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { ModelStep } from "../../definition/model/step.js";
import type { Effort, ModelOptions } from "../outcome/contract.js";
import type { ModelChoice } from "./model-call.js";

export interface ModelPlan {
  /** The step's own model, then its fallbacks. */
  readonly choices: readonly ModelChoice[];
  readonly options: ModelOptions;
  readonly turnsMax?: number | undefined;
  readonly repairsMax?: number | undefined;
  /** Of a tool's result, what the model is shown. */
  readonly shownCharsMax: number;
}

const EFFORTS: readonly string[] = ["low", "medium", "high", "xhigh", "max"] satisfies Effort[];

export function readModelPlan({ provider, options = {} }: ModelStep, model: string | undefined): ModelPlan {
  const { retry } = options;
  const endpoint = isJsonObject(options["provider"]) ? options["provider"] : undefined;
  return {
    choices: [{ provider, model, endpoint }, ...readFallback(options["fallback"], { provider, endpoint })],
    options: readOptions(options),
    turnsMax: numberOf(options["max_agent_iterations"]),
    repairsMax: numberOf(isJsonObject(retry) ? retry["max_parse_recovery_attempts"] : undefined),
    shownCharsMax: readShownChars(options["tool_output"]),
  };
}

/** `tool_output: {enabled, max_chars}`. The whole result is recorded either way. */
function readShownChars(output: JsonValue | undefined): number {
  if (!isJsonObject(output)) return LIMITS.toolTextCharsMax;
  return output["enabled"] === false ? Infinity : (numberOf(output["max_chars"]) ?? LIMITS.toolTextCharsMax);
}

function readOptions(options: JsonObject): ModelOptions {
  const temperature = numberOf(options["temperature"]);
  const tokensMax = numberOf(options["max_tokens"]);
  const timeoutSeconds = numberOf(options["timeout"]);
  const reasoning = options["reasoning"];
  const effort = isJsonObject(reasoning) ? reasoning["effort"] : undefined;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(tokensMax === undefined ? {} : { tokensMax }),
    ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1_000 }),
    ...(typeof effort === "string" && EFFORTS.includes(effort) ? { effort: effort as Effort } : {}),
  };
}

/** A text is another model of the same provider, at the same place. */
function readFallback(value: JsonValue | undefined, { provider, endpoint }: ModelChoice): ModelChoice[] {
  const list = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  return list.flatMap((item): ModelChoice[] => {
    if (typeof item === "string") return [{ provider, model: item, endpoint }];
    if (!isJsonObject(item) || typeof item["provider"] !== "string") return [];
    return [
      {
        provider: item["provider"],
        ...(typeof item["model"] === "string" ? { model: item["model"] } : {}),
        ...(item["provider"] === provider ? { endpoint } : {}),
      },
    ];
  });
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
