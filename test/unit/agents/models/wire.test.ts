/** The wire forms of the providers, over real HTTP to a mock that checks them. */
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { ModelMessage } from "../../../../src/agents/outcome/contract.js";
import { keepEnds, openModels, requestOf } from "../../../support/model-room.js";
import { answer as sendAnswer, openRawServer } from "../../../support/raw-server.js";

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

const TOOL = {
  name: "search",
  description: "looks things up",
  parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
};
const toolCall = (id: string, query: string) => ({ id, name: TOOL.name, arguments: JSON.stringify({ query }) });
const PRICE = { "*": { input: 2, output: 10 } };

/** Each provider with its address and key, as the environment gives them. */
const WIRES = [
  {
    provider: "openai",
    path: "/v1/chat/completions",
    environment: () => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "sk-a" }),
  },
  {
    provider: "openai-responses",
    path: "/v1/responses",
    environment: () => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "sk-a" }),
  },
  {
    provider: "anthropic",
    path: "/v1/messages",
    environment: () => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-b" }),
  },
  {
    provider: "ollama",
    path: "/v1/chat/completions",
    environment: () => ({ OLLAMA_HOST: url.replace("http://", "") }),
  },
  {
    provider: "ollama-native",
    path: "/api/chat",
    environment: () => ({ OLLAMA_HOST: url.replace("http://", "") }),
  },
] as const;

describe.each(WIRES)("$provider", ({ provider, path, environment }) => {
  const open = () => openModels({ environment: environment(), prices: PRICE })(provider);

  it("streams its text and counts what it cost", async () => {
    const usage = { prompt_tokens: 12, completion_tokens: 8, input_tokens: 12, output_tokens: 8 };
    mock.onMessage("hello", { content: "Hello from far away, and good day to you.", usage });
    const ends = keepEnds();
    const answer = await open().call(requestOf({ systemPrompt: "be kind" }), ends);
    expect(answer.say).toBe("Hello from far away, and good day to you.");
    expect(answer.calls).toBeUndefined();
    expect(ends.texts.length).toBeGreaterThan(1);
    expect(ends.texts.at(-1)).toBe(answer.say);
    // The mock tells no tokens in Ollama's own form.
    const told =
      provider === "ollama-native"
        ? { tokensIn: 0, tokensOut: 0, costMicroUsd: 0 }
        : { tokensIn: 12, tokensOut: 8, costMicroUsd: 104 };
    expect(answer.usage).toEqual({ calls: 1, ...told });
    expect(mock.getRequests().map((entry) => entry.path)).toEqual([path]);
  });

  it("asks for tools over several turns, two at once among them, and is told all results", async () => {
    const wished = [["prices"], ["makers", "dates"], ["doubts"]];
    mock.on({}, ({ messages }) => {
      const told = messages.filter(({ role }) => role === "tool").length;
      const turn = [0, 1, 3].indexOf(told);
      const toolCalls = wished[turn]?.map((query, index) => toolCall(`call_${turn}_${index}`, query));
      return toolCalls === undefined ? { content: "They are 7." } : { toolCalls };
    });
    const model = open();
    const messages: ModelMessage[] = [{ role: "user", text: "prices?" }];
    for (const queries of wished) {
      const { calls = [], kept } = await model.call(requestOf({ messages, tools: [TOOL] }), keepEnds());
      expect(calls).toMatchObject(queries.map((query) => ({ name: "search", input: { query } })));
      const replies = calls.map((call) => ({ call, text: `told of ${JSON.stringify(call.input)}`, isError: false }));
      messages.push({ role: "assistant", text: "", calls, kept }, { role: "tool", replies });
    }
    const last = await model.call(requestOf({ messages, tools: [TOOL] }), keepEnds());
    expect(last.say).toBe("They are 7.");
    // Replies are texts within texts.
    const sent = JSON.stringify(mock.getRequests().at(-1)?.body).replaceAll("\\", "");
    for (const query of wished.flat()) expect(sent).toContain(`told of {"query":"${query}"}`);
  });

  it("takes a person's words between the results of tools and the next turn, and after a first question", async () => {
    mock.on({}, { content: "In euros: 7." });
    const call = { id: "call_1", name: "search", input: { query: "prices" } };
    const messages: ModelMessage[] = [
      { role: "user", text: "prices?" },
      { role: "user", text: "short, please" },
      { role: "assistant", text: "", calls: [call], kept: undefined },
      { role: "tool", replies: [{ call, text: "seven dollars", isError: false }] },
      { role: "user", text: "in euros" },
    ];
    const { say } = await open().call(requestOf({ messages, tools: [TOOL] }), keepEnds());
    expect(say).toBe("In euros: 7.");
    const [request] = mock.getRequests();
    const sent = JSON.stringify(request?.body);
    const order = ["prices?", "short, please", "seven dollars", "in euros"].map((text) => sent.lastIndexOf(text));
    expect(order.every((at) => at > 0)).toBe(true);
    // The mock keeps the text of an Anthropic message before the results beside it.
    if (provider !== "anthropic") expect(order).toEqual(order.toSorted((left, right) => left - right));
  });

  it("gives a form of the answer to the provider where it can, else to the prompt", async () => {
    mock.on({}, { content: '{"a": 1}' });
    const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
    const answer = await open().call(requestOf({ outputSchema: schema }), keepEnds());
    expect(JSON.parse(answer.say as string)).toEqual({ a: 1 });
    // The mock keeps requests of these interfaces without their form.
    if (provider !== "openai-responses" && provider !== "ollama-native")
      expect(JSON.stringify(mock.getRequests()[0]?.body)).toMatch(/json_schema|JSON Schema|"name":"json"/);
  });

  it.each([429, 529])("%i is a rate limit with the time it said", async (status) => {
    mock.on({}, { error: { message: "slow down", type: "rate_limit_error" }, status, retryAfter: 7 });
    const before = Date.now();
    const failing = open().call(requestOf(), keepEnds());
    await expect(failing).rejects.toMatchObject({ code: "MODEL_RATE_LIMITED", details: { status } });
    const error = (await failing.catch((thrown: unknown) => thrown)) as { details: { retry_at_ms: number } };
    expect(error.details.retry_at_ms).toBeGreaterThan(before);
  });

  it("500 may go well later, 401 will not, and 404 says where to look", async () => {
    mock.nextRequestError(500, { message: "oops" });
    await expect(open().call(requestOf(), keepEnds())).rejects.toMatchObject({
      code: "MODEL_FAILED",
      details: { status: 500, retryable: true },
    });
    mock.nextRequestError(401, { message: "no such key" });
    await expect(open().call(requestOf(), keepEnds())).rejects.toMatchObject({
      code: "MODEL_FAILED",
      details: { status: 401, retryable: false },
    });
    mock.nextRequestError(404, { message: "no such model" });
    await expect(open().call(requestOf(), keepEnds())).rejects.toMatchObject({
      message: expect.stringMatching(/no such model; look at the name of the model, and at the address with/) as string,
      details: { status: 404, retryable: false },
    });
    expect(mock.getRequests()).toHaveLength(3);
  });
});

