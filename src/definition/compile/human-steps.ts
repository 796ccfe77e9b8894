/** Builds the steps that ask a person: gates with options, and wizards of questions. */
import type { JsonValue } from "../../base/json.js";
import type { GateOption as OptionForm, QuestionItem as ItemForm, Step } from "../../schema/generated/workflow.js";
import type { NodeSite } from "./build-context.js";
import { findNearest } from "../faults/nearest.js";
import { omitUndefined } from "./step-fields.js";
import type { Parts, Unsigned } from "./step-parts.js";
import type { GateOption, GateStep, QuestionsStep, StepDefinition, WizardItem } from "../model/step.js";

export function buildGate(step: Step, { common, site }: Parts): Unsigned<StepDefinition> {
  const options = (step.options ?? []).map(buildOption);
  const { faults } = site.context;
  if (options.length === 0) {
    const suggestion = site.isRouted
      ? "add options: [{value: approve, label: go on, route: NEXT}]"
      : "add options: [approve, {value: reject, route: $end}]";
    faults.add({ code: "missing_key", path: site.at, message: `the gate ${common.name} has no options`, suggestion });
  }
  if ((step.prompt ?? "").trim() === "")
    faults.add({
      code: "missing_key",
      path: site.at,
      message: `the gate ${common.name} has no prompt`,
      suggestion: "say what is asked",
    });
  noteDoubles(
    options.map(({ value }) => value),
    { what: "options have the value", at: [...site.at, "options"], site },
  );
  const values = options.map(({ value }) => value);
  const known = (key: "default" | "on_timeout"): string | undefined => {
    const value = step[key];
    if (value === undefined) return undefined;
    if (!values.includes(String(value))) noteNoOption(key, String(value), { values, site });
    return String(value);
  };
  requireTimeoutPair(step, site);
  return {
    ...common,
    kind: "human_gate",
    prompt: step.prompt ?? "",
    options,
    ...omitUndefined("default", known("default")),
    ...omitUndefined("onTimeout", known("on_timeout")),
  } satisfies Unsigned<GateStep>;
}

function buildOption(option: OptionForm): GateOption {
  if (typeof option === "string") return { value: option, label: option, multiline: false };
  const { value, label, route, prompt_for: promptFor, multiline = false } = option;
  return {
    value: String(value),
    label: label ?? String(value),
    ...omitUndefined("route", route),
    ...omitUndefined("promptFor", promptFor),
    multiline,
  };
}

function noteNoOption(
  key: string,
  value: string,
  { values, site }: { readonly values: readonly string[]; readonly site: NodeSite },
): void {
  const nearest = findNearest(value, values);
  site.context.faults.add({
    code: "unknown_name",
    path: [...site.at, key],
    message: `${key} is ${JSON.stringify(value)}, which is no option`,
    suggestion: nearest === undefined ? `write one of ${values.join(", ")}` : `did you mean ${nearest}?`,
  });
}

/** What is asked for a time says what it answers then: nothing is picked in silence. */
function requireTimeoutPair(step: Step, site: NodeSite): void {
  const hasTimeout = step.timeout !== undefined || step.timeout_seconds !== undefined;
  if (hasTimeout === (step.on_timeout !== undefined)) return;
  const { faults } = site.context;
  if (hasTimeout) {
    const message = `${step.name ?? "the step"} has a timeout, and nothing says what is answered then`;
    faults.add({
      code: "missing_key",
      path: [...site.at, "timeout"],
      message,
      suggestion: "add on_timeout",
      atKey: true,
    });
    return;
  }
  const message = "on_timeout goes with timeout";
  faults.add({
    code: "conflict",
    path: [...site.at, "on_timeout"],
    message,
    suggestion: "add timeout: 24h",
    atKey: true,
  });
}

export function buildQuestions(step: Step, { common, site }: Parts): Unsigned<StepDefinition> {
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
  } satisfies Unsigned<QuestionsStep>;
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

function noteDoubles(
  names: readonly string[],
  { what, at, site }: { readonly what: string; readonly at: NodeSite["at"]; readonly site: NodeSite },
): void {
  names.forEach((name, index) => {
    if (names.indexOf(name) === index) return;
    site.context.faults.add({
      code: "duplicate_name",
      path: [...at, index],
      message: `two ${what} ${name}`,
      suggestion: "rename one",
    });
  });
}
