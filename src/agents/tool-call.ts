/**
 * One call of a tool: held against its schema, intended, made, completed; what the model is shown of it is cut.
 *
 * Shape of a recorded result: `{value}`, or `{error: text}`, which the model is told as a failure of the tool and not of
 * the step.
 */
import { isErrorCode, messageOf, SplashdownError } from "../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import type { Effects } from "../definition/workflow.js";
import type { StepSink, StepWork } from "../engine/ports.js";
import type { PerformerDeps, ToolCall, ToolDescription, ToolReply } from "./contract.js";
import { isEndOfRun } from "./failure.js";
import { formatFault } from "./output-check.js";

export interface ToolUse {
  readonly input: JsonObject;
  /** The step's key and the call's name: equal on every attempt. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** Something a model may have done. */
export interface Tool {
  readonly description: ToolDescription;
  readonly effects: Effects;
  /** Errors: whatever it throws is told to the model. */
  call(use: ToolUse): Promise<JsonValue>;
}

export interface NamedCall {
  /** Unlike in the whole step, equal on every attempt. */
  readonly name: string;
  readonly call: ToolCall;
  readonly tools: readonly Tool[];
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

/** The reply for the model; a result that is durable is used again (A3). */
export async function callTool(deps: PerformerDeps, work: StepWork, named: NamedCall): Promise<ToolReply> {
  const { name, call, tools, sink, signal } = named;
  const known = work.tools.get(name)?.result;
  if (known !== undefined) return replyOf(call, known);
  const tool = tools.find(({ description }) => description.name === call.name);
  const fault = await findFault(deps, call, tool);
  const effects = fault === undefined ? (tool?.effects ?? "none") : "none";
  await sink.toolIntended(name, { name: call.name, input: call.input, effects });
  const result = fault === undefined && tool !== undefined ? await make(tool, work, named) : { error: fault ?? "" };
  if (signal.aborted && "error" in result) throw cancelled(work, call);
  await sink.toolCompleted(name, result);
  return replyOf(call, result);
}

async function findFault(deps: PerformerDeps, call: ToolCall, tool: Tool | undefined): Promise<string | undefined> {
  if (tool === undefined) return `there is no tool ${call.name} here`;
  const faults = await deps.checkSchema(tool.description.parameters, call.input);
  if (faults.length > 0) return `the input does not fit: ${faults.map(formatFault).join("; ")}`;
  return isJsonObject(call.input) ? undefined : "the input must be an object";
}

async function make(tool: Tool, work: StepWork, { name, call, signal }: NamedCall): Promise<JsonObject> {
  try {
    const idempotencyKey = `${work.step.idempotencyKey}/${name}`;
    const used = tool.call({ input: call.input as JsonObject, idempotencyKey, signal });
    return { value: await orAborted(used, signal, () => cancelled(work, call)) };
  } catch (error) {
    if (isEndOfRun(error) || isErrorCode(error, "CANCELLED")) throw error;
    return { error: messageOf(error) };
  }
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

function replyOf(call: ToolCall, result: JsonValue): ToolReply {
  const { value = null, error } = isJsonObject(result) ? result : { value: result };
  const isError = typeof error === "string";
  const whole = isError ? error : typeof value === "string" ? value : JSON.stringify(value);
  return { call, text: cut(whole), isError };
}

function cut(text: string): string {
  const { toolTextCharsMax: max } = LIMITS;
  return text.length <= max ? text : `${text.slice(0, max)}\n… cut: ${text.length - max} of ${text.length} characters`;
}
