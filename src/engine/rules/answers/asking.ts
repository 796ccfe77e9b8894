/**
 * Steps that ask a person: a gate with options, and a wizard of questions.
 *
 *   intended → asked (its question is open) → answered → completed, straight to the way of the option
 * The question names the step, and the step's completion consumes the answer: another visit, attempt or round of the
 * step asks anew. What is asked was rendered at the intent. Nobody performs such a step, so it holds up only what waits
 * for it.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.js";
import type { GateOption, GateStep, QuestionsStep, WizardItem } from "../../../definition/model/step.js";
import { loadValue, type Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import type { QuestionOption } from "../../model/question-option.js";
import { findStepDefinition } from "../../model/lookup.js";
import { completeAttempt } from "../steps/outcome.js";
import { openQuestion } from "../questions/questions.js";
import type { QuestionEntry, StepEntry } from "../../model/state.js";
import { createWizard, describeAnswers, optionsOfWizard, type WizardOutcome } from "../../model/wizard.js";

/** Opens the question of an intended step; a wizard without questions is answered at once. */
export function askPerson(choice: Choice, step: StepEntry): readonly EngineEvent[] {
  const node = findStepDefinition(choice.state, step);
  const work = loadValue(choice, step.work);
  if (!isJsonObject(work)) return [];
  if (node.kind === "human_gate") return [askAtGate(choice, { step, node, work })];
  return node.kind === "questions" ? askQuestions(choice, { step, node, work }) : [];
}

interface Asking<N> {
  readonly step: StepEntry;
  readonly node: N;
  /** As rendered at the intent. */
  readonly work: JsonObject;
}

function askAtGate(choice: Choice, { step, node, work }: Asking<GateStep>): EngineEvent {
  const labels = work["labels"] as readonly string[];
  const options = node.options.map(({ value, label, promptFor, multiline }, index): QuestionOption => ({
    value,
    label: labels[index] ?? label,
    ...(promptFor === undefined ? {} : { promptFor, multiline }),
  }));
  return openQuestion(choice, {
    kind: "gate",
    subject: step.id,
    step: step.id,
    text: textOf(work["prompt"]),
    options,
    ...expiryOf(choice, node),
    facts: { path: step.path, visit: step.visit },
  });
}

function askQuestions(choice: Choice, { step, node, work }: Asking<QuestionsStep>): readonly EngineEvent[] {
  const items = work["items"] as unknown as readonly WizardItem[];
  if (items.length === 0) return completeWizard(choice, step, { items, outcome: "completed" });
  return [
    openQuestion(choice, {
      kind: "questions",
      subject: step.id,
      step: step.id,
      text: textOf(work["prompt"]) || `${items.length} questions of ${step.name}`,
      options: optionsOfWizard(node.allow),
      items,
      allow: node.allow,
      ...expiryOf(choice, node),
      facts: { path: step.path, visit: step.visit },
    }),
  ];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function expiryOf(choice: Choice, { timeoutMs, onTimeout }: GateStep | QuestionsStep) {
  return timeoutMs === undefined || onTimeout === undefined
    ? {}
    : { expiresAtMs: choice.nowMs + timeoutMs, onExpire: onTimeout };
}

/** Completes the step with what was answered. */
export function applyHumanAnswer(choice: Choice, question: QuestionEntry, step: StepEntry): readonly EngineEvent[] {
  if (question.kind === "gate") return completeGate(choice, question, step);
  const items = question.items ?? [];
  const outcome = (question.answer ?? "completed") as WizardOutcome;
  return completeWizard(choice, step, { items, outcome, question });
}

function completeGate(choice: Choice, question: QuestionEntry, step: StepEntry): readonly EngineEvent[] {
  const node = findStepDefinition(choice.state, step) as GateStep;
  const option = node.options.find(({ value }) => value === question.answer);
  const output = { selected: question.answer ?? "", additional_input: additionalInput(option, question.value) };
  return completeAttempt(choice, step, {
    output: { inline: output },
    durationMs: 0,
    by: "answer",
    ...(option?.route === undefined ? {} : { goTo: option.route }),
  });
}

/** The text that goes with the choice, under its name; empty where none was given. */
function additionalInput(option: GateOption | undefined, value: JsonValue | undefined): JsonObject {
  const name = option?.promptFor;
  if (name === undefined) return {};
  if (isJsonObject(value)) return { [name]: "", ...value };
  return { [name]: value ?? "" };
}

interface Wizarding {
  readonly items: readonly WizardItem[];
  readonly outcome: WizardOutcome;
  readonly question?: QuestionEntry;
}

function completeWizard(choice: Choice, step: StepEntry, answered: Wizarding): readonly EngineEvent[] {
  const { items, outcome, question } = answered;
  const node = findStepDefinition(choice.state, step) as QuestionsStep;
  const wizard = question?.wizard ?? createWizard(items, node.allow);
  return completeAttempt(choice, step, {
    output: { inline: describeAnswers(wizard, outcome) },
    durationMs: 0,
    ...(question === undefined ? {} : { by: "answer" }),
    ...(outcome === "aborted" ? { goTo: node.abortRoute ?? "$end" } : {}),
  });
}
