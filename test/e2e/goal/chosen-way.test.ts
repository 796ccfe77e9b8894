/** Model mode after a failure, over real HTTP: what a model chooses is done, and the rules stand beside it. */
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RunView, TaskView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

const mock = new LLMock({ port: 0, logLevel: "silent" });
let url = "";
beforeAll(async () => {
  url = await mock.start();
});
afterAll(() => mock.stop());
beforeEach(() => {
  mock.clearFixtures();
  mock.clearRequests();
});

/** `a` writes down each try and fails as often as `fails` says; the rules would do the contrary of what is chosen. */
const flowOf = (otherwise: string) => `workflow: {name: chosen, runtime: {provider: local, default_model: m}}
atlas: {mode: model}
phases:
  - name: look
    confidence: 0
    restart: {max_attempts: 1, otherwise: ${otherwise}}
    specialists:
      - {name: a, effects: none, command: [sh, -c, 'echo x >> tries; if [ $(wc -l < tries) -le $(cat fails) ]; then exit 3; fi; echo 1']}
      - {name: b, effects: none, command: [sh, -c, 'echo 2']}
  - name: tell
    confidence: 0
    specialists: [{name: c, effects: none, command: [sh, -c, 'echo 3']}]
`;

/** Of what is asked after failures only. */
const OF_FAILURES = "go_on_without: the others";

interface Case {
  readonly otherwise: "continue" | "rollback" | "fail";
  readonly fails: number;
  readonly choice: string;
}

async function run({ otherwise, fails, choice }: Case) {
  const place: CommandPlace = openPlace({ MODEL_KEY: "sk" });
  place.write("flow.yaml", flowOf(otherwise));
  place.write("fails", String(fails));
  place.write("splashdown.config.yaml", `providers: {local: {type: openai-compatible, base_url: "${url}/v1"}}\n`);
  const answer = (way: string) => ({ content: JSON.stringify({ choice: way, rationale: "seen so" }) });
  mock.on({ userMessage: OF_FAILURES }, answer(choice));
  mock.on({ userMessage: "Choose what follows" }, answer("proceed"));
  const { json, code } = await place.run(["run", "flow.yaml", "--task", "t", "--json"]);
  const { decisions } = (await place.run(["show", "t", "--json"])).json<TaskView>();
  const asked = mock.getRequests().filter(({ body }) => JSON.stringify(body).includes(OF_FAILURES)).length;
  const types = decisions.map(({ type }) => type);
  return { view: json<RunView>(), code, decisions, types, asked, tries: place.ledger("tries").length };
}

describe("a model that chooses after a failure, over the wire", () => {
  it("goes on without the specialist, where the rules would give up", async () => {
    const { code, types, decisions, asked, tries } = await run({
      otherwise: "fail",
      fails: 9,
      choice: "go_on_without",
    });
    expect({ code, asked, tries }).toEqual({ code: 3, asked: 1, tries: 2 });
    expect(types.slice(0, 2)).toEqual(["restart_specialist", "go_on_without"]);
    expect(decisions[1]).toMatchObject({
      agent: "atlas",
      description: "phase look continues without a",
      rationale: expect.stringContaining("chosen by a model: seen so") as string,
      alternatives_considered: ["roll_back", "give_up"],
    });
  });

  it("starts the phase over, where the rules would go on without", async () => {
    const { code, view, types, asked, tries } = await run({ otherwise: "continue", fails: 2, choice: "roll_back" });
    expect({ code, asked, tries, status: view.status }).toEqual({ code: 0, asked: 1, tries: 3, status: "done" });
    expect(types.slice(0, 2)).toEqual(["restart_specialist", "roll_back"]);
  });

  it("gives up, where the rules would start over", async () => {
    const { code, types, asked, tries } = await run({ otherwise: "rollback", fails: 9, choice: "give_up" });
    expect({ code, asked, tries }).toEqual({ code: 4, asked: 1, tries: 2 });
    expect(types).toEqual(["restart_specialist", "give_up"]);
  });
});
