/**
 * A model's server on loopback that says what a table wants: each reason why an answer ended, in each wire form, as a stream
 * or as one whole document.
 */
import { answer, endStream, stream, type RawReply } from "./raw-server.js";

/** What is said once. Each saying counts 3 tokens of input and 2 of output, unless it breaks off. */
export interface Saying {
  readonly text?: string;
  /** A call of the tool `look`, with the text of its input, whole or not. */
  readonly input?: string;
  /** The provider's own word; `null` breaks off without one. */
  readonly stop: string | null;
  /** OpenAI's words of a refusal. */
  readonly refusal?: string;
}

export interface ServerForm {
  readonly name: string;
  readonly provider: "openai-compatible" | "anthropic";
  readonly isWhole: boolean;
  readonly environment: (url: string) => Readonly<Record<string, string>>;
  readonly say: (saying: Saying) => RawReply;
  /** An error that is told with the status 200, after some text where there is any. */
  readonly fail: (error: object) => RawReply;
}

const chunk = (body: object): string => `data: ${JSON.stringify({ id: "1", ...body })}\n\n`;
const event = (body: { readonly type: string } & Readonly<Record<string, unknown>>): string =>
  `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
const asStream =
  (...parts: readonly string[]): RawReply =>
  (socket) => {
    stream(socket, parts.filter((part) => part !== "").join(""));
    endStream(socket);
  };
const asWhole =
  (body: object): RawReply =>
  (socket) =>
    answer(socket, 200, {}, JSON.stringify(body));

const openaiEnvironment = (url: string) => ({ OPENAI_BASE_URL: url, OPENAI_API_KEY: "sk-a" });
const OPENAI_USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

function openaiMessage({ text, input, refusal }: Saying): object {
  const call = { index: 0, id: "c", type: "function", function: { name: "look", arguments: input } };
  return {
    role: "assistant",
    content: text ?? null,
    ...(refusal === undefined ? {} : { refusal }),
    ...(input === undefined ? {} : { tool_calls: [call] }),
  };
}

const openaiStream: ServerForm = {
  name: "OpenAI's form, as a stream",
  provider: "openai-compatible",
  isWhole: false,
  environment: openaiEnvironment,
  say: (saying) => {
    const begun = chunk({ choices: [{ index: 0, delta: openaiMessage(saying), finish_reason: null }] });
    if (saying.stop === null) return asStream(begun);
    const ended = chunk({ choices: [{ index: 0, delta: {}, finish_reason: saying.stop }], usage: OPENAI_USAGE });
    return asStream(begun, ended, "data: [DONE]\n\n");
  },
  fail: (error) =>
    asStream(chunk({ choices: [{ index: 0, delta: { content: "half " }, finish_reason: null }] }), chunk({ error })),
};

const openaiWhole: ServerForm = {
  ...openaiStream,
  name: "OpenAI's form, as one document",
  isWhole: true,
  say: (saying) => {
    const choice = { index: 0, message: openaiMessage(saying), finish_reason: saying.stop };
    return asWhole({ id: "1", object: "chat.completion", choices: [choice], usage: OPENAI_USAGE });
  },
  fail: (error) => asWhole({ error }),
};

const anthropicEnvironment = (url: string) => ({
  ANTHROPIC_BASE_URL: url.replace(/\/v1$/, ""),
  ANTHROPIC_API_KEY: "sk-b",
});
const ANTHROPIC_START = {
  id: "m",
  type: "message",
  role: "assistant",
  model: "m",
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
};

function anthropicBlock({ text = "", input }: Saying): string {
  const content_block =
    input === undefined ? { type: "text", text: "" } : { type: "tool_use", id: "toolu_1", name: "look", input: {} };
  const delta = input === undefined ? { type: "text_delta", text } : { type: "input_json_delta", partial_json: input };
  return [
    event({ type: "content_block_start", index: 0, content_block }),
    event({ type: "content_block_delta", index: 0, delta }),
    event({ type: "content_block_stop", index: 0 }),
  ].join("");
}

const anthropicStream: ServerForm = {
  name: "Anthropic's form, as a stream",
  provider: "anthropic",
  isWhole: false,
  environment: anthropicEnvironment,
  say: (saying) => {
    const begun = event({ type: "message_start", message: ANTHROPIC_START }) + anthropicBlock(saying);
    if (saying.stop === null) return asStream(begun);
    const delta = { stop_reason: saying.stop, stop_sequence: null };
    return asStream(
      begun,
      event({ type: "message_delta", delta, usage: { output_tokens: 2 } }),
      event({ type: "message_stop" }),
    );
  },
  fail: (error) =>
    asStream(
      event({ type: "message_start", message: ANTHROPIC_START }),
      anthropicBlock({ text: "half ", stop: null }),
      event({ type: "error", error }),
    ),
};

const anthropicWhole: ServerForm = {
  ...anthropicStream,
  name: "Anthropic's form, as one document",
  isWhole: true,
  say: ({ text, input, stop }) => {
    const call =
      input === undefined ? [] : [{ type: "tool_use", id: "toolu_1", name: "look", input: JSON.parse(input) }];
    const content = [...(text === undefined ? [] : [{ type: "text", text }]), ...call];
    return asWhole({
      ...ANTHROPIC_START,
      content,
      stop_reason: stop,
      usage: { input_tokens: 3, output_tokens: 2 },
    });
  },
  fail: (error) => asWhole({ type: "error", error }),
};

export const SERVER_FORMS: readonly ServerForm[] = [openaiStream, openaiWhole, anthropicStream, anthropicWhole];
