/** Atlas: confidence, its weights, its costs, and its check against what Apollo measured. */
import { describe, expect, it } from "vitest";
import { BANDS as DEFAULT_BANDS } from "../../../../src/definition/model/defaults.js";
import {
  checkClaim,
  computePhaseConfidence,
  selectBand,
  type SpecialistReport,
} from "../../../../src/engine/model/confidence.js";
import { describeTaskConfidence } from "../../../../src/engine/reports/confidence-report.js";
import { formatConfidence } from "../../../../src/engine/reports/confidence-text.js";
import { done, EngineHarness } from "../../../support/engine-harness.js";
import { BANDS, model, phase, phases, workflow } from "../../../support/workflow-builder.js";

const report = (name: string, confidence: number | undefined, more: Partial<SpecialistReport> = {}) => ({
  name,
  criticality: "standard" as const,
  failed: false,
  uncertainties: [],
  ...(confidence === undefined ? {} : { confidence }),
  ...more,
});
const valueOf = (...reports: readonly SpecialistReport[]) => computePhaseConfidence(reports).value;

describe("the confidence of a phase", () => {
  it.each([
    ["critical", 2],
    ["high", 1.5],
    ["standard", 1],
    ["low", 0.7],
  ] as const)("weighs a %s specialist %d", (criticality, weight) => {
    const wanted = Math.round(((weight * 1 + 1 * 0.5) / (weight + 1)) * 10_000) / 10_000;
    expect(valueOf(report("a", 1, { criticality }), report("b", 0.5))).toBe(wanted);
  });

  it("gives the plain mean for equals, and the named value for all four weights at once", () => {
    expect(valueOf(report("a", 0.9), report("b", 0.7))).toBe(0.8);
    const all = (["critical", "high", "standard", "low"] as const).map((criticality, at) =>
      report(criticality, [0.9, 0.8, 0.7, 0.6][at], { criticality }),
    );
    expect(valueOf(...all)).toBe(0.7923);
  });

  it.each([
    [0, 0.9],
    [1, 0.88],
    [4, 0.82],
    [5, 0.8],
    [6, 0.8],
    [40, 0.8],
  ])("is lowered by 0.02 for each of %d uncertainties, by 0.1 at most: %d", (count, wanted) => {
    const uncertainties = Array.from({ length: count }, (_none, at) => `u${at}`);
    expect(valueOf(report("a", 0.9, { uncertainties }))).toBe(wanted);
  });

  it("counts uncertainties of all specialists together, and never falls under 0", () => {
    expect(valueOf(report("a", 0.9, { uncertainties: ["x"] }), report("b", 0.9, { uncertainties: ["y"] }))).toBe(0.86);
    expect(valueOf(report("a", 0.05, { uncertainties: ["1", "2", "3", "4", "5"] }))).toBe(0);
  });

  it("counts a restart and a roll-back as an uncertainty each, within the same 0.1", () => {
    expect(computePhaseConfidence([report("a", 0.9, { restarts: 2 })], 1)).toMatchObject({
      value: 0.84,
      penalty: 0.06,
      setbacks: 3,
    });
    expect(computePhaseConfidence([report("a", 0.9, { restarts: 9 })]).value).toBe(0.8);
  });

  it("counts a failed specialist as half, does not count one that says nothing, and knows nothing of nobody", () => {
    expect(valueOf(report("a", 0.9), report("b", undefined, { failed: true }))).toBe(0.7);
    expect(valueOf(report("a", 0.9), report("b", undefined))).toBe(0.9);
    expect(computePhaseConfidence([report("b", undefined, { uncertainties: ["x"] })])).toEqual({
      penalty: 0.02,
      setbacks: 0,
      uncertainties: [{ specialist: "b", uncertainty: "x" }],
    });
  });

  it("lets an added specialist stand for the one it helps: the higher confidence, its own uncertainties", () => {
    const helped = report("a", 0.6, { criticality: "critical", uncertainties: ["x", "y"] });
    expect(valueOf(helped, report("b", 0.9), report("a-more", 0.95, { addresses: "a" }))).toBe(0.9333);
    expect(valueOf(helped, report("a-more", 0.3, { addresses: "a" }))).toBe(0.6);
    expect(valueOf(helped, report("a-more", 0.9, { addresses: "a", uncertainties: ["z"] }))).toBe(0.88);
    const broken = report("a-more", undefined, { addresses: "a", failed: true });
    expect(valueOf(helped, broken)).toBe(0.56);
  });

  it("names the weakest specialist by its own confidence", () => {
    expect(computePhaseConfidence([report("a", 0.8), report("b", 0.6), report("c", 0.9)]).weakest).toBe("b");
  });
});

