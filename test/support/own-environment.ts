/** An environment of a test's own: home, configuration, state and a key, all below one folder. `more` goes over it. */
import { join } from "node:path";
import { createEnvironment, type Environment } from "../../src/runtime/platform/environment.js";

export function createOwnEnvironment(folder: string, more: Readonly<Record<string, string>> = {}): Environment {
  const variables = {
    HOME: folder,
    SPLASHDOWN_CONFIG_DIR: join(folder, "config"),
    SPLASHDOWN_STATE_DIR: join(folder, "state"),
    SPLASHDOWN_KEY: Buffer.alloc(32, 9).toString("base64"),
    ...more,
  };
  return createEnvironment(variables, folder);
}
