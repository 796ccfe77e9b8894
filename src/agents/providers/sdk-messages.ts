/** A request of ours in the form of the AI SDK. */
import type { AssistantModelMessage, ModelMessage as SdkMessage, ToolModelMessage } from "ai";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { Effort, ModelMessage, ModelRequest, ToolCall } from "../outcome/contract.js";

export function formatMessages(messages: readonly ModelMessage[]): SdkMessage[] {
  return messages.map(formatMessage);
}

function formatMessage(message: ModelMessage): SdkMessage {
  switch (message.role) {
    case "user":
      return { role: "user", content: message.text };
    case "assistant":
      return { role: "assistant", content: contentOf(message) };
    default:
      return { role: "tool", content: message.replies.map(formatReply) };
  }
}

type Content = Exclude<AssistantModelMessage["content"], string>;

function contentOf({ text, calls, kept }: Extract<ModelMessage, { role: "assistant" }>): Content {
  if (Array.isArray(kept)) return kept as Content;
  return [
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...calls.map(({ id, name, input }) => ({
      type: "tool-call" as const,
      toolCallId: id,
      toolName: name,
      input: isJsonObject(input) ? input : {},
    })),
  ];
}

function formatReply(reply: {
  readonly call: ToolCall;
  readonly text: string;
  readonly isError: boolean;
}): ToolModelMessage["content"][number] {
  const { call, text: value, isError } = reply;
  return {
    type: "tool-result",
    toolCallId: call.id,
    toolName: call.name,
    output: { type: isError ? "error-text" : "text", value },
  };
}

/** The words that ask for a form where the provider itself cannot be asked for it. */
export function describeForm(schema: JsonObject): string {
  return `Answer with one JSON value and nothing else. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
}

/** Tokens of thinking where a provider counts effort so. */
const THINKING_TOKENS: Readonly<Record<Effort, number>> = {
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
};

export type ProviderOptions = Record<string, Record<string, JsonValue>>;

/** Options by the names that the packages of the SDK give themselves; each reads its own. */
export function formatProviderOptions({ options, outputSchema }: ModelRequest): ProviderOptions {
  const { effort } = options;
  const strict: Record<string, JsonValue> =
    outputSchema === undefined ? {} : { strictJsonSchema: isStrict(outputSchema) };
  const reasoning: Record<string, JsonValue> =
    effort === undefined ? {} : { reasoningEffort: effort === "max" ? "xhigh" : effort };
  return {
    openaiCompatible: { ...reasoning, ...strict },
    openai: { ...reasoning, ...strict },
    ...(effort === undefined
      ? {}
      : {
          anthropic: { thinking: { type: "enabled", budgetTokens: THINKING_TOKENS[effort] } },
          google: { thinkingConfig: { thinkingBudget: THINKING_TOKENS[effort] } },
        }),
  };
}

/** Strict forms allow no open object anywhere; a schema that has one is asked for loosely, and checked by us. */
function isStrict(schema: JsonValue): boolean {
  if (Array.isArray(schema)) return schema.every((item: JsonValue) => isStrict(item));
  if (!isJsonObject(schema)) return true;
  const { type, properties, required, additionalProperties } = schema;
  const isOpen = type === "object" && additionalProperties !== false;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const isOptional = names.some((name) => !(Array.isArray(required) && required.includes(name)));
  const isLoose = type === "array" && schema["items"] === undefined;
  return !isOpen && !isOptional && !isLoose && Object.values(schema).every((item) => isStrict(item ?? null));
}
