/** Which faults may befall which operation. */
import type { Operation, OperationName } from "../support/model-file-system.js";

export type Fault = "EIO" | "ENOSPC" | "EDQUOT" | "EMFILE" | "EROFS" | "EACCES" | "EINTR" | "shortWrite";

export const FAULTS: readonly Fault[] = ["EIO", "ENOSPC", "EDQUOT", "EMFILE", "EROFS", "EACCES", "EINTR", "shortWrite"];

export interface FaultPlan {
  /** The first operation it may befall, counted from 1. */
  readonly at: number;
  readonly fault: Fault;
  /** `once`: only that operation. `forEver`: that one and every later one it may befall. */
  readonly times: "once" | "forEver";
}

const NEEDS_ROOM: readonly OperationName[] = ["write", "datasync", "sync", "mkdir", "link", "rename", "syncFolder"];
const CHANGES_NAMES: readonly OperationName[] = ["mkdir", "link", "rename", "unlink", "rmdir"];
const TAKES_DESCRIPTOR: readonly OperationName[] = ["open", "readdir", "syncFolder"];
const TAKES_PATH: readonly OperationName[] = ["open", "readdir", "lstat", "syncFolder", "volumeOf", ...CHANGES_NAMES];

/** What each fault may befall; a creation is an `open` with the intent `create`. */
const BEFALLS: Readonly<Record<Fault, (name: OperationName, isCreation: boolean) => boolean>> = {
  EIO: () => true,
  ENOSPC: (name, isCreation) => isCreation || NEEDS_ROOM.includes(name),
  EDQUOT: (name, isCreation) => isCreation || NEEDS_ROOM.includes(name),
  EMFILE: (name) => TAKES_DESCRIPTOR.includes(name),
  EROFS: (name, isCreation) => isCreation || name === "write" || CHANGES_NAMES.includes(name),
  EACCES: (name) => TAKES_PATH.includes(name),
  EINTR: (name) => ["open", "write", "read", "readdir"].includes(name),
  shortWrite: (name) => name === "write",
};

/** True when a real file system may answer this operation with this fault. */
export function isLegalFault(fault: Fault, operation: Pick<Operation, "name" | "intent">): boolean {
  return BEFALLS[fault](operation.name, operation.name === "open" && operation.intent === "create");
}
