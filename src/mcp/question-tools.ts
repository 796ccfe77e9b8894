/**
 * Tools for questions: what waits for a person, and the person's answer where an agent may give it.
 *
 * An answer goes the way of `splashdown answer`: the first one counts. One for a task that nobody runs is not left lying:
 * the task goes on by itself.
 */
import { writeCommand } from "../base/command-text.js";
import { SplashdownError } from "../base/errors.js";
import type { JsonObject, JsonValue } from "../base/json.js";
import { resumeInBackground } from "./run-tools.js";
import { readStatus } from "./task-status.js";
import {
  defineTool,
  READS,
  RUNS,
  TASK,
  text,
  type ToolContext,
  type Tool,
  type ToolAnswer,
  type ToolCall,
} from "./tool.js";
import { partSchema, viewSchema } from "./view-schema.js";

export function createQuestionTools(context: ToolContext): Tool[] {
  return [createListQuestions(context), createAnswer(context)];
}

const QUESTIONS: JsonObject = {
  type: "array",
  items: {
    type: "object",
    additionalProperties: false,
    required: ["task", "questions"],
    properties: { task: { type: "string" }, questions: { type: "array", items: partSchema("question") } },
  },
};

function createListQuestions(context: ToolContext): Tool {
  return defineTool<{ readonly task?: string }>({
    name: "list_questions",
    title: "Open questions",
    description:
      "What waits for an answer, of one task or of all: gates, wizards, limits, steps whose outcome is unknown. Each has " +
      "its id, text, options, and the command with which a person answers it.",
    fields: { task: TASK },
    result: QUESTIONS,
    hints: READS,
    call: async ({ task }) => {
      const { splashdown, mayAnswer } = context;
      const rows = task === undefined ? await splashdown.list() : [await readStatus(context, task)];
      const asking = rows.filter((row) => row !== undefined && (row.open_questions ?? 0) > 0);
      const result: { task: string; questions: readonly unknown[] }[] = [];
      for (const row of asking) {
        const { questions } = await splashdown.show(row?.task ?? "");
        result.push({ task: row?.task ?? "", questions: questions.filter(({ status }) => status === "open") });
      }
      if (result.length === 0) return { result };
      return { result, next: mayAnswer ? "answer_question" : "only a person may answer here: tell them the command" };
    },
  });
}

interface AnswerInput {
  readonly task: string;
  readonly question?: string;
  readonly answer: string;
  readonly text?: string;
  readonly value?: JsonValue;
}

function createAnswer(context: ToolContext): Tool {
  return defineTool<AnswerInput>({
    name: "answer_question",
    title: "Answer a question",
    description:
      "Answers a question of a task; the first answer counts, whoever gives it, and later ones are told who was first. " +
      "A task that nobody runs continues by itself. " +
      (context.mayAnswer
        ? "Ask the person you work for before you answer a gate."
        : "Not allowed on this server: it tells the command with which a person answers."),
    fields: {
      task: TASK,
      question: text("id of the question or name of its step; may be left out when only one is open", 2_000),
      answer: text("value of an option; of a wizard the answer to what it asks now, or skip, back, abort", 20_000),
      text: text("the text that goes with the option, where it takes one", 20_000),
      value: { description: "the JSON value that goes with the answer, e.g. the output of a step that is done" },
    },
    required: ["task", "answer"],
    result: viewSchema("answer"),
    hints: RUNS,
    call: async (input, call) => {
      if (!context.mayAnswer) throw notAllowed(input);
      return answer(context, input, call);
    },
  });
}

function notAllowed({ task, question, answer: chosen, text: more }: AnswerInput): SplashdownError {
  const words = [task, ...(question === undefined ? [] : [question]), chosen, ...(more === undefined ? [] : [more])];
  const command = writeCommand("answer", words);
  return new SplashdownError("ANSWER_NOT_ALLOWED", "only a person may answer here", {
    details: { task, commands: [command] },
  });
}

/** Errors: TASK_NOT_FOUND, QUESTION_NOT_FOUND, QUESTION_CLOSED with who and when, ANSWER_INVALID. */
async function answer(context: ToolContext, input: AnswerInput, { by }: ToolCall): Promise<ToolAnswer> {
  const { task, question, text: more, value } = input;
  const view = await context.splashdown.answer({
    task,
    answer: input.answer,
    by,
    ...(question === undefined ? {} : { question }),
    ...(more === undefined ? {} : { more }),
    ...(value === undefined ? {} : { value }),
  });
  if (view.question_open !== undefined) return { result: view, next: "it asks on: answer_question" };
  if (view.owner_alive) return { result: view, next: "the running task takes it up: wait_for_task" };
  const { command, ...recorded } = view;
  if (command?.startsWith("splashdown ") !== true)
    return { result: recorded, next: `recorded; its functions are in a program: tell a person to ${command ?? ""}` };
  const { next } = await resumeInBackground(context, view.task);
  return { result: recorded, next: `recorded, and nobody ran it, so it was resumed; now: ${next ?? ""}` };
}
