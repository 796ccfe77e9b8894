/** Reads the questions that an earlier step gave for a wizard. */
import type { SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { buildItem } from "../../definition/kinds/questions.js";
import type { WizardItem } from "../../definition/model/step.js";

/** Where the items come from, and how they are refused. */
export interface ItemSource {
  readonly source: string;
  readonly refuse: (message: string) => SplashdownError;
}

/** Items that a step before gave: texts, or maps as in a file; they are shown as they are. Errors: as refused. */
export function readItems(given: JsonValue, source: ItemSource): readonly WizardItem[] {
  if (!Array.isArray(given)) throw noItems(source, "it is no list");
  return (given as readonly JsonValue[]).map((item, index) => readItem(item, index, source));
}

function readItem(item: JsonValue, index: number, source: ItemSource): WizardItem {
  const form = typeof item === "string" ? { text: item } : item;
  if (!isJsonObject(form)) throw noItems(source, `item ${index} is neither a text nor a map`);
  const text = form["text"] ?? form["question"];
  if (typeof text !== "string" || text.trim() === "") throw noItems(source, `item ${index} has no text`);
  const built = buildItem({ text, ...readChoices(form, index, source), ...readDetails(form) }, index);
  if (built.choices.length === 0 && !built.allowFreeText)
    throw noItems(source, `item ${index} has no choices and takes no text`);
  return built;
}

function readChoices({ choices }: JsonObject, index: number, source: ItemSource): { choices?: string[] } {
  if (choices === undefined || choices === null) return {};
  if (!Array.isArray(choices)) throw noItems(source, `the choices of item ${index} are no list`);
  return { choices: choices.map(String) };
}

/** What is of another type than it should be is left out: the question can be asked without it. */
const DETAILS = { id: "string", hint: "string", allow_free_text: "boolean", required: "boolean", multiline: "boolean" };

function readDetails(form: JsonObject) {
  const kept = Object.entries(DETAILS).filter(([key, type]) => typeof form[key] === type);
  const otherwise = form["default"] ?? undefined;
  return {
    ...Object.fromEntries(kept.map(([key]) => [key, form[key]])),
    ...(otherwise === undefined ? {} : { default: otherwise }),
  };
}

function noItems({ source, refuse }: ItemSource, why: string): SplashdownError {
  return refuse(`the questions of ${source} cannot be asked: ${why}`);
}
