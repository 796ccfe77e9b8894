/** What goes wrong on the wires of the providers, over real TCP: FAULTS 12, and the forms no mock sends. */
import { afterEach, describe, expect, it } from "vitest";
import type { ModelAnswer } from "../../../../src/agents/outcome/contract.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { until } from "../../../support/real-clock.js";
import { keepEnds, openModels, requestOf } from "../../../support/model-room.js";
import {
  answer,
  endStream,
  goodAnswer,
  openRawServer,
  stream,
  writeChunk,
  type RawReply,
  type RawServer,
} from "../../../support/raw-server.js";
import { WIRE_FORMS, type WireForm } from "../../../support/wire-forms.js";

const servers: RawServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

const IDLE_MS = 60_000;

/** A call under way, on a clock that moves only when told: whatever ends it is not the time that passes. */
async function ask({ provider, settings, environment }: WireForm, reply: RawReply) {
  const server = await openRawServer(reply);
  servers.push(server);
  const clock = new FakeClock();
  const controller = new AbortController();
  const ends = keepEnds(controller.signal);
  const model = openModels({ providers: { [provider]: settings(server.url) }, environment, clock })(provider);
  const ended: Promise<Ended> = model.call(requestOf({ options: { idleTimeoutMs: IDLE_MS } }), ends).then(
    (said) => ({ said }),
    (error: unknown) => ({ error: error as CallError }),
  );
  return { ended, ends, server, clock, cancel: () => controller.abort() };
}

interface CallError {
  readonly code: string;
  readonly message: string;
  readonly details: { readonly partial?: string };
}
interface Ended {
  readonly said?: ModelAnswer;
  readonly error?: CallError;
}

