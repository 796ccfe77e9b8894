/**
 * A folder and all below it for its owner alone: 0700 and 0600, whatever the umask said when they were made.
 *
 * For files that a library makes, past our own port; links are left alone.
 */
import { chmod, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { mapInWindow } from "../../base/window.js";

const AT_ONCE = 16;
const OTHERS = 0o077;

/** The folder first, so that nobody gets at what is below it. Errors: the platform's; a file that vanishes is none. */
export async function makePrivate(folder: string, platform: NodeJS.Platform): Promise<void> {
  if (platform === "win32") return;
  await tighten(folder);
  const names = await readdir(folder, { recursive: true });
  await mapInWindow(names, AT_ONCE, (name) => tighten(join(folder, name)));
}

async function tighten(path: string): Promise<void> {
  try {
    const found = await lstat(path);
    if (found.isSymbolicLink() || (found.mode & OTHERS) === 0) return;
    await chmod(path, found.isDirectory() ? 0o700 : 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
