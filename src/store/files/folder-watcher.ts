/**
 * Watches the part of a task's folder that somebody waits for, with chokidar, loaded on use.
 *
 * What nobody waits for (the log, snapshots, large values) is not looked at, so that a busy task costs no watches. A folder
 * that is not there yet is seen when it comes. A watcher that fails is only a hint less.
 */
import { sep } from "node:path";
import type { FolderWatcher, Watched } from "../contract/store-parts.js";

/** Files that are on their way to their names. */
const TEMPORARY = /(?:^|\/)\.[^/]*$/;

export const watchFolder: FolderWatcher = (watched, onChange) => {
  const controller = new AbortController();
  void startWatching(watched, onChange, controller.signal).catch(() => undefined);
  return () => controller.abort();
};

async function startWatching({ folder, prefix }: Watched, onChange: () => void, signal: AbortSignal): Promise<void> {
  const { watch } = await import("chokidar");
  if (signal.aborted) return;
  const keyOf = (path: string): string => path.slice(folder.length + 1).replaceAll(sep, "/");
  const watcher = watch(folder, {
    persistent: false,
    ignoreInitial: true,
    followSymlinks: false,
    depth: 1,
    ignored: (path) => path.length > folder.length && !isUnder(prefix, keyOf(path)),
  });
  watcher.on("all", (_event, path) => {
    if (path !== folder) onChange();
  });
  watcher.on("error", () => undefined);
  signal.addEventListener("abort", () => void watcher.close(), { once: true });
}

/** An object below the prefix, or a folder on the way to it. */
function isUnder(prefix: string, key: string): boolean {
  return (key.startsWith(prefix) || prefix.startsWith(`${key}/`)) && !TEMPORARY.test(key);
}
