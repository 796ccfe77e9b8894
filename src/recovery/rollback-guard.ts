/** Whether a task's folder is older than what this machine has acknowledged of it. */
import { SplashdownError } from "../base/errors.js";
import type { History } from "../journal/history.js";
import type { AnchorPosition } from "../vault/anchor.js";

export interface RollbackQuestion {
  readonly task: string;
  readonly history: History;
  readonly anchor: AnchorPosition | undefined;
}

/**
 * Compares the history with the anchor.
 *
 * A later epoch than the anchor's is a later owner, whose history is its own: what an earlier one acknowledged after it
 * was superseded is rightly off the chain. Damage is judged as damage elsewhere and never called a roll-back.
 */
export function isRolledBack({ history, anchor }: RollbackQuestion): boolean {
  if (anchor === undefined || anchor.n === 0 || history.epoch > anchor.epoch) return false;
  const position = history.record(anchor.n)?.position;
  if (position?.epoch === anchor.epoch && position.h === anchor.hash) return false;
  return !history.lost.some(({ from, to }) => from <= anchor.n && anchor.n <= (to ?? Infinity));
}

/** Errors: TASK_ROLLED_BACK, with both ends. */
export function requireNotRolledBack(question: RollbackQuestion): void {
  const problem = findRollback(question);
  if (problem !== undefined) throw problem;
}

/** The same as a value, for those who only look. */
export function findRollback(question: RollbackQuestion): SplashdownError | undefined {
  const { task, history, anchor } = question;
  if (anchor === undefined || !isRolledBack(question)) return undefined;
  const { head } = history;
  const found = head === undefined ? "nothing" : `record ${head.n} of epoch ${head.epoch}`;
  return new SplashdownError(
    "TASK_ROLLED_BACK",
    `task ${task} ends at ${found}, but this machine has acknowledged record ${anchor.n} of epoch ${anchor.epoch}`,
    {
      details: { task, anchorEpoch: anchor.epoch, anchorN: anchor.n, headEpoch: head?.epoch ?? 0, headN: head?.n ?? 0 },
    },
  );
}
