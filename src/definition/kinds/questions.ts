/** A person answers questions, one after the other. */
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { QuestionItem as ItemForm, Step } from "../../schema/generated/workflow.js";
import type { QuestionsStep, WizardItem } from "../model/step.js";
import type { NodeSite } from "./build-context.js";
import { withoutUndefined, type FileKind, type Parts, type Renderer, type Unsigned } from "./kind.js";
import { noteDoubles, requireTimeoutPair } from "./step-checks.js";
import { omitUndefined } from "./step-fields.js";

export const QUESTIONS: FileKind<QuestionsStep> = {
  types: ["questions"],
  signs: ["questions"],
  keys: [
    ...(["prompt", "questions", "source", "allow_back", "allow_skip", "allow_skip_all", "allow_abort"] as const),
    ...(["abort_route", "on_timeout"] as const),
  ],
  onlyInFiles: true,
  effects: "none",
  endedBy: "person",
  seesEverything: true,
  resultForm: "answers, items and outcome",
  build: buildQuestions,
  render: (node, render) => withoutUndefined({ prompt: render.text(node.prompt), items: renderItems(node, render) }),
};

function buildQuestions(step: Step, { common, site }: Parts): Unsigned<QuestionsStep> {
  const { faults } = site.context;
  if ((step.questions === undefined) === (step.source === undefined)) {
    const message = `the step ${common.name} needs exactly one of questions and source`;
    faults.add({ code: "conflict", path: site.at, message });
  }
  const items = (step.questions ?? []).map(buildItem);
  items.forEach((item, index) => checkItem(item, { ...site, at: [...site.at, "questions", index] }));
  noteDoubles(
    items.map(({ id }) => id),
    { what: "questions have the id", at: [...site.at, "questions"], site },
  );
  if (step.abort_route !== undefined && step.allow_abort !== true) {
    const message = "abort_route goes with allow_abort: true";
    faults.add({
      code: "conflict",
      path: [...site.at, "abort_route"],
      message,
      suggestion: "add allow_abort: true",
      atKey: true,
    });
  }
  const onTimeout = checkTimeoutMove(step, site);
  return {
    ...common,
    kind: "questions",
    ...omitUndefined("prompt", step.prompt),
    items,
    ...omitUndefined("source", step.source),
    allow: {
      back: step.allow_back ?? true,
      skip: step.allow_skip ?? true,
      skipAll: step.allow_skip_all ?? true,
      abort: step.allow_abort ?? false,
    },
    ...omitUndefined("abortRoute", step.abort_route),
    ...omitUndefined("onTimeout", onTimeout),
  };
}

function checkTimeoutMove(step: Step, site: NodeSite): QuestionsStep["onTimeout"] {
  requireTimeoutPair(step, site);
  const { on_timeout: move } = step;
  if (move === undefined || move === "skip_all") return move;
  if (move === "abort" && step.allow_abort === true) return move;
  site.context.faults.add({
    path: [...site.at, "on_timeout"],
    message: `on_timeout of questions is skip_all${step.allow_abort === true ? " or abort" : ""}, not ${JSON.stringify(move)}`,
    suggestion: move === "abort" ? "add allow_abort: true" : "write skip_all",
  });
  return undefined;
}

/** One question as written in the file, or as a step before gave it. Shape: `index` from 0. */
export function buildItem(item: ItemForm, index: number): WizardItem {
  const form = typeof item === "string" ? { text: item } : item;
  const choices = (form.choices ?? []).map(String);
  return {
    id: form.id ?? `q${index + 1}`,
    text: form.text ?? form.question ?? "",
    ...omitUndefined("hint", form.hint),
    choices,
    allowFreeText: form.allow_free_text ?? true,
    ...omitUndefined("default", form.default as JsonValue | undefined),
    required: form.required ?? false,
    multiline: form.multiline ?? true,
  };
}

function checkItem(item: WizardItem, { at, context }: NodeSite): void {
  if (item.text.trim() === "")
    context.faults.add({
      code: "missing_key",
      path: at,
      message: `the question ${item.id} asks nothing`,
      suggestion: "add text",
    });
  if (item.choices.length === 0 && !item.allowFreeText) {
    const message = `the question ${item.id} has no choices and takes no text, so nothing can answer it`;
    context.faults.add({ code: "missing_key", path: at, message, suggestion: "add choices" });
  }
}

/** Questions of the file are templates; those that a step before gave are shown as they are. */
function renderItems(node: QuestionsStep, render: Renderer): JsonValue {
  if (node.source !== undefined) return render.items(node.source) as unknown as JsonValue;
  return node.items.map((item) =>
    withoutUndefined({
      ...(item as unknown as JsonObject),
      text: render.text(item.text),
      hint: render.text(item.hint),
      choices: render.texts(item.choices),
      default: render.value(item.default),
    }),
  );
}
