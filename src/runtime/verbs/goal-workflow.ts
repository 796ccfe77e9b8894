/** The workflow of a goal that was given in words: what `run --goal TEXT` runs. */
import type { JsonObject } from "../../base/json.js";

export interface GoalOptions {
  readonly goal: string;
  /** A person agrees to the plan before it is followed. */
  readonly approve?: boolean | undefined;
  readonly replan?: boolean | undefined;
  readonly phasesMax?: number | undefined;
  readonly specialistsMax?: number | undefined;
  /** Who chooses what follows from a phase. */
  readonly atlasMode?: "rules" | "model" | undefined;
  /** Units: US dollars. */
  readonly budgetUsd?: number | undefined;
}

const NAME_CHARS_MAX = 40;

/** As if it stood in a file. The same words give the same workflow, so that a crashed task of it is taken up. */
export function createGoalWorkflow(options: GoalOptions): JsonObject {
  const { goal, approve, replan, phasesMax, specialistsMax, atlasMode, budgetUsd } = options;
  return {
    workflow: { name: nameOf(goal), ...(budgetUsd === undefined ? {} : { limits: { budget_usd: budgetUsd } }) },
    goal: quoteForTemplates(goal),
    plan: {
      ...(approve === true ? { approve } : {}),
      ...(replan === true ? { replan } : {}),
      ...(phasesMax === undefined ? {} : { max_phases: phasesMax }),
      ...(specialistsMax === undefined ? {} : { max_specialists: specialistsMax }),
    },
    ...(atlasMode === undefined ? {} : { atlas: { mode: atlasMode } }),
  };
}

function nameOf(goal: string): string {
  const slug = goal
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, NAME_CHARS_MAX)
    .replace(/^-+|-+$/g, "");
  return slug === "" ? "goal" : slug;
}

/** Words of a person are no template. */
function quoteForTemplates(goal: string): string {
  return /\{[{%#]/.test(goal) ? `{{ ${JSON.stringify(goal)} }}` : goal;
}
