/**
 * One call of a tool: held against its schema, approved where it must be, intended, made, completed; what the model is
 * shown of it is cut.
 *
 * Shape of a recorded result: `{value}`; `{content, structured}` as a server gave it, with `fault` where its form is broken;
 * `{error: text}`, which the model is told as a failure of the tool and not of the step, with `acted` where the call was
 * made and its result is lost for good. A call that may have acted and whose result is lost is neither: the
 * attempt fails, and a person is asked before the call is made again.
 */
import { isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { Approval as ApprovalRule } from "../../definition/model/tool-definition.js";
import type { Effects } from "../../definition/model/values.js";
import type { StepSink, StepWork } from "../../engine/model/ports.js";
import type { PerformerDeps, ToolCall, ToolDescription, ToolReply } from "../outcome/contract.js";
import { isEndOfRun } from "../outcome/failure.js";
import { checkAgainst, formatFault } from "../outcome/output-check.js";
import { describeContent } from "./servers/server-result.js";

export interface ToolUse {
  readonly input: JsonObject;
  /** The step's key and the call's name: equal on every attempt. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** Something a model may have done. */
export interface Tool {
  /** Of the tool itself, whatever a model is told as its name: approvals and records go by it. */
  readonly identity: string;
  /** As its server and its file name it. */
  readonly fullName: string;
  readonly description: ToolDescription;
  readonly effects: Effects;
  readonly approve: ApprovalRule;
  /** Gives what is recorded. Errors: all are told to the model, unless `details.sent` says that it may have acted. */
  call(use: ToolUse): Promise<JsonObject>;
}

const SHOWN_CHARS_MAX = 300;

export interface NamedCall {
  /** Unlike in the whole step, equal on every attempt. */
  readonly name: string;
  readonly call: ToolCall;
  readonly tools: { readonly open: () => Promise<readonly Tool[]>; readonly shownCharsMax: number };
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

/** The reply for the model. */
export async function callTool(deps: PerformerDeps, work: StepWork, named: NamedCall): Promise<ToolReply> {
  return replyOf(named.call, await useTool(deps, work, named), named.tools.shownCharsMax);
}

/** The recorded result; one that is durable is used again (A3). */
export async function useTool(deps: PerformerDeps, work: StepWork, named: NamedCall): Promise<JsonValue> {
  const { name, call, tools, sink, signal } = named;
  const recorded = work.tools.get(name);
  if (recorded?.result !== undefined) return recorded.result;
  const tool = findTool(await tools.open(), call.name);
  requireSame(work, named, { intended: recorded?.tool, found: tool?.identity });
  const fault = (await findFault(deps, call, tool)) ?? (await findDenial(work, named, tool));
  const usable = fault === undefined ? tool : undefined;
  const identity = tool === undefined ? {} : { tool: tool.identity };
  await sink.toolIntended(name, { name: call.name, input: call.input, effects: effectsOf(usable), ...identity });
  const result = usable === undefined ? { error: fault ?? "" } : await make(usable, work, named);
  if (signal.aborted && "error" in result) throw cancelled(work, call);
  return complete(sink, name, result);
}

function effectsOf(tool: Tool | undefined): Tool["effects"] {
  return tool === undefined ? "none" : tool.effects;
}

/** By the name a model is told, else by the full name where that is one tool's. */
function findTool(tools: readonly Tool[], name: string): Tool | undefined {
  const told = tools.find(({ description }) => description.name === name);
  if (told !== undefined) return told;
  const full = tools.filter(({ fullName }) => fullName === name);
  return full.length === 1 ? full[0] : undefined;
}

interface Compared {
  readonly intended: string | undefined;
  readonly found: string | undefined;
}

/** A call that is made again is of the tool that it was intended for. Errors: TOOL_UNAVAILABLE. */
function requireSame({ step }: StepWork, { name, call }: NamedCall, { intended, found }: Compared): void {
  if (intended === undefined || found === undefined || intended === found) return;
  const text = `the call ${name} of step ${step.path} was for the tool ${intended}; ${call.name} is ${found} by now`;
  throw new SplashdownError("TOOL_UNAVAILABLE", text, { details: { tool: call.name, step: step.path } });
}

/** A result that cannot be kept is none, and the call was made all the same. */
async function complete(sink: StepSink, name: string, result: JsonObject): Promise<JsonObject> {
  try {
    await sink.toolCompleted(name, result);
    return result;
  } catch (error) {
    if (!isErrorCode(error, "VALUE_TOO_LARGE", "VALUE_TOO_DEEP")) throw error;
    const instead = { error: `the call was made; its result cannot be kept: ${messageOf(error)}`, acted: true };
    await sink.toolCompleted(name, instead);
    return instead;
  }
}

/** Asks a person where the tool wants it. Errors: CANCELLED while there is no answer. */
async function findDenial(
  work: StepWork,
  { name, call, sink }: NamedCall,
  tool: Tool | undefined,
): Promise<string | undefined> {
  if (tool === undefined || tool.approve === "never") return undefined;
  const wish = { call: name, tool: tool.identity, label: tool.fullName, isForAll: tool.approve === "once" };
  if (work.approvalOf(wish) === undefined) await sink.wantApproval(wish, call.input);
  const approval = work.approvalOf(wish);
  if (approval?.isGiven === true) return undefined;
  return `a person does not allow this call${approval?.reason === undefined ? "" : `: ${approval.reason}`}`;
}

async function findFault(deps: PerformerDeps, call: ToolCall, tool: Tool | undefined): Promise<string | undefined> {
  if (tool === undefined) return `there is no tool ${call.name} here`;
  if (call.unreadable !== undefined)
    return `the input cannot be read: ${call.unreadable}; you wrote: ${writtenInput(call).slice(0, SHOWN_CHARS_MAX)}`;
  const faults = await checkAgainst(deps, tool.description.parameters, call.input);
  if (faults.length > 0) return `the input does not fit: ${faults.map(formatFault).join("; ")}`;
  return isJsonObject(call.input) ? undefined : "the input must be an object";
}

function writtenInput({ input }: ToolCall): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}

async function make(tool: Tool, work: StepWork, { name, call, signal }: NamedCall): Promise<JsonObject> {
  try {
    const idempotencyKey = `${work.step.idempotencyKey}/${name}`;
    const used = tool.call({ input: call.input as JsonObject, idempotencyKey, signal });
    return await orAborted(used, signal, () => cancelled(work, call));
  } catch (error) {
    if (isEndOfRun(error) || isErrorCode(error, "CANCELLED")) throw error;
    if (isAnswered(error)) return { error: `the call was made; ${messageOf(error)}`, acted: true };
    if (tool.effects === "external" && isLost(error)) throw error;
    return { error: messageOf(error) };
  }
}

/** Its result is lost for good, and the call was made. */
function isAnswered(error: unknown): boolean {
  return error instanceof SplashdownError && error.details["answered"] === true;
}

/** The call was on its way when its result was lost: it may have acted. */
function isLost(error: unknown): boolean {
  return error instanceof SplashdownError && error.details["sent"] === true;
}

/** A tool cannot be ended from outside; what it still does is not waited for. */
function orAborted<T>(used: Promise<T>, signal: AbortSignal, refuse: () => SplashdownError): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(refuse());
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    used.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function cancelled({ step }: StepWork, { name }: ToolCall): SplashdownError {
  return new SplashdownError("CANCELLED", `step ${step.path} was ended while it called ${name}`);
}

function replyOf(call: ToolCall, result: JsonValue, charsMax: number): ToolReply {
  const { value = null, error, fault } = isJsonObject(result) ? result : { value: result };
  const isError = typeof error === "string";
  const whole = isError
    ? error
    : (describeContent(result) ?? (typeof value === "string" ? value : JSON.stringify(value)));
  const told = typeof fault === "string" ? `\n[the call was made; ${fault}]` : "";
  return { call, text: `${cut(whole, charsMax)}${told}`, isError };
}

function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${text.slice(0, charsMax)}\n… cut: the first ${charsMax} of ${text.length} characters are shown`;
}
