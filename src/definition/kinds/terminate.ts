/** The end of a workflow, before its last step. */
import type { Step } from "../../schema/generated/workflow.js";
import type { TerminateStep } from "../model/step.js";
import type { TemplateValue } from "../model/values.js";
import { withoutUndefined, type FileKind, type Parts, type Unsigned } from "./kind.js";
import { omitUndefined } from "./step-fields.js";

export const TERMINATE: FileKind<TerminateStep> = {
  types: ["terminate"],
  signs: ["status"],
  keys: ["status", "reason", "output_template"],
  onlyInFiles: true,
  effects: "none",
  endedBy: "engine",
  seesEverything: true,
  resultForm: "nothing, or output_template in place of the workflow's output",
  build: buildTerminate,
  render: (node, render) =>
    withoutUndefined({ reason: render.text(node.reason), output: render.value(node.outputTemplate) }),
};

function buildTerminate(step: Step, { common, site }: Parts): Unsigned<TerminateStep> {
  const { faults } = site.context;
  for (const key of ["status", "reason"] as const) {
    if (step[key] !== undefined && step[key].trim() !== "") continue;
    const suggestion = key === "status" ? "write status: success or status: failed" : "say why the workflow ends here";
    faults.add({ code: "missing_key", path: site.at, message: `the step ${common.name} has no ${key}`, suggestion });
  }
  if (common.routes.length > 0) {
    const message = "a terminate step ends the workflow and goes nowhere";
    faults.add({
      code: "misplaced_key",
      path: [...site.at, "routes"],
      message,
      suggestion: "remove the routes",
      atKey: true,
    });
  }
  return {
    ...common,
    kind: "terminate",
    status: step.status ?? "success",
    reason: step.reason ?? "",
    ...omitUndefined("outputTemplate", step.output_template as TemplateValue | undefined),
  };
}
