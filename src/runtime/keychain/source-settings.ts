/** Key sources as the environment names them, and their paths from the working folder. */
import { resolve } from "node:path";
import type { KeySourceSetting } from "../../vault/key-source.js";
import type { Environment } from "../platform/environment.js";

type Named = Pick<Environment, "all" | "workingFolder">;

/** Shape: in the order in which they are tried. */
export function sourcesOfEnvironment(environment: Named): KeySourceSetting[] {
  const { all, workingFolder } = environment;
  const found: KeySourceSetting[] = [];
  if (all["SPLASHDOWN_KEY_FILE"]) found.push({ kind: "keyfile", path: all["SPLASHDOWN_KEY_FILE"] });
  if (all["SPLASHDOWN_AGE_IDENTITY"])
    found.push({ kind: "age", recipients: [], identity: all["SPLASHDOWN_AGE_IDENTITY"] });
  if (all["SPLASHDOWN_KEY"] !== undefined) found.push({ kind: "env", name: "SPLASHDOWN_KEY" });
  if (all["SPLASHDOWN_PASSPHRASE"] !== undefined)
    found.push({ kind: "passphrase", environment: "SPLASHDOWN_PASSPHRASE" });
  if (all["SPLASHDOWN_PASSPHRASE_FILE"]) found.push({ kind: "passphrase", file: all["SPLASHDOWN_PASSPHRASE_FILE"] });
  if (all["SPLASHDOWN_PASSPHRASE_TYPED"]) found.push({ kind: "passphrase", typed: "opens" });
  return found.map((source) => resolveSource(source, workingFolder));
}

/** The source with its path absolute. */
export function resolveSource(source: KeySourceSetting, workingFolder: string): KeySourceSetting {
  if (source.kind === "age" && source.identity !== undefined)
    return { ...source, identity: resolve(workingFolder, source.identity) };
  if (source.kind === "passphrase" && "file" in source)
    return { kind: "passphrase", file: resolve(workingFolder, source.file) };
  return source.kind === "keyfile" ? { kind: "keyfile", path: resolve(workingFolder, source.path) } : source;
}
