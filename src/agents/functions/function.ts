/**
 * A function step: code in this process.
 *
 * A function cannot be ended from outside. When its attempt is over the outcome is given at once; what it still does is
 * refused by its context, and what it still throws is logged.
 */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf, SplashdownError } from "../../base/errors.js";
import { encodeValue } from "../../base/json-encoding.js";
import type { WorkflowFunctions } from "../../definition/model/loaded-workflow.js";
import type { FunctionStep } from "../../definition/model/step.js";
import type { StepOutcome, StepSink, StepWork } from "../../engine/model/ports.js";
import type { PerformerDeps } from "../outcome/contract.js";
import { judgeFinished } from "../outcome/failure.js";
import { openFunctionContext, type FunctionContext } from "./function-context.js";
import { requireDeclaredOutput } from "../outcome/output-check.js";
import { parseReport } from "../outcome/report.js";

export type StepFunction = (context: FunctionContext) => unknown;

export async function performFunction(
  deps: PerformerDeps,
  work: StepWork,
  { sink, signal }: { readonly sink: StepSink; readonly signal: AbortSignal },
): Promise<StepOutcome> {
  if (signal.aborted) return { status: "cancelled", acted: false };
  const { functionGuard } = deps;
  const { path: step } = work.step;
  const { function: reference } = work.definition as FunctionStep;
  const load = (): Promise<StepFunction> => loadFunction(deps, work, reference);
  // A function of this program is only looked up: no code of the workflow's runs.
  const run = await (isInProgram(reference) ? load() : functionGuard.run(step, load));
  const open = openFunctionContext(work, sink, signal);
  const running = functionGuard.run(step, () => run(open.context));
  const ended = await untilAborted(signal, running, (error) => {
    if (isRefusal(error, signal)) return;
    deps.log.warn(`the function of step ${work.step.path} failed after its end: ${messageOf(error)}`);
  });
  open.close();
  // An owner that lost its task must not go on, whatever the function made of the refusal.
  if (open.endOfRun !== undefined) throw open.endOfRun;
  if (ended === ABORTED) return { status: "cancelled" };
  if ("error" in ended) throw ended.error;
  const { value } = ended;
  return judgeFinished(async () => {
    requireSameWay(work, open.leftOut);
    const outcome = parseReport(encodeValue(value ?? null));
    await requireDeclaredOutput(deps, work, outcome.output);
    return outcome;
  });
}

/** A function that left out what it did before has gone two ways. A milestone says from where on it goes. */
function requireSameWay({ step, milestone }: StepWork, leftOut: readonly string[]): void {
  if (leftOut.length === 0 || milestone !== undefined) return;
  const names = leftOut.map((name) => JSON.stringify(name)).join(", ");
  const text = `the function of ${step.path} went another way than before: an earlier attempt did ${names}, and this one did not ask for it`;
  throw new SplashdownError("SUBSTEP_MISMATCH", text, { details: { step: step.path, left_out: leftOut } });
}

/** A function that passes on why it was ended has said nothing new. */
function isRefusal(error: unknown, { reason }: AbortSignal): boolean {
  return error === reason || (error instanceof Error && error.name === "AbortError");
}

const ABORTED = Symbol("aborted");

type Ended = { readonly value: unknown } | { readonly error: unknown };

/** How it ended, or ABORTED as soon as the signal fires; a failure that comes later goes to `tooLate`. */
function untilAborted(
  signal: AbortSignal,
  running: Promise<unknown>,
  tooLate: (error: unknown) => void,
): Promise<Ended | typeof ABORTED> {
  return new Promise((resolve) => {
    const abort = () => resolve(ABORTED);
    const settle = (ended: Ended) => {
      signal.removeEventListener("abort", abort);
      if (signal.aborted && "error" in ended) tooLate(ended.error);
      resolve(ended);
    };
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    running.then(
      (value) => settle({ value }),
      (error: unknown) => settle({ error }),
    );
  });
}

/** Where the functions of a step are looked for. */
export interface FunctionPlace {
  readonly functions: WorkflowFunctions;
  /** Of the workflow. */
  readonly folder: string;
  /** Its path, for messages. */
  readonly step: string;
}

export function loadFunction(deps: PerformerDeps, work: StepWork, reference: string): Promise<StepFunction> {
  const { functions } = deps;
  return importFunction({ functions, folder: work.workflowFolder, step: work.step.path }, reference);
}

const isInProgram = (reference: string): boolean => reference.startsWith("@");

/**
 * The function of a reference, `file.mjs#name` or `@path`.
 *
 * Errors: FUNCTION_NOT_FOUND; a model may be told it, so it holds no path of this machine.
 */
export async function importFunction(at: FunctionPlace, reference: string): Promise<StepFunction> {
  const { functions, folder, step } = at;
  if (isInProgram(reference)) {
    const given = functions.get(reference) ?? functions.get(reference.slice(1));
    if (given !== undefined) return given as StepFunction;
    throw notFound(
      step,
      `the function of step ${step} lives in the program that defined the workflow; run that program`,
    );
  }
  const [file = "", name = "default"] = reference.split("#");
  const of = `the function of step ${step}`;
  let exported: unknown;
  try {
    exported = ((await import(pathToFileURL(path.resolve(folder, file)).href)) as Record<string, unknown>)[name];
  } catch (error) {
    const why = messageOf(error).replaceAll(`${folder}/`, "").replaceAll("file://", "");
    throw notFound(step, `${of}: ${file} cannot be loaded: ${why}`, error);
  }
  if (typeof exported !== "function")
    throw notFound(step, `${of}: ${file} exports no function ${JSON.stringify(name)}`);
  return exported as StepFunction;
}

function notFound(step: string, message: string, cause?: unknown): SplashdownError {
  return new SplashdownError("FUNCTION_NOT_FOUND", message, { cause, details: { step } });
}
