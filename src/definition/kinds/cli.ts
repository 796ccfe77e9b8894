/** An installed agent, called by its command line. */
import type { Step } from "../../schema/generated/workflow.js";
import type { CliStep } from "../model/step.js";
import { putBefore, withoutUndefined, type FileKind, type Parts, type Unsigned } from "./kind.js";
import { chooseBriefing } from "./step-checks.js";
import { listCommand, omitUndefined, textMap } from "./step-fields.js";

export const CLI: FileKind<CliStep> = {
  types: ["cli"],
  signs: ["cli"],
  keys: [
    ...(["cli", "session", "model", "system_prompt", "prompt", "briefing", "args", "env", "environment"] as const),
    ...(["working_dir", "folder", "probe"] as const),
  ],
  effects: "external",
  endedBy: "performer",
  isWork: true,
  isToldGuidance: true,
  build: buildCli,
  render: (node, render) =>
    withoutUndefined({
      cli: node.cli,
      model: render.text(node.model),
      system_prompt: render.text(node.systemPrompt),
      prompt: putBefore(node.instructions, render.text(node.prompt)),
      arguments: render.texts(node.arguments),
      environment: render.environment(node.environment),
      folder: render.text(node.folder),
    }),
};

/** Which agents there are is known when it runs. */
function buildCli(step: Step, { common, site }: Parts): Unsigned<CliStep> {
  const { instructions, faults } = site.context;
  for (const key of ["cli", "prompt"] as const) {
    if (step[key] !== undefined && step[key].trim() !== "") continue;
    const suggestion = key === "cli" ? "name a profile: claude, codex, gemini, copilot or one of yours" : "add prompt";
    faults.add({ code: "missing_key", path: site.at, message: `the step ${common.name} has no ${key}`, suggestion });
  }
  return {
    ...common,
    kind: "cli",
    cli: step.cli ?? "",
    // Who is judged goes on where the work was done.
    session: step.session ?? (site.isSpecialist === true ? "continue" : "fresh"),
    ...omitUndefined("model", step.model),
    ...omitUndefined("systemPrompt", step.system_prompt),
    prompt: step.prompt ?? "",
    ...omitUndefined("briefingTokensMax", chooseBriefing(step, site)),
    ...omitUndefined("instructions", instructions.length === 0 ? undefined : instructions.join("\n\n")),
    arguments: listCommand(undefined, step.args),
    environment: textMap(step.env ?? step.environment),
    ...omitUndefined("folder", step.working_dir ?? step.folder),
  };
}
