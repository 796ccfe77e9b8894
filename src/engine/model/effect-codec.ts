/**
 * Checks what events act through: the effect of a decision, what a question is about, what a note says of its task.
 *
 * Both ways: one that is written wrongly is our mistake and crashes, one that is read wrongly is damage. A misspelt field
 * would otherwise do nothing, in silence. Each kind lists all its fields, so a new one cannot be forgotten here.
 */
import { isJsonObject, type JsonObject } from "../../base/json.js";
import type { Decision, DecisionEffect } from "./decision.js";
import type { EventOf } from "./events.js";
import type { Question, QuestionSubject } from "./question.js";

type Check = (value: unknown) => boolean;
const text: Check = (value) => typeof value === "string";
const number: Check = (value) => typeof value === "number";
const flag: Check = (value) => typeof value === "boolean";
const anything: Check = (value) => value !== undefined;
const only =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const listOf =
  (item: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(item);
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

type Fields<T> = { readonly [F in keyof T]-?: Check };
/** By the word of `kind`: the other fields of each case of a union. */
type Cases<U extends { readonly kind: string }> = {
  readonly [K in U["kind"]]: Fields<Omit<Extract<U, { readonly kind: K }>, "kind">>;
};

const EFFECTS: Cases<DecisionEffect> = {
  close_question: { question: text },
  pause: { request: maybe(text) },
  stop: { request: maybe(text), question: maybe(text), atLimit: maybe(only(true)) },
  guide: { text, saidAt: text, request: maybe(text) },
  route: { next: text },
  settle_phase: {
    settled: maybe(only("proceed", "below", "waiting", "fail", "none")),
    confidence: maybe(number),
    spawn: maybe(listOf((one) => isJsonObject(one) && text(one["name"]) && text(one["path"]))),
    question: maybe(text),
  },
  judge_phase: { judged: only("approved", "exhausted", "rejected") },
  go_on_without: { failed: listOf(text) },
  give_up: { attempts: listOf(text) },
  plan: { phases: listOf(anything) },
  plan_anew: { said: anything },
};

const SUBJECTS: Cases<QuestionSubject> = {
  call: { call: text, tool: text, identity: maybe(text), isForAll: maybe(flag) },
  limit: { limit: only("iterations", "seconds", "tokens", "calls", "cost_micro_usd"), scope: maybe(text) },
  plan: { step: text },
};

const DECISION: Fields<Decision> = {
  id: text,
  atMs: number,
  agent: text,
  type: text,
  description: text,
  rationale: text,
  alternativesConsidered: listOf(text),
  confidence: maybe(number),
  subject: maybe(text),
  orchestrator: maybe(text),
  effect: maybe(isJsonObject),
  facts: maybe(isJsonObject),
};

const NOTE = maybe(only("crashed", "discard_checkpoints"));

/** What is wrong with a decision; `undefined` when nothing is. */
export function findDecisionFault(decision: unknown): string | undefined {
  if (!isJsonObject(decision)) return "a decision that is none";
  const fault = findFieldFault(decision, DECISION, "a decision");
  return fault ?? findCaseFault(decision["effect"], EFFECTS, "an effect");
}

export function findQuestionFault({ about }: Pick<Question, "about">): string | undefined {
  return findCaseFault(about, SUBJECTS, "a question about");
}

export function findNoteFault({ effect }: Pick<EventOf<"noted">, "effect">): string | undefined {
  return NOTE(effect) ? undefined : `a note of an unknown effect ${JSON.stringify(effect)}`;
}

function findCaseFault(value: unknown, cases: Readonly<Record<string, object>>, what: string): string | undefined {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) return `${what} that is no object`;
  const { kind, ...rest } = value;
  if (typeof kind !== "string" || !Object.hasOwn(cases, kind))
    return `${what} of an unknown kind ${JSON.stringify(kind)}`;
  return findFieldFault(rest, cases[kind] as Readonly<Record<string, Check>>, `${what} ${kind}`);
}

function findFieldFault(value: JsonObject, fields: Readonly<Record<string, Check>>, what: string): string | undefined {
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) return `${what} with an unknown field ${unknown}`;
  const wrong = Object.keys(fields).find((name) => fields[name]?.(value[name]) === false);
  return wrong === undefined ? undefined : `${what} without ${wrong}, or with one that cannot be`;
}
