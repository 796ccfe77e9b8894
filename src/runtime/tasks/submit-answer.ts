/**
 * Gives an answer the way its question takes it: at once, or as the next move of a wizard.
 *
 * Owns: reading what a person wrote by what is asked, and the standing of a wizard with the moves that its owner has not
 * taken yet. Recording is control.ts's; what an answer does is the engine's.
 */
import { ANSWER_BLANK } from "../../base/command-text.js";
import { parseExactJson } from "../../base/exact-json.js";
import { SplashdownError, isErrorCode } from "../../base/errors.js";
import { encodeValue } from "../../base/json-encoding.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { LimitName } from "../../engine/model/question.js";
import { readAmounts } from "../../engine/rules/questions/limit-amounts.js";
import type { QuestionEntry } from "../../engine/model/state.js";
import { applyChange, judgeMove, type Wizard } from "../../engine/model/wizard.js";
import { requireOption } from "./answer-check.js";
import { askedOf, loadAnswer, recordAnswer, type ControlDeps } from "../mailbox/control.js";
import type { Answer } from "../mailbox/message-body.js";
import type { AnswerInput } from "../services/ask-person.js";

/** Moves of one wizard that are tried before giving up against others. */
const TRIES_MAX = 100;

/**
 * Records an answer; of several at once the first counts.
 *
 * Shape: a value comes in plain; the question as it stands with the answer. Errors: QUESTION_CLOSED with who answered and
 * when, ANSWER_INVALID; VALUE_UNSUPPORTED, VALUE_TOO_DEEP for a value that cannot be stored.
 */
export async function submitAnswer(
  control: ControlDeps,
  question: QuestionEntry,
  said: AnswerInput,
): Promise<{ readonly answer: Answer; readonly question: QuestionEntry }> {
  const given = said.value === undefined ? said : { ...said, value: encodeValue(said.value) };
  if (question.wizard !== undefined) return moveOn(control, question, given);
  const { answer, value } = readChoice(control.task.name, question, given);
  requireOption(control.task.name, question, { answer, ...valueOf(value) });
  const recorded = await recordAnswer(control, { ...askedOf(question), answer, by: given.by, ...valueOf(value) });
  return { answer: recorded, question: { ...question, status: "answered", answer } };
}

function valueOf(value: JsonValue | undefined): { readonly value?: JsonValue } {
  return value === undefined ? {} : { value };
}

function readChoice(
  task: string,
  question: QuestionEntry,
  { answer, value, more }: AnswerInput,
): { answer: string; value?: JsonValue } {
  const option = question.options.find((candidate) => candidate.value === answer);
  if (more === undefined) return { answer, ...valueOf(value) };
  if (question.about?.kind === "limit" && option?.promptFor !== undefined)
    return { answer, value: readLimits({ task, question: question.id }, question.about.limit, more) };
  if (option?.promptFor === undefined)
    throw new SplashdownError("ANSWER_INVALID", `${answer} takes no text`, {
      details: { task, question: question.id },
    });
  return { answer, value: { [option.promptFor]: more } };
}

/** Amounts in words. Errors: ANSWER_INVALID. */
function readLimits(asked: JsonObject, reached: LimitName, text: string): JsonObject {
  const read = readAmounts(text, reached);
  if ("amounts" in read) return read.amounts;
  throw new SplashdownError("ANSWER_INVALID", read.fault, { details: asked });
}

/** Of these the open ones that nobody has answered since the state was read; a wizard with the moves made since. */
export async function listUnanswered(
  control: AnswerFolder,
  questions: readonly QuestionEntry[],
): Promise<QuestionEntry[]> {
  const found: QuestionEntry[] = [];
  for (const question of questions) {
    const standing = await loadQuestion(control, question);
    if (standing.status === "open" && (await loadAnswer(control, question)) === undefined) found.push(standing);
  }
  return found;
}

type AnswerFolder = Parameters<typeof loadAnswer>[0];

/** The question with the moves that were made since the state was read. */
export async function loadQuestion(control: AnswerFolder, question: QuestionEntry): Promise<QuestionEntry> {
  let { wizard } = question;
  if (wizard === undefined || question.status !== "open") return question;
  for (;;) {
    const move = await loadAnswer(control, question, wizard.moves + 1);
    if (move === undefined) return { ...question, wizard };
    const judged = judgeMove(wizard, move);
    const change = "fault" in judged ? { set: {}, unset: [], cursor: wizard.cursor } : judged.change;
    wizard = applyChange(wizard, change);
    if (change.outcome !== undefined)
      return { ...question, wizard, status: "answered", answer: change.outcome, answeredBy: move.by };
  }
}

