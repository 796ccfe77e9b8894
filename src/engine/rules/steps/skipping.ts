/**
 * Whether a node that may start is done at all.
 *
 * Skipped: what stands in a workflow that a gate has ended; what depends on a node that ended otherwise than `depends_on`
 * allows; what has a condition that is false. The choice is an event with its decision, made once for each visit: a retry, a
 * restart and a new owner find it in the state and never judge again. A condition that cannot be judged is a failure of the
 * node, and a resume judges it anew.
 */
import { errorCodeOf, messageOf } from "../../../base/errors.js";
import type { Ending } from "../../../definition/model/values.js";
import type { NodeDefinition } from "../../../definition/model/workflow.js";
import { createDecision, drawFraction, type Choice } from "../../model/choice.js";
import type { Decision } from "../../model/decision.js";
import type { EventOf, StepError } from "../../model/events.js";
import { findUnfinished } from "./intent.js";
import { findPlace, phaseNumberOf } from "../../model/lookup.js";
import type { ChildEnd } from "../../model/child-end.js";
import type { ScopeEntry, TaskState } from "../../model/state.js";
import { describeScope } from "../../render/describe-scope.js";
import { chooseRouteWithout, isInMachine } from "./routes.js";

/** Marks the failure of a condition among the details of an error. */
const PART_WHEN = "when";

export interface Judged {
  /** The node is not done. */
  readonly skipped?: EventOf<"node_skipped">;
  /** The condition holds; goes with the event that starts the node. */
  readonly decision?: Decision;
  /** The condition could not be judged. */
  readonly fault?: StepError;
}

interface Judging {
  readonly path: string;
  readonly node: NodeDefinition;
}

/** Judges a node that has not begun in this visit; nothing is said of one that has. */
export function judgeNode(choice: Choice, judging: Judging): Judged {
  const { path, node } = judging;
  const before = findUnfinished(choice.state, path);
  if (before !== undefined && !isFaultOfCondition(before.error)) return {};
  const reason = describeEnding(choice.state, path) ?? findUnmet(choice.state, judging);
  if (reason !== undefined) return { skipped: skip(choice, judging, reason) };
  if (node.when === undefined) return {};
  try {
    const scope = describeScope(choice, path);
    const holds = choice.context.templates.evaluateCondition(node.when, scope, { random: () => drawFraction(choice) });
    if (!holds) return { skipped: skip(choice, judging, `when is false: ${node.when}`) };
  } catch (error) {
    if (errorCodeOf(error) !== "TEMPLATE_FAILED") throw error;
    const message = `when of ${node.name} cannot be judged: ${messageOf(error)}`;
    return { fault: { code: "TEMPLATE_FAILED", message, retryable: false, details: { part: PART_WHEN } } };
  }
  return {
    decision: createDecision(choice, {
      agent: "engine",
      type: "run",
      description: `${path} runs`,
      rationale: `when is true: ${node.when}`,
      alternatives: ["skip"],
      subject: path,
    }),
  };
}

/** True for what a resume has to judge again. */
export function isFaultOfCondition(error: StepError | undefined): boolean {
  return error?.details?.["part"] === PART_WHEN;
}

function skip(choice: Choice, { path, node }: Judging, reason: string): EventOf<"node_skipped"> {
  const { state, nowMs } = choice;
  const visit = visitOf(state, path);
  const next = isInMachine(choice, path) ? chooseRouteWithout(choice, { path, node }) : undefined;
  return {
    type: "node_skipped",
    atMs: nowMs,
    path,
    visit,
    phase: phaseNumberOf(state, path),
    ...(node.node === "step" ? { kind: node.kind } : {}),
    reason,
    ...(next === undefined ? {} : { next }),
    decision: createDecision(choice, {
      agent: "engine",
      type: "skip",
      description: `${path} is skipped`,
      rationale: reason,
      alternatives: ["run"],
      subject: path,
    }),
  };
}

/** The next visit, or the one at hand of a node whose condition could not be judged before. */
function visitOf(state: TaskState, path: string): number {
  const visit = state.visits.get(path) ?? 0;
  const isAtHand = findUnfinished(state, path) !== undefined || state.scopes.has(path);
  return isAtHand ? visit : visit + 1;
}

/** Why nothing starts any more in the workflow around a node; `undefined` while it goes on. */
function describeEnding(state: TaskState, path: string): string | undefined {
  let scope = scopeAround(state, path);
  while (scope !== undefined && scope.data.scope !== "workflow") {
    if (scope.data.ends !== undefined) return `the workflow has ended: ${scope.data.ends.reason}`;
    scope = scope.parent === undefined ? undefined : state.scopes.get(scope.parent);
  }
  return undefined;
}

function scopeAround(state: TaskState, path: string): ScopeEntry | undefined {
  const parent = findPlace(state, path)?.parent;
  return parent === undefined ? undefined : state.scopes.get(parent);
}

/** As what an end counts for those who depend on it: a person's skip leaves a result that is empty. */
const COUNTS_AS: Readonly<Record<ChildEnd, readonly Ending[]>> = {
  done: ["done"],
  partial: ["done"],
  skipped: ["done", "skipped"],
  omitted: ["skipped"],
  declined: ["skipped"],
  failed: ["failed"],
};

const PAST: Readonly<Record<ChildEnd, string>> = {
  done: "is done",
  partial: "is done",
  skipped: "was skipped",
  omitted: "was skipped",
  declined: "was answered in a way that skips what depends on it",
  failed: "failed",
};

function findUnmet(state: TaskState, { path, node }: Judging): string | undefined {
  if (node.dependsOn.length === 0) return undefined;
  const scope = scopeAround(state, path);
  const ended = scope === undefined ? undefined : state.frontier.get(scope.path)?.ended;
  for (const name of node.dependsOn) {
    const end = ended?.get(name);
    const wanted = node.startsOn?.[name] ?? ["done"];
    if (end === undefined || COUNTS_AS[end].some((ending) => wanted.includes(ending))) continue;
    return `${name} ${PAST[end]}${end === "done" || end === "partial" ? `, and ${node.name} waits for: ${wanted.join(", ")}` : ""}`;
  }
  return undefined;
}
