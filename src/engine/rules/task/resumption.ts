/**
 * What a new owner chooses first: `task_resumed`, then one choice per step that was left open, failed or unknown, then a
 * word about every completion that came too late.
 *
 * A failed step is the first to run again, with fresh retries, and a rejected phase iterates once more, unless nobody asked
 * for it (a crash before the failure was closed). A machine that found no route tries its routes again. Finished steps stay
 * finished: only what is not done runs.
 */
import type { JsonValue } from "../../../base/json.js";
import { createDecision, recordDecisionOnce, recordDecision, loadValue, type Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import { enterScope, reenterScope } from "../steps/entering.js";
import { listFailedMembers } from "../scopes/failed-groups.js";
import { CANCELLED_TO_RESUME } from "../../fold/evolve-steps.js";
import { collectFeedback } from "../phases/evaluation.js";
import { rollBack } from "./rollback.js";
import { findEvaluation } from "../../fold/evolve-evaluation.js";
import { definitionPathOf } from "../../model/identity.js";
import type { EngineInput } from "../../model/input.js";
import {
  childPath,
  findScopeDefinition,
  findStepDefinition,
  indexDefinition,
  isPerformed,
} from "../../model/lookup.js";
import { findOffered, tellOrphans } from "../steps/orphan-completions.js";
import { offerLater } from "../questions/outcome-question.js";
import { chooseRoute } from "../steps/routes.js";
import type { QuestionEntry, ScopeEntry, StepEntry } from "../../model/state.js";
import { catchUp } from "../triggers.js";
import { findFlagPolicy, judgeOpenStep } from "../answers/unknown-outcome.js";

type ResumedInput = Extract<EngineInput, { kind: "resumed" }>;

export function decideResumed(asked: Choice, input: ResumedInput): readonly EngineEvent[] {
  const choice = withDefinition(asked, input);
  const { state, nowMs } = choice;
  const events: EngineEvent[] = [
    {
      type: "task_resumed",
      atMs: nowMs,
      epoch: input.epoch,
      by: input.by,
      crashed: input.crashed,
      report: input.report,
      ...(input.definition === undefined ? {} : { definition: input.definition }),
      ...(input.byPerson ? { byPerson: true } : {}),
      ...(input.uncertain ? { uncertain: true } : {}),
      ...(input.onUnknown === undefined ? {} : { onUnknown: input.onUnknown }),
    },
  ];
  events.push(...endServers(choice, input), ...catchUp(choice, input.last));
  if (input.goBack !== undefined)
    return [...events, ...rollBack(choice, { events, request: input.goBack, reopen: reopenScope })];
  for (const id of state.open) {
    const step = state.steps.get(id);
    if (step !== undefined && isKept(step, input))
      events.push(...judgeOpenStep(choice, { step, crashes: crashesAfter(step, input) }, input));
  }
  for (const id of state.blocked) {
    const step = state.steps.get(id);
    if (step !== undefined && isKept(step, input)) events.push(...judgeBlocked(choice, step, input));
  }
  return [...events, ...tellOrphans(choice, input.orphans, events), ...reopenScopes(choice, input)];
}

/** Tool servers of earlier owners, but for those that may still run. */
function endServers({ state, nowMs }: Choice, { serversLeft }: ResumedInput): readonly EngineEvent[] {
  const ended = [...state.servers].filter(([key]) => serversLeft?.has(key) !== true);
  return ended.map(([, server]) => ({ type: "server_ended", atMs: nowMs, ...server }));
}

/** A crash before the end of a phase was closed asks for nothing. */
function reopenScopes(choice: Choice, { byPerson, crashed }: ResumedInput): readonly EngineEvent[] {
  const isAskedFor = byPerson || !crashed;
  const all = [...choice.state.scopes.values()];
  const scopes = all.filter(({ data }) => isAskedFor || data.scope !== "phase");
  const members = isAskedFor ? all.flatMap((scope) => reopenMembers(choice, scope)) : [];
  return [...scopes.flatMap((scope) => reopenScope(choice, scope)), ...members];
}

/** The same state under the definition it goes on with: routes and failures are judged by it. */
function withDefinition(choice: Choice, { definition }: ResumedInput): Choice {
  const { state } = choice;
  if (definition === undefined || state.task === undefined) return choice;
  return { ...choice, state: { ...state, task: { ...state.task, definition } } };
}

/** False for a step that a changed definition does not have any more. */
function isKept(step: StepEntry, input: ResumedInput): boolean {
  if (input.definition === undefined || step.spawnedDefinition !== undefined) return true;
  return indexDefinition(input.definition).places.get(definitionPathOf(step.path))?.node.node === "step";
}

function crashesAfter(step: StepEntry, input: ResumedInput): number {
  if (input.byPerson) return 0;
  return step.crashes + (input.crashed ? 1 : 0);
}

function judgeBlocked(choice: Choice, step: StepEntry, input: ResumedInput): readonly EngineEvent[] {
  if (step.status === "failed") {
    if (input.crashed && !input.byPerson) return [];
    return [beginAnew(choice, step)];
  }
  if (isAskedOtherwise(choice, step, input)) return [beginAnew(choice, step)];
  const { questionId: question } = step;
  if (question === undefined) return judgeOpenStep(choice, { step, crashes: 0 }, input);
  const asked = choice.state.questions.get(question);
  const given = asked?.status === "open" ? answerOfResume(step, input) : undefined;
  if (asked !== undefined && given !== undefined) return answerAtResume(choice, asked, given);
  return offerOrphan(choice, asked, findOffered(input.orphans, step.id));
}

/** What a person is asked was edited since, and the edit accepted. */
function isAskedOtherwise(choice: Choice, step: StepEntry, { definition }: ResumedInput): boolean {
  if (definition === undefined || step.status !== "asked" || isPerformed(step.kind)) return false;
  return findStepDefinition(choice.state, step).fingerprint !== step.fingerprint;
}

function beginAnew({ nowMs }: Choice, { id, attempt }: StepEntry): EngineEvent {
  return { type: "step_cancelled", atMs: nowMs, step: id, attempt, reason: CANCELLED_TO_RESUME };
}

/** A superseded owner may write the step's result after a person was asked about it. */
function offerOrphan(
  choice: Choice,
  asked: QuestionEntry | undefined,
  orphan: JsonValue | undefined,
): readonly EngineEvent[] {
  const isNews = asked?.status === "open" && asked.kind === "unknown_outcome" && asked.offered === undefined;
  return isNews && orphan !== undefined ? [offerLater(choice, asked, orphan)] : [];
}

interface GivenAnswer {
  readonly answer: string;
  readonly by: string;
  readonly rationale: string;
}

/** A flag answers what an earlier owner asked; a person's resume gives a parked step another chance. */
function answerOfResume(step: StepEntry, input: ResumedInput): GivenAnswer | undefined {
  // The choice is a person's: no policy for steps that may have acted makes it.
  if (step.status === "asked") return undefined;
  if (step.status === "parked") {
    const rationale = "a person resumed the task, which gives a parked step another chance";
    return input.byPerson ? { answer: "rerun", by: "resume", rationale } : undefined;
  }
  const policy = findFlagPolicy(step, input) ?? "ask";
  return policy === "ask" ? undefined : { answer: policy, by: "a flag", rationale: "a flag of the resume says so" };
}

function answerAtResume(choice: Choice, { id, text, options }: QuestionEntry, given: GivenAnswer): EngineEvent[] {
  const { answer, by, rationale } = given;
  const decision = createDecision(choice, {
    agent: "engine",
    type: "answer",
    description: `${answer}: ${text}`,
    rationale,
    alternatives: options.map((option) => option.value).filter((other) => other !== answer),
    subject: id,
    facts: { question: id },
  });
  return [{ type: "question_answered", atMs: choice.nowMs, question: id, answer, by, decision }];
}

/** A group that has nothing but failures is tried again, member by member. */
function reopenMembers(choice: Choice, scope: ScopeEntry): readonly EngineEvent[] {
  const { steps, scopes } = listFailedMembers(choice, scope);
  return [...steps.map((step) => beginAnew(choice, step)), ...scopes.map((path) => enterScope(choice, path))];
}

function reopenScope(choice: Choice, scope: ScopeEntry): readonly EngineEvent[] {
  const { data } = scope;
  if (data.scope === "machine" && data.stuck !== undefined && data.current !== undefined)
    return tryRoutesAgain(choice, scope, data.current);
  if (data.scope === "phase" && (data.judged === "rejected" || data.settled === "fail"))
    return iterateAgain(choice, scope, data.iteration);
  if ("fault" in data && data.fault !== undefined) return [reenterScope(choice, scope)];
  return [];
}

function tryRoutesAgain(choice: Choice, scope: ScopeEntry, child: string): readonly EngineEvent[] {
  const path = childPath(scope.path, child);
  const definition = findScopeDefinition(choice.state, scope.path);
  const node = definition.children.find((candidate) => candidate.name === child);
  const output = choice.state.outputs.get(path);
  if (node === undefined) return [];
  const value: JsonValue = output === undefined ? null : loadValue(choice, output.value);
  const route = chooseRoute(choice, { path, node }, value);
  if (route.next === undefined) return [];
  return [
    recordDecision(choice, {
      agent: "engine",
      type: "route",
      description: `continues from ${child} to ${route.next}`,
      rationale: "no route matched before; one does now",
      subject: scope.path,
      effect: { kind: "route", next: route.next },
    }),
  ];
}

function iterateAgain(choice: Choice, scope: ScopeEntry, iteration: number): readonly EngineEvent[] {
  const { path } = scope;
  const scores = findEvaluation(choice.state, path, iteration)?.entry.scores ?? {};
  const feedback = collectFeedback(scores);
  return [
    ...recordDecisionOnce(choice, {
      agent: "engine",
      type: "iterate",
      description: `${path} runs once more`,
      rationale: "it was stopped by its evaluation or for its confidence, and the task was resumed",
      alternatives: ["stop"],
      subject: path,
      facts: { iteration, round: choice.state.round, feedback },
    }),
    { type: "iteration_started", atMs: choice.nowMs, path, iteration: iteration + 1, feedback },
  ];
}
