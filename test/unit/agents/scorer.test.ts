import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/base/json.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { createRecordingSink } from "../../support/recording-sink.js";
import { createStepWork, type WorkParts } from "../../support/step-work.js";

let room: PerformerRoom;
beforeEach(() => {
  room = openPerformerRoom({
    answers: { judge: [{ say: { score: 70, feedback: "more" } }], text: [{ say: "81" }], odd: [{ say: "good" }] },
  });
});
afterEach(() => room.close());

const score = (scorer: JsonObject, parts: WorkParts = {}) =>
  room.perform(
    createStepWork("scorer", { ...parts, definition: { dimension: "quality", scorer, ...parts.definition } }),
  );
const byCommand = (script: string) =>
  score(
    { by: "command", command: [], environment: {} },
    { rendered: { command: ["sh", "-c", script] }, outputs: { a: 1 } },
  );

describe("a command as scorer", () => {
  it("says a score object, whatever its exit code", async () => {
    const said = {
      score: 61.5,
      issues: ["long", { text: "slow", severity: "high", where: "a.js:1" }],
      feedback: "f",
      evidence: "e",
    };
    expect(await byCommand(`printf '%s' '${JSON.stringify(said)}'; exit 1`)).toEqual({
      status: "completed",
      output: { ...said, issues: [{ text: "long" }, { text: "slow", severity: "high", where: "a.js:1" }] },
    });
  });

  it("may say a bare number", async () => {
    expect(await byCommand("echo 88")).toEqual({ status: "completed", output: { score: 88, issues: [] } });
  });

  it("is a tool that passes or fails when it says anything else", async () => {
    expect(await byCommand("echo '12 passed'")).toEqual({
      status: "completed",
      output: { score: 100, issues: [], evidence: "12 passed" },
    });
    expect(await byCommand("echo '1 failed'; echo why >&2; exit 1")).toMatchObject({
      status: "completed",
      output: {
        score: 0,
        issues: [{ text: expect.stringContaining("exited with 1") as string }],
        evidence: "1 failed\nwhy",
      },
    });
  });

  it("fails when it could not run to its end", async () => {
    for (const script of ["no-such-linter-here", "kill -s KILL $$"]) {
      expect(await byCommand(script)).toMatchObject({ status: "failed", error: { code: "STEP_FAILED" } });
    }
  });

  it("gets the specialist's document with the dimension", async () => {
    const read =
      "const d = JSON.parse(require('fs').readFileSync(0)); console.log(d.dimension === 'quality' && d.outputs.a === 1 ? 77 : 1)";
    const rendered = { command: [process.execPath, "-e", read] };
    expect(await score({ by: "command", command: [], environment: {} }, { rendered, outputs: { a: 1 } })).toMatchObject(
      { output: { score: 77 } },
    );
  });

  it.each<[JsonValue, string]>([
    [101, "score must be a number from 0 to 100, not 101"],
    [{ score: -1 }, "score must be a number from 0 to 100, not -1"],
    [{ score: 5, isues: [] }, "a score has the keys score, issues, feedback, evidence, but not isues"],
    [{ score: 5, issues: "x" }, "issues must be a list"],
    [{ score: 5, issues: [{}] }, "an issue is a text or has a text"],
    [{ score: 5, feedback: 1 }, "feedback must be a text"],
  ])("%j is refused", async (said, message) => {
    expect(await byCommand(`printf '%s' '${JSON.stringify(said)}'`)).toMatchObject({
      status: "failed",
      error: { code: "STEP_OUTPUT_INVALID", message },
    });
  });
});

describe("a JSON Schema as scorer", () => {
  const schema = { type: "object", required: ["a", "b"], properties: { a: { type: "number" } } };
  const outputs = { author: { good: { a: 1, b: 2 }, bad: { a: "x" } } };

  it("is 100 when the subject fits", async () => {
    expect(await score({ by: "schema", schema, of: "author.good" }, { outputs })).toEqual({
      status: "completed",
      output: { score: 100, issues: [] },
    });
  });

  it("loses 20 for each fault and names them", async () => {
    const outcome = await score({ by: "schema", schema, of: "author.bad" }, { outputs });
    expect(outcome).toMatchObject({
      output: { score: 60, issues: [{ where: "author.bad" }, { text: "/a must be number", where: "author.bad/a" }] },
    });
  });

  it("is 0 when there is no subject, and never below", async () => {
    expect(await score({ by: "schema", schema, of: "author.none" }, { outputs })).toMatchObject({
      output: { score: 0 },
    });
    const harsh = { required: ["q", "r", "s", "t", "u", "v"] };
    expect(await score({ by: "schema", schema: harsh }, { outputs })).toMatchObject({ output: { score: 0 } });
  });

  it("sees plain values, not tags", async () => {
    const dated = { author: { at: { $t: "date", v: "2024-01-02T00:00:00.000Z" } } };
    const at = { properties: { at: { type: "string" } } };
    expect(await score({ by: "schema", schema: at, of: "author" }, { outputs: dated })).toMatchObject({
      output: { score: 100 },
    });
  });
});

describe("an expression as scorer", () => {
  const by = (value: JsonValue) => score({ by: "expression", expression: "" }, { rendered: { score: value } });

  it.each([
    [93.5, 93.5],
    [" 40 ", 40],
    [true, 100],
    [false, 0],
  ])("%j scores %d", async (value, expected) => {
    expect(await by(value)).toEqual({ status: "completed", output: { score: expected, issues: [] } });
  });

  it("is refused when it is no score", async () => {
    expect(await by("good")).toMatchObject({ error: { code: "STEP_OUTPUT_INVALID" } });
  });
});

describe("a model as scorer", () => {
  const by = { by: "model", provider: "scripted", rubric: "R" };

  it("says a score, and its turn is durable", async () => {
    const sink = createRecordingSink();
    const work = createStepWork("scorer", { step: { path: "root/$evaluate/judge" }, definition: { scorer: by } });
    expect(await room.perform(work, { sink })).toMatchObject({ output: { score: 70, feedback: "more", issues: [] } });
    expect(sink.of("turn")).toHaveLength(1);
  });

  it("may say it as text, but not as prose", async () => {
    expect(await score(by, { step: { path: "p/text" } })).toMatchObject({ output: { score: 81 } });
    expect(await score(by, { step: { path: "p/odd" } })).toMatchObject({
      error: { code: "STEP_OUTPUT_INVALID", details: { raw: "good" } },
    });
  });

  it("A3: is not asked again for a durable answer", async () => {
    expect(await score(by, { step: { path: "p/nobody" }, turns: [{ say: 55 }] })).toMatchObject({
      output: { score: 55 },
    });
  });
});
