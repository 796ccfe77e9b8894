import { describe, expect, it } from "vitest";
import { checkQuotes, writeJudgement } from "../../../src/agents/scoring/judge.js";
import { createStepWork } from "../../support/step-work.js";

describe("a judge", () => {
  it("is told the results, the dimension, the rubric and the form, and nothing of earlier feedback", () => {
    const work = createStepWork("scorer", {
      outputs: { author: { result: "The draft." } },
      feedback: ["was dull"],
      phase: { name: "write", number: 2, iteration: 2, criteria: "words" },
    });
    const text = writeJudgement(work, "quality", "Is it clear?");
    expect(text).toContain("## author\n\nThe draft.");
    expect(text).toContain("Judge the dimension quality.\n\nIs it clear?\n\nScore the results above from 0 to 100");
    expect(text).not.toContain("was dull");
    expect(text).not.toContain("will be judged by");
  });

  it("quotes: each is named with the result it stands in, and one that stands in none is marked", () => {
    const outputs = { author: { text: "It  rises at\ndawn." }, other: { list: ["at dusk"] } };
    const said = { score: 80, evidence: ["rises at Dawn", "At dusk", "at noon"] };
    expect(checkQuotes(said, outputs)).toEqual({
      score: 80,
      evidence: "“rises at Dawn” (author)\n“At dusk” (other)\n“at noon” (not found in the results)",
    });
  });

  it("may give its evidence as one text, or none", () => {
    expect(checkQuotes({ score: 1, evidence: "as seen" }, {})).toEqual({ score: 1, evidence: "as seen" });
    expect(checkQuotes({ score: 1, evidence: [] }, {})).toEqual({ score: 1 });
    expect(checkQuotes(7, {})).toBe(7);
  });
});
