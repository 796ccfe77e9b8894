/** What a task takes of its store: every segment and every object, and no reserve, which goes with the owner. */
import type { TaskStore } from "../../store/contract/contract.js";

/** Units: bytes. */
export async function measureTask(task: TaskStore): Promise<number> {
  const [segments, objects] = await Promise.all([task.segments(), task.list("")]);
  return [...segments, ...objects].reduce((total, { sizeBytes }) => total + sizeBytes, 0);
}
