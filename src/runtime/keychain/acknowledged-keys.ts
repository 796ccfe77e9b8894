/** Key files in use that nobody has said to be backed up. */
import type { FileSystem } from "../../base/file-system.js";
import { isKeyAcknowledged } from "../../vault/default-key.js";
import { loadKeyFile } from "../../vault/key-file.js";
import type { KeyAccess } from "./key-access.js";

/** Shape: path, and the fingerprint that `keys show` tells. */
export async function listUnacknowledgedKeys(deps: {
  readonly access: KeyAccess;
  readonly fileSystem: FileSystem;
}): Promise<{ path: string; fingerprint: string }[]> {
  const found: { path: string; fingerprint: string }[] = [];
  for (const source of deps.access.sources()) {
    if (source.kind !== "keyfile") continue;
    const key = await loadKeyFile(deps.fileSystem, source.path);
    if (key === undefined) continue;
    const named = { path: source.path, fingerprint: key.fingerprint };
    if (!(await isKeyAcknowledged(deps.fileSystem, named))) found.push(named);
  }
  return found;
}
