/** Runs one program for a step: spawn, durable `spawned`, release, and an end of the whole tree when the signal fires. */
import path from "node:path";
import { selectErrorLine } from "../../base/error-lines.js";
import { SplashdownError, isErrorCode } from "../../base/errors.js";
import type { JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { ProcessRef } from "../../engine/model/events.js";
import type { StepOutcome, StepWork } from "../../engine/model/ports.js";
import type { Child, ChildResult } from "../../process/contract.js";
import { computeEnvironment } from "./child-environment.js";
import type { PerformerDeps } from "../outcome/contract.js";
import { afterAct } from "../outcome/failure.js";

export interface ChildRun {
  readonly work: StepWork;
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly input?: string;
  readonly onControlLine?: (line: string, isCut: boolean, problem?: string) => void;
  /** Stdout comes here and is not kept. */
  readonly onStdout?: (chunk: Buffer) => void;
  /** Over the environment that the step has. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Bytes came: the program is not silent. */
  readonly onActivity?: () => void;
  readonly stderrTailBytes?: number;
  /** Makes the identity durable; the program does not run before (A2). Absent: it is noted in the roll alone. */
  readonly spawned?: (process: ProcessRef) => Promise<void>;
  /** The program runs from here on. */
  readonly released?: () => void;
  readonly signal: AbortSignal;
}

export type CancelledOutcome = Extract<StepOutcome, { status: "cancelled" }>;

const NEVER_RAN: CancelledOutcome = { status: "cancelled", acted: false };

/**
 * Shape: a cancellation says `acted: false` when the program never ran. Nothing of the tree runs afterwards either way.
 * Errors: those of `ProcessHost.spawn` and of `spawned`; VALUE_TOO_LARGE when it wrote too much.
 */
export async function runChild(deps: PerformerDeps, run: ChildRun): Promise<ChildResult | CancelledOutcome> {
  if (run.signal.aborted) return NEVER_RAN;
  const child = await deps.processes.spawn(specOf(deps, run));
  if (!(await makeKnown(child, run))) return NEVER_RAN;
  let isCancelled = false;
  const cancel = () => {
    isCancelled = true;
    void child.end(LIMITS.killGraceMs);
  };
  run.signal.addEventListener("abort", cancel, { once: true });
  try {
    child.release();
    run.released?.();
    const result = await child.result;
    if (isCancelled) return { status: "cancelled" };
    if (result.stdoutOverflow) throw tooLarge();
    if (result.leftoversEnded) deps.log.warn(`step ${run.work.step.path} left processes behind; they were ended`);
    return result;
  } finally {
    run.signal.removeEventListener("abort", cancel);
  }
}

async function makeKnown(child: Child, run: ChildRun): Promise<boolean> {
  try {
    await run.spawned?.(child.identity);
    if (!run.signal.aborted) return true;
    await child.end(0);
    return false;
  } catch (error) {
    await child.end(0);
    if (isErrorCode(error, "CANCELLED")) return false;
    throw error;
  }
}

function specOf(deps: PerformerDeps, run: ChildRun) {
  const { work } = run;
  const [program, ...parameters] = run.command;
  const folder = work.rendered["folder"];
  return {
    program: program ?? "",
    arguments: parameters,
    folder:
      typeof folder === "string" && folder !== "" ? path.resolve(work.workflowFolder, folder) : work.workflowFolder,
    environment: { ...run.environment, ...computeEnvironment(deps, work) },
    input: run.input,
    onControlLine: run.onControlLine,
    onStdout: run.onStdout,
    onActivity: run.onActivity,
    stdoutBytesMax: LIMITS.stepOutputBytesMax,
    stderrTailBytes: run.stderrTailBytes ?? LIMITS.stderrTailBytes,
    isNoted: run.spawned === undefined,
  };
}

function tooLarge(): SplashdownError {
  const limit = LIMITS.stepOutputBytesMax;
  const text = `the program wrote more than ${limit} bytes to stdout and was ended`;
  return afterAct(new SplashdownError("VALUE_TOO_LARGE", text, { details: { limit } }), "maybe");
}

/** The rendered command as texts. Errors: STEP_FAILED when it is empty. */
export function requireCommand(value: JsonValue | undefined): readonly string[] {
  const parts = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  if (parts.length === 0) {
    throw new SplashdownError("STEP_FAILED", "the step's command is empty", { details: { retryable: false } });
  }
  return parts.map((part) => (typeof part === "string" ? part : JSON.stringify(part)));
}

/** What to say of a program that did not end with 0. */
export function exitError(command: readonly string[], result: ChildResult): SplashdownError {
  const how = result.signal === undefined ? `exited with ${String(result.exitCode)}` : `was killed by ${result.signal}`;
  const line = selectErrorLine(result.stderrTail);
  return new SplashdownError("STEP_FAILED", `${command[0] ?? ""} ${how}${line === "" ? "" : `: ${line}`}`, {
    details: { exit_code: result.exitCode ?? null, signal: result.signal ?? null, stderr: result.stderrTail },
  });
}
