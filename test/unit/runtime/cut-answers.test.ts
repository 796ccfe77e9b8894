/** Answers of models that are not whole: cut at the limit of tokens, or empty. Over real TCP, in the wire forms of the providers. */
import { afterEach, describe, expect, it } from "vitest";
import type { RunView } from "../../../src/index.js";
import { openSplashdownInMemory } from "../../support/library-place.js";
import {
  endStream,
  openRawServer,
  stream,
  textChunk,
  type RawReply,
  type RawServer,
} from "../../support/raw-server.js";

const servers: RawServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

const chunk = (body: object) => `data: ${JSON.stringify({ id: "1", ...body })}\n\n`;
const event = (body: { readonly type: string } & Record<string, unknown>) =>
  `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;

interface Wire {
  readonly provider: string;
  readonly variable: string;
  /** An answer with a reason why it ended: whole, or cut. */
  readonly reply: (text: string, isCut: boolean) => RawReply;
}

const openai: Wire = {
  provider: "openai-compatible",
  variable: "OPENAI_BASE_URL",
  reply: (text, isCut) => (socket) => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const choices = [{ index: 0, delta: {}, finish_reason: isCut ? "length" : "stop" }];
    stream(socket, textChunk(text), chunk({ choices, usage }), "data: [DONE]\n\n");
    endStream(socket);
  },
};
const anthropic: Wire = {
  provider: "anthropic",
  variable: "ANTHROPIC_BASE_URL",
  reply: (text, isCut) => (socket) => {
    const usage = { input_tokens: 3, output_tokens: 1 };
    const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage };
    stream(
      socket,
      event({ type: "message_start", message }),
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
      event({ type: "content_block_stop", index: 0 }),
      event({
        type: "message_delta",
        delta: { stop_reason: isCut ? "max_tokens" : "end_turn" },
        usage: { output_tokens: 2 },
      }),
      event({ type: "message_stop" }),
    );
    endStream(socket);
  },
};

interface Asked {
  readonly view: RunView;
  readonly requests: readonly string[];
}

/** Runs one model step against the answers, the last of which repeats. */
async function ask(wire: Wire, answers: readonly RawReply[], step: object = {}): Promise<Asked> {
  const server = await openRawServer(...answers);
  servers.push(server);
  const address = wire.provider === "anthropic" ? server.url.replace(/\/v1$/, "") : server.url;
  const splashdown = await openSplashdownInMemory({
    [wire.variable]: address,
    OPENAI_API_KEY: "sk-a",
    ANTHROPIC_API_KEY: "sk-b",
  });
  const view = await splashdown.run({
    workflow: {
      workflow: { name: "cut" },
      steps: [{ name: "s", provider: wire.provider, model: "m", prompt: "go", ...step }],
      output: { said: "{{ s.output }}" },
    },
  });
  return { view, requests: server.requests };
}

describe.each([openai, anthropic])("an answer that was cut, of $provider", (wire) => {
  const { reply } = wire;

  it("[public D] is continued where it stopped, and the parts are one answer", async () => {
    const { view, requests } = await ask(wire, [reply("The report begins we", true), reply("ll and ends.", false)]);
    expect(view).toMatchObject({ status: "done", output: { said: { result: "The report begins well and ends." } } });
    expect(requests).toHaveLength(2);
    expect(requests[1]).toContain("The report begins we");
    expect(requests[1]).toContain("Continue exactly where it stopped");
  });

  it("[public D kin] is no completed step when it never ends: the limit is named, and nothing is asked again", async () => {
    const { view, requests } = await ask(wire, [reply("on and on ", true)], { retry: { max_attempts: 3 } });
    expect(view.status).toBe("failed");
    expect(view.reason).toContain("cut at the limit of tokens, 5 times; raise max_tokens of the step");
    expect(requests).toHaveLength(5);
  });

  it("[public D kin] fails at once when the limit was reached before it began", async () => {
    const { view, requests } = await ask(wire, [reply("", true)], { retry: { max_attempts: 3 } });
    expect(view.status).toBe("failed");
    expect(view.reason).toContain("cut at the limit of tokens, before it had begun; raise max_tokens of the step");
    expect(requests).toHaveLength(1);
  });

  it("[public D kin] is joined before it is read as JSON", async () => {
    const answers = [reply('{"n": 1, "tex', true), reply('t": "whole"}', false)];
    const { view, requests } = await ask(wire, answers, {
      output: { n: { type: "integer" }, text: { type: "string" } },
    });
    expect(view).toMatchObject({ status: "done", output: { said: { n: 1, text: "whole" } } });
    expect(requests).toHaveLength(2);
  });

  it("[public D kin] counts the tokens of every part", async () => {
    const { view } = await ask(wire, [reply("a", true), reply("b", true), reply("c", false)]);
    expect(view).toMatchObject({ output: { said: { result: "abc" } }, metrics: { api_calls: 3, tokens_used: 15 } });
  });
});

describe("an empty answer", () => {
  it("[public D kin] is asked for again, and is no result", async () => {
    const { view, requests } = await ask(openai, [openai.reply("  ", false), openai.reply("here", false)]);
    expect(view).toMatchObject({ status: "done", output: { said: { result: "here" } } });
    expect(requests).toHaveLength(2);
  });

  it("[public D kin] fails the step by name where it comes again and again", async () => {
    const { view } = await ask(openai, [openai.reply("", false)]);
    expect(view.status).toBe("failed");
    expect(view.reason).toContain("the model's answer is empty");
  });
});
