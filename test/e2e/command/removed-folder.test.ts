/** A working folder that was removed under the shell: one sentence and a status, whatever the verb. */
import { describe, expect, it } from "vitest";
import { PROGRAM } from "../../support/built-program.js";
import { openPlace } from "../../support/command-place.js";

function runInRemoved(...args: readonly string[]) {
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
  return openPlace().run(["-c", script, "sh", process.execPath, PROGRAM, ...args], { program: "sh" });
}

const SENTENCE = "the working folder is not there any more: it was removed or moved";

describe("a working folder that is gone", () => {
  it("[public X] is said in one sentence, with what to type, and without a stack", async () => {
    const { code, stderr, stdout } = await runInRemoved("list");
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(SENTENCE);
    expect(stderr).toContain('cd "$HOME"');
    expect(stderr).not.toMatch(/INTERNAL|\n +at /);
  });

  it("[public X kin] is said as one document with --json", async () => {
    const { code, stderr, stdout } = await runInRemoved("--json", "run", "x.yaml");
    expect(code).toBe(2);
    expect(`${stdout}${stderr}`).toContain('"USAGE_INVALID"');
    expect(`${stdout}${stderr}`).not.toContain("INTERNAL");
  });

  it("[public X kin] stops no help and no version", async () => {
    expect((await runInRemoved("--help")).code).toBe(0);
    expect((await runInRemoved("--version")).code).toBe(0);
  });

  it("[public X kin] is said by doctor, by validate and by the MCP server alike", async () => {
    for (const args of [["doctor"], ["validate", "x.yaml"], ["mcp"]]) {
      const { code, stderr } = await runInRemoved(...args);
      expect([args[0], code]).toEqual([args[0], 2]);
      expect(stderr).toContain(SENTENCE);
    }
  });
});
