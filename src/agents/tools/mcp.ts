/**
 * A step that is one call of a tool of an MCP server, with the step's input.
 *
 * The call is recorded as those of a model are: intended, made, completed. So a crash after it uses its result, a crash in
 * its midst asks where the tool may act (what the file says of its effects, else the server's hints), and a person may
 * have to approve it. An answer that is an error fails the step; the next attempt makes another call.
 * Shape of the output: what the server gives as structured content; else `{result: text}`, with `content` where it is more
 * than text. With a declared output and no structured content, the JSON value in the text.
 */
import { SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { McpStep } from "../../definition/model/step.js";
import type { StepOutcome, StepSink, StepWork } from "../../engine/model/ports.js";
import { findJson } from "../outcome/answer-text.js";
import type { PerformerDeps } from "../outcome/contract.js";
import { outputInvalid } from "../outcome/failure.js";
import { requireDeclaredOutput } from "../outcome/output-check.js";
import { useTool } from "./tool-call.js";
import { describeContent } from "./servers/server-result.js";
import { openServerTools } from "./server-tools.js";
import { fitName, identityOf } from "./tool-names.js";

interface AttemptEnds {
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

/** Errors: those of `openServerTools`; TOOL_FAILED with what the server said; STEP_OUTPUT_INVALID. */
export async function performMcp(
  deps: PerformerDeps,
  work: StepWork,
  { sink, signal }: AttemptEnds,
): Promise<StepOutcome> {
  const { server, tool } = work.definition as McpStep;
  const named = { server: server.server, tool };
  const open = once(async () => {
    const tools = await openServerTools(deps, work, { servers: [server], sink });
    return tools.filter(({ identity }) => identity === identityOf(named));
  });
  const name = `1.${countRefused(work) + 1}`;
  const call = { id: name, name: fitName(named), input: work.input };
  const tools = { open, shownCharsMax: LIMITS.toolTextCharsMax };
  const result = await useTool(deps, work, { name, call, tools, sink, signal });
  if (!isJsonObject(result)) throw outputInvalid(`the call of ${tool} left no result`);
  const { error, fault, acted } = result;
  const failure = typeof error === "string" ? error : JSON.stringify(error);
  if (acted === true) throw outputInvalid(`${tool} of the server ${server.server}: ${failure}`);
  if (typeof error === "string")
    throw new SplashdownError("TOOL_FAILED", `${tool} of the server ${server.server} failed: ${error}`, {
      details: { tool, server: server.server },
    });
  const output = outputOf(result, work.definition.outputSchema !== undefined);
  await requireDeclaredOutput(deps, work, output);
  return { status: "completed", output, ...(typeof fault === "string" ? { factors: [fault] } : {}) };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** Calls of earlier attempts that were answered with an error; one that acted is not made again. */
function countRefused({ tools }: StepWork): number {
  let count = 0;
  while (isRefusal(tools.get(`1.${count + 1}`)?.result)) count += 1;
  return count;
}

function isRefusal(result: JsonValue | undefined): boolean {
  return isJsonObject(result) && typeof result["error"] === "string" && result["acted"] !== true;
}

function outputOf(result: JsonObject, isDeclared: boolean): JsonValue {
  const { value, structured, content } = result;
  if (structured !== undefined) return structured;
  const text = describeContent(result) ?? (typeof value === "string" ? value : JSON.stringify(value ?? null));
  if (!isDeclared) return { result: text, ...(content === undefined ? {} : { content }) };
  const found = findJson(text);
  if (found === undefined) throw outputInvalid("the step declares an output, but what the tool gave is not JSON", text);
  return found;
}
