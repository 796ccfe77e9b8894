/**
 * The AI SDK behind the `Model` port: one call, streamed, without a retry of its own.
 *
 * Everything comes through the stream: text is handed on as it comes, silence is counted on content, and an end without a
 * reason is a cut and not an answer. Cancelling does not wait for the SDK or the network.
 */
import type { LanguageModelMiddleware, TextStreamPart, ToolSet } from "ai";
import type { Clock } from "../../base/clock.js";
import { messageOf, SplashdownError } from "../../base/errors.js";
import { parseExactJson } from "../../base/exact-json.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { encodeValue } from "../../base/json-encoding.js";
import { LIMITS } from "../../base/limits.js";
import type { CallEnds, Model, ModelAnswer, ModelRequest, ToolCall } from "../outcome/contract.js";
import type { Usage } from "../../engine/model/events.js";
import { cutText, withUsage } from "../outcome/failure.js";
import { describeCallFailure } from "./call-failure.js";
import { CallWatch } from "./call-watch.js";
import { loadSdk, type Sdk, type SdkLanguageModel } from "./sdk-loading.js";
import { describeForm, formatMessages, formatProviderOptions } from "./sdk-messages.js";
import type { TokenCounts } from "./price.js";
import { takeRawChunk, type RawNews } from "./raw-chunks.js";

export interface SdkModelDeps {
  readonly clock: Clock;
  readonly provider: string;
  readonly load: (model: string) => Promise<SdkLanguageModel>;
  /** False: the form of the answer is asked for in words. */
  readonly isStructured: boolean;
  readonly computeCost: (model: string, counts: TokenCounts) => number | undefined;
  /** The provider let the call in. */
  readonly debug: (text: string) => void;
}

type Part = TextStreamPart<ToolSet>;

/** What a stream gave. */
interface Heard {
  text: string;
  /** Texts of tools' inputs as they came, by call. */
  readonly inputs: Map<string, string>;
  readonly calls: ToolCall[];
  readonly raw: RawNews;
  finish?: Extract<Part, { type: "finish-step" }>;
}

export class SdkModel implements Model {
  /** Models that refused a form of the answer; they are asked in words. */
  readonly #unstructured = new Set<string>();

  constructor(private readonly deps: SdkModelDeps) {}

  async call(request: ModelRequest, ends: CallEnds): Promise<ModelAnswer> {
    const model = request.model ?? "";
    const isWorded = !this.deps.isStructured || this.#unstructured.has(model);
    try {
      return await this.#ask(request, { ...ends, isWorded });
    } catch (error) {
      if (isWorded || request.outputSchema === undefined || !refusesForm(error)) throw error;
      this.#unstructured.add(model);
      return this.#ask(request, { ...ends, isWorded: true });
    }
  }

  async #ask(request: ModelRequest, ends: CallEnds & { readonly isWorded: boolean }): Promise<ModelAnswer> {
    const { clock, provider } = this.deps;
    const model = request.model ?? "";
    const sdk = await loadSdk();
    const loaded = await this.deps.load(model);
    const heard: Heard = { text: "", inputs: new Map(), calls: [], raw: { refusal: "" } };
    const watch = new CallWatch(clock, request.options, ends.signal);
    try {
      const kept = await watch.race(this.#listen({ request, sdk, loaded, heard, watch, ends }));
      return this.#answerOf(model, heard, kept);
    } catch (error) {
      if (watch.ended !== undefined) throw watch.describe(`${provider}/${model}`, heard.text);
      const place = { provider, model, nowMs: clock.nowMs(), partial: heard.text };
      const told = error instanceof SplashdownError ? error : describeCallFailure(heard.raw.error ?? error, place);
      // What was counted was used, whatever the answer is worth.
      throw withUsage(told, this.#usageHeard(model, heard));
    } finally {
      watch.close();
    }
  }

  async #listen({ request, sdk, loaded, heard, watch, ends }: Listening): Promise<JsonValue | undefined> {
    const { streamText, jsonSchema, wrapLanguageModel } = sdk;
    const { options, outputSchema, systemPrompt } = request;
    const form = outputSchema !== undefined && ends.isWorded ? describeForm(outputSchema) : undefined;
    const system = [systemPrompt, form].filter((text) => text !== undefined && text !== "").join("\n\n");
    const result = streamText({
      model: wrapLanguageModel({ model: loaded, middleware: this.#createMiddleware(request, ends.isWorded) }),
      ...(system === "" ? {} : { system }),
      messages: formatMessages(request.messages),
      tools: Object.fromEntries(
        request.tools.map(({ name, description = name, parameters }) => [
          name,
          { description, inputSchema: jsonSchema(parameters) },
        ]),
      ),
      maxRetries: 0,
      maxOutputTokens: options.tokensMax,
      temperature: options.temperature,
      providerOptions: formatProviderOptions(request) as never,
      abortSignal: watch.signal,
      includeRawChunks: true,
      onError: () => undefined,
    });
    for await (const part of result.fullStream) hear(part, { heard, watch, ends });
    requireWhole(heard, `${this.deps.provider}/${request.model ?? ""}`);
    const [message] = (await result.response).messages;
    return keepOf(message?.content, heard.calls);
  }

  /** Asks the provider for the form of the answer, and says warnings to our log instead of the console. */
  #createMiddleware({ outputSchema }: ModelRequest, isWorded: boolean): LanguageModelMiddleware {
    const { debug } = this.deps;
    return {
      specificationVersion: "v3",
      transformParams: async ({ params }) =>
        outputSchema === undefined || isWorded
          ? params
          : { ...params, responseFormat: { type: "json", schema: outputSchema as never, name: "answer" } },
      wrapStream: async ({ doStream }) => {
        const { stream, ...rest } = await doStream();
        const quiet = new TransformStream<StreamPart, StreamPart>({
          transform: (part, controller) => {
            if (part.type === "stream-start" && part.warnings.length > 0) debug(JSON.stringify(part.warnings));
            controller.enqueue(part.type === "stream-start" ? { ...part, warnings: [] } : part);
          },
        });
        return { stream: stream.pipeThrough(quiet), ...rest };
      },
    };
  }

  /** `undefined` where no answer was counted. */
  #usageHeard(model: string, heard: Heard): Usage | undefined {
    return countHeard(heard) === undefined ? undefined : this.#usageOf(model, heard);
  }

