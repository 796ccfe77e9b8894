/** Functions of a workflow as tools of its models. */
import { decodeValue, encodeValue } from "../../base/json-encoding.js";
import { messageOf, SplashdownError } from "../../base/errors.js";
import type { JsonObject } from "../../base/json.js";
import type { FunctionTool } from "../../definition/model/tool-definition.js";
import type { StepWork } from "../../engine/model/ports.js";
import type { PerformerDeps } from "../outcome/contract.js";
import { loadFunction, type StepFunction } from "../functions/function.js";
import type { Tool, ToolUse } from "./tool-call.js";
import { identityOfFunction } from "./tool-names.js";

/** What a function gets that a model calls. */
export interface ToolContext {
  readonly input: Readonly<Record<string, unknown>>;
  readonly task: { readonly id: string; readonly name: string };
  /** Path of the model step. */
  readonly path: string;
  /** Equal when the call is made again after a crash. */
  readonly idempotencyKey: string;
  /** Fires when the step is over, or the tool takes longer than its timeout. */
  readonly signal: AbortSignal;
}

/** Errors: FUNCTION_NOT_FOUND, before a model is asked anything. */
export async function openFunctionTools(
  deps: PerformerDeps,
  work: StepWork,
  definitions: readonly FunctionTool[],
): Promise<readonly Tool[]> {
  const { functionGuard } = deps;
  const { path } = work.step;
  const load = (definition: FunctionTool): Promise<StepFunction> =>
    functionGuard.run(path, () => loadFunction(deps, work, definition.function));
  const loaded = await Promise.all(
    definitions.map(async (definition) => ({ definition, run: await load(definition) })),
  );
  return loaded.map(({ definition, run }) => {
    const { name, description, parameters, effects, approve = "never" } = definition;
    return {
      identity: identityOfFunction(name),
      fullName: name,
      description: { name, parameters, ...(description === undefined ? {} : { description }) },
      effects,
      approve,
      call: (use) =>
        withinTime({ deps, definition, use }, async (signal) => {
          const { idempotencyKey } = use;
          const input = decodeValue(use.input) as ToolContext["input"];
          const context: ToolContext = { input, task: work.task, path: work.step.path, idempotencyKey, signal };
          return keepReturned(await functionGuard.run(path, () => run(context as never)));
        }),
    };
  });
}

/** The function has run: a value that cannot be kept is told as that. */
function keepReturned(returned: unknown): JsonObject {
  try {
    return { value: encodeValue(returned ?? null) };
  } catch (error) {
    return { error: `the call was made; its result cannot be kept: ${messageOf(error)}`, acted: true };
  }
}

interface TimedUse {
  readonly deps: PerformerDeps;
  readonly definition: FunctionTool;
  readonly use: ToolUse;
}

/** Errors: STEP_TIMEOUT; the function cannot be ended, so it may still act. */
async function withinTime<T>(
  { deps, definition, use }: TimedUse,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { name, timeoutMs } = definition;
  const { signal } = use;
  if (timeoutMs === undefined) return run(signal);
  const controller = new AbortController();
  const late = new Promise<never>((_resolve, reject) => {
    const cancel = deps.clock.schedule(timeoutMs, () => {
      controller.abort();
      const text = `the tool ${name} took longer than ${timeoutMs / 1_000} seconds`;
      reject(new SplashdownError("STEP_TIMEOUT", text, { details: { tool: name, sent: true } }));
    });
    signal.addEventListener("abort", () => (cancel(), controller.abort()), { once: true });
    controller.signal.addEventListener("abort", cancel, { once: true });
  });
  try {
    return await Promise.race([run(controller.signal), late]);
  } finally {
    controller.abort();
  }
}
