import { describe, expect, it } from "vitest";
import { SplashdownError } from "../../../src/base/errors.js";
import { LIMITS } from "../../../src/base/limits.js";
import { formAnswer, formError } from "../../../src/mcp/answer-form.js";

const withStore = (text: string): string => text.replace(/^splashdown /, "splashdown --store file:here ");

describe("an answer", () => {
  it("is structured content and the same as text, with commands that name the store", () => {
    const result = { task: "t", command: "splashdown resume t", text: "splashdown is said" };
    const answer = formAnswer({ result, next: "task_result" }, withStore);
    expect(answer.structuredContent).toEqual({
      result: { task: "t", command: "splashdown --store file:here resume t", text: "splashdown is said" },
      next: "task_result",
    });
    expect(JSON.parse(answer.content[0]?.text ?? "")).toEqual(answer.structuredContent);
  });

  it("has its control characters escaped in the text, and the values as they are", () => {
    const answer = formAnswer({ result: { text: "\u001b[2J\u009b\u202e" } }, withStore);
    expect(answer.content[0]?.text).toBe('{"result":{"text":"\\u001b[2J\\u009b\\u202e"}}');
    expect(answer.structuredContent["result"]).toEqual({ text: "\u001b[2J\u009b\u202e" });
  });

  it("keeps to its size: of a map the largest fields are emptied, and named with the command that shows them", () => {
    const large = "x".repeat(LIMITS.mcpResultBytesMax);
    const result = { task: "t", output: { large }, steps: [{ large }, { large }], text: large, count: 3 };
    const { structuredContent } = formAnswer({ result, command: "splashdown show t" }, withStore);
    expect(structuredContent).toEqual({
      result: { task: "t", output: {}, steps: [], text: "", count: 3 },
      left_out: [
        "steps (2 entries, 129 KiB)",
        "output (65 KiB)",
        "text (65 KiB)",
        "all of it: splashdown --store file:here show t",
      ],
    });
  });

  it("keeps to its size: a list is cut at its end, and what may be anything is left out", () => {
    const half = "é".repeat(LIMITS.mcpResultBytesMax / 4);
    const { structuredContent } = formAnswer({ result: [half, "b", half, "c"], leftOut: ["9 of 13"] }, withStore);
    expect(structuredContent).toEqual({ result: [half, "b"], left_out: ["9 of 13", "2 of 4"] });
  });
});

describe("an error", () => {
  it("is its message, code and hint as text, and all of it for programs", () => {
    const error = new SplashdownError("TASK_NOT_FOUND", "no task \u001b[2J", { details: { task: "t" } });
    expect(formError(error, withStore)).toEqual({
      content: [{ type: "text", text: "no task \\u001b[2J [TASK_NOT_FOUND]\n→ splashdown --store file:here list" }],
      structuredContent: {
        error: {
          code: "TASK_NOT_FOUND",
          message: "no task \\u001b[2J",
          hint: "splashdown --store file:here list",
          retryable: false,
          details: { task: "t" },
        },
      },
      isError: true,
    });
  });

  it("of ours says what went wrong, and no stack", () => {
    const { content, structuredContent } = formError(new TypeError("x is undefined"), withStore);
    expect(content[0]?.text).toBe("x is undefined [INTERNAL]");
    expect(structuredContent).toEqual({ error: { code: "INTERNAL", message: "x is undefined" } });
  });
});
