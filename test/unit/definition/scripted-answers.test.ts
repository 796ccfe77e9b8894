import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/base/json.js";
import { formatPath } from "../../../src/definition/faults/fault.js";
import { readScript } from "../../../src/definition/settings/scripted-answers.js";
import { refusalOf } from "../../support/error-code.js";
import { loadText } from "../../support/workflow-files.js";

function faultsOf(content: JsonValue): readonly string[] {
  const faults: string[] = [];
  readScript(content as JsonObject, ({ path, message }) => void faults.push(`${formatPath(path)}: ${message}`));
  return faults;
}

describe("a script of answers", () => {
  it("has one form per step or the short one, with amounts in the units of the engine", () => {
    const script = readScript(
      {
        writer: [
          { fail: { message: "busy", status: 429, retry_after: 2 } },
          { say: "x", confidence: 0.5, usage: { input_tokens: 9, output_tokens: 4 }, cost_usd: 0.02, delay_ms: 50 },
        ],
        "*": { exhausted: "fail", answers: [{ hang: true }] },
      },
      (fault) => expect(fault).toBeUndefined(),
    );
    const nothing = { calls: [], inputTokens: 0, outputTokens: 0, delayMs: 0, hang: false };
    expect(script.get("writer")).toEqual({
      exhausted: "repeat",
      answers: [
        { ...nothing, fail: { message: "busy", status: 429, retryAfterSeconds: 2 } },
        {
          calls: [],
          say: "x",
          confidence: 0.5,
          inputTokens: 9,
          outputTokens: 4,
          costMicroUsd: 20_000,
          delayMs: 50,
          hang: false,
        },
      ],
    });
    expect(script.get("*")).toEqual({ exhausted: "fail", answers: [{ ...nothing, hang: true }] });
  });

  it.each<[JsonValue, string]>([
    [{ work: [] }, "work: a step needs a list of at least one answer"],
    [{ work: {} }, "work: a step needs a list of at least one answer"],
    [{ work: "x" }, "work: must be a map with answers, exhausted"],
    [
      { work: [7] },
      "work[0]: must be a map with say, calls, confidence, uncertainties, usage, cost_usd, delay_ms, fail, hang",
    ],
    [{ work: [{}] }, "work[0]: an answer needs exactly one of say (or calls), fail and hang: true"],
    [{ work: [{ say: 1, hang: true }] }, "work[0]: an answer needs exactly one of say (or calls), fail and hang: true"],
    [{ work: { answers: [{ say: 1 }], exhausted: "stop" } }, "work.exhausted: exhausted must be repeat or fail"],
    [{ work: [{ say: 1, cost_usd: -1 }] }, "work[0].cost_usd: cost_usd must be a number of at least 0"],
    [
      { work: [{ say: 1, usage: { tokens: 1 } }] },
      "work[0].usage.tokens: unknown key tokens; known are input_tokens, output_tokens",
    ],
    [{ work: [{ say: 1, uncertainties: "x" }] }, "work[0].uncertainties: uncertainties must be a list"],
    [{ work: [{ fail: { message: 1 } }] }, "work[0].fail.message: message must be a text"],
    [{ work: [{ fail: "no" }] }, "work[0].fail: must be a map with message, status, retry_after"],
  ])("%j is refused with its place", (content, fault) => {
    expect(faultsOf(content)).toEqual([fault]);
  });
});

describe("the loader, with scripted answers", () => {
  const workflow = (answers: string) =>
    `workflow:\n  name: t\n  runtime:\n    provider: scripted\n    scripted_answers: ${answers}\nsteps: [{name: a, prompt: hi}]\n`;

  it("tells every fault of their own file, with line, column and the nearest key", async () => {
    const files = { "/work/answers.yaml": "a:\n  - say: one\n    dealy_ms: 5\n  - {cost_usd: free}\n" };
    const error = await refusalOf(() => loadText(workflow("answers.yaml"), { files }));
    expect(error.code).toBe("WORKFLOW_INVALID");
    expect(error.details["faults"]).toMatchObject([
      {
        file: "answers.yaml",
        line: 3,
        column: 5,
        path: "a[0].dealy_ms",
        excerpt: "    dealy_ms: 5",
        suggestion: "did you mean delay_ms?",
      },
      { file: "answers.yaml", line: 4, column: 5, path: "a[1]" },
      { file: "answers.yaml", line: 4, column: 16, path: "a[1].cost_usd" },
    ]);
  });

  it("tells the place of those that stand in the workflow itself", async () => {
    const error = await refusalOf(() => loadText(workflow("\n      a: [{say: x, hang: true}]")));
    expect(error.details["faults"]).toMatchObject([
      { line: 6, column: 11, path: "workflow.runtime.scripted_answers.a[0]" },
    ]);
  });

  it("takes answers without a fault", async () => {
    const files = { "/work/answers.yaml": "a: [{say: one}]\n" };
    const { definition } = await loadText(workflow("answers.yaml"), { files });
    expect(definition.scriptedAnswers).toEqual({ a: [{ say: "one" }] });
  });
});
