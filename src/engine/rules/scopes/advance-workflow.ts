/**
 * What may start now in a nested workflow, and what it gives: its root runs once, then its output is rendered.
 *
 * A failure below it is dealt with as anywhere (failure.ts); with `on_failure: continue` in the nested file it is left
 * partial, with the output that can be rendered.
 */
import type { WorkflowScope } from "../../../definition/model/workflow.js";
import { loadValue, type Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import { renderWorkflowOutput } from "../../render/final-output.js";
import { describeHookError, reachHook } from "../steps/hooks.js";
import { findCause, leave, leaveFailed } from "./leaving.js";
import { childPath } from "../../model/lookup.js";
import type { OpenScope } from "../steps/open-scope.js";
import { startChild } from "../steps/start.js";
import type { ScopeData } from "../../model/state.js";

type WorkflowData = Extract<ScopeData, { scope: "workflow" }>;

export function advanceWorkflow(choice: Choice, open: OpenScope<WorkflowScope>): readonly EngineEvent[] {
  const { scope, node, budget } = open;
  const data = scope.data as WorkflowData;
  if (data.fault !== undefined) return fail(choice, open);
  if (data.root === "running") return [];
  const [root] = node.children;
  if (data.root === "ready") {
    const hook = reachHook(choice, "on_start", { nested: { path: scope.path, node } });
    return hook.length > 0 ? hook : startChild(choice, childPath(scope.path, root.name), budget);
  }
  if (data.ends?.status === "failed" || (data.root === "failed" && node.onFailure !== "continue"))
    return fail(choice, open);
  return end(choice, open, data);
}

function end(choice: Choice, open: OpenScope<WorkflowScope>, data: WorkflowData): readonly EngineEvent[] {
  const { scope, node } = open;
  const rendered = outputOf(choice, open, data);
  if ("error" in rendered) return fail(choice, open);
  const { output } = rendered;
  if (node.hooks?.on_complete !== undefined) {
    const result = output === undefined ? null : loadValue(choice, output);
    const hook = reachHook(choice, "on_complete", { nested: { path: scope.path, node }, names: { result } });
    if (hook.length > 0) return hook;
  }
  return [leave(choice, open, { outcome: data.root === "done" ? "done" : "partial", output })];
}

/** Left with its failure where somebody further out deals with it; a failure nobody deals with is told at the end. */
function fail(choice: Choice, open: OpenScope<WorkflowScope>): readonly EngineEvent[] {
  const { scope, node } = open;
  const leaving = leaveFailed(choice, open);
  if (leaving.length === 0) return [];
  const error = describeHookError(findCause(choice, scope), `${scope.path} failed`);
  const hook = reachHook(choice, "on_error", { nested: { path: scope.path, node }, names: { error } });
  return hook.length > 0 ? hook : leaving;
}

/** A terminate step may give it itself. */
function outputOf(choice: Choice, { scope, node }: OpenScope<WorkflowScope>, data: WorkflowData) {
  const root = childPath(scope.path, node.children[0].name);
  const given = data.ends?.replacesOutput === true ? choice.state.outputs.get(root) : undefined;
  if (given !== undefined) return { output: given.value };
  const { routeOutput } = data;
  return renderWorkflowOutput(choice, {
    root,
    templates: node.output,
    ...(routeOutput === undefined ? {} : { routeOutput }),
  });
}