  #usageOf(model: string, heard: Heard): Usage {
    const counts = countHeard(heard);
    const costMicroUsd = counts === undefined ? undefined : this.deps.computeCost(model, counts);
    return {
      calls: 1,
      tokensIn: counts?.input ?? 0,
      tokensOut: counts?.output ?? 0,
      ...(costMicroUsd === undefined ? {} : { costMicroUsd }),
    };
  }

  #answerOf(model: string, heard: Heard, kept: JsonValue | undefined): ModelAnswer {
    const { text, finish, raw } = heard;
    const isCut = finish?.finishReason === "length";
    const calls = isCut ? heard.calls.map(tellCut) : heard.calls;
    return {
      say: text,
      ...(calls.length === 0 ? {} : { calls, kept }),
      ...(isCut || raw.stop === PAUSED ? { cut: true } : {}),
      factors: raw.stop === PAUSED ? ["the model paused its turn and was asked to continue"] : [],
      usage: this.#usageOf(model, heard),
    };
  }
}

/** The tokens of an answer; of a stream that broke off, those that the provider had reported. */
function countHeard({ finish, raw: { tokensIn, tokensOut } }: Heard): TokenCounts | undefined {
  const counts = countTokens(finish?.usage);
  if (counts !== undefined || (tokensIn === undefined && tokensOut === undefined)) return counts;
  return { input: tokensIn ?? 0, output: tokensOut ?? 0, cacheRead: 0, cacheWrite: 0 };
}

/** Source: Anthropic, handling stop reasons. */
const PAUSED = "pause_turn";
const WINDOW_FULL = "model_context_window_exceeded";

function tellCut(call: ToolCall): ToolCall {
  if (call.unreadable === undefined) return call;
  return { ...call, unreadable: `${call.unreadable}; your answer was cut at the limit of tokens` };
}

/** `undefined` when the provider counted nothing. */
function countTokens(usage: Extract<Part, { type: "finish-step" }>["usage"] | undefined): TokenCounts | undefined {
  if (usage?.inputTokens === undefined && usage?.outputTokens === undefined) return undefined;
  const { inputTokens, outputTokens, inputTokenDetails: details } = usage;
  return {
    input: inputTokens ?? 0,
    output: outputTokens ?? 0,
    cacheRead: details.cacheReadTokens ?? 0,
    cacheWrite: details.cacheWriteTokens ?? 0,
  };
}

interface Listening {
  readonly request: ModelRequest;
  readonly sdk: Sdk;
  readonly loaded: SdkLanguageModel;
  readonly heard: Heard;
  readonly watch: CallWatch;
  readonly ends: CallEnds & { readonly isWorded: boolean };
}

type Streamed = Awaited<ReturnType<NonNullable<LanguageModelMiddleware["wrapStream"]>>>["stream"];
type StreamPart = Streamed extends ReadableStream<infer Item> ? Item : never;