describe.each(WIRE_FORMS)("a broken answer of $provider", (form) => {
  const half = form.begin("half an ");
  const whole = half + form.more("answer") + form.end;
  const cut: RawReply = (socket) => {
    stream(socket, half, form.more("answer"));
    // Once the bytes are out, the connection breaks.
    socket.write("", () => socket.resetAndDestroy());
  };
  const withLength =
    (length: number): RawReply =>
    (socket) => {
      socket.end(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${length}\r\n\r\n${whole}`);
    };

  it("is read where nothing is broken", async () => {
    const { ended, server } = await ask(form, (socket) => (stream(socket, whole), endStream(socket)));
    expect(await ended).toMatchObject({ said: { say: "half an answer", usage: { tokensIn: 3, tokensOut: 2 } } });
    expect(server.requests[0]).toContain(`POST ${form.path} `);
  });

  it.each<[string, RawReply]>([
    ["cut in the middle of its stream", cut],
    ["ended in the middle without a reason", (socket) => (stream(socket, half), endStream(socket))],
    ["half its headers and then nothing more", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-ty")],
    ["no HTTP at all", (socket) => socket.end("hello\r\n\r\n")],
    [
      "malformed JSON in its stream",
      (socket) => (stream(socket, half, 'data: {"cho\n\n', form.end), endStream(socket)),
    ],
    ["malformed JSON in its refusal", (socket) => answer(socket, 500, {}, '{"error": {"mess')],
    ["a page instead of a stream", (socket) => answer(socket, 200, { "content-type": "text/html" }, "<html>hi</html>")],
    ["503 without a time", (socket) => answer(socket, 503, {}, '{"error":{"message":"down for a while"}}')],
    ["shorter than its content-length", withLength(Buffer.byteLength(whole) + 500)],
    ["longer than its content-length", withLength(Buffer.byteLength(half) - 4)],
    [
      "a refusal shorter than its content-length",
      (socket) => answer(socket, 500, { "content-length": "500" }, '{"e":'),
    ],
    ["closed before a byte", (socket) => socket.destroy()],
  ])("%s is MODEL_FAILED, and may go well later", async (_name, reply) => {
    const { error } = await (await ask(form, reply)).ended;
    expect(error).toMatchObject({ code: "MODEL_FAILED", details: { retryable: true } });
  });

  it("keeps the text that had come when it ends too early", async () => {
    const { ended, ends } = await ask(form, (socket) => (stream(socket, half, form.more("answer")), endStream(socket)));
    expect((await ended).error).toMatchObject({ details: { partial: "half an answer", called: true } });
    expect(ends.texts.at(-1)).toBe("half an answer");
  });

  it.each<[string, number]>([
    ["429", 429],
    ["503", 503],
    ["529", 529],
  ])("%s with Retry-After is a limit with the time it said", async (_name, status) => {
    const refuse: RawReply = (socket) => answer(socket, status, { "retry-after": "7" }, '{"error":{"message":"slow"}}');
    const { ended, clock } = await ask(form, refuse);
    const { error } = await ended;
    expect(error).toMatchObject({
      code: "MODEL_RATE_LIMITED",
      details: { status, retry_at_ms: clock.nowMs() + 7_000 },
    });
  });

  it.each<[string, (sent: Sent) => RawReply, string | undefined]>([
    ["that never comes", (sent) => () => void (sent.count += 1), undefined],
    ["that stops in the middle", (sent) => (socket) => (stream(socket, half), void (sent.count += 1)), "half an "],
    ["of which only keep-alives come", (sent) => keepAlive(half, form.alive, sent), "half an "],
  ])("is ended by the limit on silence: one %s", async (_name, replyOf, partial) => {
    const sent: Sent = { count: 0, isClosed: false };
    const { ended, ends, clock } = await ask(form, replyOf(sent));
    await until("what comes has come", () => sent.count > 0 && ends.texts.at(-1) === partial);
    await clock.advance(IDLE_MS - 1);
    const before = sent.count;
    await until("more comes, if any does", () => sent.isAlive !== true || sent.count > before + 3);
    await clock.advance(1);
    expect((await ended).error).toMatchObject({ code: "MODEL_FAILED", details: { reason: "idle", retryable: true } });
    expect((await ended).error?.details.partial).toBe(partial);
  });

  it.each<[string, (sent: Sent) => RawReply, string | undefined]>([
    ["silent", (sent) => () => void (sent.count += 1), undefined],
    ["kept alive", (sent) => keepAlive(half, form.alive, sent), "half an "],
  ])("is left at once while it is %s, and no connection stays", async (_name, replyOf, partial) => {
    const sent: Sent = { count: 0, isClosed: false };
    const { ended, ends, cancel } = await ask(form, (socket) => {
      socket.on("close", () => (sent.isClosed = true));
      replyOf(sent)(socket);
    });
    await until("it is under way", () => sent.count > 0 && ends.texts.at(-1) === partial);
    cancel();
    expect((await ended).error).toMatchObject({ code: "CANCELLED" });
    await until("the connection is closed", () => sent.isClosed);
  });
});

/** What a reply has sent. */
interface Sent {
  count: number;
  isClosed: boolean;
  isAlive?: boolean;
}

function keepAlive(begin: string, alive: string, sent: Sent): RawReply {
  return (socket) => {
    sent.isAlive = true;
    stream(socket, begin);
    const timer = setInterval(() => {
      writeChunk(socket, alive);
      sent.count += 1;
    }, 5);
    socket.on("close", () => clearInterval(timer));
  };
}

describe("a provider", () => {
  it("that is not there says where it was looked for", async () => {
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

  it("holds the key that the system's keyring has", async () => {
    const server = await openRawServer(goodAnswer("ok"));
    servers.push(server);
    const entry = { service: "models", account: "ada" };
    const providers = { local: { type: "openai-compatible", base_url: server.url, key_system: entry } };
    const readSystemKey = ({ service, account }: typeof entry) => Promise.resolve(`${service}-${account}`);
    await openModels({ providers, readSystemKey })("local").call(requestOf(), keepEnds());
    expect(server.requests[0]).toMatch(/authorization: Bearer models-ada/i);
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
