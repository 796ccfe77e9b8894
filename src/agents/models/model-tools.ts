/** The tools of a model step: its functions, then those of its servers, opened when they are first needed. */
import { isFunctionTool, isToolServer } from "../../definition/model/tool-definition.js";
import type { ModelStep } from "../../definition/model/step.js";
import type { StepSink, StepWork } from "../../engine/model/ports.js";
import type { PerformerDeps } from "../outcome/contract.js";
import type { TalkTools } from "./conversation.js";
import { openFunctionTools } from "../tools/function-tool.js";
import type { ModelPlan } from "./model-plan.js";
import { SCRIPTED_PROVIDER } from "./scripted-model.js";
import type { Tool } from "../tools/tool-call.js";
import { openServerTools } from "../tools/server-tools.js";

export interface ModelToolsOptions {
  readonly plan: Pick<ModelPlan, "choices" | "shownCharsMax">;
  readonly sink: StepSink;
}

/** Errors, when they are opened: those of `openServerTools`. */
export function createModelTools(deps: PerformerDeps, work: StepWork, { plan, sink }: ModelToolsOptions): TalkTools {
  const { tools = [] } = work.definition as ModelStep;
  const servers = tools.filter(isToolServer);
  let opened: Promise<readonly Tool[]> | undefined;
  const open = async (): Promise<readonly Tool[]> => {
    const functions = await openFunctionTools(deps, work, tools.filter(isFunctionTool));
    const names = functions.map(({ fullName }) => fullName);
    return [...functions, ...(await openServerTools(deps, work, { servers, sink, functions: names }))];
  };
  return {
    open: () => (opened ??= open()),
    // A scripted model asks for what its file says: no server is started to tell it what there is.
    areTold: plan.choices.some(
      ({ provider, model }) => deps.chooseProvider(provider, model).provider !== SCRIPTED_PROVIDER,
    ),
    shownCharsMax: plan.shownCharsMax,
  };
}