describe("a band", () => {
  const rule = (minimum: number) => ({ minimum, bands: BANDS, spawnMax: 3 });

  it.each([
    [1, "proceed"],
    [0.85, "proceed"],
    [0.8499, "flag"],
    [0.75, "flag"],
    [0.7499, "spawn_one"],
    [0.65, "spawn_one"],
    [0.6499, "spawn_several"],
    [0.5, "spawn_several"],
    [0.4999, "halt"],
    [0, "halt"],
  ])("of %d is %s", (confidence, band) => {
    expect(selectBand(confidence, rule(0.75))).toBe(band);
  });

  it("is one to act in under a minimum above its edge, and one to proceed in at a minimum under it", () => {
    expect(selectBand(0.87, rule(0.9))).toBe("spawn_one");
    expect(selectBand(0.7, rule(0.7))).toBe("flag");
    expect(selectBand(0.6999, rule(0.7))).toBe("spawn_one");
  });

  it("has the edges that a workflow sets", () => {
    const bands = { proceed: 0.95, flag: 0.9, spawnOne: 0.8, spawnSeveral: 0.7 };
    const own = { minimum: 0.9, bands, spawnMax: 1 };
    expect([0.95, 0.94, 0.89, 0.79, 0.69].map((value) => selectBand(value, own))).toEqual([
      "proceed",
      "flag",
      "spawn_one",
      "spawn_several",
      "halt",
    ]);
  });

  it("has the edges 0.85, 0.75, 0.65 and 0.50 where a workflow sets none", () => {
    expect(DEFAULT_BANDS).toEqual({ proceed: 0.85, flag: 0.75, spawnOne: 0.65, spawnSeveral: 0.5 });
  });
});

describe("a claim", () => {
  it.each([
    [0.9, 79.99, 0.72, true],
    [0.9, 80, 0.9, false],
    [0.8999, 50, 0.8999, false],
    [1, 0, 0.8, true],
  ])("of %d with a quality of %d counts as %d", (claimed, quality, value, reduced) => {
    expect(checkClaim(claimed, { score: 90, quality })).toMatchObject({ value, reduced });
  });

  it.each([
    [0.85, 70, undefined],
    [0.8501, 70, 0.1501],
    [0.55, 70, undefined],
    [0.5499, 70, 0.1501],
    [0.95, 80, undefined],
  ])("of %d with a measured score of %d has the gap %s: only one over 0.15 is flagged", (claimed, score, gap) => {
    expect(checkClaim(claimed, { score, quality: 100 }).gap).toBe(gap);
  });

  it("is checked against the whole score where nobody scored quality, and against nothing without a score", () => {
    expect(checkClaim(0.9, { score: 79 })).toMatchObject({ value: 0.72, reduced: true });
    expect(checkClaim(0.99, undefined)).toEqual({ value: 0.99, reduced: false });
  });
});

