/**
 * The form of a question: what can be chosen, what goes with it, and the answer and the command that result.
 *
 * Shape: options and items are the question's own; the items of a wizard are answered one by one, each as `answer` =
 * its id and `more` = the value; the other choices of a wizard (skip, back, abort) stand beside it.
 */
import type { QuestionView, WizardItemView } from "../../src/runtime/contract.js";
import { formatCommand } from "./commands.js";

export interface Choice {
  readonly value: string;
  readonly label: string;
  /** A text that may or must go with it. */
  readonly field?: Field;
}

export interface Field {
  readonly label: string;
  readonly kind: "text" | "lines" | "json";
  readonly required: boolean;
  readonly sample?: string;
}

export interface AnswerBody {
  readonly question: string;
  readonly answer: string;
  readonly more?: string;
  readonly value?: unknown;
}

export function listChoices(question: QuestionView): Choice[] {
  const isWizard = question.items !== undefined;
  return question.options
    .filter(({ value }) => !(isWizard && value === "answer"))
    .map((option) => {
      const field = fieldOf(question, option);
      return { value: option.value, label: option.label, ...(field === undefined ? {} : { field }) };
    });
}

function fieldOf(question: QuestionView, option: QuestionView["options"][number]): Field | undefined {
  const { kind, offered } = question;
  if (option.prompt_for !== undefined) {
    const isLimit = kind === "limit";
    return {
      label: option.prompt_for,
      kind: option.multiline === true ? "lines" : "text",
      required: isLimit,
      ...(isLimit ? { sample: sampleAmount(option.label) } : {}),
    };
  }
  if (!option.takes_value) return undefined;
  const sample = offered === undefined ? undefined : JSON.stringify(offered, undefined, 2);
  return { label: "output, as JSON", kind: "json", required: true, ...(sample === undefined ? {} : { sample }) };
}

/** The engine writes an example into the option of a limit. */
function sampleAmount(label: string): string {
  return /e\.g\. (\S+=\S+)/.exec(label)?.[1] ?? "";
}

export function itemAsked(question: QuestionView): WizardItemView | undefined {
  return question.items?.find(({ id }) => id === question.at);
}

/** What is wrong with a text for a field; `undefined` for nothing. */
export function findFieldFault(field: Field | undefined, text: string): string | undefined {
  if (field === undefined) return undefined;
  if (text.trim() === "") return field.required ? `${field.label}: wanted for this choice` : undefined;
  if (field.kind !== "json") return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `no JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}

export function buildAnswer(question: QuestionView, choice: Choice, text: string): AnswerBody {
  const answer = { question: question.id, answer: choice.value };
  if (choice.field === undefined || text.trim() === "") return answer;
  return choice.field.kind === "json" ? { ...answer, value: JSON.parse(text) } : { ...answer, more: text };
}

export function formatAnswerCommand(task: string, { question, answer, more, value }: AnswerBody): string {
  const output = value === undefined ? [] : ["--output", JSON.stringify(value)];
  return formatCommand("answer", task, question, answer, more, ...output);
}

const KINDS: Readonly<Record<string, string>> = {
  gate: "approval",
  limit: "limit reached",
  plan: "plan",
  questions: "questions",
  unknown_outcome: "unknown outcome",
};

export function nameKind(kind: string): string {
  return (Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined) ?? kind.replaceAll("_", " ");
}
