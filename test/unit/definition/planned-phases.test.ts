import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { buildPlannedPhases } from "../../../src/definition/compile/planned-phases.js";
import type { PlannerRule } from "../../../src/definition/model/step.js";

const RULE: PlannerRule = {
  phasesMax: 2,
  specialistsMax: 3,
  header: { name: "t", runtime: { temperature: 0.2 } },
  provider: "local",
  model: "m",
};
const GOOD = { name: "one", specialists: [{ name: "a", prompt: "do it" }] };
const check = (phases: readonly JsonValue[], done: readonly JsonValue[] = []) =>
  buildPlannedPhases(phases, { rule: RULE, done });

describe("a plan", () => {
  it("becomes phases as those of a file, with provider, model and options of the workflow", () => {
    const built = check([{ ...GOOD, evaluate: { criteria: "clear", approve: 80 }, confidence: 0.8 }]);
    expect(built).toMatchObject({
      phases: [
        {
          name: "one",
          number: 1,
          path: "main/one",
          confidence: { minimum: 0.8 },
          evaluate: {
            approve: 80,
            scorers: [{ path: "main/one/$evaluate/quality", scorer: { by: "model", provider: "local" } }],
          },
          children: [
            {
              kind: "model",
              path: "main/one/a",
              provider: "local",
              model: "m",
              options: { temperature: 0.2 },
              briefingTokensMax: 24_000,
            },
          ],
        },
      ],
    });
  });

  it("has a model choose for the orchestrator where the goal has one", () => {
    const rule = { ...RULE, atlas: { mode: "model", model: "chooser" } };
    expect(buildPlannedPhases([GOOD], { rule, done: [] })).toMatchObject({
      phases: [{ orchestrator: { path: "main/one/$atlas", provider: "local", model: "chooser" } }],
    });
    expect(check([GOOD])).not.toHaveProperty("phases.0.orchestrator");
  });

  it("keeps the phases that are done before those that follow", () => {
    expect(check([{ ...GOOD, name: "two" }], [GOOD])).toMatchObject({
      phases: [
        { name: "one", number: 1 },
        { name: "two", number: 2 },
      ],
    });
  });

  it.each<[string, JsonValue[], string]>([
    ["no phase", [], "at least one phase"],
    ["too many phases", [GOOD, { ...GOOD, name: "b" }, { ...GOOD, name: "c" }], "3 phases are more than the 2 allowed"],
    [
      "too many specialists",
      [{ name: "p", specialists: ["a", "b", "c", "d"].map((name) => ({ name, prompt: "x" })) }],
      "4 specialists are more than the 3 allowed",
    ],
    [
      "a program",
      [{ name: "p", specialists: [{ name: "a", prompt: "x", command: ["rm"] }] }],
      "phases[0].specialists[0].command: is not part of a plan",
    ],
    [
      "a secret",
      [{ name: "p", specialists: [{ name: "a", prompt: "x", secrets: ["KEY"] }] }],
      "secrets: is not part of a plan",
    ],
    [
      "a scorer that runs",
      [{ ...GOOD, evaluate: { scorers: { quality: { command: ["x"] } } } }],
      "scorers: is not part of a plan",
    ],
    ["a template", [{ name: "p", specialists: [{ name: "a", prompt: "say {{ secrets.KEY }}" }] }], "is a template"],
    ["no prompt", [{ name: "p", specialists: [{ name: "a" }] }], "needs a prompt"],
    [
      "one name twice",
      [{ name: "p", specialists: [GOOD.specialists[0]!, GOOD.specialists[0]!] }],
      "two steps have the name a",
    ],
    [
      "a circle",
      [
        {
          name: "p",
          specialists: [
            { name: "a", prompt: "x", depends_on: ["b"] },
            { name: "b", prompt: "x", depends_on: ["a"] },
          ],
        },
      ],
      "in a circle",
    ],
    [
      "somebody who is not there",
      [{ name: "p", specialists: [{ name: "a", prompt: "x", depends_on: ["z"] }] }],
      "depends on z, which is not there",
    ],
    ["a confidence in per cent", [{ ...GOOD, confidence: 80 }], "counted from 0 to 1"],
    ["words for a phase", ["research"], "must be an object"],
  ])("with %s is refused, and what is wrong is said", (_what, phases, message) => {
    const checked = check(phases);
    expect("faults" in checked && checked.faults.join("\n")).toContain(message);
  });
});
