/** What several scenarios are made of: workflows, and what must be so. */
import type { RunView } from "../../../src/index.js";
import type { Bodies, ExploredPlace, WorkflowOf } from "./explored-place.js";
import { EndedOtherwise, type Looking } from "./scenario.js";

/** A value over the bound of a blob. */
const LARGE = "x".repeat(270_000);

export const threeSteps: WorkflowOf = (call) => ({
  workflow: { name: "explored" },
  phases: [
    {
      name: "one",
      specialists: [
        { name: "a", function: call("a"), effects: "idempotent" },
        { name: "b", function: call("b"), effects: "idempotent", depends_on: ["a"], save_as: "b.json" },
      ],
    },
    { name: "two", specialists: [{ name: "c", function: call("c"), effects: "idempotent" }] },
  ],
});

export const withBlobs: Bodies = { b: () => ({ output: { text: LARGE } }) };

export const limited: WorkflowOf = (call) => ({
  workflow: { name: "explored", limits: { max_iterations: 1 } },
  steps: [
    { name: "a", function: call("a"), effects: "idempotent" },
    { name: "b", function: call("b"), effects: "idempotent", depends_on: ["a"] },
  ],
});

export async function requireStatus(run: Promise<unknown>, status: string): Promise<void> {
  const view = (await run) as RunView;
  if (view.status !== status) throw new EndedOtherwise(view, status);
}

interface Audited {
  readonly task: string;
  readonly event: string;
}

/** Says so when nobody's audit entry of that event is there. */
export async function findUnaudited(
  place: ExploredPlace,
  { isWell }: Looking,
  { task, event }: Audited,
): Promise<string | undefined> {
  if (!isWell) return undefined;
  const { entries } = await place.verbs.audit.show(task);
  return entries.some((entry) => entry.event === event && entry.n > 0) ? undefined : `nothing says who: ${event}`;
}
