/**
 * Answers given ahead by flags: `--answer`, `--output`, `--extend`, `--unknown`, `--on-unknown`.
 *
 * Owns: what the flags mean. A policy for steps of unknown outcome goes to the engine with the resume; everything else is
 * recorded like an answer from outside before the task goes on, so it wins or loses against others in the same way.
 */
import { writeCommand } from "../../base/command-text.js";
import { parseExactJson } from "../../base/exact-json.js";
import { isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import { findNearest } from "../../definition/faults/nearest.js";
import type { OnUnknown } from "../../definition/model/values.js";
import type { QuestionEntry, StepEntry, TaskState } from "../../engine/model/state.js";
import { readAmount } from "../../engine/rules/questions/limit-amounts.js";
import { openQuestions } from "../../engine/rules/questions/questions.js";
import type { ControlDeps } from "../mailbox/control.js";
import { submitAnswer, listUnanswered } from "../tasks/submit-answer.js";
import { askUntilAnswered } from "./person.js";
import { answerFromPresets, requireOneEach, type Presets } from "./preset-answers.js";
import type { OpenedTask } from "../tasks/reading.js";
import type { Services } from "../services/services.js";

export interface AnswerFlags {
  readonly answer?: string;
  readonly value?: JsonValue;
  readonly extend?: Readonly<Record<string, string>>;
  readonly unknown?: Readonly<Record<string, string>>;
  readonly presets: Presets;
}

/** What is said of one step of unknown outcome. */
export interface UnknownAnswer {
  readonly answer: "rerun" | "done" | "skip" | "fail";
  readonly value?: JsonValue;
}

/** Stands for every step that is named by nothing else. */
export const ANY_STEP = "*";

/** Shape: keys as given: identity, path or name of a step. Errors: USAGE_INVALID. */
export function parseUnknownFlags(given: AnswerFlags["unknown"] = {}): Readonly<Record<string, UnknownAnswer>> {
  return Object.fromEntries(Object.entries(given).map(([step, text]) => [step, parseUnknown(step, text)]));
}

function parseUnknown(step: string, text: string): UnknownAnswer {
  if (text === "rerun" || text === "skip" || text === "fail") return { answer: text };
  const [word, json] = text.split(/:(.*)/s);
  if (word === "done" && json !== undefined)
    return { answer: word, value: parseJson(`--unknown ${step}=done:…`, json) };
  throw usage(`--unknown ${step} takes rerun, skip, fail or done:JSON, not ${JSON.stringify(text)}`);
}

function parseJson(what: string, text: string): JsonValue {
  try {
    return parseExactJson(text);
  } catch (error) {
    const why = isErrorCode(error, "VALUE_UNSUPPORTED") ? "cannot be taken" : "is not JSON";
    throw usage(`${what} ${why}: ${messageOf(error)}`);
  }
}

/** Policies for the engine; a step that is declared done is asked about, and answered by what was recorded. */
export function policiesOf(unknown: Readonly<Record<string, UnknownAnswer>>): Record<string, OnUnknown> {
  return Object.fromEntries(
    Object.entries(unknown).map(([step, { answer }]): [string, OnUnknown] => [
      step,
      answer === "done" ? "ask" : answer,
    ]),
  );
}

/** Errors: USAGE_INVALID for a step that the task has not begun, with the nearest that it has. */
export function requireKnownSteps(state: TaskState, unknown: Readonly<Record<string, UnknownAnswer>>): void {
  const named = Object.keys(unknown).filter((step) => step !== ANY_STEP);
  if (named.length === 0) return;
  const names = new Set([...state.steps.values()].flatMap(({ id, path, name }) => [id, path, name]));
  for (const step of named) {
    if (names.has(step)) continue;
    const nearest = findNearest(step, names);
    const help = nearest === undefined ? "" : `; did you mean ${nearest}?`;
    throw usage(`--unknown names ${step}, and no such step has begun${help}`);
  }
}

export function findUnknownAnswer(
  unknown: Readonly<Record<string, UnknownAnswer>>,
  step: Pick<StepEntry, "id" | "path" | "name">,
): UnknownAnswer | undefined {
  return unknown[step.id] ?? unknown[step.path] ?? unknown[step.name] ?? unknown[ANY_STEP];
}

/**
 * Records what the flags answer, then what a person in the terminal answers, before the task goes on.
 *
 * Errors: USAGE_INVALID, QUESTION_NOT_FOUND, QUESTION_CLOSED, ANSWER_INVALID.
 */
export async function answerOpenQuestions(
  services: Services,
  { opened, state }: { readonly opened: OpenedTask; readonly state: TaskState },
  flags: AnswerFlags,
): Promise<void> {
  const control: ControlDeps = { ...services, ...opened };
  const desk: Desk = { services, control, state, open: await listUnanswered(control, openQuestions(state)) };
  if (flags.answer !== undefined) await answerOnly(desk, flags.answer, flags.value);
  if (flags.extend !== undefined) await extendLimit(desk, flags.extend);
  await answerUnknown(desk, parseUnknownFlags(flags.unknown));
  requireOneEach(flags.presets, await listUnanswered(control, openQuestions(state)), state);
  for (const question of await listUnanswered(control, openQuestions(state)))
    await answerFromPresets({ control, presets: flags.presets, state, by: services.environment.user }, question);
  const isAsking = flags.answer === undefined && flags.extend === undefined && !flags.presets.skipGates;
  if (isAsking) await askPerson(services, control, await listUnanswered(control, openQuestions(state)));
}

interface Desk {
  readonly services: Services;
  readonly control: ControlDeps;
  readonly state: TaskState;
  readonly open: readonly QuestionEntry[];
}

async function record(
  { control, services }: Desk,
  question: QuestionEntry,
  given: { readonly answer: string; readonly value?: JsonValue },
): Promise<void> {
  await submitAnswer(control, question, { by: services.environment.user, ...given });
}

async function answerOnly(desk: Desk, answer: string, value: JsonValue | undefined): Promise<void> {
  const { open, control } = desk;
  const task = control.task.name;
  const [only, second] = open;
  if (only === undefined)
    throw new SplashdownError("QUESTION_NOT_FOUND", `task ${task} has no open question`, { details: { task } });
  if (second !== undefined) {
    const each = open.map((question) => writeCommand("answer", [task, question.id, answer]));
    throw usage(`task ${task} has ${open.length} open questions; answer each: ${each.join(", ")}`);
  }
  await record(desk, only, { answer, ...(value === undefined ? {} : { value }) });
}

async function extendLimit(desk: Desk, extend: Readonly<Record<string, string>>): Promise<void> {
  const value: JsonObject = Object.assign({}, ...Object.entries(extend).map(([key, text]) => parseAmount(key, text)));
  const limits = desk.open.filter(({ kind }) => kind === "limit");
  const meant = limits.filter(({ about }) => about?.kind === "limit" && about.limit in value);
  const questions = meant.length > 0 ? meant : limits.slice(0, 1);
  const task = desk.control.task.name;
  if (questions.length === 0) {
    throw new SplashdownError("QUESTION_NOT_FOUND", `no limit of task ${task} is reached; there is nothing to extend`, {
      details: { task },
    });
  }
  for (const question of questions) await record(desk, question, { answer: "extend", value });
}

function parseAmount(key: string, text: string): JsonObject {
  const read = readAmount(key, text);
  if ("fault" in read) throw usage(`--extend: ${read.fault}`);
  return read.amounts;
}

/** Steps declared done; the other policies are the engine's. */
async function answerUnknown(desk: Desk, unknown: Readonly<Record<string, UnknownAnswer>>): Promise<void> {
  for (const question of desk.open) {
    const step = question.step === undefined ? undefined : desk.state.steps.get(question.step);
    const given = step === undefined ? undefined : findUnknownAnswer(unknown, step);
    if (given?.answer === "done") await record(desk, question, given);
  }
}

async function askPerson(services: Services, control: ControlDeps, open: readonly QuestionEntry[]): Promise<void> {
  const { ask, environment } = services;
  if (ask === undefined) return;
  for (const question of open) await askUntilAnswered({ control, ask, by: environment.user }, question);
}

function usage(message: string): SplashdownError {
  return new SplashdownError("USAGE_INVALID", message);
}
