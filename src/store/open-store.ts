/** Which store an address names: `file:PATH`, `sqlite:PATH`, `pglite:PATH`, `postgres://…`, `memory:`. */
import { isAbsolute, resolve } from "node:path";
import { SplashdownError } from "../base/errors.js";
import { hidePassword } from "../base/store-address.js";
import type { Store } from "./contract/contract.js";
import { DirectoryStore } from "./directory/directory-store.js";
import { watchFolder } from "./files/folder-watcher.js";
import { MemorySpace, MemoryStore } from "./memory/memory-store.js";
import { createSocketPresence } from "./presence/socket-presence.js";
import { openPgliteStore, openPostgresStore, openSqliteStore } from "./sql/open-sql-store.js";
import type { PlacedStoreParts } from "./contract/store-parts.js";

export interface OpenStoreParts extends PlacedStoreParts {
  /** Data of `memory:` stores; a fresh one unless given. */
  readonly memory?: MemorySpace | undefined;
}

/**
 * Opens the store an address names; touches nothing on disk yet.
 *
 * Errors: STORE_UNSUPPORTED for an address without a known kind or without a path.
 */
export function openStore(address: string, parts: OpenStoreParts): Store {
  const colon = address.indexOf(":");
  const kind = colon < 0 ? "" : address.slice(0, colon);
  const rest = address.slice(colon + 1);
  if (kind === "file") return openDirectory(address, rest, parts);
  if (kind === "sqlite" && isPath(rest)) return openSqliteStore(rest, withPresence(parts));
  if (kind === "pglite" && isPath(rest)) return openPgliteStore(rest, withPresence(parts));
  if (kind === "postgres" || kind === "postgresql") return openPostgresStore(address, withPresence(parts));
  if (kind === "memory" && rest === "") return openMemory(address, parts);
  throw unsupported(address, "a store address is file:PATH, sqlite:PATH, pglite:PATH, postgres://… or memory:");
}

function openDirectory(address: string, path: string, parts: OpenStoreParts): Store {
  if (!isPath(path)) throw unsupported(address, "file: needs a path, as in file:outputs");
  const root = isAbsolute(path) ? resolve(path) : resolve(parts.workingFolder, path);
  return new DirectoryStore({
    root,
    address,
    parts: { ...withPresence(parts), watchFolder: parts.watchFolder ?? watchFolder },
  });
}

function isPath(text: string): boolean {
  return text !== "" && !text.includes("\0");
}

function withPresence(parts: OpenStoreParts): OpenStoreParts {
  return { ...parts, presence: parts.presence ?? createSocketPresence(parts) };
}

function openMemory(address: string, parts: OpenStoreParts): Store {
  const deliverablesRoot = resolve(parts.workingFolder, "outputs");
  return new MemoryStore({ space: parts.memory ?? new MemorySpace(), deliverablesRoot, address });
}

/** The address is shown without what may be a password in it. */
function unsupported(address: string, reason: string): SplashdownError {
  const shown = hidePassword(address).slice(0, 200);
  return new SplashdownError("STORE_UNSUPPORTED", `no store at ${JSON.stringify(shown)}: ${reason}`, {
    details: { address: shown },
  });
}
