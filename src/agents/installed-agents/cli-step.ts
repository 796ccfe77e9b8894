/**
 * Mercury as an installed agent: claude, codex, gemini, copilot, or one that speaks like them.
 *
 * A later attempt, after a failure or a crash, goes on in the agent's session (see agent-session.ts), and so does the next
 * iteration: it is told what is new. Where the session is gone it begins anew, with the whole briefing. What the agent did
 * to files and the world is its own: the step acts on the world until it says otherwise.
 * A specialist of a phase is briefed and reports on itself as a model does, in its final text; one that gives its output
 * alone has said nothing of its confidence, and is not called again for that.
 * Shape of the output: that of its report; else, with a declared output, the JSON value in the final text; else
 * `{result: text}`.
 */
import { assert, SplashdownError } from "../../base/errors.js";
import { sha256Hex } from "../../base/digest.js";
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { encodeValue } from "../../base/json-encoding.js";
import { LIMITS } from "../../base/limits.js";
import type { CliStep } from "../../definition/model/step.js";
import type { Usage } from "../../engine/model/events.js";
import type { StepOutcome, StepSink, StepWork } from "../../engine/model/ports.js";
import { LineSplitter } from "../../base/line-splitter.js";
import type { ChildResult } from "../../process/contract.js";
import { findJson } from "../outcome/answer-text.js";
import { addGuidance, writeBriefing, writeFollowUp } from "../models/briefing.js";
import { exitError, runChild } from "../commands/child-run.js";
import type { PerformerDeps } from "../outcome/contract.js";
import { afterAct, outcomeOfError, outputInvalid } from "../outcome/failure.js";
import { computeRetryAtMs } from "../providers/retry-time.js";
import { requireDeclaredOutput } from "../outcome/output-check.js";
import { parseReport, type CompletedOutcome } from "../outcome/report.js";
import { completeWith, readSelfReport, REPORT_FORM, reportedOutput, unassessed } from "../models/self-report.js";
import { findSession, isSessionLost, keepSession, usageSince, type AgentSession } from "./agent-session.js";
import type { CliResult, LineReader } from "./line-readers.js";
import { findProfile, type CliCall, type CliProfile } from "./profiles.js";
import { isNotLetIn, readStatusMeaning } from "../outcome/status-table.js";

interface Attempt {
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

export async function performCli(deps: PerformerDeps, work: StepWork, attempt: Attempt): Promise<StepOutcome> {
  const { cli } = work.definition as CliStep;
  const known = findSession(work, cli);
  const ended = await callAgent(deps, work, { ...attempt, session: known });
  if (ended !== "session lost") return ended;
  const told = `the session ${known?.id ?? ""} of ${cli} is gone: it was given everything again in another one`;
  deps.log.warn(`step ${work.step.path}: ${told}`);
  const outcome = await callAgent(deps, work, { ...attempt, session: undefined });
  assert(outcome !== "session lost", "a call that begins a session has none to lose");
  return outcome.status === "completed" ? { ...outcome, factors: [...(outcome.factors ?? []), told] } : outcome;
}

interface AgentCall extends Attempt {
  readonly session: AgentSession | undefined;
}

async function callAgent(
  deps: PerformerDeps,
  work: StepWork,
  { sink, signal, session }: AgentCall,
): Promise<StepOutcome | "session lost"> {
  const { cli } = work.definition as CliStep;
  const profile = findProfile(deps.cliAgents, cli);
  const call = callOf(work, profile, session);
  const { arguments: parameters, input } = profile.format(call);
  const command = [...profile.command, ...parameters];
  const hearing = new Hearing(profile.createReader(call), { cli, sink, session });
  const lines = new LineSplitter(hearing.take, LIMITS.toolMessageBytesMax);
  const result = await runChild(deps, {
    work,
    command,
    input,
    released: () => sink.callBegun(cli),
    environment: pick(deps.environment, profile.variables),
    onStdout: (chunk) => lines.take(chunk),
    onActivity: sink.alive,
    spawned: (process) => sink.spawned(process),
    signal,
  });
  lines.end();
  await hearing.settled();
  if ("status" in result) return result;
  const said = hearing.result();
  if (session !== undefined && !hearing.hasSpoken && isSessionLost(result, said)) return "session lost";
  const end = { command, result, said, hasSession: hearing.hasSession };
  if (profile.isUsageOfSession !== true) return judge(deps, work, end);
  // The next call is told these tokens again.
  if (said.usage.tokensIn > 0) await hearing.count(said.usage);
  return judge(deps, work, { ...end, said: { ...said, usage: usageSince(session, said.usage) } });
}

function callOf(work: StepWork, profile: CliProfile, session: AgentSession | undefined): CliCall {
  const { system_prompt: systemPrompt, model, arguments: more } = work.rendered;
  const prompt = promptOf(work, session?.isOfEarlierVisit === true && profile.beginsLostSession !== true);
  return {
    prompt: work.milestone === undefined ? prompt : `${GO_ON}\n\n${prompt}`,
    systemPrompt: optionalText(systemPrompt),
    model: optionalText(model),
    session: session?.id,
    chosenSession: session?.id ?? uuidOf(work.step.idempotencyKey),
    more: Array.isArray(more) ? more.map(String) : [],
  };
}

/** Source: RFC 9562, section 5.8: a UUID of one's own making. */
function uuidOf(text: string): string {
  const [a = "", b = "", c = "", d = "", e = ""] =
    /^(.{8})(.{4})(.{3})(.{3})(.{12})/.exec(sha256Hex(text))?.slice(1) ?? [];
  return `${a}-${b}-8${c}-8${d}-${e}`;
}

function promptOf(work: StepWork, knowsBriefing: boolean): string {
  const { briefingTokensMax } = work.definition as CliStep;
  const text = textOf(work.rendered["prompt"]);
  // Each run of the agent is told all of it: nobody knows what its session has seen.
  const guidance = work.guidanceNow();
  if (briefingTokensMax === undefined) return addGuidance(text, guidance);
  const write = knowsBriefing ? writeFollowUp : writeBriefing;
  return `${write({ ...work, guidance }, text, briefingTokensMax)}\n\n${REPORT_FORM}`;
}

const GO_ON =
  "You were interrupted while you worked on the following. Look at what you have done already and continue from there; do not do it twice.";

interface HearingOptions {
  readonly cli: string;
  readonly sink: StepSink;
  /** The session that goes on. */
  readonly session: AgentSession | undefined;
}

const NO_TOKENS = { tokensIn: 0, tokensOut: 0 } as const;

/** Takes the lines one after the other; a new session is durable before the next line is read. */
class Hearing {
  /** The one that is kept with this visit. */
  #kept: string | undefined;
  #hasSpoken = false;
  #work: Promise<void> = Promise.resolve();

