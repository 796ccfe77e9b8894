import { describe, expect, it } from "vitest";
import type { CliDeps } from "../../../src/cli/terminal/deps.js";
import { createProgram } from "../../../src/cli/program.js";

/** What a verb says on stderr while it opens. */
async function saidWith(...words: string[]): Promise<string> {
  let said = "";
  const deps: CliDeps = {
    streams: { out: () => undefined, error: (text) => void (said += text), interactive: false, colour: false },
    open: ({ log }) => {
      log?.info("a word by the way");
      log?.warn("something to know");
      log?.debug("a detail");
      return Promise.reject(new Error("enough"));
    },
    signal: new AbortController().signal,
    exit: () => undefined,
  };
  await expect(createProgram(deps, "0").parseAsync(words, { from: "user" })).rejects.toThrow("enough");
  return said;
}

describe("what is said by the way", () => {
  it("[reliability C01] is left out with --quiet, and warnings are not", async () => {
    expect(await saidWith("--quiet", "list")).toBe("warning something to know\n");
    expect(await saidWith("list")).toBe("a word by the way\nwarning something to know\n");
  });

  it("[reliability C01] is left out with --quiet behind the verb, and with --json", async () => {
    expect(await saidWith("list", "--quiet")).toBe("warning something to know\n");
    expect(await saidWith("--json", "list")).toBe('{"warning":"something to know"}\n');
  });

  it("has details with --debug alone", async () => {
    expect(await saidWith("--debug", "list")).toContain("a detail\n");
  });
});
