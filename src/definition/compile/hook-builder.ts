/** Builds the hooks of a workflow: texts that are told, and steps that run outside the result. */
import type { Hook, Step, WorkflowHeader } from "../../schema/generated/workflow.js";
import type { BuildContext } from "../kinds/build-context.js";
import { HOOKS_NAME, ROOT_NAME } from "../model/defaults.js";
import { buildStep } from "./step-builder.js";
import { HOOK_NAMES, type HookDefinition, type HookName, type HooksDefinition } from "../model/hooks.js";

/** Shape: `undefined` when there are none. */
export function buildHooks(hooks: WorkflowHeader["hooks"], context: BuildContext): HooksDefinition | undefined {
  const built: Partial<Record<HookName, HookDefinition>> = {};
  for (const name of HOOK_NAMES) {
    const hook = hooks?.[name];
    const one = hook === undefined ? undefined : buildHook(name, hook, context);
    if (one !== undefined) built[name] = one;
  }
  return Object.keys(built).length === 0 ? undefined : built;
}

/** What a command is handed unless it says otherwise. */
const INPUTS: Readonly<Record<HookName, Pick<Step, "input">>> = {
  on_start: {},
  on_complete: { input: { result: "{{ result }}" } },
  on_error: { input: { error: "{{ error }}" } },
};

function buildHook(name: HookName, hook: Hook, context: BuildContext): HookDefinition | undefined {
  const at = ["workflow", "hooks", name];
  if (typeof hook === "string") return hook.trim() === "" ? undefined : { text: hook };
  const kind = hook.url !== undefined ? "http" : hook.type === "script" ? "script" : "command";
  const { type: _type, ...rest } = hook;
  // It tells of the task and is no part of it: what became of it after a crash is nobody's question.
  const step: Step = { on_unknown: "skip", ...INPUTS[name], ...rest, name };
  return { step: buildStep(step, kind, { at, parent: `${ROOT_NAME}/${HOOKS_NAME}`, isRouted: false, context }) };
}
