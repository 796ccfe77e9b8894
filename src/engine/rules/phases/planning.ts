/**
 * The orchestrator's plan for a goal: asked of a model, agreed to by a person where that is wanted, and followed.
 *
 *   before the first phase, and with `replan` before each other one that is left:
 *   the planner runs (a step; what it may plan is checked where it is performed)
 *   → with `approve`: a person is asked → followed | planned anew with what the person said | stopped
 *   → decided, and settled: the phases are those of the definition from now on
 * A planner that fails before a later phase changes nothing: the plan as it stands is followed, and that is a decision.
 */
import { formatCount } from "../../../base/plain-text.js";
import type { QuestionId } from "../../../base/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.js";
import { PLAN_NAME } from "../../../definition/model/defaults.js";
import type { PlanRule } from "../../../definition/model/goal-rules.js";
import type { PhasesScope } from "../../../definition/model/workflow.js";
import { recordDecisionOnce, recordDecision, loadValue, type Choice } from "../../model/choice.js";
import type { Decision } from "../../model/decision.js";
import type { EngineEvent } from "../../model/events.js";
import { childPath, findScopeDefinition, currentStep } from "../../model/lookup.js";
import type { OpenScope } from "../steps/open-scope.js";
import { openQuestion } from "../questions/questions.js";
import { startStep } from "../steps/start.js";
import type { QuestionEntry, ScopeData, StepEntry } from "../../model/state.js";

type PhasesData = Extract<ScopeData, { scope: "phases" }>;

const REVISION = "change";

/** What is to happen before the next phase is planned; `undefined` when it may begin. */
export function planAhead(
  choice: Choice,
  open: OpenScope<PhasesScope>,
  data: PhasesData,
): readonly EngineEvent[] | undefined {
  const { scope, node, budget } = open;
  const { plan } = node;
  if (plan === undefined || !isToPlan(data, node, plan)) return undefined;
  const path = childPath(scope.path, PLAN_NAME);
  const step = currentStep(choice, path);
  if (step === undefined || step.visit <= (data.planned?.times ?? 0) || step.status === "cancelled")
    return startStep(choice, { path, node: plan.planner, names: namesOf(choice, path, data) }, budget);
  if (step.status === "failed") return data.next === 0 ? [] : keepPlan(choice, step, scope.path);
  return step.status === "completed" ? concludePlanning(choice, { plan, step, path: scope.path }) : [];
}

function concludePlanning(
  choice: Choice,
  { plan, step, path }: Omit<Planned, "planned"> & { readonly plan: PlanRule },
): readonly EngineEvent[] {
  const planned = readPlan(choice, step);
  if (planned.phases === undefined) return keepPlan(choice, step, path);
  return plan.approve ? askForPlan(choice, { step, planned, path }) : followPlan(choice, { step, planned, path });
}

function isToPlan(data: PhasesData, { children }: PhasesScope, plan: PlanRule): boolean {
  if (data.planned?.before === data.next) return false;
  return data.next === 0 || (plan.replan && data.next < children.length);
}

/** What the planner is told: the plan as it stands, how far it is done, and what a person said of the last one. */
function namesOf(choice: Choice, path: string, data: PhasesData): JsonObject {
  const before = choice.state.outputs.get(path);
  const value = before === undefined ? undefined : loadValue(choice, before.value);
  const settled = findPlanning(choice, path);
  const effect = settled?.effect;
  const said = effect?.kind === "plan_anew" ? effect.said : "";
  const current = effect?.kind === "plan" ? effect.phases : isJsonObject(value) ? (value["phases"] ?? []) : [];
  return { done: data.next, phases: data.next === 0 ? [] : current, feedback: said };
}

interface Plan {
  readonly rationale: string;
  /** As planned, and as the engine runs them; absent where a plan stays. */
  readonly phases?: readonly JsonValue[];
  readonly built?: readonly JsonObject[];
}

function readPlan(choice: Choice, step: StepEntry): Plan {
  const value = step.output === undefined ? null : loadValue(choice, step.output);
  if (!isJsonObject(value)) return { rationale: "" };
  const { rationale, phases, built } = value;
  const text = typeof rationale === "string" ? rationale : "";
  if (!Array.isArray(phases) || !Array.isArray(built)) return { rationale: text };
  return { rationale: text, phases: phases as readonly JsonValue[], built: built as readonly JsonObject[] };
}

interface Planned {
  readonly step: StepEntry;
  readonly planned: Plan;
  /** Of the list of phases. */
  readonly path: string;
  /** The answer that agrees to it. */
  readonly consumes?: QuestionId;
}

/** The last decision on the plan that the planner at this path makes. */
function findPlanning({ state }: Choice, path: string): Decision | undefined {
  return state.decisions.findLast(
    ({ subject, effect }) => subject === path && (effect?.kind === "plan" || effect?.kind === "plan_anew"),
  );
}

