/** Real providers as the command meets them, over loopback: limits, silence, secrets, money, and what doctor says. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { CheckView, RunView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import {
  answer,
  goodAnswer,
  openRawServer,
  stream,
  textChunk,
  type RawReply,
  type RawServer,
} from "../../support/raw-server.js";
import { until } from "../../support/real-clock.js";

const CANARY = "canary-7f3a9b1c5d2e";

interface Parts {
  readonly replies: readonly RawReply[];
  readonly flow?: string;
  readonly settings?: string;
}

const ONE_STEP = `workflow: {name: ask, runtime: {provider: local, default_model: m}}
steps: [{name: work, prompt: "hello"}]
`;

async function open({
  replies,
  flow = ONE_STEP,
  settings = "",
}: Parts): Promise<{ place: CommandPlace; server: RawServer }> {
  const server = await openRawServer(...replies);
  onTestFinished(() => server.close());
  const place = openPlace({ MODEL_KEY: CANARY });
  place.write("flow.yaml", flow);
  place.write(
    "splashdown.config.yaml",
    `providers: {local: {type: openai-compatible, base_url: "${server.url}", key_variable: MODEL_KEY}}\n${settings}`,
  );
  return { place, server };
}

const RUN = ["run", "flow.yaml", "--task", "t"];
const EVENTS = ["events", "t", "--json"];
const limited =
  (headers: Readonly<Record<string, string>>, status = 429): RawReply =>
  (socket) =>
    answer(socket, status, headers, '{"error":{"message":"slow down"}}');

describe("a model over the wire", () => {
  it("answers, and its turn, usage and price are in the task", async () => {
    const { place } = await open({
      replies: [goodAnswer("Good day")],
      settings: "pricing: {local/m: {input_per_mtok: 2, output_per_mtok: 10}}\n",
    });
    const { code, stdout } = await place.run([...RUN, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ output: { outputs: { work: { result: "Good day" } } } });
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

  it("that is not installed is named with the command that installs it", async () => {
    const { place } = await open({ replies: [], flow: ONE_STEP.replace("provider: local", "provider: google") });
    const { code, stderr } = await place.run(RUN);
    expect(code).toBe(4);
    expect(stderr).toContain("npm install @ai-sdk/google@3");
  });
});

describe("FAULTS 26: a provider that asks to wait", () => {
  it.each<[string, RawReply, number]>([
    ["seconds", limited({ "retry-after": "2" }), 2_000],
    ["a date", (socket) => limited({ "retry-after": new Date(Date.now() + 3_000).toUTCString() })(socket), 1_900],
    ["503 with seconds", limited({ "retry-after": "2" }, 503), 2_000],
    ["a date in the past", limited({ "retry-after": "Thu, 01 Jan 2026 00:00:00 GMT" }), 0],
    [
      "words in the body",
      (socket) => answer(socket, 429, {}, '{"error":{"message":"Please try again in 1500ms."}}'),
      1_500,
    ],
  ])("in %s is asked again no earlier, and it uses up no attempt", async (_name, reply, waitMs) => {
    const times: number[] = [];
    const timed =
      (next: RawReply): RawReply =>
      (socket) => (times.push(Date.now()), next(socket));
    const { place } = await open({ replies: [timed(reply), timed(goodAnswer("at last"))] });
    expect((await place.run(RUN)).code).toBe(0);
    expect(times).toHaveLength(2);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(waitMs - 20);
  });

  it("for long ends with 75 and the time; running again before it asks nothing", async () => {
    const { place, server } = await open({ replies: [limited({ "retry-after": "99999" })] });
    const first = await place.run(RUN);
    expect(first.code).toBe(75);
    expect(server.requests).toHaveLength(1);
    await place.run(RUN);
    expect(server.requests).toHaveLength(1);
  });

  it("keeps the wait through a kill: no request before the time", async () => {
    const times: number[] = [];
    const timed =
      (next: RawReply): RawReply =>
      (socket) => (times.push(Date.now()), next(socket));
    const { place } = await open({
      replies: [timed(limited({ "retry-after": "4" })), timed(goodAnswer("ok"))],
    });
    const running = place.start(RUN);
    await until("it was refused and waits", async () => (await place.run(EVENTS)).stdout.includes("retryAtMs"));
    running.child.kill("SIGKILL");
    await running.done;
    expect((await place.run(RUN)).code).toBe(0);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(3_980);
  });

  it("holds back parallel specialists after one refusal", async () => {
    const flow = `workflow: {name: ask, runtime: {provider: local, default_model: m}}
steps: [${Array.from({ length: 4 }, (_, index) => `{name: s${index}, prompt: "hello", depends_on: [first]}`).join(", ")}, {name: first, prompt: "hi"}]
`;
    const { place, server } = await open({
      replies: [goodAnswer("one"), limited({ "retry-after": "2" }), goodAnswer("ok")],
      flow,
    });
    expect((await place.run(RUN)).code).toBe(0);
    expect(server.requests.length).toBeLessThanOrEqual(9);
  });
});

describe("FAULTS 12: a model that is silent", () => {
  it.each<[string, RawReply]>([
    ["never answers", () => undefined],
    ["stops halfway", (socket) => stream(socket, textChunk("half an answer"))],
  ])("is ended by idle_timeout when it %s; what had come is kept", async (name, reply) => {
    const flow = ONE_STEP.replace('prompt: "hello"', 'prompt: "hello", idle_timeout: 1s');
    const { place } = await open({ replies: [reply], flow });
    const { code, stderr } = await place.run(RUN);
    expect(code).toBe(4);
    expect(stderr).toContain("silent");
    const { stdout } = await place.run(EVENTS);
    if (name === "stops halfway") expect(stdout).toContain("half an answer");
  });

  it("is left within two seconds at Ctrl+C, with everything saved", async () => {
    const { place, server } = await open({ replies: [(socket) => stream(socket, textChunk("half"))] });
    const bareMs = await place.measureStart();
    const running = place.start(RUN);
    await until("it was asked", () => server.requests.length === 1);
    const startedAt = performance.now();
    running.child.kill("SIGINT");
    expect((await running.done).code).toBe(130);
    expect(performance.now() - startedAt).toBeLessThan(2_000 + 4 * bareMs);
    server.replies = [goodAnswer("whole")];
    expect((await place.run(["resume", "t", "--json"])).json<RunView>()).toMatchObject({
      output: { outputs: { work: { result: "whole" } } },
    });
  });
});

describe("FAULTS 17: money", () => {
  it("stops before the call that would go over the budget, in the middle of a step's turns too", async () => {
    const call = { index: 0, id: "c", type: "function", function: { name: "look", arguments: "{}" } };
    const usage = { prompt_tokens: 300_000, completion_tokens: 0, total_tokens: 300_000 };
    const toolTurn: RawReply = (socket) => {
      const chunk = (body: object) => `data: ${JSON.stringify({ id: "1", ...body })}\n\n`;
      stream(
        socket,
        chunk({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] }),
        chunk({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }], usage }),
        "data: [DONE]\n\n",
      );
      socket.end("0\r\n\r\n");
    };
    const flow = `workflow: {name: ask, runtime: {provider: local, default_model: m}, limits: {budget_usd: 0.9, budget_mode: enforce}}
tools: [{name: look, function: "./tools.mjs#look", effects: none}]
steps: [{name: work, prompt: "hello"}]
`;
    const settings = "pricing: {m: {input_per_mtok: 1, output_per_mtok: 1}}\n";
    const { place, server } = await open({ replies: [toolTurn], flow, settings });
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
