/** Watches a task's folder with chokidar, loaded on use. A watcher that fails is only a hint less. */
import type { FolderWatcher } from "./store-parts.js";

/** The log and large values change all the time and nobody waits for them. */
const IGNORED = /[\\/](?:journal|blobs)(?:[\\/]|$)|[\\/]\.[^\\/]*$/;

export const watchFolder: FolderWatcher = (folder, onChange) => {
  const controller = new AbortController();
  void startWatching(folder, onChange, controller.signal).catch(() => undefined);
  return () => controller.abort();
};

async function startWatching(folder: string, onChange: (path: string) => void, signal: AbortSignal): Promise<void> {
  const { watch } = await import("chokidar");
  if (signal.aborted) return;
  const watcher = watch(folder, {
    persistent: false,
    ignoreInitial: true,
    followSymlinks: false,
    depth: 1,
    ignored: (path) => path.startsWith(folder) && IGNORED.test(path.slice(folder.length)),
  });
  watcher.on("all", (_event, path) => onChange(path));
  watcher.on("error", () => undefined);
  signal.addEventListener("abort", () => void watcher.close(), { once: true });
}
