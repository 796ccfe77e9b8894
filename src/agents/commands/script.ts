/**
 * A script step, as Conductor has it: its result is what the program wrote and its exit code; a non-zero exit is no
 * failure.
 *
 * Shape: `{stdout, stderr, exit_code}`, and the keys of stdout where that is a JSON object (the three win). With a
 * declared output stdout must be such an object. A program ended by a signal has the negative number as exit code.
 * Source: CONDUCTOR-YAML 1.9. Differences: an absent stdin is empty and not the owner's; the folder is the workflow's.
 */
import { constants } from "node:os";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { StepOutcome, StepSink, StepWork } from "../../engine/model/ports.js";
import type { ChildResult } from "../../process/contract.js";
import { requireCommand, runChild } from "./child-run.js";
import type { PerformerDeps } from "../outcome/contract.js";
import { judgeFinished, outputInvalid, requireText } from "../outcome/failure.js";
import { requireDeclaredOutput } from "../outcome/output-check.js";
import { formatJsonText, formatPlainValue, parsePlainValue } from "../../base/plain-value.js";

export async function performScript(
  deps: PerformerDeps,
  work: StepWork,
  { sink, signal }: { readonly sink: StepSink; readonly signal: AbortSignal },
): Promise<StepOutcome> {
  const { stdin } = work.rendered;
  const result = await runChild(deps, {
    work,
    command: requireCommand(work.rendered["command"]),
    ...(stdin === undefined || stdin === null
      ? {}
      : { input: typeof stdin === "string" ? stdin : formatJsonText(formatPlainValue(stdin)) }),
    stderrTailBytes: LIMITS.scriptStderrBytesMax,
    onActivity: sink.alive,
    spawned: (process) => sink.spawned(process),
    signal,
  });
  if ("status" in result) return result;
  return judgeFinished(() => readResult(deps, work, result));
}

async function readResult(deps: PerformerDeps, work: StepWork, result: ChildResult): Promise<StepOutcome> {
  const stdout = requireText(result.stdout, "stdout");
  const fields = parseObject(stdout);
  if (work.definition.outputSchema !== undefined) {
    if (fields === undefined)
      throw outputInvalid("the script declares an output, but its stdout is no JSON object", stdout);
    await requireDeclaredOutput(deps, work, fields);
  }
  return {
    status: "completed",
    output: { ...fields, stdout, stderr: result.stderrTail, exit_code: exitCodeOf(result) },
  };
}

function parseObject(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  let value: JsonValue;
  try {
    value = parsePlainValue(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  // An object with a key `$t` is stored under a tag: its keys cannot stand beside others.
  return isJsonObject(value) && value["$t"] === undefined ? value : undefined;
}

function exitCodeOf(result: ChildResult): number {
  if (result.exitCode !== undefined) return result.exitCode;
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return -(numbers[result.signal ?? ""] ?? 1);
}
