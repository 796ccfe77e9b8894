import { describe, expect, it } from "vitest";
import { writeBriefing, writeFollowUp } from "../../../src/agents/models/briefing.js";
import { createStepWork, type WorkParts } from "../../support/step-work.js";

const brief = (parts: WorkParts, tokensMax = 24_000) =>
  writeBriefing(createStepWork("model", parts), "Find out.", tokensMax);
/** As many tokens as it says. */
const long = (sign: string, tokens: number) => sign.repeat(tokens * 4);

describe("the briefing of a specialist", () => {
  it("tells task, phase, inputs, earlier results, feedback and the part, in this order", () => {
    const text = brief({
      task: { id: "1", name: "t", workflow: "report", description: "A report on rockets." },
      inputs: { topic: "rockets" },
      phase: { name: "write", number: 2, iteration: 3, description: "Write it.", criteria: "clear words" },
      input: { tone: "dry" },
      outputs: { prices: { low: 3 }, work: { result: "my draft" } },
      feedback: ["quality: too long", "quality: no title"],
      uncertainties: ["the year"],
    });
    expect(text).toBe(
      [
        "# Task: report",
        "A report on rockets.",
        'Given: {"topic":"rockets"}',
        "# Phase 2: write, iteration 3",
        "Write it.",
        "The results will be judged by: clear words",
        '# Input\n\n{\n "tone": "dry"\n}',
        '# Results so far\n\n## prices\n\n{\n "low": 3\n}\n\n## Your last answer\n\nmy draft',
        "# Feedback on iteration 2\n\n- quality: too long\n- quality: no title",
        "# Your part: work\n\nFind out.\n\nClear up in particular:\n- the year",
      ].join("\n\n"),
    );
  });

  it("says nothing of what there is not", () => {
    expect(brief({ phase: { name: "", number: 0, iteration: 1 } })).toBe(
      "# Task: audit-1\n\n# Your part: work\n\nFind out.",
    );
  });

  it("leaves out the oldest results first, and says which and how large they are", () => {
    const text = brief({ outputs: { old: long("o", 90), middle: long("m", 90), fresh: long("f", 90) } }, 190);
    expect(text).toContain(long("f", 90));
    expect(text).not.toContain("ooo");
    expect(text).toContain("- old: left out, 90 tokens");
    expect(text).toMatch(/- middle: the first \d+ of 90 tokens are shown/);
    expect(text).toMatch(/## middle\n\nm{200,359}… \(cut\)\n/);
  });

  it("keeps to the budget, whatever there is", () => {
    for (const tokensMax of [200, 400, 1_000]) {
      const text = brief(
        { outputs: { a: long("a", 900), b: long("b", 900) }, feedback: [long("x", 300), long("y", 300)] },
        tokensMax,
      );
      expect(text.length / 4).toBeLessThan(tokensMax + 150);
    }
  });

  it("never cuts what the step is to do", () => {
    const work = createStepWork("model", { outputs: { a: "gone" } });
    const text = writeBriefing(work, long("p", 500), 100);
    expect(text).toContain(long("p", 500));
    expect(text).toContain("- a: left out, 1 token");
  });

  it("gives feedback a quarter of the budget, the first points first, and says how many are missing", () => {
    const feedback = Array.from({ length: 20 }, (_, at) => `${at}: ${long("x", 10)}`);
    const text = brief({ feedback, phase: { name: "p", number: 1, iteration: 2 } }, 400);
    expect(text).toContain("- 0: xxx");
    expect(text).not.toContain("- 19: xxx");
    expect(text).toMatch(/\(1\d more points were left out here to keep to the budget\.\)/);
  });

  it("shows a result of the step's name in an earlier phase as what it is in the first iteration", () => {
    expect(brief({ outputs: { work: "theirs" } })).toContain("## work\n\ntheirs");
  });
});

describe("what a specialist is told that goes on in its conversation", () => {
  it("is what is new: the results of its own phase, feedback, its part, guidance", () => {
    const work = createStepWork("cli", {
      task: { id: "1", name: "t", workflow: "report", description: "A report on rockets." },
      inputs: { topic: "rockets" },
      step: { path: "main/write/work" },
      phase: { name: "write", number: 2, iteration: 2, description: "Write it.", criteria: "clear words" },
      rendered: { uses: ["main/research/prices", "main/write/outline", "main/write/work"] },
      outputs: { prices: { low: 3 }, outline: "three parts", work: { result: "my draft" } },
      feedback: ["quality: no title"],
      guidance: ["in euros"],
    });
    const text = writeFollowUp(work, "Write.", 24_000);
    expect(text.split("\n\n").filter((part) => !part.startsWith("A person said"))).toEqual([
      "# Phase 2: write, iteration 2",
      "Your last answer was judged. Continue in this conversation: what you were told before still counts, and this is what is new.",
      "# Results so far",
      "## outline",
      "three parts",
      "# Feedback on iteration 1",
      "- quality: no title",
      "# Your part: work",
      "Write.",
      "# Guidance",
    ]);
    expect(text).toContain("- in euros");
  });
});