/** The decision names the whole plan: what is done later is measured by it. */
function followPlan(choice: Choice, { step, planned, path, consumes }: Planned): readonly EngineEvent[] {
  const { rationale, phases = [], built = [] } = planned;
  return [
    ...recordDecisionOnce(choice, {
      agent: "atlas",
      type: step.visit === 1 ? "plan" : "replan",
      description: `${formatCount(phases.length, "phase")}: ${phases.map(describePhase).join("; ")}`,
      rationale: rationale === "" ? "the planner gave no reason" : rationale,
      alternatives: step.visit === 1 ? [] : ["keep_plan"],
      subject: step.path,
      effect: { kind: "plan", phases },
      facts: { step: step.id },
    }),
    {
      type: "plan_settled",
      atMs: choice.nowMs,
      path,
      phases: built,
      ...(consumes === undefined ? {} : { consumes }),
    },
  ];
}

function describePhase(phase: JsonValue): string {
  if (!isJsonObject(phase)) return "?";
  const specialists = Array.isArray(phase["specialists"]) ? (phase["specialists"] as readonly JsonValue[]) : [];
  return `${nameOf(phase)} (${specialists.map(nameOf).join(", ")})`;
}

function nameOf(value: JsonValue): string {
  const name = isJsonObject(value) ? value["name"] : undefined;
  return typeof name === "string" ? name : "?";
}

function keepPlan(choice: Choice, step: StepEntry, path: string): readonly EngineEvent[] {
  const reason = step.error === undefined ? readPlan(choice, step).rationale : `no plan came: ${step.error.message}`;
  const before = findPlanning(choice, step.path)?.effect;
  return [
    ...recordDecisionOnce(choice, {
      agent: "atlas",
      type: "keep_plan",
      description: "the rest of the plan stays",
      rationale: reason === "" ? "the planner gave no reason" : reason,
      alternatives: ["replan"],
      subject: step.path,
      effect: { kind: "plan", phases: before?.kind === "plan" ? before.phases : [] },
      facts: { step: step.id },
    }),
    { type: "plan_settled", atMs: choice.nowMs, path },
  ];
}

function askForPlan(choice: Choice, { step, planned, path }: Planned): readonly EngineEvent[] {
  for (const id of choice.state.unsettled) {
    const question = choice.state.questions.get(id);
    if (isAboutPlanOf(question, step)) return [];
  }
  const { phases = [], rationale } = planned;
  const why = rationale === "" ? "" : `\n${rationale}`;
  return [
    openQuestion(choice, {
      kind: "plan",
      subject: step.id,
      phase: path,
      text: `the plan has ${formatCount(phases.length, "phase")}: ${phases.map(describePhase).join("; ")}${why}`,
      options: [
        { value: "follow", label: "follow it" },
        { value: "revise", label: "plan again", promptFor: REVISION, multiline: true },
        { value: "stop", label: "stop here" },
      ],
      about: { kind: "plan", step: step.id },
      facts: { phases },
    }),
  ];
}

function isAboutPlanOf(question: QuestionEntry | undefined, { id }: StepEntry): boolean {
  return question?.about?.kind === "plan" && question.about.step === id;
}

/** What a person answered about a plan. */
export function followPlanAnswer(choice: Choice, question: QuestionEntry): readonly EngineEvent[] {
  const { id, phase: path = "", answer, value } = question;
  const step = currentStep(choice, childPath(path, PLAN_NAME));
  const isKnown = choice.state.scopes.has(path) && findScopeDefinition(choice.state, path).scope === "phases";
  if (!isKnown || step === undefined || !isAboutPlanOf(question, step)) return [endWith(choice, question, "go_on")];
  if (answer === "follow") return followPlan(choice, { step, planned: readPlan(choice, step), path, consumes: id });
  if (answer !== "revise") return [endWith(choice, question, "stop")];
  const said = isJsonObject(value) ? value[REVISION] : value;
  return [
    ...recordDecisionOnce(choice, {
      agent: "atlas",
      type: "revise_plan",
      description: "the goal is planned again, as answered",
      rationale: `answer to ${id}: ${typeof said === "string" ? said : "no reason was given"}`,
      alternatives: ["follow", "stop"],
      subject: step.path,
      effect: { kind: "plan_anew", said: said ?? "" },
      facts: { question: id },
    }),
    { type: "plan_settled", atMs: choice.nowMs, path, again: true, consumes: id },
  ];
}

function endWith(choice: Choice, { id, answer }: QuestionEntry, type: "go_on" | "stop"): EngineEvent {
  return recordDecision(choice, {
    agent: "atlas",
    type,
    description: `the plan: ${answer ?? "?"}, as answered`,
    rationale: `answer to ${id}`,
    alternatives: ["follow", "revise", "stop"].filter((other) => other !== answer),
    effect: { kind: type === "stop" ? "stop" : "close_question", question: id },
  });
}
