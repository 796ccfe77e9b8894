/**
 * Hooks: what a workflow wants told or done when it starts, when it has ended, and when a failure stops it.
 *
 * A text is rendered and told as an event, once. A step runs like any other, durable and with its retries, but beside the
 * workflow: nothing waits for its output, and its failure stops nothing. `on_start` and `on_complete` come once per round,
 * `on_error` once per owner that is stopped by a failure.
 */
import { errorCodeOf, messageOf } from "../base/errors.js";
import type { JsonObject } from "../base/json.js";
import { HOOKS_NAME } from "../definition/defaults.js";
import type { HookName } from "../definition/hooks.js";
import type { Choice } from "./choice.js";
import { describeScope } from "./describe-scope.js";
import type { EngineEvent } from "./events.js";
import { createIntent } from "./intent.js";
import { currentStepId, requireTask } from "./lookup.js";
import { failAttempt } from "./outcome.js";

/** What is due of a hook now; nothing when it has been, or when there is none. */
export function reachHook(choice: Choice, hook: HookName, names: JsonObject = {}): readonly EngineEvent[] {
  const { definition } = requireTask(choice.state);
  const defined = definition.hooks?.[hook];
  if (defined === undefined) return [];
  const path = `${definition.root.path}/${HOOKS_NAME}/${hook}`;
  if ("text" in defined)
    return isReached(choice, hook)
      ? []
      : [{ type: "hook_told", atMs: choice.nowMs, hook, text: renderHook(choice, defined.text, { path, names }) }];
  const before = choice.state.steps.get(currentStepId(choice.state, path));
  if (isReached(choice, hook) && before?.status !== "cancelled") return [];
  const { event, error } = createIntent(choice, { path, node: defined.step, names });
  if (error === undefined) return [event];
  const attempt = { id: event.step, path, attempt: event.attempt, failures: 0, restarts: 0 };
  return [event, ...failAttempt(choice, attempt, { error, durationMs: 0 })];
}

function isReached({ state }: Choice, hook: HookName): boolean {
  return requireTask(state).hooks?.[hook] === (hook === "on_error" ? state.epoch : state.round);
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
