/**
 * The raw chunks of a provider's stream, read for what the SDK drops: the words of a refusal, the stop reason, an error in the
 * provider's own form, and the tokens counted before a stream broke off.
 *
 * Source: OpenAI, chat completions, `delta.refusal`, and responses, `response.refusal.delta`; Anthropic, streaming messages
 * and stop reasons.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";

export interface RawNews {
  refusal: string;
  /** The stop reason in the provider's own word. */
  stop?: string;
  tokensIn?: number;
  tokensOut?: number;
  /** That was told inside the stream. */
  error?: JsonObject;
}

/** Takes what one chunk says. Errors: none; a chunk of an unknown form says nothing. */
export function takeRawChunk(news: RawNews, chunk: unknown): void {
  if (!isJsonObject(chunk)) return;
  if (isJsonObject(chunk["error"])) news.error = chunk["error"];
  const [choice] = Array.isArray(chunk["choices"]) ? (chunk["choices"] as readonly JsonValue[]) : [];
  const delta = objectOf(isJsonObject(choice) ? choice["delta"] : chunk["delta"]);
  const refusal = chunk["type"] === "response.refusal.delta" ? chunk["delta"] : delta["refusal"];
  if (typeof refusal === "string") news.refusal += refusal;
  const stop = isJsonObject(choice) ? choice["finish_reason"] : delta["stop_reason"];
  if (typeof stop === "string") news.stop = stop;
  for (const part of [chunk, objectOf(chunk["message"]), objectOf(chunk["response"])])
    takeUsage(news, objectOf(part["usage"]));
}

function takeUsage(news: RawNews, usage: JsonObject): void {
  const input = sumOf(usage, ["prompt_tokens", "input_tokens", ...CACHED]);
  const output = sumOf(usage, ["completion_tokens", "output_tokens"]);
  if (input !== undefined) news.tokensIn = input;
  if (output !== undefined) news.tokensOut = output;
}

/** Anthropic counts them beside the others. */
const CACHED = ["cache_read_input_tokens", "cache_creation_input_tokens"];

function sumOf(usage: JsonObject, names: readonly string[]): number | undefined {
  const counts = names.map((name) => usage[name]).filter((count) => typeof count === "number");
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
