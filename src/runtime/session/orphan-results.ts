/** The results of completions off the chain, read where they may be the answer about a step. */
import { errorCodeOf } from "../../base/errors.js";
import type { OrphanCompletion } from "../../engine/model/input.js";
import type { FoundOrphan } from "../../recovery/restore.js";
import { resolveValue, type OpenedTask } from "../tasks/reading.js";

/**
 * Shape: in the same order. Errors: none of the store's or the key's: off the chain nothing is relied upon, so a result
 * that is gone or damaged is not offered, and stops nobody.
 */
export function readOrphans(
  opened: Pick<OpenedTask, "task" | "vault">,
  orphans: readonly FoundOrphan[],
): Promise<OrphanCompletion[]> {
  const read = async ({ event, epoch, n, isOfOpenStep }: FoundOrphan): Promise<OrphanCompletion> => {
    const { step, attempt } = event;
    const output = isOfOpenStep ? await resolveValue(opened, event.output).catch(leaveOut) : undefined;
    return { step, attempt, epoch, n, ...(output === undefined ? {} : { output }) };
  };
  return Promise.all(orphans.map(read));
}

function leaveOut(error: unknown): undefined {
  if (errorCodeOf(error) === undefined) throw error;
}
