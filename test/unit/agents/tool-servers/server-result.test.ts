import { describe, expect, it } from "vitest";
import { describeContent, readResult } from "../../../../src/agents/tools/servers/server-result.js";
import { codeOf } from "../../../support/error-code.js";

const text = (said: string) => ({ type: "text", text: said });
const picture = { type: "image", mimeType: "image/png", data: "AAAA" };

describe("the result of a server's tool", () => {
  it("is one text where it is nothing but texts", () => {
    expect(readResult({ content: [text("a"), text("b")], isError: false })).toEqual({ value: "a\nb" });
    expect(readResult({ content: [], isError: false })).toEqual({ value: "" });
  });

  it("keeps what is no text, and shows a model its kind and size", () => {
    const result = readResult({ content: [text("a"), picture], structured: { n: 1 }, isError: false });
    expect(result).toEqual({ content: [text("a"), picture], structured: { n: 1 } });
    expect(describeContent(result)).toBe('a\n["image" of "image/png", 4 characters of base64]\n{"n":1}');
    expect(describeContent({ value: "a" })).toBeUndefined();
  });

  it("is TOOL_FAILED where the tool says so", () => {
    expect(codeOf(() => readResult({ content: [text("disk full")], isError: true }))).toBe("TOOL_FAILED");
  });
});