describe("Ollama's own interface", () => {
  it("is told the form of the answer, and the tokens that it tells are counted", async () => {
    const lines = [
      {
        model: "m",
        created_at: "2026-01-01T00:00:00Z",
        message: { role: "assistant", content: '{"a": 1}' },
        done: false,
      },
      {
        model: "m",
        created_at: "2026-01-01T00:00:00Z",
        message: { role: "assistant", content: "" },
        done: true,
        done_reason: "stop",
        prompt_eval_count: 12,
        eval_count: 8,
      },
    ];
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const server = await openRawServer((socket) =>
      sendAnswer(socket, 200, { "content-type": "application/x-ndjson" }, body),
    );
    onTestFinished(() => server.close());
    const environment = { OLLAMA_HOST: new URL(server.url).host };
    const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
    const model = openModels({ environment, prices: PRICE })("ollama-native");
    const { say, usage } = await model.call(requestOf({ outputSchema: schema }), keepEnds());
    expect(say).toBe('{"a": 1}');
    expect(usage).toEqual({ calls: 1, tokensIn: 12, tokensOut: 8, costMicroUsd: 104 });
    const [request = ""] = server.requests;
    expect(request).toMatch(/^POST \/api\/chat /);
    expect(JSON.parse(request.slice(request.indexOf("\r\n\r\n")))).toHaveProperty("format.required", ["a"]);
  });
});
