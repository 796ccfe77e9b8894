/** The streams of the providers' interfaces in pieces, for servers that break them off where they like. */
import type { ProviderSettings } from "../../src/agents/providers/provider-config.js";
import { LAST_CHUNK, textChunk } from "./raw-server.js";

export interface WireForm {
  readonly provider: string;
  readonly path: string;
  /** Of a raw server whose address ends in `/v1`. */
  readonly settings: (url: string) => ProviderSettings;
  readonly environment: Readonly<Record<string, string>>;
  /** What begins an answer, up to some of its text. */
  readonly begin: (text: string) => string;
  /** More text. */
  readonly more: (text: string) => string;
  /** What makes it whole. */
  readonly end: string;
  /** What keeps a connection alive and says nothing. */
  readonly alive: string;
}

const event = (body: { readonly type: string } & Record<string, unknown>): string =>
  `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;

const chat = {
  path: "/v1/chat/completions",
  begin: textChunk,
  more: textChunk,
  end: LAST_CHUNK,
  alive: ": keep-alive\n\n",
};

const anthropicText = (text: string): string =>
  event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
const anthropicStart = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "test-model",
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
};

const item = { id: "item_1", type: "message" };
const responseText = (delta: string): string =>
  event({ type: "response.output_text.delta", item_id: item.id, output_index: 0, content_index: 0, delta });

export const WIRE_FORMS: readonly WireForm[] = [
  {
    ...chat,
    provider: "openai",
    settings: (url) => ({ base_url: url }),
    environment: {},
  },
  {
    ...chat,
    provider: "ollama",
    settings: (url) => ({ base_url: url }),
    environment: {},
  },
  {
    provider: "anthropic",
    path: "/v1/messages",
    settings: (url) => ({ base_url: url.replace(/\/v1$/, "") }),
    environment: {},
    begin: (text) =>
      event({ type: "message_start", message: anthropicStart }) +
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }) +
      anthropicText(text),
    more: anthropicText,
    end:
      event({ type: "content_block_stop", index: 0 }) +
      event({
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 2 },
      }) +
      event({ type: "message_stop" }),
    alive: event({ type: "ping" }),
  },
  {
    provider: "openai-responses",
    path: "/v1/responses",
    settings: (url) => ({ base_url: url, key_variable: "RESPONSES_KEY" }),
    environment: { RESPONSES_KEY: "sk-c" },
    begin: (text) =>
      event({ type: "response.created", response: { id: "r", created_at: 1, model: "test-model" } }) +
      event({ type: "response.output_item.added", output_index: 0, item }) +
      responseText(text),
    more: responseText,
    end:
      event({ type: "response.output_item.done", output_index: 0, item }) +
      event({ type: "response.completed", response: { usage: { input_tokens: 3, output_tokens: 2 } } }),
    alive: ": keep-alive\n\n",
  },
];
