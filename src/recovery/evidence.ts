/**
 * What a task has beside its journal: whoever finds the journal empty learns from it that there was one.
 *
 * R17: a journal that is empty or not there is damage wherever something tells that records were written; never a task that
 *      has not started. An owner writes its first audit entry only after its header is durable, so that a first process
 *      which died earlier leaves none.
 */
import { SplashdownError } from "../base/errors.js";
import { formatCount } from "../base/plain-text.js";
import { listSnapshotFiles } from "../checkpoint/source.js";
import type { History } from "../journal/history.js";
import type { TaskStore } from "../store/contract/contract.js";
import type { AnchorPosition } from "../vault/anchor.js";

/** In words; empty where nothing tells of records. */
export async function findEvidence(
  task: Pick<TaskStore, "list">,
  history: Pick<History, "isEmpty"> & { readonly head: History["head"] },
): Promise<readonly string[]> {
  if (history.head !== undefined) return [];
  const [snapshots, answers, entries] = [
    (await listSnapshotFiles(task)).length,
    (await task.list("control/answer-")).length,
    // Its first file is written after the header, and before the first record.
    history.isEmpty ? (await task.list("audit/")).length : 0,
  ];
  return [
    ...(snapshots > 0 ? [formatCount(snapshots, "snapshot file")] : []),
    ...(answers > 0 ? [formatCount(answers, "answer")] : []),
    ...(entries > 0 ? [formatCount(entries, "file of the audit trail", "files of the audit trail")] : []),
  ];
}

/** Nothing of a journal is left, and nothing else holds the state. `anchor`: what this machine has acknowledged of it. */
export function journalLost(
  task: string,
  evidence: readonly string[],
  anchor: AnchorPosition | undefined,
): SplashdownError {
  const seen = anchor === undefined ? [] : [`record ${anchor.n}, which this machine has acknowledged`];
  return new SplashdownError(
    "JOURNAL_MISSING",
    `the journal of ${task} is empty or not there, but it was not always so: ${[...evidence, ...seen].join(", ")}`,
    { details: { task, evidence: [...evidence], ...(anchor === undefined ? {} : { anchorN: anchor.n }) } },
  );
}