async function moveOn(control: ControlDeps, question: QuestionEntry, given: AnswerInput) {
  const task = control.task.name;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const standing = await loadQuestion(control, question);
    const { wizard } = standing;
    if (wizard === undefined || standing.status !== "open") throw await closedBy(control, standing, undefined);
    const move = readMove(wizard, given);
    requireFilled(task, standing, move);
    await requireUnsettled(control, standing, move);
    requireOption(task, standing, move);
    const next = { ...askedOf(question), by: given.by, move: wizard.moves + 1, ...move };
    const answer = await recordAnswer(control, next).catch((error: unknown) => {
      if (isErrorCode(error, "QUESTION_CLOSED")) return undefined;
      throw error;
    });
    if (answer !== undefined) return { answer, question: await loadQuestion(control, standing) };
  }
  throw new SplashdownError("ANSWER_INVALID", `others answer ${question.id} at the same time; try again`, {
    details: { task, question: question.id },
  });
}

/** What a shown command has in the place of an answer. */
const BLANKS: ReadonlySet<string> = new Set([ANSWER_BLANK.blank, "…"]);

/** Errors: ANSWER_INVALID for a command that was given as it was shown, with nothing in the place of the answer. */
function requireFilled(task: string, { id, wizard }: QuestionEntry, { value }: { readonly value?: JsonValue }): void {
  const blank = Object.entries(isJsonObject(value) ? value : {}).find(
    ([item, said]) =>
      typeof said === "string" &&
      BLANKS.has(said) &&
      wizard?.items.some((one) => one.id === item && !one.choices.includes(said)),
  );
  if (blank === undefined) return;
  const [item, said] = blank;
  const text = `${JSON.stringify(said)} only stands for the answer to ${item}; write the answer in its place`;
  throw new SplashdownError("ANSWER_INVALID", text, { details: { task, question: id } });
}

const MOVES: ReadonlySet<string> = new Set(["answer", "skip", "skip_all", "back", "abort"]);

/** What a person wrote, as a move: a choice of the question at hand comes before a move of the same word. */
function readMove(wizard: Wizard, { answer, value, more }: AnswerInput): { answer: string; value?: JsonValue } {
  if (more !== undefined) return { answer: "answer", value: { [answer]: more } };
  const item = wizard.items[wizard.cursor];
  const isChoice = item?.choices.includes(answer) === true;
  if (MOVES.has(answer) && !isChoice) return { answer, ...valueOf(value) };
  const map = isChoice ? undefined : parseMap(answer);
  return { answer: "answer", value: map ?? { [item?.id ?? ""]: answer } };
}

function parseMap(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const value = parseExactJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (isErrorCode(error, "VALUE_UNSUPPORTED")) throw error;
    return undefined;
  }
}

/** Errors: QUESTION_CLOSED for an item that is settled, with who did it. */
async function requireUnsettled(
  control: ControlDeps,
  question: QuestionEntry,
  { answer, value }: { readonly answer: string; readonly value?: JsonValue },
): Promise<void> {
  if (answer !== "answer" || !isJsonObject(value)) return;
  const settled = Object.keys(value).find((id) => question.wizard?.settled[id] !== undefined);
  if (settled !== undefined) throw await closedBy(control, question, settled);
}

/** Who settled an item, or gave the last move. */
async function closedBy(
  control: ControlDeps,
  question: QuestionEntry,
  id: string | undefined,
): Promise<SplashdownError> {
  const what = id === undefined ? `question ${question.id}` : `${id} of ${question.id}`;
  const move = await findMove(control, question, id);
  const who = move === undefined ? "somebody" : `${move.by} at ${move.at}`;
  return new SplashdownError("QUESTION_CLOSED", `${what} was answered by ${who}`, {
    details: {
      task: control.task.name,
      question: question.id,
      ...(move === undefined ? {} : { by: move.by, at: move.at }),
    },
  });
}

async function findMove(
  control: ControlDeps,
  question: QuestionEntry,
  item: string | undefined,
): Promise<Answer | undefined> {
  for (let number = question.wizard?.moves ?? 0; number >= 1; number -= 1) {
    const move = await loadAnswer(control, question, number);
    if (item === undefined || (isJsonObject(move?.value) && move.value[item] !== undefined)) return move;
  }
  return undefined;
}
