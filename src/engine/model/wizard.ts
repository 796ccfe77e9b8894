/**
 * The wizard of a `questions` step: what a move of a person changes, and what the answers come to.
 *
 * The items stand in order; the cursor is at the first that is not settled. `answer` settles items by id, `skip` the one
 * at the cursor (or those named), `back` opens the one before again, `skip_all` and `abort` end the wizard. Moves are
 * counted: the n-th is made once, whoever makes it, so two people at once cannot settle one item twice. It is over when
 * every item is settled. Source: CONDUCTOR-YAML 1.4 and 1.9.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { WizardItem, WizardMoves } from "../../definition/model/step.js";
import type { QuestionOption } from "./question-option.js";

export type WizardOutcome = "completed" | "skipped_remaining" | "aborted";

/** How one item was settled; skipped ones have no value. */
export interface SettledItem {
  readonly value?: JsonValue;
  readonly source: "choice" | "free_text" | "default" | "skipped";
}

export interface Wizard {
  /** Texts rendered. */
  readonly items: readonly WizardItem[];
  readonly allow: WizardMoves;
  /** How many moves were made. */
  readonly moves: number;
  /** Index of the item that is asked; the number of items when none is left. */
  readonly cursor: number;
  readonly settled: Readonly<Record<string, SettledItem>>;
}

/** What a move changes. */
export interface WizardChange {
  readonly set: Readonly<Record<string, SettledItem>>;
  readonly unset: readonly string[];
  readonly cursor: number;
  /** The move ends the wizard. */
  readonly outcome?: WizardOutcome;
}

export interface WizardMove {
  /** `answer`, `skip`, `skip_all`, `back` or `abort`. */
  readonly answer: string;
  /** For `answer` a map of ids to answers; for `skip` nothing, an id, or a list of ids. */
  readonly value?: JsonValue;
}

export type JudgedMove = { readonly fault: string } | { readonly change: WizardChange };

export function createWizard(items: readonly WizardItem[], allow: WizardMoves): Wizard {
  return { items, allow, moves: 0, cursor: 0, settled: Object.freeze({}) };
}

/** The moves that are there, as options of the question. */
export function optionsOfWizard({ back, skip, skipAll, abort }: WizardMoves): readonly QuestionOption[] {
  return [
    { value: "answer", label: 'answers by id, e.g. {"q1": "yes"}', takesValue: true },
    ...(skip ? [{ value: "skip", label: "continue without an answer to this one" }] : []),
    ...(skipAll ? [{ value: "skip_all", label: "continue without answers to all that are left" }] : []),
    ...(back ? [{ value: "back", label: "ask the one before again" }] : []),
    ...(abort ? [{ value: "abort", label: "leave without answers" }] : []),
  ];
}

/** What a move comes to, or why it cannot be made. Pure. */
export function judgeMove(wizard: Wizard, move: WizardMove): JudgedMove {
  switch (move.answer) {
    case "answer":
      return judgeAnswers(wizard, move.value);
    case "skip":
      return judgeSkips(wizard, move.value);
    case "skip_all":
      return judgeSkipAll(wizard);
    case "back":
      return judgeBack(wizard);
    case "abort":
      return wizard.allow.abort
        ? { change: { set: {}, unset: [], cursor: wizard.cursor, outcome: "aborted" } }
        : { fault: "it cannot be left without answers" };
    default:
      return {
        fault: `${move.answer} is not one of ${optionsOfWizard(wizard.allow)
          .map(({ value }) => value)
          .join(", ")}`,
      };
  }
}

/** The wizard after a change. */
export function applyChange(wizard: Wizard, { set, unset, cursor }: WizardChange): Wizard {
  const settled = Object.fromEntries(
    [...Object.entries(wizard.settled), ...Object.entries(set)].filter(([id]) => !unset.includes(id)),
  );
  return { ...wizard, moves: wizard.moves + 1, cursor, settled: Object.freeze(settled) };
}

function judgeAnswers(wizard: Wizard, value: JsonValue | undefined): JudgedMove {
  if (!isJsonObject(value) || Object.keys(value).length === 0)
    return { fault: 'answers are a map of ids, e.g. {"q1": "yes"}' };
  const set: Record<string, SettledItem> = {};
  for (const [id, given] of Object.entries(value)) {
    const judged = judgeItem(wizard, id, given);
    if (typeof judged === "string") return { fault: judged };
    set[id] = judged;
  }
  return { change: settle(wizard, set, "completed") };
}

