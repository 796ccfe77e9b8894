/** A goal over real HTTP on loopback: planned, worked, judged and merged by a mock that speaks a provider's form. */
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RunView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { countRecords, killAtRecord } from "../../support/killed-run.js";

const mock = new LLMock({ port: 0, logLevel: "silent" });
let url = "";
beforeAll(async () => {
  url = await mock.start();
});
afterAll(() => mock.stop());

const PLAN = {
  rationale: "small",
  phases: [
    {
      name: "look",
      specialists: [
        { name: "prices", prompt: "Find prices." },
        { name: "makers", prompt: "Find makers." },
      ],
    },
    { name: "tell", specialists: [{ name: "author", prompt: "Write." }], evaluate: { criteria: "clear", approve: 80 } },
  ],
};
const CONFIDENCE = { knowledge: 0.9, information: 0.9, implementation: 0.9, validation: 0.9 };
const report = (output: string) => JSON.stringify({ output, confidence: CONFIDENCE, uncertainties: [] });

/** By what the last message asks for. */
const ANSWERS: readonly (readonly [string, string])[] = [
  ["Say how sure you are of it", JSON.stringify({ confidence: CONFIDENCE, uncertainties: [] })],
  ["Plan the work that reaches this goal", `Here is my plan:\n\`\`\`json\n${JSON.stringify(PLAN)}\n\`\`\``],
  ["# Your part: prices", report("Prices fall.")],
  ["# Your part: makers", "There are three makers."],
  ["# Your part: author", report("Prices fall, three makers.")],
  ["Judge the dimension quality", JSON.stringify({ score: 91, evidence: ["three makers"], issues: [], feedback: "" })],
  ["# Your part: $consolidate", report("In short: prices fall.")],
];

beforeEach(() => {
  mock.clearFixtures();
  mock.clearRequests();
  for (const [asked, content] of ANSWERS) mock.on({ userMessage: asked }, { content });
});

interface Wire {
  readonly provider: string;
  readonly settings: () => string;
  readonly paths: readonly string[];
}

const WIRES: readonly Wire[] = [
  {
    provider: "local",
    settings: () => `{type: openai-compatible, base_url: "${url}/v1"}`,
    paths: ["/v1/chat/completions"],
  },
  { provider: "ollama", settings: () => `{base_url: "${url}/v1"}`, paths: ["/v1/chat/completions"] },
  { provider: "anthropic", settings: () => `{base_url: "${url}"}`, paths: ["/v1/messages"] },
  {
    provider: "openai-responses",
    settings: () => `{base_url: "${url}/v1", key_variable: MODEL_KEY}`,
    paths: ["/v1/responses"],
  },
];
const [LOCAL] = WIRES as readonly [Wire, ...Wire[]];

const runOver = ({ provider }: Wire) => [
  "run",
  "--goal",
  "Rockets",
  "--task",
  "g",
  "--provider",
  provider,
  "--model",
  "m",
  "--json",
];

function open({ provider, settings }: Wire = LOCAL): CommandPlace {
  const place = openPlace({ MODEL_KEY: "sk" });
  place.write("splashdown.config.yaml", `providers: {${provider}: ${settings()}}\n`);
  return place;
}

describe("run --goal over the wire", () => {
  it.each(WIRES)(
    "comes to its end with a call an answer, and one more for a missing confidence: $provider",
    async (wire) => {
      const place = open(wire);
      const { code, json, stderr } = await place.run(runOver(wire));
      expect(code, stderr).toBe(0);
      expect(json<RunView>().output).toEqual({ result: "In short: prices fall." });
      expect(mock.getRequests()).toHaveLength(7);
      expect([...new Set(mock.getRequests().map(({ path }) => path))]).toEqual(wire.paths);
      expect(place.read("outputs/g/final/consolidated.md")).toContain("In short: prices fall.");
    },
  );

  it("killed while it plans, works, judges and merges, asks at most the call under way again", async () => {
    const whole = open();
    const wanted = (await whole.run(runOver(LOCAL))).json<RunView>();
    const records = countRecords(whole, "g");
    for (const share of [0.05, 0.3, 0.6, 0.85]) {
      mock.clearRequests();
      const place = open();
      await killAtRecord(place.start(runOver(LOCAL)), {
        place,
        task: "g",
        point: Math.max(2, Math.floor(records * share)),
      });
      const { code, json, stderr } = await place.run(runOver(LOCAL));
      expect(code, stderr).toBe(0);
      expect(json<RunView>().output).toEqual(wanted.output);
      // Two specialists may be under way at once.
      expect(mock.getRequests().length).toBeLessThanOrEqual(9);
    }
  });
});
