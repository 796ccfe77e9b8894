/** A function of JavaScript, in a file or of the program. */
import type { Step } from "../../schema/generated/workflow.js";
import type { FunctionStep } from "../model/step.js";
import type { FileKind, Parts } from "./kind.js";

export const FUNCTION: FileKind<FunctionStep> = {
  types: ["function"],
  signs: ["function"],
  keys: ["function", "probe"],
  effects: "external",
  endedBy: "performer",
  actsAtOnce: true,
  isWork: true,
  isToldGuidance: true,
  build: (step, parts) => ({ ...parts.common, kind: "function", function: checkFunction(step, parts) }),
  render: (node) => ({ function: node.function }),
};

function checkFunction(step: Step, { common, site }: Parts): string {
  const text = step.function ?? "";
  const isFile = /^[^#\s][^#]*#[A-Za-z_$][\w$]*$/.test(text);
  if (!isFile && !text.startsWith("@")) {
    site.context.faults.add({
      code: "wrong_value",
      path: [...site.at, "function"],
      message: `the step ${common.name} needs a function as file#name, it has ${JSON.stringify(text)}`,
      suggestion: "write ./work.mjs#name",
    });
  }
  return text;
}
