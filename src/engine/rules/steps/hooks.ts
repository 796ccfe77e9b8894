/**
 * Hooks: what a workflow wants told or done when it starts, when it has ended, and when a failure stops it.
 *
 * A text is rendered and told as an event, once. A step runs like any other, durable and with its retries, but beside the
 * workflow: nothing waits for its output, and its failure stops nothing. `on_start` and `on_complete` come once per round,
 * `on_error` once per owner that is stopped by a failure. A nested workflow has hooks of its own, for each of its visits.
 */
import { errorCodeOf, messageOf } from "../../../base/errors.js";
import type { JsonObject } from "../../../base/json.js";
import { HOOKS_NAME } from "../../../definition/model/defaults.js";
import type { HookName, HooksDefinition } from "../../../definition/model/hooks.js";
import type { Choice } from "../../model/choice.js";
import { describeScope } from "../../render/describe-scope.js";
import type { EngineEvent, StepError } from "../../model/events.js";
import { createIntent, type IntentRequest } from "./intent.js";
import { childPath, currentStepId, requireTask, type PlacedWorkflow } from "../../model/lookup.js";
import { failAttempt } from "./outcome.js";

interface Occasion {
  /** What templates see besides. */
  readonly names?: JsonObject;
  /** The nested workflow whose hook it is; absent: the task's. */
  readonly nested?: PlacedWorkflow;
}

/** What is due of a hook now; nothing when it has been, or when there is none. */
export function reachHook(choice: Choice, hook: HookName, occasion: Occasion = {}): readonly EngineEvent[] {
  const { names = {}, nested } = occasion;
  const { hooks, root } = nested === undefined ? ofTask(choice) : ofNested(nested);
  const defined = hooks?.[hook];
  if (defined === undefined) return [];
  const path = `${root}/${HOOKS_NAME}/${hook}`;
  const isOver = isReached(choice, hook, nested);
  if ("step" in defined) return startHook(choice, { path, node: defined.step, names }, isOver);
  if (isOver) return [];
  const text = renderHook(choice, defined.text, { path, names });
  return [
    { type: "hook_told", atMs: choice.nowMs, hook, text, ...(nested === undefined ? {} : { path: nested.path }) },
  ];
}

function startHook(choice: Choice, request: IntentRequest, isOver: boolean): readonly EngineEvent[] {
  const { path } = request;
  const before = choice.state.steps.get(currentStepId(choice.state, path));
  if (isOver && before?.status !== "cancelled") return [];
  const { event, error } = createIntent(choice, request);
  if (error === undefined) return [event];
  const attempt = { id: event.step, path, attempt: event.attempt, failures: 0, restarts: 0 };
  return [{ ...event, held: true }, ...failAttempt(choice, attempt, { error, durationMs: 0 })];
}

/** The hooks of a workflow, and the path of its root. */
interface Hooked {
  readonly hooks: HooksDefinition | undefined;
  readonly root: string;
}

function ofTask({ state }: Choice): Hooked {
  const { hooks, root } = requireTask(state).definition;
  return { hooks, root: root.path };
}

function ofNested({ path, node }: PlacedWorkflow): Hooked {
  return { hooks: node.hooks, root: childPath(path, node.children[0].name) };
}

function isReached({ state }: Choice, hook: HookName, nested: PlacedWorkflow | undefined): boolean {
  const data = nested === undefined ? undefined : state.scopes.get(nested.path)?.data;
  const { hooks } = data?.scope === "workflow" ? data : requireTask(state);
  return hooks?.[hook] === (hook === "on_error" ? state.epoch : state.round);
}

/** What a hook is told of a failure. Source: CONDUCTOR-YAML 1.2. */
export function describeHookError(error: Pick<StepError, "code" | "message"> | undefined, reason: string): JsonObject {
  return error === undefined
    ? { type: "STEP_FAILED", message: reason, suggestion: null }
    : { type: error.code, message: error.message, suggestion: "mend it, then resume the task" };
}

function renderHook(
  choice: Choice,
  text: string,
  { path, names }: { readonly path: string; readonly names: JsonObject },
): string {
  try {
    return choice.context.templates.renderText(text, describeScope(choice, path, names));
  } catch (error) {
    if (errorCodeOf(error) !== "TEMPLATE_FAILED") throw error;
    return `the text of this hook cannot be rendered: ${messageOf(error)}`;
  }
}