/** Parts that say nothing of the model's own. */
const SILENT = new Set<Part["type"]>([
  "start",
  "start-step",
  "raw",
  "text-start",
  "text-end",
  "reasoning-start",
  "reasoning-end",
]);

function hear(part: Part, { heard, watch, ends }: Pick<Listening, "heard" | "watch" | "ends">): void {
  if (part.type === "error") throw part.error;
  if (part.type === "raw") takeRawChunk(heard.raw, part.rawValue);
  if (part.type === "abort" || SILENT.has(part.type)) return;
  watch.touch();
  ends.onActivity();
  if (part.type === "text-delta") {
    heard.text += part.text;
    if (heard.text.length > LIMITS.stepOutputBytesMax)
      throw new SplashdownError(
        "VALUE_TOO_LARGE",
        `a model's answer is larger than ${LIMITS.stepOutputBytesMax} bytes`,
        { details: { called: true } },
      );
    ends.onText(heard.text);
  }
  if (part.type === "tool-input-delta") heard.inputs.set(part.id, (heard.inputs.get(part.id) ?? "") + part.delta);
  if (part.type === "tool-call") heard.calls.push(readCall(part, heard.inputs.get(part.toolCallId)));
  if (part.type === "finish-step") heard.finish = part;
}

function readCall({ toolCallId, toolName, input }: Extract<Part, { type: "tool-call" }>, text = ""): ToolCall {
  const unreadable = text.trim() === "" ? undefined : findUnreadable(text);
  const call = { id: toolCallId, name: toolName };
  if (unreadable === undefined) return { ...call, input: encodeValue(input ?? {}) };
  return { ...call, input: text.slice(0, LIMITS.modelRepairCharsMax), unreadable };
}

function findUnreadable(text: string): string | undefined {
  try {
    parseExactJson(text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** A stream that ends without saying why was cut. Errors: MODEL_FAILED with what had come. */
function requireWhole(heard: Heard, name: string): void {
  const fault = findFault(heard);
  if (fault === undefined) return;
  const { text } = heard;
  throw new SplashdownError("MODEL_FAILED", `the answer of ${name} ${fault.what}`, {
    details: { retryable: !fault.isInVain, called: true, ...(text === "" ? {} : { partial: text }) },
  });
}

interface AnswerFault {
  readonly what: string;
  /** The provider or the model does not want to: asking again is in vain. */
  readonly isInVain: boolean;
}

/** Why an answer is none. */
function findFault(heard: Heard): AnswerFault | undefined {
  const { finish, raw } = heard;
  const refusal = refusalOf(heard);
  const reason = finish?.finishReason;
  if (raw.stop === WINDOW_FULL)
    return {
      what: "filled the context window of the model; ask for less, or take a model with a larger one",
      isInVain: true,
    };
  if (refusal !== undefined) return { what: `is a refusal: ${cutText(refusal, REFUSAL_BYTES_TOLD)}`, isInVain: true };
  if (reason === "content-filter")
    return { what: `was ended by the provider's filter (${finish?.rawFinishReason ?? reason})`, isInVain: true };
  const isCut = finish === undefined || (reason === "other" && finish.rawFinishReason === undefined);
  return isCut || reason === "error" ? { what: "was cut before its end", isInVain: false } : undefined;
}

/** The words of a refusal, where the answer is nothing else. */
function refusalOf({ text, calls, raw: { refusal } }: Heard): string | undefined {
  const isAll = refusal !== "" && calls.length === 0 && (text === "" || text === refusal);
  return isAll ? refusal : undefined;
}

const REFUSAL_BYTES_TOLD = 1_000;

/** The answer in the provider's own form where a later call must give it back whole; else it is put together again. */
function keepOf(content: unknown, calls: readonly ToolCall[]): JsonValue | undefined {
  if (calls.length === 0 || !Array.isArray(content)) return undefined;
  const isOwn = (part: unknown): boolean =>
    isJsonObject(part) && (part["type"] === "reasoning" || part["providerOptions"] !== undefined);
  if (!content.some(isOwn)) return undefined;
  return JSON.parse(JSON.stringify(content.filter((part: JsonObject) => part["type"] !== "tool-result"))) as JsonValue;
}

const FORM_WORDS = /response_format|json_schema|output_format|structured output|response schema|grammar/i;

/** A server that knows no form of answers says so with a 400. */
function refusesForm(error: unknown): boolean {
  if (!(error instanceof SplashdownError)) return false;
  const { status, body } = error.details;
  return (
    (status === 400 || status === 422) && FORM_WORDS.test(`${error.message} ${typeof body === "string" ? body : ""}`)
  );
}
