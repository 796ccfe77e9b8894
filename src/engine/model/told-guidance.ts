/** Which of what people said concerns a step, and which steps were told of it. */
import type { Guidance } from "./guidance-given.js";
import { kindOf } from "../../definition/kinds/table.js";
import type { StepDefinition } from "../../definition/model/step.js";
import type { TaskState } from "./state.js";
import type { StepId } from "../../base/ids.js";
import { definitionPathOf } from "./identity.js";

export function isToldGuidance({ kind }: Pick<StepDefinition, "kind">): boolean {
  return kindOf(kind).isToldGuidance === true;
}

/** What was said that concerns a step, oldest first. Later lists begin with earlier ones. */
export function listGuidance({ guidance }: Pick<TaskState, "guidance">, path: string): readonly string[] {
  return guidance.filter((one) => concerns(one, path)).map(({ text }) => text);
}

/** The steps that were told of each, in the order of the list. */
export function findListeners({ guidance, steps }: Pick<TaskState, "guidance" | "steps">): readonly StepId[][] {
  const listeners: StepId[][] = guidance.map(() => []);
  for (const { id, path, guided = 0 } of guidance.length === 0 ? [] : steps.values()) {
    let left = guided;
    for (const [at, one] of guidance.entries()) {
      if (left === 0) break;
      if (!concerns(one, path)) continue;
      listeners[at]?.push(id);
      left -= 1;
    }
  }
  return listeners;
}

function concerns({ path: about }: Guidance, path: string): boolean {
  return about === undefined || isAtOrBelow(path, about) || isAtOrBelow(definitionPathOf(path), about);
}

function isAtOrBelow(path: string, above: string): boolean {
  return path === above || path.startsWith(`${above}/`) || path.startsWith(`${above}[`);
}
