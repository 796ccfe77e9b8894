/**
 * Servers that answer a request for a stream with one whole document: the document as the stream that was asked for.
 *
 * Gateways and small servers do so, and also tell errors in it with the status 200. Forms that are not known stay as they are.
 * Source: OpenAI, the chat completion object; Anthropic, the message object and its streaming events.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";

/** A fetch whose answers to requests for a stream are streams. */
export function withWholeAnswers(inner: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    const isJson = /\bjson\b/i.test(response.headers.get("content-type") ?? "");
    if (!response.ok || !isJson || !asksForStream(init?.body)) return response;
    const text = await response.text();
    const { status, statusText, headers } = response;
    const events = formatEvents(text);
    const shape = { status, statusText, headers: headersOf(headers, events !== undefined) };
    return new Response(events ?? text, shape);
  };
}

function asksForStream(body: unknown): boolean {
  return typeof body === "string" && /"stream"\s*:\s*true/.test(body);
}

function headersOf(headers: Headers, isStream: boolean): Headers {
  const kept = new Headers(headers);
  for (const name of ["content-length", "content-encoding"]) kept.delete(name);
  if (isStream) kept.set("content-type", "text/event-stream");
  return kept;
}

/** `undefined` for what is no answer of a known form. */
function formatEvents(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  if (Array.isArray(value["choices"])) return formatChat(value, value["choices"] as readonly JsonValue[]);
  if (value["type"] === "message" && Array.isArray(value["content"]))
    return formatMessage(value, value["content"] as readonly JsonValue[]);
  // Begun with something else, the error comes through as it is.
  if (value["type"] === "error") return event({ type: "ping" }) + event({ ...value, type: "error" });
  return isJsonObject(value["error"]) ? `data: ${JSON.stringify(value)}\n\n` : undefined;
}

function event(body: JsonObject & { readonly type: string }): string {
  return `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
}

function formatChat(whole: JsonObject, choices: readonly JsonValue[]): string {
  const deltas = choices.filter(isJsonObject).map(({ message, ...choice }) => ({
    ...choice,
    delta: isJsonObject(message) ? { ...message, ...indexCalls(message["tool_calls"]) } : {},
  }));
  const chunk = { ...whole, object: "chat.completion.chunk", choices: deltas };
  return `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
}

function indexCalls(calls: JsonValue | undefined): JsonObject {
  if (!Array.isArray(calls)) return {};
  return {
    tool_calls: (calls as readonly JsonValue[]).filter(isJsonObject).map((call, index) => ({ index, ...call })),
  };
}

function formatMessage(whole: JsonObject, content: readonly JsonValue[]): string {
  const { stop_reason, stop_sequence = null, usage = {} } = whole;
  const start = { ...whole, content: [], stop_reason: null, stop_sequence: null };
  return [
    event({ type: "message_start", message: start }),
    ...content.filter(isJsonObject).map(formatBlock),
    event({ type: "message_delta", delta: { stop_reason: stop_reason ?? null, stop_sequence }, usage }),
    event({ type: "message_stop" }),
  ].join("");
}

function formatBlock(block: JsonObject, index: number): string {
  const [empty, deltas] = splitBlock(block);
  return [
    event({ type: "content_block_start", index, content_block: empty }),
    ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
    event({ type: "content_block_stop", index }),
  ].join("");
}

/** A block as it begins, and what comes to it. */
function splitBlock(block: JsonObject): readonly [JsonObject, readonly JsonObject[]] {
  const { type, text, input, thinking, signature } = block;
  if (type === "text") return [{ ...block, text: "" }, [{ type: "text_delta", text: text ?? "" }]];
  if (type === "tool_use")
    return [{ ...block, input: {} }, [{ type: "input_json_delta", partial_json: JSON.stringify(input ?? {}) }]];
  if (type !== "thinking") return [block, []];
  const signed = signature === undefined ? [] : [{ type: "signature_delta", signature }];
  return [{ ...block, thinking: "" }, [{ type: "thinking_delta", thinking: thinking ?? "" }, ...signed]];
}
