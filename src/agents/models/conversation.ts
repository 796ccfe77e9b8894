/**
 * A model step as a loop of turns: an answer, the tools it asks for, the next answer, until one is taken.
 *
 * The conversation is put together from what is durable, so a crash, a retry and a pause go on at the exact turn and ask
 * no finished turn again (A3). A call of a tool is intended and completed by itself, under a name that is the same on
 * every attempt; one that was intended and has no result is made again: whether it may be was decided before.
 *
 * What a person says meanwhile goes before the next question; the turn says how much was told by then (E10).
 *
 *   answer → asks for tools → each: intent durable → call → result durable → next answer
 *          → is taken: the end
 *          → is cut at its limit of tokens: the model goes on where it stopped, and the parts are one answer
 *          → lacks something beside it: that is asked for, and what was answered is kept
 *          → is refused: the fault is told, and the next answer is a repair, as often as is allowed
 */
import { isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { StepSink, StepWork } from "../../engine/model/ports.js";
import { formatGuidance } from "./briefing.js";
import type { ModelMessage, ModelOptions, PerformerDeps, ToolReply } from "../outcome/contract.js";
import { callModel, readTurn, type DurableAnswer, type ModelChoice } from "./model-call.js";
import { callTool, type Tool } from "../tools/tool-call.js";

export interface Talk<T> {
  readonly choices: readonly ModelChoice[];
  readonly systemPrompt?: string | undefined;
  readonly prompt: string;
  readonly outputSchema?: JsonObject | undefined;
  readonly tools?: TalkTools | undefined;
  readonly options: ModelOptions;
  readonly turnsMax?: number | undefined;
  /** Repairs of a refused answer. */
  readonly repairsMax?: number | undefined;
  /** Takes an answer, asks for what is missing beside it, or refuses it with STEP_OUTPUT_INVALID. */
  readonly judge: (answer: DurableAnswer, at: { readonly isLast: boolean }) => Promise<Judgement<T>>;
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

export type Judgement<T> = { readonly taken: T } | FollowUp;

/** One more question on an answer that is kept: what is asked, and the form of what is wanted. */
export interface FollowUp {
  readonly ask: string;
  readonly outputSchema: JsonObject;
}

export interface TalkTools {
  /** Called when they are needed, again and again. */
  readonly open: () => Promise<readonly Tool[]>;
  /** Whether the model is told of them before it wishes for one. */
  readonly areTold: boolean;
  /** Of a result, what the model is shown. */
  readonly shownCharsMax: number;
}

const NO_TOOLS: TalkTools = { open: () => Promise.resolve([]), areTold: false, shownCharsMax: LIMITS.toolTextCharsMax };

/** Errors: those of `callModel`; STEP_OUTPUT_INVALID with the raw text when no repair is left. */
export async function converse<T>(deps: PerformerDeps, work: StepWork, talk: Talk<T>): Promise<T> {
  return new Conversation(deps, work, talk).run();
}

class Conversation<T> {
  readonly #turns: DurableAnswer[];
  readonly #messages: ModelMessage[];
  /** How much of the step's guidance the messages and the prompt tell. */
  #told: number;
  #refused = 0;
  /** Output schema of the next answer, when it differs from the step's. */
  #form: JsonObject | undefined;
  /** The parts of an answer that was cut, so far; a part has no form of its own. */
  #parts: DurableAnswer[] = [];
  /** Answers that were cut within the input of a tool. */
  #cutCalls = 0;
  /** Answers of this attempt; one may always be asked for. */
  #asked = 0;

  constructor(
    private readonly deps: PerformerDeps,
    private readonly work: StepWork,
    private readonly talk: Talk<T>,
  ) {
    this.#turns = work.turns.flatMap((turn) => readTurn(turn) ?? []);
    this.#messages = [{ role: "user", text: talk.prompt }];
    this.#told = work.guidance.length;
  }

  async run(): Promise<T> {
    for (let turn = 1; ; turn += 1) {
      const known = this.#turns[turn - 1];
      this.#tellGuidance(known === undefined ? undefined : (known.told ?? 0));
      const part = known ?? (await this.#ask(turn));
      if (this.#isToBeContinued(part)) {
        this.#parts.push(part);
        this.#messages.push({ role: "assistant", text: textOf(part.say), calls: [], kept: part.kept });
        this.#messages.push({ role: "user", text: CONTINUE });
        continue;
      }
      const answer = this.#joinParts(part);
      const calls = answer.calls ?? [];
      const spoken = { role: "assistant", text: textOf(answer.say), calls, kept: answer.kept } as const;
      if (calls.length > 0) {
        this.#countCutCalls(answer);
        this.#messages.push(spoken, { role: "tool", replies: await this.#callTools(turn, answer) });
        continue;
      }
      const judged = await this.#judge(answer, turn);
      if ("taken" in judged) return judged.taken;
      this.#form = "ask" in judged ? judged.outputSchema : undefined;
      if ("ask" in judged) {
        this.#messages.push(spoken, { role: "user", text: judged.ask });
        continue;
      }
      const text = spoken.text.slice(0, LIMITS.modelRepairCharsMax);
      this.#messages.push(
        { ...spoken, text },
        { role: "user", text: repairText(judged.refused, this.talk.outputSchema) },
      );
    }
  }

  /** Counts answers whose tool calls were cut off. Errors: MODEL_FAILED, not to be retried, when there are too many in a row. */
  #countCutCalls({ cut, calls = [] }: DurableAnswer): void {
    if (cut !== true || calls.every(({ unreadable }) => unreadable === undefined)) return;
    this.#cutCalls += 1;
    if (this.#cutCalls > LIMITS.modelContinuationsMax)
      throw this.#tooLong(`within the call of a tool, ${this.#cutCalls} times`, "");
  }

  #tooLong(times: string, partial: string): SplashdownError {
    const text = `the answer of ${this.work.step.path} was cut at the limit of tokens, ${times}; raise max_tokens of the step`;
    return new SplashdownError("MODEL_FAILED", text, {
      details: { reason: "length", retryable: false, ...(partial === "" ? {} : { partial }) },
    });
  }

  /** Errors: MODEL_FAILED, not to be retried, when the answer does not end within the limit. */
  #isToBeContinued({ say, cut, calls = [] }: DurableAnswer): boolean {
    if (cut !== true || calls.length > 0) return false;
    const isEmpty = typeof say !== "string" || say.trim() === "";
    if (!isEmpty && this.#parts.length < LIMITS.modelContinuationsMax) return true;
    const times = isEmpty ? "before it had begun" : `${this.#parts.length + 1} times`;
    throw this.#tooLong(times, textOf(this.#joinParts({ say, factors: [] }).say));
  }

  /** One answer made of all parts. */
  #joinParts(last: DurableAnswer): DurableAnswer {
    const parts = this.#parts;
    if (parts.length === 0) return last;
    this.#parts = [];
    const say = [...parts, last].map((part) => textOf(part.say)).join("");
    const { cut: _cut, ...rest } = last;
    const factor = `the answer stopped before its end, at the limit of tokens or of its turn, and was continued ${parts.length} times`;
    return { ...rest, say, factors: [...parts.flatMap(({ factors }) => factors), ...last.factors, factor] };
  }

  /** What is not told yet, as far as `upTo`; all that there is where no turn says how far. */
  #tellGuidance(upTo: number | undefined): void {
    const news = this.work.guidanceNow().slice(this.#told, upTo);
    if (news.length === 0) return;
    this.#told += news.length;
    this.#messages.push({ role: "user", text: formatGuidance(news) });
  }

  async #ask(turn: number): Promise<DurableAnswer> {
    const { choices, systemPrompt, options, sink, signal } = this.talk;
    const turnsMax = this.#turnsMax;
    if (turn > turnsMax) throw tooManyTurns(this.work, turnsMax);
    this.#asked += 1;
    const { open, areTold } = this.talk.tools ?? NO_TOOLS;
    const tools = areTold ? await open() : [];
    const answer = await callModel(this.deps, this.work, {
      choices,
      systemPrompt,
      messages: this.#messages,
      outputSchema: this.#parts.length > 0 ? undefined : (this.#form ?? this.talk.outputSchema),
      tools: tools.map((tool) => tool.description),
      options,
      turn: this.#turns.length,
      told: this.#told > this.work.guidance.length ? this.#told : undefined,
      sink,
      signal,
    });
    this.#turns.push(answer);
    return answer;
  }

  async #callTools(turn: number, { calls = [] }: DurableAnswer): Promise<ToolReply[]> {
    const { tools = NO_TOOLS, sink, signal } = this.talk;
    const replies: ToolReply[] = [];
    for (const [index, call] of calls.entries()) {
      const name = `${turn}.${index + 1}`;
      replies.push(await callTool(this.deps, this.work, { name, call, tools, sink, signal }));
    }
    return replies;
  }

  get #turnsMax(): number {
    return this.talk.turnsMax ?? LIMITS.modelTurnsMax;
  }

  async #judge(answer: DurableAnswer, turn: number): Promise<Judgement<T> | { readonly refused: string }> {
    try {
      return await this.talk.judge(answer, { isLast: turn >= this.#turnsMax });
    } catch (error) {
      if (!isErrorCode(error, "STEP_OUTPUT_INVALID")) throw error;
      this.#refused += 1;
      const perAttempt = 1 + (this.talk.repairsMax ?? LIMITS.modelRepairsMax);
      const isLast = this.#asked > 0 && this.#refused >= perAttempt * (this.work.step.failures + 1);
      if (isLast) throw lastRefusal(error, this.#refused);
      return { refused: messageOf(error) };
    }
  }
}

function textOf(say: JsonValue): string {
  return typeof say === "string" ? say : JSON.stringify(say);
}

const CONTINUE =
  "Your answer stopped before its end. Continue exactly where it stopped, in the middle of a word if need be: repeat nothing and add nothing before it.";

function repairText(fault: string, schema: JsonObject | undefined): string {
  const refusal = `That answer cannot be used: ${fault}.`;
  if (schema === undefined) return `${refusal} Answer again.`;
  const form = `It must fit this JSON Schema: ${JSON.stringify(schema)}`;
  return `${refusal} Answer again with one whole JSON value and nothing else. ${form}`;
}

/** More attempts would only repeat the repairs. */
function lastRefusal(error: unknown, refused: number): SplashdownError {
  const details = error instanceof SplashdownError ? error.details : {};
  return new SplashdownError("STEP_OUTPUT_INVALID", messageOf(error), {
    details: { ...details, retryable: false, answers: refused },
    cause: error,
  });
}

function tooManyTurns({ step }: StepWork, turnsMax: number): SplashdownError {
  const text = `step ${step.path} has not come to an end in ${turnsMax} turns; raise max_agent_iterations, or ask for less`;
  return new SplashdownError("MODEL_FAILED", text, { details: { step: step.path, retryable: false } });
}
