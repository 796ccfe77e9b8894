/**
 * Whether a task's own trail names a key that its keyring does not know of: then the keyring was put back, and a machine that
 * has never seen the task tells that too. Each change of keys is an entry of the trail, sealed with the key that it made.
 */
import { isErrorCode, SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import type { TaskStore } from "../../store/contract/contract.js";
import type { SealHeader, TaskVault } from "../../vault/contract.js";
import { AUDIT_PREFIX, auditNumber, decodeAuditFile } from "../audit/audit-file.js";

/** Files that say nothing but that an unlocking failed have no seal; so many are passed over. */
const UNSEALED_MAX = 200;

/** Shape: KEYRING_ROLLED_BACK, or `undefined`. Errors: the STORE_* codes. */
export async function findLaterKey(task: TaskStore, vault: TaskVault): Promise<SplashdownError | undefined> {
  const seal = await findLastSeal(task);
  try {
    if (seal !== undefined) vault.createOpener("audit", seal);
    return undefined;
  } catch (error) {
    // What else is wrong with a seal is for `audit verify` to say.
    return error instanceof SplashdownError && isErrorCode(error, "KEYRING_ROLLED_BACK") ? error : undefined;
  }
}

async function findLastSeal(task: TaskStore): Promise<SealHeader | undefined> {
  const files = (await task.list(AUDIT_PREFIX)).filter(({ key }) => auditNumber(key) !== undefined);
  const newestFirst = files.sort((left, right) => (auditNumber(right.key) ?? 0) - (auditNumber(left.key) ?? 0));
  for (const { key, sizeBytes } of newestFirst.slice(0, UNSEALED_MAX)) {
    if (sizeBytes > LIMITS.auditFileBytesMax) continue;
    const bytes = await task.get(key, { offset: 0, length: LIMITS.auditFileBytesMax });
    const seal = bytes && readSeal(key, bytes);
    if (seal !== undefined) return seal;
  }
  return undefined;
}

function readSeal(key: string, bytes: Uint8Array): SealHeader | undefined {
  try {
    return decodeAuditFile(key, bytes).seal;
  } catch (error) {
    if (error instanceof SplashdownError) return undefined;
    throw error;
  }
}
