/**
 * Steps whose outcome is unknown: what a new owner does about each open step, and what an answer permits.
 *
 * E6: a command or script whose intent is durable but whose `spawned` is not has provably not acted, because its child
 *     waits until `spawned` is durable (P1); it is intended again without asking. Not so after a loss of records, where
 *     it may be among the lost ones, nor when an earlier round had it done; start.ts asks before the first start there.
 * E7: every further attempt has the idempotency key of the first.
 *
 *   open → probe said done → completed · probe said not done, or E6 → intended again
 *        → external, and a process of it may still run where we cannot end it: asked, whatever says `rerun`
 *        → left open by too many crashed epochs without progress → parked, a person is asked
 *        → no effects, or idempotent → intended again
 *        → external: flag > step > workflow > settings: ask · rerun · skip · fail
 * Answers: rerun → the next intent names the question; done → completed with the given output; skip → completed without;
 * fail → failed, with whatever follows from that. A second crash asks anew.
 */
import type { JsonValue } from "../../../base/json.js";
import type { OnUnknown } from "../../../definition/model/values.js";
import { applyHumanAnswer } from "./asking.js";
import { recordDecisionOnce, type Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import { isAbsorbed, mayHaveActed } from "../steps/failure.js";
import type { EngineInput, ProcessPlace } from "../../model/input.js";
import { findEarlierRound } from "../steps/intent.js";
import { CANCELLED_TO_RERUN } from "../../fold/evolve-steps.js";
import {
  findOpenTool,
  findStepDefinition,
  isHalted,
  isPerformed,
  requirePlace,
  type OpenTool,
} from "../../model/lookup.js";
import { completeWith, failAttempt } from "../steps/outcome.js";
import { findOffered } from "../steps/orphan-completions.js";
import { startStep } from "../steps/start.js";
import type { StartBudget } from "../steps/open-scope.js";
import { askOutcome, askParked, OUTCOME_OPTIONS } from "../questions/outcome-question.js";
import type { QuestionEntry, StepEntry } from "../../model/state.js";

type ResumedInput = Extract<EngineInput, { kind: "resumed" }>;

const ALTERNATIVES = OUTCOME_OPTIONS.map((option) => option.value);

/** Kinds whose child process waits for `spawned`. */
function spawnsAlways(choice: Choice, step: StepEntry): boolean {
  if (step.kind === "command" || step.kind === "script" || step.kind === "cli") return true;
  if (step.kind !== "scorer") return false;
  const node = findStepDefinition(choice.state, step);
  return node.kind === "scorer" && node.scorer.by === "command";
}

/** A step that an earlier owner left open. */
export interface LeftStep {
  readonly step: StepEntry;
  /** Crashed owners in a row that left it open without progress, the one just found included. */
  readonly crashes: number;
}

/** What is done about one step that was left open. */
export function judgeOpenStep(choice: Choice, left: LeftStep, input: ResumedInput): readonly EngineEvent[] {
  const { step } = left;
  // A time, a person or `advance` sees to it.
  if (!isPerformed(step.kind)) return [];
  // What was to follow its intent follows the next one.
  if (step.held === true) return [again(choice, step, "never_started")];
  const survivor = findSurvivor(choice, step, input);
  if (survivor !== undefined) return followSurvivor(choice, { step, survivor }, input);
  const probed = input.probed.get(step.id);
  return probed === undefined ? judgeUnprobed(choice, left, input) : followProbe(choice, step, probed);
}

function judgeUnprobed(choice: Choice, { step, crashes }: LeftStep, input: ResumedInput): readonly EngineEvent[] {
  const hasNotActed = hasProvablyNotActed(choice, step, input);
  const tool = findOpenTool(choice.state, step.id);
  const isHarmless = (hasNotActed || step.effects !== "external") && tool === undefined;
  const policy = findFlagPolicy(step, input) ?? step.onUnknown;
  const isParked = crashes >= input.maxRecoveryAttempts && (isHarmless || policy === "rerun");
  if (isParked) return [askParked(choice, step, crashes)];
  if (isHarmless) return [again(choice, step, hasNotActed ? "never_started" : `effects_${step.effects}`)];
  return followPolicy(choice, step, { policy, offered: findOffered(input.orphans, step.id), tool });
}

interface Surviving {
  readonly step: StepEntry;
  readonly survivor: ProcessPlace;
}

/** What may still act for an external step that has begun. */
function findSurvivor(choice: Choice, step: StepEntry, input: ResumedInput): ProcessPlace | undefined {
  const isHarmless = step.effects !== "external" && findOpenTool(choice.state, step.id) === undefined;
  return isHarmless || hasProvablyNotActed(choice, step, input) ? undefined : input.mayRun?.get(step.id);
}

/** Nothing that may act now is run a second time beside it; a person looks after it, and answers. */
function followSurvivor(choice: Choice, { step, survivor }: Surviving, input: ResumedInput): readonly EngineEvent[] {
  const wanted = findFlagPolicy(step, input) ?? step.onUnknown;
  const policy = wanted === "rerun" ? "ask" : wanted;
  const tool = findOpenTool(choice.state, step.id);
  return followPolicy(choice, step, { policy, offered: findOffered(input.orphans, step.id), tool, survivor });
}

/** What the flags say about a step; the more specific one counts. */
export function findFlagPolicy(step: StepEntry, { onUnknown, onUnknownOf = {} }: ResumedInput): OnUnknown | undefined {
  return onUnknownOf[step.id] ?? onUnknownOf[step.path] ?? onUnknownOf[step.name] ?? onUnknown;
}

interface ProbeAnswer {
  readonly done: boolean;
  readonly output?: JsonValue;
}

function followProbe(choice: Choice, step: StepEntry, { done, output }: ProbeAnswer): readonly EngineEvent[] {
  return done
    ? completeWith(choice, step, { value: output ?? null, by: "probe" })
    : [again(choice, step, "probe_not_done")];
}

/** E6. */
function hasProvablyNotActed(choice: Choice, step: StepEntry, input: ResumedInput): boolean {
  const isUncertain = input.uncertain || choice.state.task?.uncertain === true;
  if (isUncertain || findEarlierRound(choice.state, step) !== undefined) return false;
  return step.process === undefined && spawnsAlways(choice, step) && !mayHaveActed(step.error);
}

function again(choice: Choice, step: StepEntry, reason: string): EngineEvent {
  return { type: "step_cancelled", atMs: choice.nowMs, step: step.id, attempt: step.attempt, reason };
}

interface Policy {
  readonly policy: OnUnknown;
  readonly offered?: JsonValue | undefined;
  readonly tool?: OpenTool | undefined;
  readonly survivor?: ProcessPlace | undefined;
}

/** Asks, or does what the policy says about a step of which it is unknown whether it has acted. */
export function followPolicy(
  choice: Choice,
  step: StepEntry,
  { policy, offered, tool, survivor }: Policy,
): readonly EngineEvent[] {
  const failed = mayHaveActed(step.error) ? { failed: step.error } : {};
  if (policy === "ask") return [askOutcome(choice, step, { offered, tool, survivor, ...failed })];
  const { attempt } = step;
  const decision = recordDecisionOnce(choice, {
    agent: "engine",
    type: "unknown_outcome",
    description: `${step.path}: ${policy}`,
    rationale: `it is unknown whether attempt ${attempt} has acted; on_unknown says ${policy}`,
    alternatives: ALTERNATIVES.filter((value) => value !== policy),
    subject: step.id,
    facts: { attempt, policy },
  });
  return [
    ...decision,
    ...(tool === undefined ? carryOut(choice, step, policy) : carryOutTool(choice, { step, tool, policy })),
  ];
}

function carryOut(choice: Choice, step: StepEntry, policy: Exclude<OnUnknown, "ask">): readonly EngineEvent[] {
  if (policy === "rerun") return [again(choice, step, CANCELLED_TO_RERUN)];
  if (policy === "skip") return completeWith(choice, step, { value: null, by: "skip" });
  return failUnknown(choice, step);
}

interface ToolPolicy {
  readonly step: StepEntry;
  readonly tool: OpenTool;
  readonly policy: Exclude<OnUnknown, "ask">;
}

/** The step goes on after its tool call: with a new call, or without its result. */
function carryOutTool(choice: Choice, { step, tool, policy }: ToolPolicy): readonly EngineEvent[] {
  if (policy === "rerun") return [again(choice, step, CANCELLED_TO_RERUN)];
  if (policy === "fail") return failUnknown(choice, step);
  return [completeTool(choice, { step, call: tool.call, result: SKIPPED_TOOL }), again(choice, step, "tool_settled")];
}

/** What the model is told of a call whose outcome nobody knows. */
const SKIPPED_TOOL: JsonValue = { error: "the outcome of this call is unknown, and it is not made again" };

interface SettledTool {
  readonly step: StepEntry;
  readonly call: string;
  readonly result: JsonValue;
}

function completeTool(choice: Choice, { step, call, result }: SettledTool): EngineEvent {
  const { id, attempt } = step;
  return { type: "tool_completed", atMs: choice.nowMs, step: id, attempt, call, value: { inline: result } };
}

function failUnknown(choice: Choice, step: StepEntry): readonly EngineEvent[] {
  const error = step.error ?? {
    code: "STEP_UNKNOWN",
    message: `it is unknown whether attempt ${step.attempt} has acted`,
    retryable: false,
  };
  const last = { error: { ...error, retryable: false }, durationMs: 0 };
  return failAttempt(choice, { ...step, restarts: Infinity }, last);
}

/** Consumes the answer about a step. Empty while a failed sibling holds its group for a resume. */
export function applyAnswer(choice: Choice, question: QuestionEntry, budget: StartBudget): readonly EngineEvent[] {
  const step = question.step === undefined ? undefined : choice.state.steps.get(question.step);
  if (step === undefined) return [];
  const node = findStepDefinition(choice.state, step);
  const goOn = (): readonly EngineEvent[] =>
    rerun(choice, step, () => startStep(choice, { path: step.path, node, permittedBy: question.id }, budget));
  // Allowed or not, the step goes on at its call and finds the answer there.
  if (question.kind === "tool_approval") return goOn();
  if (step.status === "asked") return applyHumanAnswer(choice, question, step);
  if (question.about?.kind === "call")
    return followToolAnswer(choice, { step, call: question.about.call, question }, goOn);
  switch (question.answer) {
    case "rerun":
      return goOn();
    case "done":
      return completeWith(choice, step, { value: question.value ?? question.offered ?? null, by: "answer" });
    case "skip":
      return completeWith(choice, step, { value: null, by: "skip" });
    default:
      return failUnknown(choice, step);
  }
}

interface AnsweredTool {
  readonly step: StepEntry;
  readonly call: string;
  readonly question: QuestionEntry;
}

/** The answer is about one call: its result is known now, or it is made again, and the step goes on behind it. */
function followToolAnswer(
  choice: Choice,
  { step, call, question }: AnsweredTool,
  goOn: () => readonly EngineEvent[],
): readonly EngineEvent[] {
  if (question.answer === "rerun") return goOn();
  if (question.answer !== "done" && question.answer !== "skip") return failUnknown(choice, step);
  const started = goOn();
  const result = question.answer === "skip" ? SKIPPED_TOOL : { value: question.value ?? null };
  return started.length === 0 ? [] : [completeTool(choice, { step, call, result }), ...started];
}

/** In a group that has failed nothing starts: the answer is kept for a resume, or used up where the group is left. */
function rerun(choice: Choice, step: StepEntry, start: () => readonly EngineEvent[]): readonly EngineEvent[] {
  const { parent } = requirePlace(choice.state, step.path);
  const scope = parent === undefined ? undefined : choice.state.scopes.get(parent);
  if (scope === undefined || !isHalted(choice.state, scope)) return start();
  return isAbsorbed(choice, scope.path) ? [again(choice, step, "group_failed")] : [];
}
