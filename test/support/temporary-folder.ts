/** Inside a test: a folder that goes away when the test ends. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Its real path. */
export function openFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "splashdown-folder-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}
