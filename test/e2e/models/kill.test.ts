/** Turn by turn through kills: the built program against a server of model answers. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { judgeCalls, judgeFinished, judgeTools } from "../../../proof/model-kill-loop/verdict.mjs";
import type { CommandPlace } from "../../support/command-place.js";
import { PROJECT_FOLDER, runCommand } from "../../support/built-program.js";
import { openModelPlace, RUN_FLOW } from "../../support/model-place.js";
import { goodAnswer, stream, textChunk, toolAnswer, type RawReply } from "../../support/raw-server.js";
import { until } from "../../support/real-clock.js";
import { withFolder } from "../../support/store-places.js";

describe("the kill loop with models", () => {
  it("asks no finished turn again over four wires, and comes to the same output", { timeout: 280_000 }, async () => {
    const loop = join(PROJECT_FOLDER, "proof/model-kill-loop.mjs");
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

describe("E10: guidance in the midst of a step's turns", () => {
  const FLOW = `workflow: {name: ask, runtime: {provider: local, default_model: m}}
tools: [{name: look, function: "./tools.mjs#look", effects: none}]
steps: [{name: work, prompt: "hello"}]
`;
  const begun: RawReply = (socket) => stream(socket, textChunk("I beg"));

  it("is told once, whether the program is killed before the turn that tells it has ended or after", async () => {
    const replies = [toolAnswer("look"), begun, toolAnswer("look"), begun, goodAnswer("in euros it is 7")];
    const { place, server } = await openModelPlace({ replies, flow: FLOW });
    place.write("tools.mjs", "export const look = () => ({ seen: true });\n");
    const killAt = async (requests: number, before: (place: CommandPlace) => Promise<unknown>): Promise<void> => {
      const running = place.start(RUN_FLOW);
      await until(`request ${requests}`, () => server.requests.length === requests);
      await before(place);
      running.child.kill("SIGKILL");
      await running.done;
    };
    await killAt(2, async () => {
      const guide = await place.run(["guide", "t", "prices in yen, please", "--json"]);
      expect(guide.json()).toMatchObject({ taken: true });
    });
    await killAt(4, () => Promise.resolve());
    expect((await place.run(RUN_FLOW)).code).toBe(0);
    const countOf = (text: string) => server.requests.map((request) => request.split(text).length - 1);
    expect(countOf('"role":"assistant"')).toEqual([0, 1, 1, 2, 2]);
    expect(countOf("prices in yen, please")).toEqual([0, 0, 1, 1, 1]);
  });
});
