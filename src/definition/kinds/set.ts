/** Values put together by templates alone. */
import type { Step } from "../../schema/generated/workflow.js";
import type { SetStep } from "../model/step.js";
import type { TemplateValue } from "../model/values.js";
import { withoutUndefined, type FileKind, type Parts, type Unsigned } from "./kind.js";
import { omitUndefined } from "./step-fields.js";

export const SET: FileKind<SetStep> = {
  types: ["set"],
  signs: ["value", "values"],
  keys: ["value", "values", "output_type"],
  effects: "none",
  endedBy: "performer",
  build: buildSet,
  render: (node, render) =>
    withoutUndefined({
      value: render.setValue(node.value, node.outputType),
      values: render.setValue(node.values, "auto"),
    }),
};

function buildSet(step: Step, { common, site }: Parts): Unsigned<SetStep> {
  const hasValue = Object.hasOwn(step, "value");
  if (hasValue === (step.values !== undefined)) {
    site.context.faults.add({
      code: "conflict",
      path: site.at,
      message: `the step ${common.name} needs exactly one of value and values`,
    });
  }
  if (!hasValue && step.output_type !== undefined) {
    site.context.faults.add({
      code: "conflict",
      path: [...site.at, "output_type"],
      message: "output_type goes with value only",
      suggestion: "remove it",
      atKey: true,
    });
  }
  return {
    ...common,
    kind: "set",
    ...(hasValue ? { value: step.value as TemplateValue } : {}),
    ...omitUndefined("values", step.values as Readonly<Record<string, TemplateValue>> | undefined),
    outputType: step.output_type ?? "auto",
  };
}
