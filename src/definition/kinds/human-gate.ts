/** A person chooses one of several options. */
import type { GateOption as OptionForm, Step } from "../../schema/generated/workflow.js";
import { findNearest } from "../faults/nearest.js";
import type { GateOption, GateStep } from "../model/step.js";
import type { NodeSite } from "./build-context.js";
import { withoutUndefined, type FileKind, type Parts, type Unsigned } from "./kind.js";
import { noteDoubles, requireTimeoutPair } from "./step-checks.js";
import { omitUndefined } from "./step-fields.js";

export const HUMAN_GATE: FileKind<GateStep> = {
  types: ["human_gate"],
  signs: ["options"],
  keys: ["prompt", "options", "default", "on_timeout"],
  onlyInFiles: true,
  effects: "none",
  endedBy: "person",
  seesEverything: true,
  build: buildGate,
  render: (node, render) =>
    withoutUndefined({
      prompt: render.text(node.prompt),
      labels: render.texts(node.options.map(({ label }) => label)),
    }),
};

function buildGate(step: Step, { common, site }: Parts): Unsigned<GateStep> {
  const options = (step.options ?? []).map(buildOption);
  const { faults } = site.context;
  if (options.length === 0) {
    const suggestion = site.isRouted
      ? "add options: [{value: approve, label: continue, route: NEXT}]"
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
  };
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
