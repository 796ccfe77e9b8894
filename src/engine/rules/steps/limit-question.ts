/** The question about a limit that is reached: extend it, or stop. While it is open nothing starts where the limit counts. */
import { formatCount } from "../../../base/plain-text.js";
import type { Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import type { LimitName } from "../../model/question.js";
import { keyOfLimit } from "../questions/limit-amounts.js";
import { openQuestion } from "../questions/questions.js";
import type { QuestionEntry, TaskState } from "../../model/state.js";
import type { ScopeUse } from "../../model/totals.js";

export interface ReachedLimit {
  readonly name: LimitName;
  readonly used: number;
  readonly max: number;
  readonly total: ScopeUse;
  /** Of the nested workflow whose limit it is; absent for the task's own. */
  readonly path?: string;
}

/** Instance path of the nested workflow that a question about a limit is about; `undefined` for the task's own. */
export function scopeOfLimit({ about }: Pick<QuestionEntry, "about">): string | undefined {
  return about?.kind === "limit" ? about.scope : undefined;
}

/** True while a person is asked about a limit that counts at the place: nothing starts there. */
export function isHeldByLimit(state: TaskState, path: string): boolean {
  for (const id of state.unsettled) {
    const question = state.questions.get(id);
    if (question?.kind !== "limit") continue;
    const scope = scopeOfLimit(question);
    if (scope === undefined || path === scope || path.startsWith(`${scope}/`)) return true;
  }
  return false;
}

/** True while a person is asked about a limit of this very workflow. */
function isAsked(state: TaskState, path: string | undefined): boolean {
  for (const id of state.unsettled) {
    const question = state.questions.get(id);
    if (question?.kind === "limit" && scopeOfLimit(question) === path) return true;
  }
  return false;
}

export function openLimitQuestion(choice: Choice, limit: ReachedLimit): readonly EngineEvent[] {
  const { name, used, max, path } = limit;
  if (isAsked(choice.state, path)) return [];
  const question = openQuestion(choice, {
    kind: "limit",
    subject: path ?? "task",
    text: `${describeReached(limit)}${describeUnknown(limit)}; extend it or stop?`,
    options: [
      {
        value: "extend",
        label: `raise the limit, e.g. ${keyOfLimit(name)}=10`,
        takesValue: true,
        promptFor: "amount",
      },
      { value: "stop", label: "end the task here" },
    ],
    about: { kind: "limit", limit: name, ...(path === undefined ? {} : { scope: path }) },
    facts: { used, max },
  });
  return [question];
}

function describeReached({ name, max, used, path }: ReachedLimit): string {
  const of = path === undefined ? "" : ` of ${path}`;
  if (name === "cost_micro_usd") return `the budget of ${formatUsd(max)}${of} is reached (${formatUsd(used)} spent)`;
  return `the limit of ${max} ${name}${of} is reached (${used} used)`;
}

function describeUnknown({ name, total: { unpricedCalls, uncountedCalls } }: ReachedLimit): string {
  const isOfUse = name === "cost_micro_usd" || name === "tokens";
  const cut = formatCount(uncountedCalls, "call");
  const estimated =
    isOfUse && uncountedCalls > 0 ? `, with ${cut} of unknown size taken for as dear as the others` : "";
  return name === "cost_micro_usd" && unpricedCalls > 0
    ? `${estimated}, and ${formatCount(unpricedCalls, "call")} of unknown price`
    : estimated;
}

export function formatUsd(microUsd: number): string {
  return `$${(microUsd / 1_000_000).toFixed(2)}`;
}
