/** Asks a question of the task in the terminal. Leaving the prompt is no answer: the question stays open. */
import type { JsonValue } from "../base/json.js";
import type { AskPerson } from "../runtime/answer-desk.js";
import type { QuestionView } from "../runtime/contract.js";
import type { Streams } from "./deps.js";
import { cleanForTerminal } from "./output.js";

interface TerminalAnswer {
  readonly answer: string;
  readonly value?: JsonValue;
}

const LATER = "\u0000later";

/** Asks with the terminal to itself: what is said meanwhile follows the answer. */
export function askOn({ screen }: Streams): AskPerson {
  return async (question) => {
    const release = screen?.hold();
    try {
      return await askInTerminal(question);
    } finally {
      release?.();
    }
  };
}

async function askInTerminal(question: QuestionView): Promise<TerminalAnswer | undefined> {
  const { isCancel, select, text } = await import("@clack/prompts");
  const choice = await select({
    message: cleanForTerminal(question.text),
    options: [
      ...question.options.map((option) => ({
        value: option.value,
        label: `${option.value}: ${cleanForTerminal(option.label)}`,
      })),
      { value: LATER, label: "later: leave the question open" },
    ],
    output: process.stderr,
  });
  if (isCancel(choice) || choice === LATER) return undefined;
  const takesValue = question.options.find((option) => option.value === choice)?.takes_value === true;
  if (!takesValue) return { answer: choice };
  const json = await text({
    message: "output as JSON",
    initialValue: question.offered === undefined ? "" : JSON.stringify(question.offered),
    validate: (given) => (isJson(given ?? "") ? undefined : "this is not JSON"),
    output: process.stderr,
  });
  if (isCancel(json)) return undefined;
  return { answer: choice, value: JSON.parse(json) as JsonValue };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
