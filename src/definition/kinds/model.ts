/** A conversation with a model. */
import type { Step } from "../../schema/generated/workflow.js";
import type { ModelStep } from "../model/step.js";
import { isToolServer } from "../model/tool-definition.js";
import { putBefore, withoutUndefined, type FileKind, type Parts, type Unsigned } from "./kind.js";
import { buildModelOptions } from "./model-options.js";
import { chooseBriefing } from "./step-checks.js";
import { omitUndefined } from "./step-fields.js";
import { chooseTools } from "./tool-builder.js";

export const MODEL: FileKind<ModelStep> = {
  types: ["agent", "model"],
  signs: ["prompt", "system_prompt", "model", "provider"],
  keys: [
    ...(["provider", "model", "system_prompt", "prompt", "briefing", "tools", "output_mode", "context_tier"] as const),
    ...(["session_key", "reasoning", "temperature", "max_tokens", "fallback", "skills", "plugins"] as const),
    ...(["max_session_seconds", "max_agent_iterations", "working_dir", "dialog", "validator", "sandbox"] as const),
  ],
  effects: "none",
  endedBy: "performer",
  isWork: true,
  isToldGuidance: true,
  build: buildModel,
  render: (node, render) =>
    withoutUndefined({
      provider: node.provider,
      model: render.text(node.model),
      system_prompt: render.text(node.systemPrompt),
      prompt: putBefore(node.instructions, render.text(node.prompt)),
      tools: node.tools?.map((tool) => (isToolServer(tool) ? `${tool.server}__*` : tool.name)),
    }),
};

function buildModel(step: Step, { common, site }: Parts): Unsigned<ModelStep> {
  const { instructions, runtime } = site.context;
  const options = buildModelOptions(step, runtime);
  if (!site.isRouted && step.prompt === undefined) {
    site.context.faults.add({
      code: "missing_key",
      path: site.at,
      message: `the step ${common.name} has no prompt`,
      suggestion: "add prompt",
    });
  }
  return {
    ...common,
    kind: "model",
    provider: step.provider ?? site.context.provider,
    ...omitUndefined("model", step.model ?? site.context.model),
    ...omitUndefined("systemPrompt", step.system_prompt),
    prompt: step.prompt ?? "",
    ...omitUndefined("briefingTokensMax", chooseBriefing(step, site)),
    ...omitUndefined("tools", chooseTools(site.context.tools, { step, at: site.at, faults: site.context.faults })),
    ...omitUndefined("instructions", instructions.length === 0 ? undefined : instructions.join("\n\n")),
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}
