/** Real providers as the command meets them, over loopback: secrets, money, and what doctor says. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CheckView, ValidateView } from "../../../src/runtime/contract.js";
import { MODEL_KEY as CANARY, ONE_STEP, openModelPlace as open, RUN_FLOW as RUN } from "../../support/model-place.js";
import { answer, goodAnswer, toolAnswer, type RawReply } from "../../support/raw-server.js";

describe("a model over the wire", () => {
  it("answers, and its turn, usage and price are in the task", async () => {
    const { place } = await open({
      replies: [goodAnswer("Good day")],
      settings: "pricing: {local/m: {input_per_mtok: 2, output_per_mtok: 10}}\n",
    });
    const { code, stdout } = await place.run([...RUN, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ output: { work: { result: "Good day" } } });
    expect((await place.run(["show", "t", "--json"])).stdout).toMatch(/"api_calls":\s*1,[^}]*26\b/);
  });

  it("costs what the file says under cost.pricing, before the settings", async () => {
    const { place } = await open({
      replies: [goodAnswer("Good day")],
      settings: "pricing: {local/m: {input_per_mtok: 2, output_per_mtok: 10}}\n",
      flow: ONE_STEP.replace(
        "workflow: {",
        "workflow: {cost: {pricing: {local/m: {input_per_mtok: 200, output_per_mtok: 1000}}}, ",
      ),
    });
    expect((await place.run(RUN)).code).toBe(0);
    expect((await place.run(["show", "t", "--json"])).stdout).toContain('"cost_usd": 0.0026,');
  });

  it("is chosen by --provider and --model where the file names none", async () => {
    const flow = 'workflow: {name: ask}\nsteps: [{name: work, prompt: "hello"}]\n';
    const { place, server } = await open({ replies: [goodAnswer("ok")], flow });
    expect((await place.run([...RUN, "--provider", "local", "--model", "other"])).code).toBe(0);
    expect(server.requests[0]).toContain('"model":"other"');
  });

  it("of a name that nobody knows is told before anything runs, with the one that was meant", async () => {
    const flow = ONE_STEP.replace('prompt: "hello"', 'prompt: "hello", fallback: [{provider: antropic, model: m}]');
    const { place } = await open({ replies: [], flow });
    const { code, stdout } = await place.run(["validate", "flow.yaml"]);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("did you mean anthropic?") as string,
    });
  });

  it("whose key or header is not here is told before anything runs, and by name of the variable", async () => {
    const flow = ONE_STEP.replace("provider: local", "provider: openai").replace(
      'prompt: "hello"',
      'prompt: "hello", fallback: [{provider: headed, model: m}, {provider: local, model: m}]',
    );
    const { place, server } = await open({ replies: [goodAnswer("Good day")], flow });
    const headed = `headed: {type: openai-compatible, base_url: "${server.url}", header_variables: {x-team: TEAM_HEADER}}`;
    const local = `local: {type: openai-compatible, base_url: "${server.url}", key_variable: MODEL_KEY}`;
    place.write("splashdown.config.yaml", `providers:\n  ${headed}\n  ${local}\n`);
    const { code, stderr } = await place.run(RUN);
    expect(code).toBe(0);
    const [before = ""] = stderr.split("task t started");
    expect(before).toContain(
      "provider openai has no key here, its steps will fail; set OPENAI_API_KEY, or key_command",
    );
    expect(before).toContain("comes from the variable TEAM_HEADER, which is not set; its steps will fail");
  });

  it("of a judge, a planner, an orchestrator and who carries out a plan are looked at as those of a file's steps", async () => {
    const { place } = await open({ replies: [] });
    const notesOf = async (file: string, text: string): Promise<readonly string[]> => {
      place.write(file, text);
      const { notes = [], text: shown } = (await place.run(["validate", file, "--json"])).json<ValidateView>();
      expect(shown.includes("a goal: its steps are planned when it runs")).toBe(file === "goal.yaml");
      return notes.flatMap((note) => /^provider (\w+) is not known here/.exec(note)?.[1] ?? []);
    };
    const judged = `workflow: {name: judged, runtime: {provider: local, default_model: m}}
atlas: {mode: model, provider: atlaz, model: m}
consolidate: {provider: merga}
phases:
  - name: p
    specialists: [{name: a, prompt: "x"}]
    evaluate: {scorers: [{dimension: quality, provider: judgea, rubric: "good?"}]}
`;
    expect(await notesOf("judged.yaml", judged)).toEqual(["judgea", "atlaz", "merga"]);
    const goal = `workflow: {name: goal, runtime: {provider: worka}}
goal: "a report"
plan: {provider: plana}
atlas: {mode: model, provider: atlaz}
`;
    expect(await notesOf("goal.yaml", goal)).toEqual(["plana", "worka", "atlaz"]);
  });

  it("that answers in another one's place is named with the step, and why", async () => {
    const flow = ONE_STEP.replace("provider: local", "provider: google").replace(
      'prompt: "hello"',
      'prompt: "hello", fallback: [{provider: local, model: spare}]',
    );
    const { place } = await open({ replies: [goodAnswer("Good day")], flow });
    expect((await place.run(RUN)).code).toBe(0);
    const { stdout } = await place.run(["show", "t"]);
    expect(stdout).toMatch(
      /answered by a fallback\n {2}work: local\/spare instead of google\/m\n {4}because .*npm install/,
    );
  });

  it("that is not installed is named with the command that installs it", async () => {
    const { place } = await open({ replies: [], flow: ONE_STEP.replace("provider: local", "provider: google") });
    const { code, stderr } = await place.run(RUN);
    expect(code).toBe(4);
    expect(stderr).toContain("npm install @ai-sdk/google@3");
  });
});

describe("FAULTS 17: money", () => {
  it("stops before the call that would go over the budget, in the middle of a step's turns too", async () => {
    const flow = `workflow: {name: ask, runtime: {provider: local, default_model: m}, limits: {budget_usd: 0.9, budget_mode: enforce}}
tools: [{name: look, function: "./tools.mjs#look", effects: none}]
steps: [{name: work, prompt: "hello"}]
`;
    const settings = "pricing: {m: {input_per_mtok: 1, output_per_mtok: 1}}\n";
    const { place, server } = await open({ replies: [toolAnswer("look", 300_000)], flow, settings });
    place.write("tools.mjs", "export const look = () => ({ seen: true });\n");
    expect((await place.run(RUN)).code).toBe(21);
    expect(server.requests).toHaveLength(3);
    await place.run(["resume", "t", "--extend", "budget_usd=0.9"]);
    expect(server.requests).toHaveLength(6);
  });
});

describe("FAULTS 15: keys and secrets", () => {
  it("are in no file and no output, wherever they come back", async () => {
    const echo: RawReply = goodAnswer(`your key is ${CANARY} and ${Buffer.from(CANARY).toString("base64")}`);
    const fail: RawReply = (socket) => answer(socket, 401, {}, `{"error":{"message":"bad key ${CANARY}"}}`);
    const flow = `workflow: {name: ask, runtime: {provider: local, default_model: m}, on_failure: continue}
steps:
  - {name: echo, prompt: "hello"}
  - {name: fail, prompt: "hello", depends_on: [echo]}
`;
    const { place, server } = await open({
      replies: [echo, fail],
      flow,
      settings: "checkpoint_config: {encryption: false}\n",
    });
    const ended = await place.run([...RUN, "--debug"]);
    expect(server.requests[0]).toContain(`Bearer ${CANARY}`);
    const said = [
      ended,
      await place.run(["show", "t", "--json"]),
      await place.run(["events", "t", "--json"]),
      await place.run(["doctor", "--models"]),
    ];
    for (const { stdout, stderr } of said) expect(stdout + stderr).not.toContain(CANARY);
    const files = readdirSync(place.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(5);
    const holding = files.filter((entry) => {
      const bytes = readFileSync(join(entry.parentPath, entry.name)).toString("latin1");
      return bytes.includes(CANARY) || bytes.includes(Buffer.from(CANARY).toString("base64"));
    });
    expect(holding.map((entry) => entry.name)).toEqual([]);
  });
});

/** Beside the place: a package that says what it was asked for. */
const KEYRING = `export class AsyncEntry {
  constructor(service, account) { Object.assign(this, { service, account }); }
  async getPassword() { return this.account === "ada" ? "key-of-" + this.service : null; }
}
`;

