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

/** True when a real file system may answer this operation with this fault. */
export function isLegalFault(fault: Fault, operation: Pick<Operation, "name" | "intent">): boolean {
  const { name } = operation;
  const isCreation = name === "open" && operation.intent === "create";
  switch (fault) {
    case "EIO":
      return true;
    case "ENOSPC":
    case "EDQUOT":
      return isCreation || NEEDS_ROOM.includes(name);
    case "EMFILE":
      return TAKES_DESCRIPTOR.includes(name);
    case "EROFS":
      return isCreation || name === "write" || CHANGES_NAMES.includes(name);
    case "EACCES":
      return TAKES_PATH.includes(name);
    case "EINTR":
      return ["open", "write", "read", "readdir"].includes(name);
    case "shortWrite":
      return name === "write";
  }
}