/** How an item is settled by what was given, or why not. */
function judgeItem(wizard: Wizard, id: string, given: JsonValue | undefined): SettledItem | string {
  const item = wizard.items.find((candidate) => candidate.id === id);
  if (item === undefined) return `there is no question ${id}; there are ${listIds(wizard.items)}`;
  if (wizard.settled[id] !== undefined) return `${id} is settled already`;
  if (given === undefined || given === null || given === "") return judgeNothing(wizard, item);
  if (typeof given === "object") return `the answer to ${id} is a text, a number, true or false`;
  const choice = item.choices.find((candidate) => candidate === String(given));
  if (choice !== undefined) return { value: choice, source: "choice" };
  if (item.choices.length > 0 && !item.allowFreeText)
    return `${String(given)} is not one of ${item.choices.join(", ")}, the choices of ${id}`;
  return { value: given, source: "free_text" };
}

/** Nothing said means the default, else it is skipped. */
function judgeNothing({ allow }: Wizard, { id, default: otherwise, required }: WizardItem): SettledItem | string {
  if (otherwise !== undefined) return { value: otherwise, source: "default" };
  if (required) return `${id} needs an answer`;
  return allow.skip ? { source: "skipped" } : `${id} cannot be skipped`;
}

function judgeSkips(wizard: Wizard, value: JsonValue | undefined): JudgedMove {
  const at = wizard.items[wizard.cursor];
  const asked = at === undefined ? [] : [at.id];
  const named: readonly JsonValue[] = value === undefined || value === null ? asked : [value].flat();
  const set: Record<string, SettledItem> = {};
  for (const name of named) {
    const id = typeof name === "string" ? name : JSON.stringify(name);
    const item = wizard.items.find((candidate) => candidate.id === id);
    if (item === undefined) return { fault: `there is no question ${id}; there are ${listIds(wizard.items)}` };
    if (wizard.settled[id] !== undefined) return { fault: `${id} is settled already` };
    if (!wizard.allow.skip || item.required) return { fault: `${id} cannot be skipped` };
    set[id] = { source: "skipped" };
  }
  return { change: settle(wizard, set, "completed") };
}

function judgeSkipAll(wizard: Wizard): JudgedMove {
  if (!wizard.allow.skipAll) return { fault: "what is left cannot be skipped" };
  const left = wizard.items.filter(({ id }) => wizard.settled[id] === undefined);
  const needed = left.filter(({ required }) => required);
  if (needed.length > 0) return { fault: `${listIds(needed)} cannot be skipped` };
  const set = Object.fromEntries(left.map(({ id }) => [id, { source: "skipped" } as const]));
  return { change: settle(wizard, set, "skipped_remaining") };
}

function judgeBack(wizard: Wizard): JudgedMove {
  if (!wizard.allow.back) return { fault: "there is no going back" };
  const before = wizard.items.slice(0, wizard.cursor).findLastIndex(({ id }) => wizard.settled[id] !== undefined);
  const item = wizard.items[before];
  if (item === undefined) return { fault: "this is the first question" };
  return { change: { set: {}, unset: [item.id], cursor: before } };
}

function settle(wizard: Wizard, set: WizardChange["set"], outcome: WizardOutcome): WizardChange {
  const isSettled = ({ id }: WizardItem): boolean => (set[id] ?? wizard.settled[id]) !== undefined;
  const next = wizard.items.findIndex((item) => !isSettled(item));
  return next === -1 ? { set, unset: [], cursor: wizard.items.length, outcome } : { set, unset: [], cursor: next };
}

function listIds(items: readonly WizardItem[]): string {
  return items.map(({ id }) => id).join(", ");
}

/** What a `questions` step gives. Shape: skipped answers are null, so that a template may name them. */
export function describeAnswers({ items, settled }: Wizard, outcome: WizardOutcome): JsonObject {
  const described = items.map(({ id, text }) => {
    const { value, source } = settled[id] ?? { source: "skipped" };
    return { id, question: text, answer: value ?? null, source, skipped: source === "skipped" };
  });
  const answered = described.filter(({ skipped }) => !skipped);
  return {
    answers: Object.fromEntries(described.map(({ id, answer }) => [id, answer])),
    items: described,
    transcript: described
      .map(({ question, answer, skipped }) => `Q: ${question}\nA: ${skipped ? "(skipped)" : textOf(answer)}`)
      .join("\n\n"),
    answered_count: answered.length,
    skipped_count: described.length - answered.length,
    answered_any: answered.length > 0,
    outcome,
  };
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