describe("a key in the system's keyring", () => {
  it.each([
    ["ada", true, "answers, key from the system's keyring"],
    ["bob", false, "the system's keyring has no entry models/bob"],
  ])("of %s is found: %s", async (account, ok, text) => {
    const { place, server } = await open({
      replies: [(socket) => answer(socket, 200, {}, '{"data":[]}')],
    });
    place.write("node_modules/@napi-rs/keyring/package.json", '{"type": "module", "exports": "./index.js"}');
    place.write("node_modules/@napi-rs/keyring/index.js", KEYRING);
    const reach = `type: openai-compatible, base_url: "${server.url}", key_system: {service: models, account: ${account}}`;
    place.write("splashdown.config.yaml", `providers: {far: {${reach}}}\n`);
    const env = { SPLASHDOWN_PACKAGES: place.folder };
    const checks = (await place.run(["doctor", "--models", "--json"], { env })).json<{ checks: CheckView[] }>().checks;
    expect(checks.find(({ name }) => name === "model far")).toMatchObject({
      ok,
      text: expect.stringContaining(text) as string,
    });
    expect(server.requests.map((request) => /bearer (\S+)/i.exec(request)?.[1])).toEqual(ok ? ["key-of-models"] : []);
  });
});

describe("doctor --models", () => {
  const list: RawReply = (socket) => answer(socket, 200, {}, '{"data":[{"id":"a"},{"id":"b"}]}');
  const refuse: RawReply = (socket) => answer(socket, 401, {}, "{}");

  it.each<[string, RawReply, boolean, string]>([
    ["that takes the key", list, true, "answers, key from MODEL_KEY, 2 models"],
    ["that refuses the key", refuse, false, "answered 401, key from MODEL_KEY"],
  ])("says of a provider %s", async (_name, reply, ok, text) => {
    const { place } = await open({ replies: [reply] });
    const { code, json } = await place.run(["doctor", "--models", "--json"]);
    const check = json<{ checks: CheckView[] }>().checks.find(({ name }) => name === "model local");
    expect(check).toMatchObject({ ok, text: expect.stringContaining(text) as string });
    expect(code).toBe(ok ? 0 : 4);
  });
});
