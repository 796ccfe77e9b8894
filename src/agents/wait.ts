/** A wait step: until the time that the engine made durable, whatever happened to this process in between. */
import type { StepOutcome, StepWork } from "../engine/ports.js";
import type { PerformerDeps } from "./contract.js";

/** The clock of the wall may jump, and timers have an upper bound: it is looked at again at least this often. */
const LOOK_MS = 60_000;

export async function performWait(
  deps: PerformerDeps,
  work: StepWork,
  { signal }: { readonly signal: AbortSignal },
): Promise<StepOutcome> {
  const { intendedAtMs, dueAtMs = intendedAtMs } = work.step;
  for (let leftMs = dueAtMs - deps.clock.nowMs(); leftMs > 0; leftMs = dueAtMs - deps.clock.nowMs()) {
    await deps.clock.sleep(Math.min(leftMs, LOOK_MS), signal);
  }
  return { status: "completed", output: { waited_seconds: Math.max(0, dueAtMs - intendedAtMs) / 1000 } };
}
