/** Schemas that cannot be used are told when a file is read, by their place: nothing was asked, done or paid for. */
import { describe, expect, it } from "vitest";
import { errorCodeOf, SplashdownError } from "../../../src/base/errors.js";
import type { ModelAnswer } from "../../../src/agents/outcome/contract.js";
import { createStepWork } from "../../support/step-work.js";
import { openPerformerRoom } from "../../support/performer-room.js";
import { openSplashdownInMemory } from "../../support/library-place.js";

async function faultsOf(parts: object): Promise<readonly string[]> {
  const splashdown = await openSplashdownInMemory();
  try {
    await splashdown.run({ workflow: { workflow: { name: "w" }, ...parts } });
    return [];
  } catch (error) {
    expect(errorCodeOf(error)).toBe("WORKFLOW_INVALID");
    const faults = (error as SplashdownError).details["faults"] as readonly { path: string; message: string }[];
    return faults.map(({ path, message }) => `${path}: ${message}`);
  }
}

const model = (output: object) => ({ name: "a", provider: "scripted", prompt: "go", output });
const field = (bounds: object, type = "string") => ({ v: { type, ...bounds } });

describe("a schema of a file", () => {
  it.each<[string, object, RegExp]>([
    [
      "[public L kin] with a pattern that is none",
      { steps: [model(field({ pattern: "([a-z" }))] },
      /^steps\[0\]\.output\.v\.pattern: the pattern "\(\[a-z" cannot be used: Unterminated/,
    ],
    [
      "[public L kin] with one deep inside",
      { steps: [model({ v: { type: "array", items: { type: "object", properties: field({ pattern: "(" }) } } })] },
      /^steps\[0\]\.output\.v\.items\.properties\.v\.pattern: .* Unterminated group/,
    ],
    [
      "[public L kin] with one of a tool",
      {
        tools: [{ name: "look", input: field({ pattern: "*" }), effects: "none", function: () => 1 }],
        steps: [{ name: "a", provider: "scripted", prompt: "go", tools: ["look"] }],
      },
      /^tools\[0\]\.input\.v\.pattern: .* Nothing to repeat/,
    ],
    [
      "[public L kin] with one of a command",
      { steps: [{ name: "a", command: ["true"], effects: "none", output: field({ pattern: "[" }) }] },
      /^steps\[0\]\.output\.v\.pattern: /,
    ],
    [
      "[public P kin] with bounds that no value fits",
      { steps: [model({ ...field({ minimum: 3, maximum: 2 }, "number") })] },
      /^steps\[0\]\.output\.v\.minimum: no value fits: minimum is 3, and maximum is 2/,
    ],
    [
      "with lengths that no text fits",
      { steps: [model(field({ minLength: 9, maxLength: 1 }))] },
      /^steps\[0\]\.output\.v\.minLength: no value fits/,
    ],
  ])("%s is refused by its place", async (_title, parts, words) => {
    expect(await faultsOf(parts)).toEqual([expect.stringMatching(words)]);
  });

  it.each<[string, unknown, RegExp]>([
    ["a reference to elsewhere", { $ref: "https://x.example/y.json" }, /can't resolve reference/],
    ["a reference to nowhere", { $ref: "#/$defs/none" }, /can't resolve reference/],
    ["a keyword of draft 4", { type: "number", exclusiveMinimum: true }, /must be number/],
    ["a pattern that is none", { type: "string", pattern: "(" }, /Unterminated group/],
    ["a type that is none", { type: "strnig" }, /must be equal to one of the allowed values/],
  ])("[public L kin] of a scorer is refused by its place with %s", async (_title, schema, words) => {
    const evaluation = { scorers: [{ name: "form", schema }] };
    const phases = [
      { name: "p", specialists: [{ name: "a", command: ["true"], effects: "none" }], evaluate: evaluation },
    ];
    const faults = await faultsOf({ phases });
    expect(faults[0]).toMatch(/^phases\[0\]\.evaluate\.scorers\[0\]\.schema: the schema cannot be used/);
    expect(faults.join()).toMatch(words);
  });

  it.each(["^https\\:\\/\\/", "^[\\w-]+$", "\\p{L}+", "^\\d{4}-\\d\\d$"])("takes the pattern %s", async (pattern) => {
    const step = { name: "a", command: ["true"], effects: "none", output: field({ pattern }), when: "false" };
    expect(await faultsOf({ steps: [step] })).toEqual([]);
  });
});

describe("an output that a step of an older definition declares", () => {
  it("[public L kin] is told once and no model is asked where it cannot be used", async () => {
    let asked = 0;
    const answer: ModelAnswer = { say: "{}", factors: [], usage: { calls: 1, tokensIn: 1, tokensOut: 1 } };
    const room = openPerformerRoom({ modelOf: () => ({ call: () => ((asked += 1), Promise.resolve(answer)) }) });
    const outputSchema = { type: "object", properties: { v: { type: "string", pattern: "(" } } };
    const work = createStepWork("model", { definition: { outputSchema }, rendered: { prompt: "go" } });
    const outcome = await room.perform(work);
    await room.close();
    expect(outcome).toMatchObject({
      status: "failed",
      error: {
        code: "WORKFLOW_INVALID",
        retryable: false,
        message: expect.stringContaining("Unterminated group") as string,
      },
    });
    expect(asked).toBe(0);
  });
});
