/** Turn by turn through kills: the built program against a server of model answers. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { judgeCalls, judgeFinished, judgeTools } from "../../../scripts/model-kill-loop/verdict.mjs";
import { PROJECT_FOLDER, runCommand } from "../../support/built-program.js";
import { withFolder } from "../../support/store-places.js";

describe("the kill loop with models", () => {
  it("asks no finished turn again over four wires, and comes to the same output", { timeout: 280_000 }, async () => {
    const loop = join(PROJECT_FOLDER, "scripts/model-kill-loop.mjs");
    const { code, stdout } = await withFolder((cwd) =>
      runCommand([loop, "--kills", "6"], { cwd, program: process.execPath, env: { TMPDIR: cwd } }),
    );
    expect(stdout).not.toContain("FAULT");
    expect(stdout).toMatch(
      /^6 kills, \d+ tasks of 26 turns, \d+ calls of \S*chat\S+ \S+messages \S+responses, 0 violations/m,
    );
    expect(code).toBe(0);
  });

  it("sees a turn that is asked again, one too many, and a tool under two keys", () => {
    const turn = (number: number) => ({ specialist: "a", turn: number });
    expect(judgeCalls([turn(1), turn(2), turn(2), turn(3)], 1)).toEqual([]);
    expect(judgeCalls([turn(1), turn(2), turn(1), turn(3)], 1)).toEqual(["a was asked turn 1 again after turn 2"]);
    expect(judgeCalls([turn(1), turn(1)], 0)).toEqual(["2 calls for 1 turns and 0 kills"]);
    const finished = [{ turns: new Map([["a", 1]]), calls: 1 }];
    expect(judgeFinished([turn(1), turn(2)], finished)).toEqual([]);
    expect(judgeFinished([turn(1), turn(1)], finished)).toEqual(["a was asked turn 1 again, finished before kill 1"]);
    expect(judgeTools([{ path: "a", n: 1, key: "k" }])).toEqual([]);
    expect(
      judgeTools([
        { path: "a", n: 1, key: "k" },
        { path: "a", n: 1, key: "other" },
      ]),
    ).toEqual(["the call a 1 was made under two keys"]);
  });
});
