import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { until } from "../../support/real-clock.js";
import { createRecordingSink } from "../../support/recording-sink.js";
import { createStepWork } from "../../support/step-work.js";

let room: PerformerRoom;
beforeEach(() => {
  room = openPerformerRoom();
});
afterEach(() => room.close());

const run = (script: string, rendered: JsonObject = {}, definition: object = {}) =>
  room.perform(createStepWork("script", { rendered: { command: ["sh", "-c", script], ...rendered }, definition }));

describe("a script step", () => {
  it("gives stdout, stderr and the exit code, and a non-zero one is no failure", async () => {
    expect(await run("echo out; echo err >&2; exit 4")).toEqual({
      status: "completed",
      output: { stdout: "out\n", stderr: "err\n", exit_code: 4 },
    });
  });

  it("adds the keys of a JSON object on stdout, but its own three win", async () => {
    expect(await run('echo \'{"a": 1, "exit_code": 9}\'')).toEqual({
      status: "completed",
      output: { a: 1, stdout: '{"a": 1, "exit_code": 9}\n', stderr: "", exit_code: 0 },
    });
  });

  it.each(["[1]", "{broken", "7"])("adds nothing for %s", async (text) => {
    expect(await run(`printf '%s' '${text}'`)).toMatchObject({ output: { stdout: text, stderr: "", exit_code: 0 } });
  });

  it("hands its stdin over, and an empty one when it has none", async () => {
    expect(await run("cat", { stdin: "héllo" })).toMatchObject({ output: { stdout: "héllo" } });
    expect(await run("cat")).toMatchObject({ output: { stdout: "" } });
  });

  it("hands its arguments over as they are, with no shell", async () => {
    const work = createStepWork("script", { rendered: { command: ["printf", "%s|", "$HOME", "a b", 3, true] } });
    expect(await room.perform(work)).toMatchObject({ output: { stdout: "$HOME|a b|3|true|" } });
  });

  it("has the negative number of the signal that ended it", async () => {
    expect(await run("kill -s KILL $$")).toMatchObject({ status: "completed", output: { exit_code: -9 } });
  });

  it("must write an object that fits when it declares an output", async () => {
    const definition = { outputSchema: { type: "object", required: ["a"] } };
    expect(await run("echo '{\"a\": 1}'", {}, definition)).toMatchObject({ output: { a: 1, exit_code: 0 } });
    for (const text of ["plain", '{"b": 1}']) {
      expect(await run(`echo '${text}'`, {}, definition)).toMatchObject({ error: { code: "STEP_OUTPUT_INVALID" } });
    }
  });

  it("fails when there is no such program", async () => {
    const work = createStepWork("script", { rendered: { command: ["no-such-program-here"] } });
    expect(await room.perform(work)).toMatchObject({ status: "failed", error: { code: "PROGRAM_NOT_FOUND" } });
  });

  it("is spawned before it runs, and ends with the signal", async () => {
    const sink = createRecordingSink();
    const controller = new AbortController();
    const work = createStepWork("script", { rendered: { command: ["sleep", "600"] } });
    const outcome = room.perform(work, { sink, signal: controller.signal });
    await until("it is spawned", () => sink.calls.length === 1);
    controller.abort();
    expect(await outcome).toEqual({ status: "cancelled" });
  });
});
