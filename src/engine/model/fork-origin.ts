import type { CheckpointId, TaskId } from "../../base/ids.js";

/** Where a fork comes from. */
export interface ForkOrigin {
  readonly taskId: TaskId;
  readonly name: string;
  readonly checkpointId: CheckpointId;
  readonly seq: number;
  /** Record of the other task's journal. */
  readonly position: number;
}
