/**
 * Mercury as an installed agent: claude, codex, gemini, copilot, or one that speaks like them.
 *
 * The agent's session is a milestone of the step: a later attempt, after a failure or a crash, goes on in it. What the
 * agent did to files and the world is its own: the step acts on the world until it says otherwise.
 * A specialist of a phase is briefed and reports on itself as a model does, in its final text; one that gives its output
 * alone has said nothing of its confidence, and is not called again for that.
 * Shape of the output: that of its report; else, with a declared output, the JSON value in the final text; else
 * `{result: text}`.
 */
import { SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { CliStep } from "../../definition/workflow.js";
import type { StepOutcome, StepSink, StepWork } from "../../engine/ports.js";
import { LineSplitter } from "../../process/capture.js";
import type { ChildResult } from "../../process/contract.js";
import { findJson } from "../answer-text.js";
import { addGuidance, writeBriefing } from "../briefing.js";
import { exitError, runChild } from "../child-run.js";
import type { PerformerDeps } from "../contract.js";
import { outcomeOfError, outputInvalid } from "../failure.js";
import { computeRetryAtMs } from "../models/retry-time.js";
import { requireDeclaredOutput } from "../output-check.js";
import { parsePlainValue } from "../plain-value.js";
import { parseReport, type CompletedOutcome } from "../report.js";
import { completeWith, readSelfReport, REPORT_FORM, reportedOutput, unassessed } from "../self-report.js";
import type { CliResult, LineReader } from "./line-readers.js";
import { findProfile, type CliProfile } from "./profiles.js";

interface Attempt {
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

export async function performCli(deps: PerformerDeps, work: StepWork, { sink, signal }: Attempt): Promise<StepOutcome> {
  const { cli } = work.definition as CliStep;
  const profile = findProfile(deps.cliAgents, cli);
  const session = sessionOf(work, cli);
  const { system_prompt: systemPrompt, model, arguments: more } = work.rendered;
  const prompt = promptOf(work, profile);
  const call = profile.format({
    prompt: session === undefined ? prompt : `${GO_ON}\n\n${prompt}`,
    systemPrompt: optionalText(systemPrompt),
    model: optionalText(model),
    session,
    more: Array.isArray(more) ? more.map(String) : [],
  });
  const command = [...profile.command, ...call.arguments];
  const hearing = new Hearing(profile.createReader(), { cli, sink, known: session });
  const lines = new LineSplitter(hearing.take, LIMITS.toolMessageBytesMax);
  const result = await runChild(deps, {
    work,
    command,
    input: call.input ?? "",
    environment: pick(deps.environment, profile.variables),
    onStdout: (chunk) => lines.take(chunk),
    onActivity: sink.alive,
    spawned: (process) => sink.spawned(process),
    signal,
  });
  lines.end();
  await hearing.settled();
  if ("status" in result) return result;
  return judge(deps, work, { command, result, said: hearing.result() });
}

function promptOf(work: StepWork, profile: CliProfile): string {
  const { briefingTokensMax } = work.definition as CliStep;
  const text = textOf(work.rendered["prompt"]);
  // Each run of the agent is told all of it: nobody knows what its session has seen.
  const guidance = work.guidanceNow();
  if (briefingTokensMax === undefined) return addGuidance(text, guidance);
  const tokensMax = Math.min(briefingTokensMax, profile.briefingTokensMax ?? Infinity);
  return `${writeBriefing({ ...work, guidance }, text, tokensMax)}\n\n${REPORT_FORM}`;
}

const GO_ON =
  "You were interrupted while you worked on the following. Look at what you have done already and go on from there; do not do it twice.";

function sessionOf({ milestone }: StepWork, cli: string): string | undefined {
  const state = milestone?.state;
  if (!isJsonObject(state) || state["cli"] !== cli) return undefined;
  return typeof state["session"] === "string" ? state["session"] : undefined;
}

interface HearingOptions {
  readonly cli: string;
  readonly sink: StepSink;
  /** The session that goes on. */
  readonly known: string | undefined;
}

/** Takes the lines one after the other; a new session is durable before the next line is read. */
class Hearing {
  #session: string | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(
    private readonly reader: LineReader,
    private readonly options: HearingOptions,
  ) {
    this.#session = options.known;
  }

  readonly take = (line: string): void => {
    const value = parseLine(line);
    if (value === undefined || !isJsonObject(value)) return;
    const { session, message } = this.reader.take(value);
    const { cli, sink } = this.options;
    if (message !== undefined) this.#then(() => sink.progress({ message }));
    if (session === undefined || session === this.#session) return;
    this.#session = session;
    this.#then(() => sink.milestone("session", { cli, session }));
  };

  settled(): Promise<void> {
    return this.#work;
  }

  result(): CliResult {
    return this.reader.result();
  }

  #then(report: () => Promise<void> | void): void {
    this.#work = this.#work.then(report);
    this.#work.catch(() => undefined);
  }
}

/** Agents also write words for people. */
function parseLine(line: string): JsonValue | undefined {
  try {
    return parsePlainValue(line);
  } catch {
    return undefined;
  }
}

interface CliEnd {
  readonly command: readonly string[];
  readonly result: ChildResult;
  readonly said: CliResult;
}

async function judge(deps: PerformerDeps, work: StepWork, { command, result, said }: CliEnd): Promise<StepOutcome> {
  const { text, usage } = said;
  try {
    if (said.failure !== undefined) throw failureOf(deps, work, said.failure);
    if (result.exitCode !== 0) throw exitError(command, result);
    if (text === undefined) throw outputInvalid(`${command[0] ?? ""} ended without a final answer`);
    const outcome = readAnswer(work.definition as CliStep, text);
    await requireDeclaredOutput(deps, work, outcome.output);
    return { ...outcome, usage };
  } catch (error) {
    const failed = outcomeOfError(error);
    return failed.status === "failed" ? { ...failed, usage } : failed;
  }
}

function readAnswer({ briefingTokensMax, outputSchema }: CliStep, text: string): CompletedOutcome {
  const isDeclared = outputSchema !== undefined;
  if (briefingTokensMax === undefined) return parseReport({ output: outputOf(text, isDeclared) });
  const report = readSelfReport(findJson(text), false);
  const output = reportedOutput(report?.output, isDeclared) ?? outputOf(text, isDeclared);
  return completeWith(output, report ?? unassessed(output));
}

function outputOf(text: string, isDeclared: boolean): JsonValue {
  if (!isDeclared) return { result: text };
  const found = findJson(text);
  if (found === undefined) throw outputInvalid("the step declares an output, but the agent's answer is not JSON", text);
  return found;
}

const LIMIT_WORDS = /(usage|rate) limit|hit your limit|quota/i;
/** Source: Claude Code says the second of the reset after a bar. */
const RESET_SECOND = /\|(\d{10})\b/;

/** An agent whose account is used up asks to wait, as a provider does. */
function failureOf({ clock }: PerformerDeps, { step, definition }: StepWork, failure: string): SplashdownError {
  const { cli } = definition as CliStep;
  const text = `${cli} failed in step ${step.path}: ${failure}`;
  if (!LIMIT_WORDS.test(failure)) return new SplashdownError("STEP_FAILED", text, { details: { cli } });
  const second = RESET_SECOND.exec(failure)?.[1];
  const nowMs = clock.nowMs();
  const atMs = second === undefined ? computeRetryAtMs({ headers: {}, body: failure, nowMs }) : Number(second) * 1_000;
  return new SplashdownError("MODEL_RATE_LIMITED", text, {
    details: { cli, ...(atMs === undefined ? {} : { retry_at_ms: Math.max(atMs, nowMs) }) },
  });
}

function pick(environment: PerformerDeps["environment"], names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) if (environment[name] !== undefined) picked[name] = environment[name];
  return picked;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

function optionalText(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
