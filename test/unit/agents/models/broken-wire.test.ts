/** What goes wrong on the wire, over real TCP: FAULTS 12, and the forms no mock sends. */
import { afterEach, describe, expect, it } from "vitest";
import { realClock } from "../../../support/real-clock.js";
import { keepEnds, openModels, requestOf } from "../../../support/model-room.js";
import {
  answer,
  endStream,
  goodAnswer,
  LAST_CHUNK,
  openRawServer,
  stream,
  textChunk,
  writeChunk,
  type RawReply,
  type RawServer,
} from "../../../support/raw-server.js";

const servers: RawServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

const IDLE_MS = 400;

interface Asking {
  readonly signal?: AbortSignal;
  readonly idleTimeoutMs?: number;
}

async function ask(reply: RawReply, { signal, idleTimeoutMs = IDLE_MS }: Asking = {}) {
  const server = await openRawServer(reply);
  servers.push(server);
  const model = openModels({ providers: { local: { type: "openai-compatible", base_url: server.url } } })("local");
  const ends = keepEnds(signal);
  const startedAtMs = performance.now();
  const result = await model.call(requestOf({ options: { idleTimeoutMs } }), ends).then(
    (said) => ({ said }),
    (error: unknown) => ({ error }),
  );
  return { ...result, ends, server, tookMs: performance.now() - startedAtMs };
}

const cut: RawReply = (socket) => {
  stream(socket, textChunk("half an "), textChunk("answer"));
  setTimeout(() => socket.destroy(), 30);
};
const keepAlive: RawReply = (socket) => {
  stream(socket, textChunk("half"));
  const timer = setInterval(() => writeChunk(socket, ": keep-alive\n\n"), 50);
  socket.on("close", () => clearInterval(timer));
};

