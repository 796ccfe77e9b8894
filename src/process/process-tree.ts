/**
 * What descends from a child of ours beyond its group: what took a session of its own, or was left to another parent.
 *
 * Two signs lead there. Everything that a child begins has its environment, and with it the mark of the group; and whoever has
 * a parent in the tree is in the tree, also with an environment of its own. Found by neither: what has both left its parents and
 * emptied its environment. Other systems than Linux show neither sign.
 */
import type { ProcessIdentity } from "./contract.js";
import type { ProcessEntry, ProcessTable } from "./process-table.js";

/** Unique on one boot: the owner, its start, its namespace, and a number. No mark is the beginning of another. */
export function createMark({ pid, startTicks, namespace }: ProcessIdentity, number: number): string {
  return `${pid}-${startTicks}-${/\d+/.exec(namespace)?.[0] ?? ""}-${number}.`;
}

/** Living members of the tree outside the group itself. Errors: STORE_BUSY. */
export async function findStrays(table: ProcessTable, identity: ProcessIdentity): Promise<readonly ProcessEntry[]> {
  const { pid: groupId, mark } = identity;
  if (mark === undefined) return [];
  const entries = await table.list();
  const isOfGroup = (entry: ProcessEntry): boolean => entry.groupId === groupId && entry.sessionId === groupId;
  const tree = new Set<number>();
  for (const entry of entries) if (isOfGroup(entry) || table.hasMark(entry.pid, mark)) tree.add(entry.pid);
  for (let before = -1; before !== tree.size;) {
    before = tree.size;
    for (const { pid, parentId } of entries) if (tree.has(parentId)) tree.add(pid);
  }
  return entries.filter((entry) => tree.has(entry.pid) && !isOfGroup(entry) && !entry.isZombie);
}
