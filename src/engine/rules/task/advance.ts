/**
 * Chooses what may start now: one answer for one scope or one question at a time, until nothing is left to choose.
 *
 * Order: answers that were given, retries and waits whose time has come, then the open scopes from the outermost. The
 * cost is that of the open scopes and waiting things, not of the steps done (E5).
 */
import { kindOf } from "../../../definition/kinds/table.js";
import { unreachable } from "../../../base/errors.js";
import { advanceForEach } from "../scopes/advance-for-each.js";
import { advanceWorkflow } from "../scopes/advance-workflow.js";
import { advancePhases } from "../phases/advance-phases.js";
import { advanceGroup, advanceMachine } from "../scopes/advance-scopes.js";
import { advancePhase } from "../phases/advance-phase.js";
import { askPerson } from "../answers/asking.js";
import { recordDecision, type Choice } from "../../model/choice.js";
import { enterScope } from "../steps/entering.js";
import type { EngineEvent } from "../../model/events.js";
import { isBlocked } from "../scopes/blocked-members.js";
import type { QuestionKind } from "../../model/question.js";
import { reachHook } from "../steps/hooks.js";
import { leaveFailed } from "../scopes/leaving.js";
import { isHeldByLimit } from "../steps/limit-question.js";
import { listCutSteps } from "../steps/time-limits.js";
import { findScopeDefinition, findStepDefinition, isHalted } from "../../model/lookup.js";
import { completeWith } from "../steps/outcome.js";
import { consumeConfidenceAnswer } from "../phases/phase-confidence.js";
import { followPlanAnswer } from "../phases/planning.js";
import { answeredQuestions } from "../questions/questions.js";
import { createBudget, startStep } from "../steps/start.js";
import type { StartBudget } from "../steps/open-scope.js";
import type { QuestionEntry, ScopeEntry, StepEntry } from "../../model/state.js";
import { terminate } from "../scopes/terminating.js";
import { applyAnswer, followPolicy } from "../answers/unknown-outcome.js";

/** Questions that hold the whole task when they are about no step. */
const HOLDING = new Set<QuestionKind>(["definition_changed", "loss", "gate"]);

export function schedule(choice: Choice): readonly EngineEvent[] {
  const { state } = choice;
  const task = state.task;
  if (task?.status !== "running" || task.request !== undefined) return [];
  const budget = createBudget();
  const answered = followAnswers(choice, budget);
  if (answered.length > 0) return answered;
  // The workflow has ended: only a hook may be waiting for its next attempt.
  if (task.root !== undefined) return startDue(choice, budget);
  if (isHeld(choice)) return [];
  const cut = listCutSteps(state).flatMap((step) =>
    followPolicy(choice, step, { policy: task.onUnknown ?? step.onUnknown }),
  );
  if (cut.length > 0) return cut;
  const hook = reachHook(choice, "on_start");
  if (hook.length > 0) return hook;
  if (state.scopes.size === 0) return [enterScope(choice, task.definition.root.path)];
  const due = startDue(choice, budget);
  return due.length > 0 ? due : advanceScopes(choice, budget);
}

function isHeld(choice: Choice): boolean {
  for (const id of choice.state.unsettled) {
    const question = choice.state.questions.get(id);
    if (question?.step === undefined && question !== undefined && HOLDING.has(question.kind)) return true;
  }
  return false;
}

function followAnswers(choice: Choice, budget: StartBudget): readonly EngineEvent[] {
  for (const question of answeredQuestions(choice.state)) {
    const events = consume(choice, question, budget);
    if (events.length > 0) return events;
  }
  return [];
}

function consume(choice: Choice, question: QuestionEntry, budget: StartBudget): readonly EngineEvent[] {
  if (question.step !== undefined && choice.state.steps.get(question.step)?.questionId === question.id)
    return applyAnswer(choice, question, budget);
  if (question.kind === "plan") return followPlanAnswer(choice, question);
  const scope = question.phase === undefined ? undefined : choice.state.scopes.get(question.phase);
  if (question.kind === "low_confidence" && scope?.data.scope === "phase") {
    const node = findScopeDefinition(choice.state, scope.path);
    if (node.scope === "phase") {
      return [
        consumeConfidenceAnswer(
          choice,
          { scope, node, data: scope.data, budget },
          { id: question.id, answer: question.answer ?? "" },
        ),
      ];
    }
  }
  return [consumeByGoingOn(choice, question)];
}

/** The first option means going on; any other ends the task here. */
function consumeByGoingOn(choice: Choice, question: QuestionEntry): EngineEvent {
  const goesOn = question.answer === question.options[0]?.value;
  return recordDecision(choice, {
    agent: "engine",
    type: goesOn ? "go_on" : "stop",
    description: `${goesOn ? "continues" : "stops"}: ${question.text}`,
    rationale: `answered ${question.answer ?? "?"} by ${question.answeredBy ?? "?"}`,
    alternatives: [goesOn ? "stop" : "go_on"],
    effect: { kind: goesOn ? "close_question" : "stop", question: question.id },
  });
}

/** Retries and pauses whose time has come, and steps that nobody performs. */
function startDue(choice: Choice, budget: StartBudget): readonly EngineEvent[] {
  const { state, nowMs } = choice;
  const events: EngineEvent[] = [];
  for (const id of state.waiting) {
    const step = state.steps.get(id);
    if (step === undefined || isHeldByLimit(state, step.path)) continue;
    if (step.status === "open") events.push(...followOwnWay(choice, step));
    else if (step.status === "waiting_retry" && !budget.isExhausted && (step.retryAtMs ?? 0) <= nowMs) {
      events.push(...startStep(choice, { path: step.path, node: findStepDefinition(state, step) }, budget));
    }
  }
  return events;
}

/** Steps that nobody performs: a wait ends with its time, a gate asks, a terminate step ends its workflow. */
function followOwnWay(choice: Choice, step: StepEntry): readonly EngineEvent[] {
  if (step.kind === "terminate") return terminate(choice, step);
  if (kindOf(step.kind).endedBy === "person") return askPerson(choice, step);
  if (step.dueAtMs === undefined || step.dueAtMs > choice.nowMs) return [];
  const waitedMs = Math.max(0, step.dueAtMs - step.intendedAtMs);
  return completeWith(choice, step, { value: { waited_seconds: waitedMs / 1_000 } });
}

function advanceScopes(choice: Choice, budget: StartBudget): readonly EngineEvent[] {
  for (const scope of choice.state.scopes.values()) {
    const outer = scope.parent === undefined ? undefined : choice.state.scopes.get(scope.parent);
    if (outer !== undefined && (isHalted(choice.state, outer) || isBlocked(choice, outer))) continue;
    const events = advanceScope(choice, scope, budget);
    if (events.length > 0 || budget.isExhausted) return events;
  }
  return [];
}

function advanceScope(choice: Choice, scope: ScopeEntry, budget: StartBudget): readonly EngineEvent[] {
  const node = findScopeDefinition(choice.state, scope.path);
  if (scope.data.fault !== undefined && node.scope !== "workflow") return leaveFailed(choice, { scope, node, budget });
  switch (node.scope) {
    case "machine":
      return advanceMachine(choice, { scope, node, budget });
    case "phases":
      return advancePhases(choice, { scope, node, budget });
    case "parallel":
    case "dag":
      return advanceGroup(choice, { scope, node, budget });
    case "phase":
      return advancePhase(choice, { scope, node, budget });
    case "for_each":
      return advanceForEach(choice, { scope, node, budget });
    case "workflow":
      return advanceWorkflow(choice, { scope, node, budget });
    default:
      return unreachable(node);
  }
}
