/**
 * What a failure of the file system means to a task: one coded error per errno.
 *
 * Source: STORAGE sections 1.9 and 1.10.
 */
import type { ErrorCode } from "../../base/error-table.js";
import { SplashdownError, errnoOf, errorCodeOf } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import type { SegmentId } from "./contract.js";

const CODE_OF_ERRNO: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: "STORE_FULL",
  EDQUOT: "STORE_FULL",
  EFBIG: "STORE_FULL",
  EROFS: "STORE_UNWRITABLE",
  EACCES: "STORE_UNWRITABLE",
  EPERM: "STORE_UNWRITABLE",
  EMFILE: "STORE_BUSY",
  ENFILE: "STORE_BUSY",
  EBUSY: "STORE_BUSY",
  EINTR: "STORE_BUSY",
  EAGAIN: "STORE_BUSY",
  ELOOP: "STORE_UNSAFE",
  ENOTDIR: "STORE_UNSAFE",
  EISDIR: "STORE_UNSAFE",
  ENXIO: "STORE_UNSAFE",
};

/** What was being done to what when it failed; `action` is a gerund: "writing". */
export interface FailedAct {
  readonly action: string;
  readonly path: string;
}

/**
 * The coded error for a failure of the platform.
 *
 * Shape: what carries a code of ours already, and what carries no errno (a mistake of ours), comes back unchanged.
 */
export function computeStoreError(error: unknown, act: FailedAct): unknown {
  if (errorCodeOf(error) !== undefined) return error;
  const errno = errnoOf(error);
  if (errno === undefined || !/^E[A-Z0-9]+$/.test(errno)) return error;
  const code = CODE_OF_ERRNO[errno] ?? "STORE_FAILED";
  return new SplashdownError(code, `${act.action} ${act.path} failed: ${errno}`, {
    details: { path: act.path, errno },
    cause: error,
  });
}

/** True when the platform gave one of these reasons. */
export function hasErrno(error: unknown, names: ReadonlySet<string>): boolean {
  const errno = errnoOf(error);
  return errno !== undefined && names.has(errno);
}

/** Runs `work` and turns a failure of the platform into its coded error. */
export async function withStoreErrors<T>(act: FailedAct, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw computeStoreError(error, act);
  }
}

/** The refusal of a place that could be used to lead us elsewhere. */
export function unsafePlace(path: string, reason: string): SplashdownError {
  return new SplashdownError("STORE_UNSAFE", `${path} ${reason}`, { details: { path, reason } });
}

/** No writer of ours makes a larger segment, so one is never read: it could hold up whoever only lists tasks. */
export function requireSegmentSize({ epoch, index }: SegmentId, sizeBytes: number): void {
  if (sizeBytes <= LIMITS.segmentReadBytesMax) return;
  throw new SplashdownError(
    "STORE_FAILED",
    `segment ${epoch}-${index} has ${sizeBytes} bytes, over the ${LIMITS.segmentReadBytesMax} of any that is written here`,
    { details: { epoch, index, sizeBytes, sizeBytesMax: LIMITS.segmentReadBytesMax } },
  );
}
