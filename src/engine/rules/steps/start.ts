/**
 * Starts one child of a scope: enters a scope, or intends a step, within the limits of the workflow.
 *
 * A step whose templates fail is intended and failed in one go: it never runs, and the failure is handled like any other.
 * A risky step has a checkpoint before its intent.
 */
import { recordDecision, type Choice } from "../../model/choice.js";
import { enterScope } from "./entering.js";
import type { EngineEvent, EventOf, StepError } from "../../model/events.js";
import { decideRestart } from "./failure.js";
import { itemKeyOf } from "../../model/identity.js";
import { createIntent, findEarlierRound, findUnfinished, type IntentRequest } from "./intent.js";
import { judgeNode } from "./skipping.js";
import type { ReachedLimit } from "./limit-question.js";
import { callsModel, findFullScope, findReachedLimit, noteBudgets, planStart } from "./limits.js";
import { stopAtLimit } from "./time-limits.js";
import { isHook, findOpenTool, phaseNumberOf, requirePlace } from "../../model/lookup.js";
import { failAttempt } from "./outcome.js";
import { askOutcome, askRepeat } from "../questions/outcome-question.js";
import type { StepEntry } from "../../model/state.js";
import { recordCheckpoint } from "../triggers.js";
import type { StartBudget } from "./open-scope.js";

export function createBudget(): StartBudget {
  return { planned: new Map(), calls: 0, isExhausted: false };
}

export function startChild(choice: Choice, path: string, budget: StartBudget): readonly EngineEvent[] {
  const { node } = requirePlace(choice.state, path);
  const judged = judgeNode(choice, { path, node });
  if (judged.skipped !== undefined) return [judged.skipped];
  if (node.node === "step") return startStep(choice, { path, node, judged }, budget);
  // Items are not counted one by one before they start, so the list is counted as one.
  const isCounted = node.scope === "for_each" || node.scope === "workflow";
  const limit = isCounted ? findLimit(choice, path, budget) : undefined;
  if (limit !== undefined) return stopStart(choice, limit, budget);
  if (node.scope === "workflow") planStart(choice, path, budget);
  return [enterScope(choice, path, judged)];
}

export function startStep(choice: Choice, request: IntentRequest, budget: StartBudget): readonly EngineEvent[] {
  if (choice.context.isBreakpoint?.(request.path) === true) {
    budget.isExhausted = true;
    return stopBefore(choice, request.path);
  }
  const before = findUnfinished(choice.state, request.path);
  const limit = findLimit(choice, request.path, before === undefined ? budget : undefined);
  if (limit !== undefined) return stopStart(choice, limit, budget);
  if (!takeRoom(choice, request, budget)) return [];
  if (before === undefined) planStart(choice, request.path, budget);
  const { event, error } = createIntent(choice, request);
  if (error !== undefined) return [{ ...event, held: true }, ...failRendering(choice, { event, before, error })];
  const isFirst = before === undefined || before.held === true;
  const doubt = isFirst ? doubtAbout(choice, request, event) : doubtAboutTool(choice, request, event);
  if (doubt !== undefined) return [{ ...event, held: true }, doubt];
  const restart = decideRestart(choice, before);
  const notes = noteBudgets(choice, request.path);
  if (!request.node.risky) return [...notes, ...restart, event];
  return [
    ...notes,
    ...restart,
    recordCheckpoint(choice, { trigger: "before_risky_operation", phase: event.phase }),
    event,
  ];
}

/** Hooks are no part of what is limited; items count, and are not stopped by the number of iterations. */
function findLimit(choice: Choice, path: string, budget: StartBudget | undefined): ReachedLimit | undefined {
  if (isHook(path)) return undefined;
  if (budget === undefined) return findReachedLimit(choice, path, "nothing");
  return findReachedLimit(choice, path, itemKeyOf(path) === undefined ? budget : "item");
}

/** A limit of a nested workflow holds that one; the others go on. */
function stopStart(choice: Choice, limit: ReachedLimit, budget: StartBudget): readonly EngineEvent[] {
  if (limit.path === undefined) budget.isExhausted = true;
  return stopAtLimit(choice, limit);
}

/** False while the calls under way may take what is left: their end asks again. */
function takeRoom(choice: Choice, { node, path }: IntentRequest, budget: StartBudget): boolean {
  if (!callsModel(node)) return true;
  const full = findFullScope(choice, path, budget.calls);
  if (full === undefined) budget.calls += 1;
  else if (full.path === undefined) budget.isExhausted = true;
  return full === undefined;
}

/** What runs beside it ends by itself; then the task is paused. */
function stopBefore(choice: Choice, path: string): readonly EngineEvent[] {
  const phase = phaseNumberOf(choice.state, path);
  return [
    recordCheckpoint(choice, { trigger: "debug_breakpoint", phase, status: "paused", note: `before ${path}` }),
    recordDecision(choice, {
      agent: "engine",
      type: "breakpoint",
      description: `stopped before ${path}`,
      rationale: "a person asked for it",
      subject: path,
      effect: { kind: "pause" },
    }),
  ];
}

interface FailedRendering {
  readonly event: EventOf<"step_intended">;
  readonly before: StepEntry | undefined;
  readonly error: StepError;
}

function failRendering(choice: Choice, { event, before, error }: FailedRendering): readonly EngineEvent[] {
  const { step: id, path, attempt } = event;
  const { failures = 0, restarts = 0 } = before ?? {};
  return failAttempt(choice, { id, path, attempt, failures, restarts }, { error, durationMs: 0 });
}

/**
 * The question before the first start of an external step that may have acted already: in records that are lost, or in an
 * earlier round that was rolled back. Its intent stands before the question, and is not carried out.
 */
function doubtAbout(choice: Choice, request: IntentRequest, event: EventOf<"step_intended">): EngineEvent | undefined {
  const { node, permittedBy } = request;
  const policy = choice.state.task?.onUnknown ?? event.onUnknown;
  if (node.effects !== "external" || policy === "rerun" || permittedBy !== undefined) return undefined;
  const asked = { ...event, id: event.step };
  const earlier = findEarlierRound(choice.state, event);
  if (earlier !== undefined) return askRepeat(choice, asked, earlier);
  return choice.state.task?.uncertain === true ? askOutcome(choice, asked, { isLost: true }) : undefined;
}

/** The question before a further attempt of a step that was in the middle of a tool call which cannot be taken back. */
function doubtAboutTool(
  choice: Choice,
  { permittedBy }: IntentRequest,
  event: EventOf<"step_intended">,
): EngineEvent | undefined {
  if (permittedBy !== undefined || event.onUnknown === "rerun") return undefined;
  const tool = findOpenTool(choice.state, event.step);
  return tool === undefined ? undefined : askOutcome(choice, { ...event, id: event.step }, { tool });
}
