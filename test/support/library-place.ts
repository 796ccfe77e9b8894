/** The library over a store in memory, with an environment of its own; closed when the test ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openSplashdown, type Splashdown } from "../../src/index.js";
import { createOwnEnvironment } from "./own-environment.js";

export async function openSplashdownInMemory(variables: Readonly<Record<string, string>> = {}): Promise<Splashdown> {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-library-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const splashdown = await openSplashdown({ store: "memory:", environment: createOwnEnvironment(folder, variables) });
  onTestFinished(() => splashdown.close());
  return splashdown;
}
