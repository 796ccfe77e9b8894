/**
 * Asks a question of the task in the terminal: an option of a gate, or the item that a wizard is at.
 *
 * Leaving the prompt, or an input that ends, is no answer: the question stays open. An answer from elsewhere takes the
 * prompt down.
 */
import { parseExactJson } from "../../base/exact-json.js";
import type { QuestionView } from "../../runtime/contract.js";
import type { Streams } from "./deps.js";
import { cleanForTerminal } from "./output.js";
import type { AskPerson } from "../../runtime/services/ask-person.js";

type TerminalAnswer = NonNullable<Awaited<ReturnType<AskPerson>>>;

type Option = QuestionView["options"][number];
type Item = NonNullable<QuestionView["items"]>[number];

const LATER = "\u0000later";
const FREE_TEXT = "\u0000text";
const MOVE = "\u0000move:";

/** Asks with the terminal to itself: what is said meanwhile follows the answer. */
export function askOn({ screen }: Streams): AskPerson {
  return async (question, signal) => {
    const release = screen?.hold();
    try {
      return await askInTerminal(question, signal);
    } finally {
      release?.();
    }
  };
}

async function askInTerminal(question: QuestionView, signal: AbortSignal): Promise<TerminalAnswer | undefined> {
  const item = question.items?.find(({ id }) => id === question.at);
  return item === undefined ? askAtGate(question, signal) : askItem(question, item, signal);
}

/** `undefined` when the person leaves it. */
async function choose(
  message: string,
  options: readonly { readonly value: string; readonly label: string }[],
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { isCancel, select } = await import("@clack/prompts");
  const choice = await select({
    message: cleanForTerminal(message),
    options: [
      ...options.map(({ value, label }) => ({ value, label: cleanForTerminal(label) })),
      { value: LATER, label: "later: leave the question open" },
    ],
    output: process.stderr,
    ...(signal === undefined ? {} : { signal }),
  });
  return isCancel(choice) || choice === LATER ? undefined : choice;
}

interface TextPrompt {
  readonly message: string;
  readonly multiline?: boolean;
  readonly initial?: string;
  readonly validate?: (text: string) => string | undefined;
  readonly signal: AbortSignal | undefined;
}

async function write({ message, multiline, initial, validate, signal }: TextPrompt): Promise<string | undefined> {
  const prompts = await import("@clack/prompts");
  const ask = multiline === true ? prompts.multiline : prompts.text;
  const how = multiline === true ? " (several lines; Enter twice ends it)" : "";
  const text = await ask({
    message: `${cleanForTerminal(message)}${how}`,
    ...(initial === undefined ? {} : { initialValue: initial }),
    ...(validate === undefined ? {} : { validate: (given: string | undefined) => validate(given ?? "") }),
    output: process.stderr,
    ...(signal === undefined ? {} : { signal }),
  });
  return prompts.isCancel(text) ? undefined : text;
}

async function askAtGate(question: QuestionView, signal: AbortSignal | undefined): Promise<TerminalAnswer | undefined> {
  const options = question.options.map(({ value, label }) => ({
    value,
    label: value === label ? value : `${value}: ${label}`,
  }));
  const choice = await choose(question.text, options, signal);
  const option = question.options.find(({ value }) => value === choice);
  if (option === undefined) return undefined;
  return option.prompt_for === undefined ? withValue(question, option, signal) : withText(option, signal);
}

async function withText(option: Option, signal: AbortSignal | undefined): Promise<TerminalAnswer | undefined> {
  const { value: answer, label, takes_value: isNeeded, prompt_for: name = "" } = option;
  const message = isNeeded ? `${name}: ${label}` : name;
  const more = await write({ message, multiline: option.multiline === true, signal });
  return more === undefined ? undefined : { answer, more };
}

async function withValue(
  question: QuestionView,
  { value: answer, takes_value: takesValue }: Option,
  signal: AbortSignal | undefined,
): Promise<TerminalAnswer | undefined> {
  if (!takesValue) return { answer };
  const json = await write({
    message: "output as JSON",
    initial: question.offered === undefined ? "" : JSON.stringify(question.offered),
    validate: (given) => (isJson(given) ? undefined : "this is not JSON"),
    signal,
  });
  return json === undefined ? undefined : { answer, value: parseExactJson(json) };
}

/** One item: its choices, a text, or a move. The words before the first item come once. */
async function askItem(
  question: QuestionView,
  item: Item,
  signal: AbortSignal | undefined,
): Promise<TerminalAnswer | undefined> {
  const { items = [], options: moves } = question;
  const number = items.indexOf(item) + 1;
  const intro = number === 1 ? `${question.text}\n` : "";
  const hint = item.hint === undefined ? "" : `\n${item.hint}`;
  const message = `${intro}${number}/${items.length} ${item.text}${hint}`;
  const isMove = (value: string): boolean => value !== "answer" && !(item.required && value === "skip");
  const options = [
    ...item.choices.map((value) => ({ value, label: value })),
    ...(item.allow_free_text ? [{ value: FREE_TEXT, label: "write an answer" }] : []),
    ...moves
      .filter(({ value }) => isMove(value))
      .map(({ value, label }) => ({ value: `${MOVE}${value}`, label: `${value}: ${label}` })),
  ];
  const choice = await choose(message, options, signal);
  if (choice === undefined) return undefined;
  if (choice.startsWith(MOVE)) return { answer: choice.slice(MOVE.length) };
  const text = choice === FREE_TEXT ? await write({ message: item.text, ...shapeOf(item), signal }) : choice;
  return text === undefined ? undefined : { answer: "answer", value: { [item.id]: text } };
}

function shapeOf({ multiline, default: otherwise }: Item): Pick<TextPrompt, "multiline" | "initial"> {
  return { multiline, ...(typeof otherwise === "string" ? { initial: otherwise } : {}) };
}

function isJson(text: string): boolean {
  try {
    parseExactJson(text);
    return true;
  } catch {
    return false;
  }
}
