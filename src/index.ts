/** The library: what the command gives, for programs. */
export { openSplashdown, type OpenOptions } from "./runtime/open.js";
export { defineWorkflow, type StepFunction, type ToolFunction, type Workflow } from "./runtime/define-workflow.js";
export type { FunctionContext, SpawnedStep, SubstepContext } from "./agents/functions/function-context.js";
export type { ToolContext } from "./agents/tools/function-tool.js";
export type { InputValues, OutputOf } from "./definition/workflow-types.js";
export type * from "./runtime/contract.js";
export { errorCodeOf, isErrorCode, SplashdownError } from "./base/errors.js";
export type { ErrorCode } from "./base/error-table.js";
export type { JsonObject, JsonValue } from "./base/json.js";
export type { Log } from "./base/log.js";