describe("a claim of a specialist that was measured in earlier tasks", () => {
  const record = (tasks: number, claimed: number, measured: number) => ({ tasks, claimed, measured });

  it.each([
    ["counts by the share that was measured", 0.9, record(3, 0.9, 0.6), 0.6],
    ["counts by it whatever is claimed now", 0.6, record(5, 0.9, 0.6), 0.4],
    ["stays after two tasks", 0.9, record(2, 0.9, 0.1), 0.9],
    ["stays where the mean gap is 0.15", 0.9, record(9, 0.9, 0.75), 0.9],
    ["counts less where it is over 0.15", 0.9, record(9, 0.9, 0.7499), 0.7499],
    ["is never raised", 0.5, record(9, 0.4, 0.95), 0.5],
    ["counts nothing where nothing was ever measured", 0.9, record(3, 1, 0), 0],
  ])("%s", (_how, claimed, kept, value) => {
    expect(checkClaim(claimed, undefined, kept).value).toBe(value);
  });

  it("counts as the lower of what this task and what earlier ones measured", () => {
    expect(checkClaim(0.9, { score: 70 }, record(3, 0.9, 0.5))).toEqual({
      value: 0.5,
      reduced: true,
      gap: 0.2,
      record: record(3, 0.9, 0.5),
    });
    expect(checkClaim(0.9, { score: 70 }, record(3, 0.95, 0.79))).toEqual({ value: 0.72, reduced: true, gap: 0.2 });
  });

  it("changes the band of its phase, and the decision and the report say why", () => {
    const definition = workflow(phases("main", [phase(1, "p", [model("a"), model("b")])]));
    const trackRecords = { "main/p/a": record(4, 0.9, 0.45) };
    const harness = new EngineHarness(definition, { perform: () => done("x", { confidence: 0.9 }), trackRecords });
    // The one that is added is the same once more, and as little believed.
    expect(harness.run()).toMatchObject({ end: "partial", exitStatus: 3 });
    const [decision] = harness.state.decisions;
    expect(decision?.rationale).toContain(
      "a claimed 0.9 after 4 tasks in which it claimed 0.9 and 0.45 was measured: counted as 0.45",
    );
    expect(decision?.effect).toMatchObject({ kind: "settle_phase", confidence: 0.675 });
    expect(decision?.facts).toMatchObject({
      calibrations: [{ specialist: "a", claimed: 0.9, counted: 0.45, record: record(4, 0.9, 0.45) }],
    });
    const view = describeTaskConfidence(harness.state);
    expect(view.phases[0]?.specialists.map(({ counted, record: kept }) => [counted, kept?.tasks])).toEqual([
      [0.45, 4],
      [0.9, undefined],
      [0.45, 4],
      [0.45, 4],
    ]);
    expect(formatConfidence(view)).toContain("45 %  claimed 90 %, its last 4 tasks claimed 90 %, measured 45 %");
  });
});

describe("a specialist's report", () => {
  const run = (said: Parameters<typeof done>[1]) => {
    const harness = new EngineHarness(workflow(phases("main", [phase(1, "p", [model("a")])])), {
      perform: () => done("x", said),
    });
    harness.run();
    return harness;
  };
  const parts = { knowledge: 0.95, information: 0.85, implementation: 0.9, validation: 0.9 };

  it("has four parts, whose mean is its confidence to four digits, with factors and uncertainties", () => {
    const harness = run({ confidence: parts, factors: ["two sources"], uncertainties: ["licence"] });
    expect(harness.step("main/p/a").confidence).toEqual({
      value: 0.9,
      parts,
      factors: ["two sources"],
      uncertainties: ["licence"],
    });
    expect(harness.state.phases.get("main/p")?.confidence).toBe(0.88);
  });

  it("keeps the history of its confidence, the last one included", () => {
    const harness = new EngineHarness(workflow(phases("main", [phase(1, "p", [model("a")])])), {
      perform: (step, _work, at) => {
        for (const confidence of [0.3, 0.6])
          at.report({ type: "progress_reported", step: step.id, attempt: step.attempt, confidence });
        return done("x", { confidence: 0.9 });
      },
    });
    harness.run();
    expect(harness.step("main/p/a").confidenceHistory).toEqual([0.3, 0.6, 0.9]);
  });

  it("that names uncertainties and no confidence claims none", () => {
    const harness = run({ uncertainties: ["licence"] });
    expect(harness.step("main/p/a").confidence).toEqual({ factors: [], uncertainties: ["licence"] });
    expect(harness.state.decisions[0]).toMatchObject({
      type: "proceed",
      rationale: "no specialist reported a confidence",
    });
  });

  it.each([1.01, -0.01, Number.NaN])("is refused with a part of %d", (validation) => {
    expect(run({ confidence: { ...parts, validation } }).closed).toMatchObject({ end: "failed", exitStatus: 4 });
  });
});
