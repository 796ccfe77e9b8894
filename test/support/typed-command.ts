/** The command line in this process, over a store in memory or the one named: what it prints and how it ends, without a process of its own. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createProgram } from "../../src/cli/program.js";
import { openSplashdown, type Splashdown } from "../../src/index.js";
import { createOwnEnvironment } from "./own-environment.js";

export interface Typed {
  readonly out: string;
  readonly error: string;
  readonly status: number;
}

export interface Keyboard {
  readonly splashdown: Splashdown;
  /** Where commands are typed. */
  readonly folder: string;
  /** Writes a file of the working folder; its path. */
  readonly write: (name: string, text: string) => string;
  readonly type: (args: readonly string[], signal?: AbortSignal) => Promise<Typed>;
}

export async function openKeyboard(
  variables: Readonly<Record<string, string>> = {},
  { store }: { readonly store?: "folder" } = {},
): Promise<Keyboard> {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-typed-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const environment = createOwnEnvironment(folder, variables);
  const splashdown = await openSplashdown({
    store: store === undefined ? "memory:" : `file:${folder}/outputs`,
    environment,
  });
  onTestFinished(() => splashdown.close());
  return {
    splashdown,
    folder,
    write: (name, text) => {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    },
    type: async (args, signal = new AbortController().signal) => {
      let [out, error, status] = ["", "", 0];
      const streams = {
        out: (text: string) => void (out += text),
        error: (text: string) => void (error += text),
        interactive: false,
        colour: false,
      };
      const program = createProgram(
        {
          streams,
          // The store lives as long as the test, not as the verb.
          open: () => Promise.resolve({ ...splashdown, close: () => Promise.resolve() }),
          signal,
          exit: (chosen) => void (status = chosen),
        },
        "0.0.0",
      );
      await program.parseAsync([...args], { from: "user" });
      return { out, error, status };
    },
  };
}
