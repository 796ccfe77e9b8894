/** What a workflow wants told or done at its start, its end and its failure. */
import type { StepDefinition } from "./step.js";
import type { Template } from "./values.js";

export const HOOK_NAMES = ["on_start", "on_complete", "on_error"] as const;
export type HookName = (typeof HOOK_NAMES)[number];
/** A text that is told, or a step that runs outside the result. */
export type HookDefinition = { readonly text: Template } | { readonly step: StepDefinition };
export type HooksDefinition = Readonly<Partial<Record<HookName, HookDefinition>>>;
