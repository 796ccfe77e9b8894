/** What an MCP server answered, as it is recorded and as a model is shown it. */
import { SplashdownError } from "../../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.js";
import { formatJsonText, formatPlainValue } from "../../../base/plain-value.js";
import { encodeValue } from "../../../base/json-encoding.js";
import type { ServerAnswer } from "../../outcome/connected-server.js";

/** Shape: plain texts as `{value: text}`; anything else as `{content, structured}`. Errors: TOOL_FAILED, as the server says. */
export function readResult({ content, structured, isError }: ServerAnswer): JsonObject {
  const text = content.every(({ type }) => type === "text") ? content.map(textOf).join("\n") : undefined;
  if (isError) throw new SplashdownError("TOOL_FAILED", text ?? JSON.stringify(content));
  if (text !== undefined && structured === undefined) return { value: text };
  return encodeValue({ content, ...(structured === undefined ? {} : { structured }) }) as JsonObject;
}

/** What a model is shown of content that is no text. */
export function describeContent(value: JsonValue): string | undefined {
  if (!isJsonObject(value) || !Array.isArray(value["content"])) return undefined;
  const { structured } = value;
  const blocks = (value["content"] as readonly JsonValue[]).filter(isJsonObject).map(describeBlock);
  return [...blocks, ...(structured === undefined ? [] : [formatJsonText(formatPlainValue(structured))])].join("\n");
}

function describeBlock(block: JsonObject): string {
  const { type, mimeType, data } = block;
  if (type === "text") return textOf(block);
  if (typeof data === "string")
    return `[${JSON.stringify(type)} of ${JSON.stringify(mimeType)}, ${data.length} characters of base64]`;
  return JSON.stringify(block);
}

function textOf({ text }: JsonObject): string {
  return typeof text === "string" ? text : "";
}