describe("a broken answer of a provider", () => {
  it.each<[string, RawReply]>([
    ["cut in the middle of its stream", cut],
    ["ended in the middle without a reason", (socket) => (stream(socket, textChunk("half")), endStream(socket))],
    ["half its headers and then nothing more", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-ty")],
    ["no HTTP at all", (socket) => socket.end("hello\r\n\r\n")],
    [
      "malformed JSON in its stream",
      (socket) => (stream(socket, 'data: {"choices": [\n\n', LAST_CHUNK), endStream(socket)),
    ],
    ["a page instead of a stream", (socket) => answer(socket, 200, { "content-type": "text/html" }, "<html>hi</html>")],
    ["shorter than its content-length", (socket) => answer(socket, 500, { "content-length": "500" }, '{"error":')],
    ["closed before a byte", (socket) => socket.destroy()],
  ])("%s is MODEL_FAILED, and may go well later", async (_name, reply) => {
    const { error, tookMs } = (await ask(reply)) as { error: unknown; tookMs: number };
    expect(error).toMatchObject({ code: "MODEL_FAILED", details: { retryable: true } });
    expect(tookMs).toBeLessThan(5_000);
  });

  it("keeps the text that had come when it is cut", async () => {
    const { error, ends } = (await ask(cut)) as { error: unknown; ends: { texts: string[] } };
    expect(error).toMatchObject({ details: { partial: "half an answer", called: true } });
    expect(ends.texts.at(-1)).toBe("half an answer");
  });

  it.each<[string, RawReply, string | undefined]>([
    ["that never comes", () => undefined, undefined],
    ["that stops in the middle", (socket) => stream(socket, textChunk("half")), "half"],
    ["of which only keep-alives come", keepAlive, "half"],
  ])("is ended by the limit on silence: one %s", async (_name, reply, partial) => {
    const { error, tookMs } = (await ask(reply)) as { error: unknown; tookMs: number };
    expect(error).toMatchObject({ code: "MODEL_FAILED", details: { reason: "idle", retryable: true } });
    expect((error as { details: { partial?: string } }).details.partial).toBe(partial);
    expect(tookMs).toBeGreaterThanOrEqual(IDLE_MS - 20);
    expect(tookMs).toBeLessThan(IDLE_MS + 2_000);
  });

  it.each<[string, RawReply]>([
    ["silent", () => undefined],
    ["halfway", (socket) => stream(socket, textChunk("half"))],
    ["kept alive", keepAlive],
  ])("is cancelled within two seconds while it is %s", async (_name, reply) => {
    const controller = new AbortController();
    const cancel = realClock.schedule(150, () => controller.abort());
    const { error, tookMs } = (await ask(reply, { signal: controller.signal, idleTimeoutMs: 60_000 })) as {
      error: unknown;
      tookMs: number;
    };
    cancel();
    expect(error).toMatchObject({ code: "CANCELLED" });
    expect(tookMs).toBeLessThan(2_000);
  });

  it("leaves no connection behind when it was ended", async () => {
    let closed = false;
    await ask((socket) => {
      socket.on("close", () => (closed = true));
      keepAlive(socket);
    });
    await expect.poll(() => closed, { timeout: 2_000 }).toBe(true);
  });

  it("that nobody gives says where it was looked for", async () => {
    const server = await openRawServer(() => undefined);
    await server.close();
    const providers = { local: { type: "openai-compatible", base_url: server.url } };
    await expect(openModels({ providers })("local").call(requestOf(), keepEnds())).rejects.toMatchObject({
      code: "MODEL_FAILED",
      message: expect.stringContaining("is it running?") as string,
      details: { errno: "ECONNREFUSED", called: false },
    });
  });
});

describe("a server that knows no form of answers", () => {
  it("is asked again in words, and from then on in words alone", async () => {
    const refuse: RawReply = (socket) =>
      answer(socket, 400, {}, '{"error":{"message":"response_format is not supported"}}');
    const server = await openRawServer(refuse, goodAnswer('{"a":1}'));
    servers.push(server);
    const model = openModels({ providers: { local: { type: "openai-compatible", base_url: server.url } } })("local");
    const request = requestOf({ outputSchema: { type: "object", properties: { a: { type: "number" } } } });
    expect((await model.call(request, keepEnds())).say).toBe('{"a":1}');
    expect((await model.call(request, keepEnds())).say).toBe('{"a":1}');
    expect(server.requests.map((text) => text.includes("response_format"))).toEqual([true, false, false]);
    expect(server.requests[1]).toContain("JSON Schema");
  });
});

describe("what a provider is sent", () => {
  it("is the model, sampling and effort the step asks for, and the key alone", async () => {
    const server = await openRawServer(goodAnswer("ok"));
    servers.push(server);
    const providers = {
      local: {
        type: "openai-compatible",
        base_url: server.url,
        key_variable: "MY_KEY",
        header_variables: { "x-team": "TEAM" },
      },
    };
    const model = openModels({ providers, environment: { MY_KEY: "k-1", TEAM: "blue" } })("local");
    const options = { temperature: 0.2, tokensMax: 50, effort: "high" } as const;
    await model.call(requestOf({ options }), keepEnds());
    const [request = ""] = server.requests;
    expect(request).toMatch(/authorization: Bearer k-1/i);
    expect(request).toMatch(/x-team: blue/i);
    const body = JSON.parse(request.slice(request.indexOf("\r\n\r\n") + 4)) as Record<string, unknown>;
    expect(body).toMatchObject({
      model: "test-model",
      temperature: 0.2,
      max_tokens: 50,
      reasoning_effort: "high",
      stream: true,
    });
  });

  it("goes to the address of the workflow's file, with its key and headers", async () => {
    const server = await openRawServer(goodAnswer("ok"));
    servers.push(server);
    const model = openModels({ environment: { PLACE: server.url, KEY: "k-2" } })("openai");
    const endpoint = { name: "openai", base_url: "${PLACE}", api_key: "${KEY}", headers: { "x-team": "${TEAM:-red}" } };
    await model.call(requestOf({ endpoint }), keepEnds());
    expect(server.requests[0]).toMatch(/authorization: Bearer k-2/i);
    expect(server.requests[0]).toMatch(/x-team: red/i);
    await expect(model.call(requestOf({ endpoint: { api_key: "${GONE}" } }), keepEnds())).rejects.toMatchObject({
      code: "MODEL_UNAVAILABLE",
      details: { variable: "GONE" },
    });
  });

  it("holds the key that a command prints", async () => {
    const server = await openRawServer(goodAnswer("ok"));
    servers.push(server);
    const providers = { local: { type: "openai-compatible", base_url: server.url, key_command: ["pass", "show"] } };
    const model = openModels({ providers, runKeyCommand: (command) => Promise.resolve(command.join("-")) })("local");
    await model.call(requestOf(), keepEnds());
    expect(server.requests[0]).toMatch(/authorization: Bearer pass-show/i);
  });
});
