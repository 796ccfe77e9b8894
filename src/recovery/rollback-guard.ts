/** Whether a task's folder is older than what this machine has acknowledged of it, or goes another way since. */
import { SplashdownError } from "../base/errors.js";
import type { History } from "../journal/history.js";
import { journalLost } from "./evidence.js";
import type { AnchorPosition } from "../vault/anchor.js";

export interface RollbackQuestion {
  readonly task: string;
  readonly history: History;
  readonly anchor: AnchorPosition | undefined;
}

/**
 * Compares the history with the anchor, whatever the epoch of either: the anchored record was confirmed, so that every
 * later owner's chain has it. An older copy that went on elsewhere has later epochs and not that record.
 *
 * Damage is judged as damage elsewhere and never called a roll-back. What a person accepted as lost after it is lost.
 */
export function isRolledBack({ history, anchor }: RollbackQuestion): boolean {
  if (anchor === undefined || anchor.n === 0) return false;
  const { epoch, n, hash } = anchor;
  return history.standingOf({ epoch, n, h: hash }) === "absent" && !isLossAcceptedAfter(history, epoch);
}

/** A later owner says, in the sealed history, that a person accepted a loss. */
function isLossAcceptedAfter(history: History, epoch: number): boolean {
  return history.records.some((record) => {
    if (record.kind !== "recovery" || record.position.epoch <= epoch) return false;
    const event = record.decode();
    return event.type === "task_resumed" && event.report["loss_accepted"] === true;
  });
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
  if (head === undefined && history.lost.length === 0) return journalLost(task, [], anchor);
  const found = head === undefined ? "nothing" : `record ${head.n} of epoch ${head.epoch}`;
  const other = head !== undefined && head.epoch > anchor.epoch ? ", which is not part of that history" : "";
  return new SplashdownError(
    "TASK_ROLLED_BACK",
    `task ${task} ends at ${found}, but this machine has acknowledged record ${anchor.n} of epoch ${anchor.epoch}${other}`,
    {
      details: { task, anchorEpoch: anchor.epoch, anchorN: anchor.n, headEpoch: head?.epoch ?? 0, headN: head?.n ?? 0 },
    },
  );
}