  constructor(
    private readonly reader: LineReader,
    private readonly options: HearingOptions,
  ) {
    if (options.session?.isInterrupted === true) this.#kept = options.session.id;
  }

  readonly take = (line: string): void => {
    const value = parseLine(line);
    if (value === undefined || !isJsonObject(value)) return;
    const { session: id, message } = this.reader.take(value);
    const { cli, sink, session } = this.options;
    if (message !== undefined) {
      this.#hasSpoken = true;
      this.#then(() => sink.progress({ message }));
    }
    if (id === undefined || id === this.#kept) return;
    this.#kept = id;
    const { tokensIn, tokensOut } = session?.id === id ? session : NO_TOKENS;
    this.#then(() => sink.milestone("session", keepSession(cli, { id, tokensIn, tokensOut })));
  };

  /** The next attempt goes on in it, and knows what this one did. */
  get hasSession(): boolean {
    return this.#kept !== undefined;
  }

  /** The agent has begun to work. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  settled(): Promise<void> {
    return this.#work;
  }

  result(): CliResult {
    return this.reader.result();
  }

  /** Keeps with the session what it has told of tokens. */
  async count({ tokensIn, tokensOut }: Usage): Promise<void> {
    const { cli, sink } = this.options;
    if (this.#kept === undefined) return;
    await sink.milestone("session", keepSession(cli, { id: this.#kept, tokensIn, tokensOut }));
  }

  #then(report: () => Promise<void> | void): void {
    this.#work = this.#work.then(report);
    this.#work.catch(() => undefined);
  }
}

/** Agents also write words for people. Numbers beside the result, such as ids of messages, are nothing that a step uses. */
function parseLine(line: string): JsonValue | undefined {
  try {
    return encodeValue(JSON.parse(line));
  } catch {
    return undefined;
  }
}

type CliFailure = CliResult & { readonly failure: string };

interface CliEnd {
  readonly command: readonly string[];
  readonly result: ChildResult;
  readonly said: CliResult;
  readonly hasSession: boolean;
}

async function judge(deps: PerformerDeps, work: StepWork, end: CliEnd): Promise<StepOutcome> {
  const { command, result, said, hasSession } = end;
  const { text, failure, usage } = said;
  try {
    if (failure !== undefined) throw failureOf(deps, work, { ...said, failure });
    if (result.exitCode !== 0) throw exitError(command, result);
    if (text === undefined) throw outputInvalid(`${command[0] ?? ""} ended without a final answer`);
    const outcome = readAnswer(work.definition as CliStep, text);
    await requireDeclaredOutput(deps, work, outcome.output);
    return { ...outcome, usage };
  } catch (error) {
    const isFinished = failure === undefined && result.exitCode === 0 && !hasSession;
    const failed = outcomeOfError(isFinished && error instanceof SplashdownError ? afterAct(error, "yes") : error);
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
/** Source: what codex and gemini say of their services' answers. */
const STATUS_WORDS = /\bstatus:? (\d{3})\b|"code":\s*(\d{3})\b/;
/** Source: Claude Code says the second of the reset after a bar. */
const RESET_SECOND = /\|(\d{10})\b/;

/** An agent whose account is used up asks to wait, as a provider does; one that is not let in asks in vain. */
function failureOf({ clock }: PerformerDeps, { step, definition }: StepWork, failed: CliFailure): SplashdownError {
  const { cli } = definition as CliStep;
  const { failure } = failed;
  const text = `${cli} failed in step ${step.path}: ${failure}`;
  const status = failed.failureStatus ?? Number(STATUS_WORDS.exec(failure)?.slice(1).find(Boolean) ?? 0);
  const details = { cli, ...(status === 0 ? {} : { status }) };
  if (readStatusMeaning(status) !== "limit" && !LIMIT_WORDS.test(failure)) {
    return new SplashdownError("STEP_FAILED", text, {
      details: { ...details, ...(isNotLetIn(status) ? { retryable: false } : {}) },
    });
  }
  const second = RESET_SECOND.exec(failure)?.[1];
  const nowMs = clock.nowMs();
  const atMs = second === undefined ? computeRetryAtMs({ headers: {}, body: failure, nowMs }) : Number(second) * 1_000;
  return new SplashdownError("MODEL_RATE_LIMITED", text, {
    details: { ...details, ...(atMs === undefined ? {} : { retry_at_ms: atMs }) },
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
